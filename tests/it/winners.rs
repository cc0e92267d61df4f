//! Winners and the watches they arm: versions, moves, other owners, and rows that can change no more.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, START, claim, merge, on_both_engines};

async fn finalized(harness: &Harness, key: &str, changes: &Value, more: &Value) -> Value {
    let id = harness.act("claimOperation", claim(key, changes), "operation { id }").await["operation"]["id"].take();
    let mut input =
        json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
    merge(&mut input, more);
    harness
        .act(
            "finalizeOperation",
            input,
            "outcome operation { id resultEntity } watch { id status generation documentId observedWinnerDigest }",
        )
        .await
}

async fn recorded(harness: &Harness, digest: &str, version: Option<&str>) -> Value {
    let input = json!({ "documentId": "d", "digest": digest, "version": version });
    harness.act("recordWinner", input, "outcome winner { digest version }").await
}

const V1: &str = "1700000000000-0001-a";
const V2: &str = "1700000000000-0002-a";
const V3: &str = "1700000000000-0003-a";

on_both_engines! {
    async fn a_lower_version_never_wins_not_even_behind_one_without(harness: Harness) {
        assert_eq!(recorded(&harness, "g2", Some(V2)).await["winner"], json!({ "digest": "g2", "version": V2 }));
        assert_eq!(recorded(&harness, "g1", Some(V1)).await, json!({ "outcome": "NOOP", "winner": { "digest": "g2", "version": V2 } }));
        assert_eq!(recorded(&harness, "bare", None).await["winner"], json!({ "digest": "bare", "version": V2 }));
        assert_eq!(recorded(&harness, "g1", Some(V1)).await["winner"]["digest"], "bare");
        assert_eq!(recorded(&harness, "g3", Some(V3)).await["winner"], json!({ "digest": "g3", "version": V3 }));
        let logged = harness.log("transition").await.len();
        recorded(&harness, "g3", Some(V3)).await;
        assert_eq!(harness.log("transition").await.len(), logged, "the same winner again is no change");
    }

    async fn a_retried_old_finalize_cannot_declare_a_stale_provider_verified(harness: Harness) {
        recorded(&harness, "new", Some(V2)).await;
        let armed = finalized(&harness, "k", &json!({}), &json!({ "winnerDigest": "old", "winnerVersion": V1 })).await;
        assert_eq!(armed["watch"]["observedWinnerDigest"], "new");
        let verify = json!({ "id": armed["watch"]["id"], "generation": 0, "fetchedDigest": "old", "maxAttempts": 5, "dueAt": rfc3339(START) });
        assert_eq!(harness.act("recordVerification", verify, "outcome").await["outcome"], "PENDING");
    }

    async fn finalizing_for_another_document_moves_the_watch(harness: Harness) {
        let first = finalized(&harness, "k1", &json!({}), &json!({})).await;
        let moved = finalized(&harness, "k2", &json!({}), &json!({ "documentId": "e" })).await;
        assert_eq!(moved["watch"]["id"], first["watch"]["id"]);
        assert_eq!((&moved["watch"]["documentId"], &moved["watch"]["generation"]), (&json!("e"), &json!(1)));
        let left = harness.ask("{ document(id: \"d\") { watches { id } writeState } }", json!({})).await;
        assert_eq!(left["document"], json!({ "watches": [], "writeState": "COMMITTED" }));
    }

    async fn another_identity_takes_the_place_and_other_owners_are_armed(harness: Harness) {
        finalized(&harness, "k1", &json!({}), &json!({})).await;
        let theirs = finalized(&harness, "k2", &json!({ "ownerDid": "did:o2" }), &json!({ "sourceId": "t" })).await;
        let verify = json!({ "id": theirs["watch"]["id"], "generation": 0, "fetchedDigest": "w", "maxAttempts": 5, "dueAt": rfc3339(START) });
        assert_eq!(harness.act("recordVerification", verify, "outcome").await["outcome"], "VERIFIED");
        finalized(&harness, "k3", &json!({}), &json!({ "sourceId": "s2", "winnerDigest": "w2" })).await;
        let found = harness.ask("{ document(id: \"d\") { watches { ownerDid sourceId status generation } } }", json!({})).await;
        assert_eq!(found["document"]["watches"], json!([
            { "ownerDid": "did:o1", "sourceId": "s2", "status": "PENDING_VERIFICATION", "generation": 0 },
            { "ownerDid": "did:o2", "sourceId": "t", "status": "PENDING_VERIFICATION", "generation": 1 },
        ]));
        let last: Vec<Value> = harness.log("transition toState").await.split_off(harness.log("cursor").await.len() - 5);
        let told: Vec<&str> = last.iter().map(|change| change["transition"].as_str().unwrap()).collect();
        assert_eq!(told, ["finalize", "record_winner", "remove", "arm", "arm"]);
    }

    /// L04 of the cases: the odd row never stops others.
    async fn a_watch_at_its_bound_does_not_keep_others_from_changing(harness: Harness) {
        finalized(&harness, "k1", &json!({}), &json!({})).await;
        harness.database.execute("UPDATE kubun_connector_projection_watch SET version = 2147483647, verification_status = 'verified'").await;
        let theirs = finalized(&harness, "k2", &json!({ "ownerDid": "did:o2" }), &json!({ "sourceId": "t", "winnerDigest": "w2" })).await;
        assert_eq!(theirs["outcome"], "FINALIZED");
        assert_eq!(recorded(&harness, "w3", None).await["outcome"], "NOOP");
    }

    async fn results_and_intents_are_kept_apart_from_the_rows(harness: Harness) {
        let first = finalized(&harness, "k", &json!({ "reissueIntent": { "a": 1 } }), &json!({ "resultEntity": { "etag": 7 } })).await;
        assert_eq!(first["operation"]["resultEntity"], json!({ "etag": 7 }));
        let release = json!({ "id": first["operation"]["id"], "leaseToken": "L1" });
        let released = harness.act("releaseLease", release, "operation { resultEntity reissueIntent }").await;
        assert_eq!(released["operation"], json!({ "resultEntity": { "etag": 7 }, "reissueIntent": { "a": 1 } }));
        let lease = json!({ "id": first["operation"]["id"], "leaseToken": "L1", "leaseMs": 1_000 });
        harness.act("acquireLease", lease, "outcome").await;
        let again = json!({ "id": first["operation"]["id"], "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
        let cleared = harness.act("finalizeOperation", again, "operation { resultEntity }").await;
        assert_eq!(cleared["operation"]["resultEntity"], Value::Null, "a finalize says what the result is, none too");
    }

    async fn asking_for_a_watch_that_is_not_there_writes_nothing(harness: Harness) {
        let commits = *harness.app.store.commits().borrow();
        let id = writewatch::domain::ids::NodeId::of_key(writewatch::domain::words::EntityKind::Watch, &["nothing"]).encode();
        let found = harness.ask("query($id: ID!) { node(id: $id) { id } }", json!({ "id": id })).await;
        assert_eq!(found["node"], Value::Null);
        assert_eq!(*harness.app.store.commits().borrow(), commits);
    }
}
