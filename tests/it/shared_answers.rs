//! Answers that many wait for: rendered once for all who ask the same, and only for them.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use writewatch::http;

use crate::harness::{Harness, claim, on_both_engines};
use crate::support::socket::{Subscription, subscribe};

/// How often it is counted: the fewest statements are those of nothing else meanwhile.
const ROUNDS: usize = 12;

const DOCUMENT: &str = "subscription($id: String!) {
  documentChanged(ids: [$id]) { document { id winner { digest } operations { nodes { id } } } change { transition } cursor }
}";

on_both_engines! {
    async fn what_many_follow_alike_is_read_once(harness: Harness) {
        let url = served(&harness).await;
        let mut counts = vec![];
        let mut listening = vec![];
        for listeners in [2, 40] {
            while listening.len() < listeners {
                listening.push(begun(&url, "d").await);
            }
            let mut fewest = u64::MAX;
            for round in 0..ROUNDS {
                let digest = format!("{listeners}-{round}");
                let before = harness.app.store.statements_run();
                harness.act("recordWinner", json!({ "documentId": "d", "digest": digest }), "outcome").await;
                let told = join_all(listening.iter_mut().map(Subscription::next)).await;
                fewest = fewest.min(harness.app.store.statements_run() - before);
                assert_eq!(told[0]["documentChanged"]["document"]["winner"]["digest"], digest);
                assert!(told.iter().all(|one| *one == told[0]), "all are told the same");
            }
            counts.push(fewest);
        }
        // The follower looks at the log a few times more or less; forty that read alone would add hundreds.
        assert!(counts[1] <= counts[0] + 8, "statements for two and for forty who ask the same: {counts:?}");
    }

    async fn who_joins_later_is_told_what_is_true_by_then(harness: Harness) {
        let url = served(&harness).await;
        harness.act("claimOperation", claim("before", &json!({})), "outcome").await;
        let start = harness.log("cursor").await[0]["cursor"].take();
        let id = harness.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
        let claims = "subscription($after: String) { changes(after: $after, filter: { transitions: [\"claim\"] }) {
            node { ... on Operation { id state } } } }";
        let state = async |one: &mut Subscription| one.next().await["changes"]["node"]["state"].take();
        let mut first = subscribe(&url, claims, json!({ "after": start })).await;
        let mut second = subscribe(&url, claims, json!({ "after": start })).await;
        assert_eq!([state(&mut first).await, state(&mut second).await], ["ATTEMPTED", "ATTEMPTED"]);
        let dead = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": "DEAD" });
        harness.act("recordOperation", dead, "outcome").await;
        let mut third = subscribe(&url, claims, json!({ "after": start })).await;
        assert_eq!(state(&mut third).await, "DEAD", "not what the others were told before");
    }

    async fn who_asks_for_something_else_is_told_that(harness: Harness) {
        let url = served(&harness).await;
        let mut followed = vec![];
        for id in ["a", "b", "a", "b"] {
            followed.push((id, begun(&url, id).await));
        }
        let same = "subscription($id: String!, $all: Boolean!) { documentChanged(ids: [$id]) {
            document { id winner @include(if: $all) { digest } } } }";
        for all in [false, true] {
            let mut one = subscribe(&url, same, json!({ "id": "a", "all": all })).await;
            assert_eq!(one.next().await["documentChanged"]["document"]["id"], "a");
            followed.push((if all { "all" } else { "less" }, one));
        }
        for document in ["a", "b"] {
            harness.act("recordWinner", json!({ "documentId": document, "digest": "w" }), "outcome").await;
        }
        for (asked, one) in &mut followed {
            let told = one.next().await["documentChanged"]["document"].take();
            let id = if asked.len() == 1 { *asked } else { "a" };
            assert_eq!(told["id"], id, "{asked}");
            assert_eq!(told.get("winner").is_some(), *asked != "less", "{asked}: {told}");
        }
    }
}

/// The harness's server, reached from outside: its address.
async fn served(harness: &Harness) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(http::serve(listener, harness.app.clone(), CancellationToken::new()));
    url
}

/// One that follows a document, and has heard what is true now.
async fn begun(url: &str, id: &str) -> Subscription {
    let mut begun = subscribe(url, DOCUMENT, json!({ "id": id })).await;
    assert_eq!(begun.next().await["documentChanged"]["change"], Value::Null);
    begun
}
