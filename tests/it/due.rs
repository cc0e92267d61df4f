//! Due work: what is in the lists, in which order, and who is left out.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, claim, on_both_engines};

async fn operations(harness: &Harness, filter: Value) -> Vec<String> {
    let query = "query($filter: DueFilter) { dueOperations(filter: $filter) { nodes { operationId } totalCount } }";
    let found = harness.ask(query, json!({ "filter": filter })).await["dueOperations"].take();
    let nodes = found["nodes"].as_array().unwrap();
    assert_eq!(found["totalCount"], nodes.len());
    nodes.iter().map(|node| node["operationId"].as_str().unwrap().to_owned()).collect()
}

async fn watches(harness: &Harness, filter: Value) -> Vec<String> {
    let query = "query($filter: DueFilter) { dueWatches(filter: $filter) { nodes { documentId } } }";
    let found = harness.ask(query, json!({ "filter": filter })).await["dueWatches"]["nodes"].take();
    found.as_array().unwrap().iter().map(|node| node["documentId"].as_str().unwrap().to_owned()).collect()
}

async fn claimed(harness: &Harness, key: &str, changes: &Value) -> Value {
    harness.act("claimOperation", claim(key, changes), "operation { id }").await["operation"]["id"].take()
}

/// A watch of a document by this name, verified or failed; its id.
async fn settled(harness: &Harness, name: &str, fetched: &str) -> Value {
    let id = claimed(harness, name, &json!({ "sourceId": name })).await;
    let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": name, "sourceId": name, "winnerDigest": "w1" });
    let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
    let verify = json!({ "id": watch, "generation": 0, "fetchedDigest": fetched, "maxAttempts": 1, "dueAt": rfc3339(harness.now()) });
    harness.act("recordVerification", verify, "outcome").await;
    watch
}

async fn move_winner(harness: &Harness, document: &str, digest: &str) {
    let at = harness.now();
    let sql = format!(
        "INSERT INTO document_winner (document_id, digest, updated_at) VALUES ('{document}', '{digest}', {at}) \
        ON CONFLICT (document_id) DO UPDATE SET digest = excluded.digest, updated_at = excluded.updated_at"
    );
    harness.database.execute(&sql).await;
}

