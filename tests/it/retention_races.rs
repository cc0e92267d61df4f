//! Retention beside others: two collectors, a keeper that moves away, a claim of the very key; on one server and on two.

use std::sync::Arc;

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::store::Engine;

use crate::harness::{Harness, claim};

const ROUNDS: usize = 30;

/// The servers that race: one on SQLite, two beside each other on PostgreSQL.
async fn racers(engine: Engine) -> [Arc<Harness>; 2] {
    let first = Harness::start(engine).await;
    let second = if engine == Engine::Postgres { Some(Harness::start_beside(&first).await) } else { None };
    let first = Arc::new(first);
    let second = second.map_or_else(|| Arc::clone(&first), Arc::new);
    // Old enough to go, and never beside a lease that still runs.
    for harness in [&first, &second] {
        harness.set_clock(1_800_000_000_000);
    }
    [first, second]
}

fn collect(harness: &Arc<Harness>, limit: i64) -> tokio::task::JoinHandle<i64> {
    let harness = Arc::clone(harness);
    tokio::spawn(async move {
        let input = json!({ "before": rfc3339(harness.now() + 1), "limit": limit });
        harness.act("collectFinishedOperations", input, "deleted").await["deleted"].as_i64().unwrap()
    })
}

/// A commit of a document, its lease free again; its id.
async fn committed(harness: &Harness, key: &str, document: &str) -> Value {
    let id = harness.act("claimOperation", claim(key, &json!({ "sourceId": key })), "operation { id }").await["operation"]["id"].take();
    harness.act("finalizeOperation", finalize(&id, key, document), "outcome").await;
    harness.act("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
    id
}

fn finalize(id: &Value, key: &str, document: &str) -> Value {
    json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": key, "winnerDigest": "w" })
}

async fn two_collectors(engine: Engine) {
    let [first, second] = racers(engine).await;
    for place in 0..40 {
        committed(&first, &format!("k{place}"), "d").await;
        first.advance(1);
    }
    second.set_clock(first.now());
    let mut deleted = 0;
    for _ in 0..5 {
        let (one, other) = (collect(&first, 5), collect(&second, 5));
        deleted += one.await.unwrap() + other.await.unwrap();
    }
    assert_eq!(deleted, 39, "all but the newest, each once");
    let told =
        first.database.texts("SELECT CAST(count(*) AS text) FROM change_event WHERE transition = 'collect'").await;
    assert_eq!(told, ["39"]);
}

async fn a_keeper_that_moves(engine: Engine) {
    let [first, second] = racers(engine).await;
    let mut collected = 0;
    for round in 0..ROUNDS {
        let (old, keeper, document) = (format!("old{round}"), format!("keep{round}"), format!("d{round}"));
        committed(&first, &old, &document).await;
        first.advance(1);
        let id = committed(&first, &keeper, &document).await;
        second.set_clock(first.now());
        take_lease(&second, &id).await;
        let collecting = collect(&first, 10);
        let moving = {
            let (second, id) = (Arc::clone(&second), id.clone());
            tokio::spawn(async move {
                let input = finalize(&id, &keeper, &format!("elsewhere{round}"));
                second.act("finalizeOperation", input, "outcome").await["outcome"].take()
            })
        };
        collected += collecting.await.unwrap();
        assert_eq!(moving.await.unwrap(), "FINALIZED");
    }
    // What went had its keeper when it went: its change comes before the keeper's second finalize.
    let log = first.log("transition facts").await;
    let place = |transition: &str, id: &str| {
        log.iter().rposition(|change| change["transition"] == transition && change["facts"]["operationId"] == id)
    };
    for round in 0..ROUNDS {
        let gone = place("collect", &format!("old{round}"));
        let moved = place("finalize", &format!("keep{round}")).unwrap();
        assert!(gone.is_none_or(|gone| gone < moved), "{engine:?}, round {round}: collected without its keeper");
    }
    let told = log.iter().filter(|change| change["transition"] == "collect").count();
    assert_eq!(i64::try_from(told).unwrap(), collected);
}

async fn take_lease(harness: &Harness, id: &Value) {
    harness.act("acquireLease", json!({ "id": id, "leaseToken": "L1", "leaseMs": 1_000 }), "outcome").await;
}

async fn a_claim_of_the_key(engine: Engine) {
    let [first, second] = racers(engine).await;
    for round in 0..ROUNDS {
        let key = format!("k{round}");
        committed(&first, &key, &format!("d{round}")).await;
        first.advance(1);
        committed(&first, &format!("newer{round}"), &format!("d{round}")).await;
        second.set_clock(first.now());
        let collecting = collect(&first, 10);
        let claims: Vec<_> = (0..4)
            .map(|place| {
                let harness = Arc::clone(if place % 2 == 0 { &second } else { &first });
                let input = claim(&key, &json!({ "sourceId": key, "leaseToken": format!("L{place}") }));
                tokio::spawn(async move { harness.act("claimOperation", input, "outcome").await["outcome"].take() })
            })
            .collect();
        assert_eq!(collecting.await.unwrap(), 1);
        for told in claims {
            let told = told.await.unwrap();
            assert!(told == "EXISTS" || told == "SETTLED", "{engine:?}, round {round}: {told}");
        }
    }
}

macro_rules! races {
    ($($name:ident => $race:ident),+ $(,)?) => {
        $(mod $name {
            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                super::$race(writewatch::store::Engine::Sqlite).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                super::$race(writewatch::store::Engine::Postgres).await;
            }
        })+
    };
}
races! {
    two_collectors_take_each_row_once => two_collectors,
    nothing_is_collected_once_its_keeper_has_moved => a_keeper_that_moves,
    a_claim_beside_a_collector_never_writes_again => a_claim_of_the_key,
}
