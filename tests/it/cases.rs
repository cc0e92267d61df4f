//! Faults met elsewhere, tried here: those that no other file has by their numbers.

use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use sqlx::{Connection as _, Executor as _, SqliteConnection};
use writewatch::domain::time::rfc3339;
use writewatch::store::Engine;

use crate::harness::{Harness, claim, merge, on_both_engines};

async fn claimed(harness: &Harness, changes: &Value) -> Value {
    harness.act("claimOperation", claim("k", changes), "outcome operation { id state reissueIntent payloadHash }").await
}

on_both_engines! {
    /// Its owner is gone after the claim.
    async fn l05_a_claim_whose_owner_is_gone_is_free_when_its_lease_ends_and_not_before(harness: Harness) {
        let id = claimed(&harness, &json!({})).await["operation"]["id"].take();
        let take = json!({ "id": id, "leaseToken": "L2", "leaseMs": 30_000 });
        harness.advance(30_000);
        assert_eq!(harness.act("acquireLease", take.clone(), "outcome").await["outcome"], "HELD");
        harness.advance(1);
        let again = claimed(&harness, &json!({})).await;
        assert_eq!((&again["outcome"], &again["operation"]["id"]), (&json!("EXISTS"), &id), "no second operation");
        assert_eq!(harness.act("acquireLease", take, "outcome").await["outcome"], "ACQUIRED");
    }

    /// Its worker is gone in the last attempt that it may have.
    async fn l05_a_watch_in_its_last_attempt_is_due_again_and_ends_as_failed(harness: Harness) {
        let id = claimed(&harness, &json!({})).await["operation"]["id"].take();
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
        let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
        let attempt = json!({ "id": watch, "generation": 0, "claimMs": 5_000 });
        assert_eq!(harness.act("claimWatchAttempt", attempt.clone(), "outcome").await["outcome"], "CLAIMED");
        let due = async || harness.ask("{ dueWatches { nodes { id } } }", json!({})).await["dueWatches"]["nodes"].take();
        harness.advance(4_999);
        assert_eq!(due().await, json!([]));
        harness.advance(1);
        assert_eq!(due().await, json!([{ "id": watch }]));
        assert_eq!(harness.act("claimWatchAttempt", attempt, "outcome").await["outcome"], "CLAIMED");
        let found = json!({ "id": watch, "generation": 0, "fetchedDigest": "other", "maxAttempts": 1, "dueAt": rfc3339(harness.now()) });
        assert_eq!(harness.act("recordVerification", found, "outcome").await["outcome"], "REPAIR_FAILED");
        assert_eq!(due().await, json!([]));
    }

    async fn l08_another_payload_under_a_used_key_is_a_conflict_and_changes_nothing(harness: Harness) {
        let intent = json!({ "reissueIntent": { "body": 1 } });
        let id = claimed(&harness, &intent).await["operation"]["id"].take();
        for ended in [false, true] {
            if ended {
                let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
                assert_eq!(harness.act("finalizeOperation", finalize, "outcome").await["outcome"], "FINALIZED");
            }
            let before = harness.database.rows("kubun_connector_operation", &["operation_id", "updated_at", "payload_hash"], "operation_id").await;
            for other in [json!({ "payloadHash": "h-2" }), json!({ "connectorName": "calendar" })] {
                let mut changes = intent.clone();
                merge(&mut changes, &other);
                let answer = claimed(&harness, &changes).await;
                assert_eq!(answer, json!({ "outcome": "CONFLICT", "operation": null }), "ended: {ended}, {other}");
            }
            let replay = claimed(&harness, &json!({ "reissueIntent": { "body": 2 } })).await;
            let state = if ended { "COMMITTED" } else { "ATTEMPTED" };
            let stored = json!({ "id": id, "state": state, "reissueIntent": { "body": 1 }, "payloadHash": "h-1" });
            assert_eq!(replay, json!({ "outcome": "EXISTS", "operation": stored }), "the hash decides, the stored intent stays");
            let after = harness.database.rows("kubun_connector_operation", &["operation_id", "updated_at", "payload_hash"], "operation_id").await;
            assert_eq!(after, before);
        }
        let other = claimed(&harness, &json!({ "callerDid": "did:c2", "payloadHash": "h-2" })).await;
        assert_eq!(other["outcome"], "CLAIMED", "another caller's key is another key");
    }
}

/// Claims under way at once, each its outcome or its error's code.
async fn fifty_claims(harness: &Harness, prefix: &str) -> Vec<String> {
    let query = "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { outcome } }";
    let claims = (0..50).map(async |place| {
        let input = claim(&format!("{prefix}{place}"), &json!({}));
        let answer = harness.answer(query, json!({ "input": input })).await;
        let told = answer["data"]["claimOperation"]["outcome"]
            .as_str()
            .or_else(|| answer["errors"][0]["extensions"]["code"].as_str());
        told.unwrap_or_else(|| panic!("neither an outcome nor a code: {answer}")).to_owned()
    });
    join_all(claims).await
}

/// Another program writes to the file: for less than we wait, and for more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d01_a_file_that_another_program_writes_to_is_waited_for_and_then_told_as_busy() {
    let harness = Harness::start(Engine::Sqlite).await;
    let mut other = SqliteConnection::connect(&harness.database.url()).await.unwrap();
    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let (answers, ()) = tokio::join!(fifty_claims(&harness, "a"), async {
        tokio::time::sleep(Duration::from_secs(1)).await;
        other.execute("COMMIT").await.unwrap();
    });
    assert_eq!(answers, vec!["CLAIMED"; 50], "within the time all succeed");

    other.execute("BEGIN IMMEDIATE").await.unwrap();
    let answers = fifty_claims(&harness, "b").await;
    assert_eq!(answers, vec!["BUSY"; 50], "past it each is told");
    other.execute("COMMIT").await.unwrap();
    let written =
        harness.database.texts("SELECT operation_id FROM kubun_connector_operation WHERE operation_id LIKE 'b%'").await;
    assert_eq!(written, [""; 0], "and nothing of them was written");
    assert_eq!(fifty_claims(&harness, "b").await, vec!["CLAIMED"; 50], "the next ones are fine");
}