on_both_engines! {
    async fn operations_come_oldest_due_first_and_leased_ones_only_when_asked_for(harness: Harness) {
        for (key, due) in [("late", Some(5_000)), ("new", None), ("soon", Some(1_000)), ("future", Some(90_000))] {
            let id = claimed(&harness, key, &json!({ "connectorName": if key == "late" { "other" } else { "contacts" } })).await;
            if let Some(due) = due {
                let at = rfc3339(harness.now() + due);
                harness.act("deferOperation", json!({ "id": id, "leaseToken": "L1", "nextAttemptAt": at }), "outcome").await;
            }
        }
        let dead = claimed(&harness, "dead", &json!({})).await;
        harness.act("recordOperation", json!({ "id": dead, "leaseToken": "L1", "version": 0, "toState": "DEAD" }), "outcome").await;
        assert_eq!(operations(&harness, json!({ "includeLeased": true })).await, ["new"]);
        harness.advance(5_000);
        assert_eq!(operations(&harness, json!({ "includeLeased": true })).await, ["new", "soon", "late"]);
        assert_eq!(operations(&harness, json!({})).await, [""; 0], "all are under live leases");
        harness.advance(25_001);
        assert_eq!(operations(&harness, json!({})).await, ["new", "soon", "late"]);
        assert_eq!(operations(&harness, json!({ "connectorName": "other" })).await, ["late"]);
        assert_eq!(operations(&harness, json!({ "ownerDid": "did:other" })).await, [""; 0]);
    }

    async fn pages_of_due_operations_go_on_where_they_ended(harness: Harness) {
        for place in 0..5 {
            claimed(&harness, &format!("k{place}"), &json!({})).await;
            harness.advance(1);
        }
        let query = "query($after: String) { dueOperations(filter: { includeLeased: true }, first: 2, after: $after) {
            nodes { operationId } pageInfo { hasNextPage endCursor } } }";
        let (mut seen, mut after) = (vec![], Value::Null);
        loop {
            let page = harness.ask(query, json!({ "after": after })).await["dueOperations"].take();
            seen.extend(page["nodes"].as_array().unwrap().iter().map(|node| node["operationId"].as_str().unwrap().to_owned()));
            after = page["pageInfo"]["endCursor"].clone();
            if page["pageInfo"]["hasNextPage"] == false {
                break;
            }
        }
        assert_eq!(seen, ["k0", "k1", "k2", "k3", "k4"]);
    }

    async fn watches_are_due_by_schedule_and_by_drift_each_once(harness: Harness) {
        settled(&harness, "verified", "w1").await;
        settled(&harness, "failed", "other").await;
        assert_eq!(watches(&harness, json!({})).await, [""; 0]);
        harness.advance(10);
        move_winner(&harness, "verified", "w2").await;
        harness.advance(10);
        move_winner(&harness, "failed", "w2").await;
        assert_eq!(watches(&harness, json!({})).await, ["verified", "failed"], "by when the winner moved");
        // A winner that is back where it was is no drift; one that nobody watches is skipped.
        move_winner(&harness, "verified", "w1").await;
        move_winner(&harness, "unwatched", "w1").await;
        assert_eq!(watches(&harness, json!({})).await, ["failed"]);
        let id = claimed(&harness, "pending", &json!({ "sourceId": "pending", "connectorName": "other" })).await;
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "pending", "sourceId": "p", "winnerDigest": "w1" });
        let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
        assert_eq!(watches(&harness, json!({})).await, ["failed", "pending"]);
        assert_eq!(watches(&harness, json!({ "connectorName": "other" })).await, ["pending"]);
        harness.act("claimWatchAttempt", json!({ "id": watch, "generation": 0, "claimMs": 1_000 }), "outcome").await;
        assert_eq!(watches(&harness, json!({})).await, ["failed"], "somebody works on it");
        assert_eq!(watches(&harness, json!({ "includeLeased": true })).await, ["failed", "pending"]);
    }

    async fn a_watch_that_the_package_settles_on_another_winner_is_due(harness: Harness) {
        settled(&harness, "d", "w1").await;
        harness.database.execute("UPDATE kubun_connector_projection_watch SET verified_state_digest = 'p', observed_winner_digest = 'p'").await;
        assert_eq!(watches(&harness, json!({})).await, ["d"]);
        harness.database.execute("UPDATE kubun_connector_projection_watch SET verified_state_digest = 'w1', observed_winner_digest = 'w1'").await;
        assert_eq!(watches(&harness, json!({})).await, [""; 0]);
        move_winner(&harness, "e", "w1").await;
        harness.database.execute("INSERT INTO kubun_connector_projection_watch (owner_did, connector_name, model, account_key, source_id, document_id,
            verified_state_digest, observed_winner_digest, verification_status, created_at, updated_at) VALUES ('o', 'c', 'm', 'a', 's', 'e', 'p', 'p', 'verified', 1, 1)").await;
        assert_eq!(watches(&harness, json!({})).await, ["e"]);
    }

    async fn what_drifted_is_done_once_it_is_armed(harness: Harness) {
        let watch = settled(&harness, "d", "w1").await;
        move_winner(&harness, "d", "w2").await;
        let due = rfc3339(harness.now() + 60_000);
        let armed = harness.act("armWatch", json!({ "id": watch, "triggeringWinner": "w2", "dueAt": due }), "outcome").await;
        assert_eq!(armed["outcome"], "OPENED");
        assert_eq!(watches(&harness, json!({})).await, [""; 0]);
    }

    async fn a_failed_repair_is_due_when_its_winner_returned_to_what_was_verified(harness: Harness) {
        let watch = settled(&harness, "d", "w1").await;
        harness.act("recordWinner", json!({ "documentId": "d", "digest": "w2" }), "outcome").await;
        let verify = json!({ "id": watch, "generation": 1, "fetchedDigest": "w1", "maxAttempts": 1, "dueAt": rfc3339(harness.now()) });
        assert_eq!(harness.act("recordVerification", verify, "outcome").await["outcome"], "REPAIR_FAILED");
        assert_eq!(watches(&harness, json!({})).await, [""; 0]);
        move_winner(&harness, "d", "w1").await;
        assert_eq!(watches(&harness, json!({})).await, ["d"]);
    }
}
