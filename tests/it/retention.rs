//! Retention: what may go and what stays, tombstones, whole documents.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::domain::viewer::Viewer;
use writewatch::store::Engine;

use crate::harness::{Database, Harness, claim, on_both_engines};
use crate::write_states::draws;

/// The mutations whose rows are here.
pub const ACTS: [&str; 2] = ["collectFinishedOperations", "sweepDocument"];

/// A row as the package would write it, settled long ago.
pub async fn settled(harness: &Harness, key: &str, changes: &[(&str, &str)]) {
    let mut columns = BTreeMap::from([
        ("caller_did", "'did:c1'".to_owned()),
        ("operation_id", format!("'{key}'")),
        ("node_key", format!("'node-{key}'")),
        ("owner_did", "'did:o1'".to_owned()),
        ("connector_name", "'contacts'".to_owned()),
        ("model", "'Contact'".to_owned()),
        ("op", "'update'".to_owned()),
        ("account_key", "'a1'".to_owned()),
        ("target", "'t-1'".to_owned()),
        ("source_id", "'s1'".to_owned()),
        ("deterministic_event_id", "'ev-1'".to_owned()),
        ("payload_hash", "'h-1'".to_owned()),
        ("reissue_intent", "'null'".to_owned()),
        ("document_id", "'d1'".to_owned()),
        ("state", "'committed'".to_owned()),
        ("created_at", "1".to_owned()),
        ("updated_at", "1".to_owned()),
    ]);
    for (column, value) in changes {
        columns.insert(column, (*value).to_owned());
    }
    let (names, values): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let sql = format!("INSERT INTO kubun_connector_operation ({}) VALUES ({})", names.join(", "), values.join(", "));
    harness.database.execute(&sql).await;
}

pub async fn collect(harness: &Harness, before: i64, limit: i64) -> i64 {
    let input = json!({ "before": rfc3339(before), "limit": limit });
    harness.act("collectFinishedOperations", input, "deleted").await["deleted"].as_i64().unwrap()
}

async fn left(harness: &Harness) -> Vec<String> {
    harness.database.texts("SELECT operation_id FROM kubun_connector_operation ORDER BY operation_id").await
}

/// The write states of documents for everybody who may see something of them.
pub async fn states(harness: &Harness, documents: &[String]) -> Vec<Value> {
    let mut told = vec![];
    let query = "query($ids: [String!]!) { documents(ids: $ids) { id writeState lastCommit { id } inFlight { id } } }";
    for viewer in [None, Some("did:c0"), Some("did:c1"), Some("did:o0"), Some("did:o1")] {
        let asking = viewer.map_or_else(Viewer::open, Viewer::of);
        told.push(harness.answer_to(asking, query, json!({ "ids": documents })).await);
    }
    told
}

async fn remembered_for_a_week(engine: Engine) {
    let harness = Harness::start_with(engine, Database::fresh(engine).await, &["--keep-tombstones-days", "7"]).await;
    settled(&harness, "k", &[("document_id", "NULL")]).await;
    assert_eq!(collect(&harness, 100, 10).await, 1);
    harness.advance(7 * 24 * 3_600 * 1_000 - 1);
    assert_eq!(harness.act("claimOperation", claim("k", &json!({})), "outcome").await["outcome"], "SETTLED");
    harness.advance(1);
    assert_eq!(harness.act("claimOperation", claim("k", &json!({})), "outcome").await["outcome"], "CLAIMED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_collected_is_remembered_for_as_long_as_it_is_said() {
    remembered_for_a_week(Engine::Sqlite).await;
    remembered_for_a_week(Engine::Postgres).await;
}

on_both_engines! {
    async fn the_newest_of_each_caller_and_owner_stay_whoever_wrote_them(harness: Harness) {
        // Two callers and two owners of one document, each with an older and a newer commit and a newer failure.
        for (place, (caller, owner)) in [("did:c1", "did:o1"), ("did:c2", "did:o1"), ("did:c2", "did:o2")].iter().enumerate() {
            let (caller, owner) = (format!("'{caller}'"), format!("'{owner}'"));
            for (step, state) in ["'committed'", "'committed'", "'dead'", "'dead'"].iter().enumerate() {
                let created = (step * 10 + place).to_string();
                settled(&harness, &format!("{place}{step}"), &[("caller_did", &caller), ("owner_did", &owner), ("state", state), ("created_at", &created)]).await;
            }
        }
        // By caller c1: commit 01, finished 03. By c2: commit 21, finished 23. By owner o1: commit 11, finished 13.
        // By owner o2: commit 21, finished 23.
        assert_eq!(collect(&harness, 100, 1000).await, 6);
        assert_eq!(left(&harness).await, ["01", "03", "11", "13", "21", "23"]);
        assert_eq!(collect(&harness, 100, 1000).await, 0);
    }

    async fn what_has_no_document_goes_and_what_is_leased_young_or_open_stays(harness: Harness) {
        let lease = harness.now().to_string();
        for (key, changes) in [
            ("gone", vec![]),
            ("expired", vec![("lease_token", "'L'"), ("lease_expires_at", "5")]),
            ("leased", vec![("lease_token", "'L'"), ("lease_expires_at", lease.as_str())]),
            ("endless", vec![("lease_token", "'L'")]),
            ("young", vec![("updated_at", "100")]),
            ("open", vec![("state", "'attempted'")]),
            ("unclear", vec![("state", "'reconcile_only'")]),
        ] {
            let changes: Vec<_> = changes.into_iter().chain([("document_id", "NULL")]).collect();
            settled(&harness, key, &changes).await;
        }
        assert_eq!(collect(&harness, 100, 1000).await, 2);
        assert_eq!(left(&harness).await, ["endless", "leased", "open", "unclear", "young"]);
        harness.advance(1);
        assert_eq!(collect(&harness, 100, 1000).await, 1, "the lease has expired");
    }

    async fn the_oldest_go_first_as_many_as_asked_for(harness: Harness) {
        for (key, updated) in [("b", "3"), ("c", "1"), ("a", "2")] {
            settled(&harness, key, &[("document_id", "NULL"), ("updated_at", updated)]).await;
        }
        assert_eq!(collect(&harness, 100, 2).await, 2);
        assert_eq!(left(&harness).await, ["b"]);
        for limit in [0, 1_001] {
            let error = harness.refuse("collectFinishedOperations", json!({ "before": rfc3339(1), "limit": limit })).await;
            assert_eq!(error["extensions"]["field"], "limit");
        }
    }

    async fn a_commit_that_moves_to_another_document_keeps_nothing_any_more(harness: Harness) {
        for key in ["old", "new"] {
            let id = harness.act("claimOperation", claim(key, &json!({ "sourceId": key })), "operation { id }").await["operation"]["id"].take();
            let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d1", "sourceId": "s", "winnerDigest": "w" });
            harness.act("finalizeOperation", finalize.clone(), "outcome").await;
            harness.advance(1);
            if key == "new" {
                let mut moved = finalize;
                moved["documentId"] = json!("d2");
                assert_eq!(harness.act("finalizeOperation", moved, "outcome").await["outcome"], "FINALIZED");
            }
        }
        harness.advance(100_000);
        assert_eq!(collect(&harness, harness.now(), 10).await, 0, "each is the newest of its document now");
        assert_eq!(left(&harness).await, ["new", "old"]);
    }

    async fn marks_whose_keeper_was_removed_do_not_starve_the_others(harness: Harness) {
        for document in 0..20 {
            let name = format!("'d{document}'");
            settled(&harness, &format!("old{document}"), &[("document_id", &name)]).await;
            settled(&harness, &format!("new{document}"), &[("document_id", &name), ("created_at", "2")]).await;
        }
        harness.database.execute("DELETE FROM kubun_connector_operation WHERE operation_id LIKE 'new%'").await;
        for key in ["a", "b"] {
            settled(&harness, key, &[("document_id", "NULL"), ("updated_at", "50")]).await;
        }
        assert_eq!(collect(&harness, 100, 5).await, 2);
        assert_eq!(left(&harness).await.len(), 20);
        settled(&harness, "newer", &[("document_id", "'d7'"), ("created_at", "9")]).await;
        assert_eq!(collect(&harness, 100, 5).await, 1, "marked again once something newer is there");
    }

    async fn a_replay_of_what_was_collected_is_settled_and_never_claimed(harness: Harness) {
        settled(&harness, "k", &[("document_id", "NULL"), ("state", "'dead'"), ("updated_at", "7")]).await;
        settled(&harness, "k2", &[("document_id", "'d7'")]).await;
        settled(&harness, "k3", &[("document_id", "'d7'"), ("created_at", "2")]).await;
        assert_eq!(collect(&harness, 100, 10).await, 2);
        let fields = "outcome settledState settledDocumentId operation { id }";
        for (key, state, document) in [("k", "DEAD", Value::Null), ("k2", "COMMITTED", json!("d7"))] {
            let answer = harness.act("claimOperation", claim(key, &json!({})), fields).await;
            assert_eq!(answer, json!({ "outcome": "SETTLED", "settledState": state, "settledDocumentId": document, "operation": null }));
            let other = claim(key, &json!({ "payloadHash": "h-2" }));
            assert_eq!(harness.act("claimOperation", other, fields).await, json!({ "outcome": "CONFLICT", "settledState": null, "settledDocumentId": null, "operation": null }));
        }
        let log = harness.log("transition entity toState").await;
        assert_eq!(log.len(), 2);
        assert_eq!(log[0], json!({ "transition": "collect", "entity": "OPERATION", "toState": null }));
        // A year later nothing is remembered.
        harness.advance(365 * 24 * 3_600 * 1_000 + 1);
        assert_eq!(harness.act("claimOperation", claim("k", &json!({})), "outcome").await["outcome"], "CLAIMED");
    }

    async fn a_document_is_swept_whole_or_not_at_all(harness: Harness) {
        let id = harness.act("claimOperation", claim("k", &json!({ "documentId": "d1" })), "operation { id }").await["operation"]["id"].take();
        let fields = "outcome unfinished { id } operationsRemoved document { writeState hasConnectorWork winner { digest } trim { updatedAt } repair { writtenAt } watches { id } }";
        harness.act("setEntityTrim", json!({ "documentId": "d1", "ownerDid": "did:o1", "connectorName": "contacts", "trimmedFields": ["a"] }), "trim { updatedAt }").await;
        let repair = json!({ "documentId": "d1", "owner": "did:o1", "fetchHlc": "1700000000000-0000-n1", "decisionHlc": "1700000000000-0000-n1", "present": true });
        harness.act("putObservationRepair", repair, "repair { writtenAt }").await;
        let relist = json!({ "ownerDid": "did:o1", "connectorName": "contacts", "partition": "p", "provenance": "r", "modelId": "Contact", "scope": {}, "keep": [],
            "sourceFetchHlc": "1700000000000-0000-n1", "kind": "relist", "complete": true, "candidates": [{ "documentId": "d1", "sourceId": "s", "modelId": "Contact" }] });
        harness.act("recordRelistReceipt", relist, "outcome").await;
        let held = harness.act("sweepDocument", json!({ "documentId": "d1" }), fields).await;
        assert_eq!((&held["outcome"], &held["unfinished"], &held["operationsRemoved"]), (&json!("UNFINISHED_OPERATION"), &json!([{ "id": id }]), &json!(0)));
        assert_eq!(held["document"]["hasConnectorWork"], true);
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d1", "sourceId": "s", "winnerDigest": "w" });
        harness.act("finalizeOperation", finalize, "outcome").await;
        let swept = harness.act("sweepDocument", json!({ "documentId": "d1" }), fields).await;
        let nothing = json!({ "writeState": "NONE", "hasConnectorWork": false, "winner": null, "trim": null, "repair": null, "watches": [] });
        assert_eq!(swept, json!({ "outcome": "SWEPT", "unfinished": [], "operationsRemoved": 1, "document": nothing }), "leased or not");
        assert_eq!(harness.act("claimOperation", claim("k", &json!({})), "outcome").await["outcome"], "SETTLED");
        let candidates = harness.ask("{ sweepCandidates { nodes { id } } }", json!({})).await;
        assert_eq!(candidates["sweepCandidates"]["nodes"], json!([]));
    }

    async fn collecting_never_changes_a_write_state_for_anybody(harness: Harness) {
        let documents: Vec<String> = (0..6).map(|place| format!("d{place}")).collect();
        // A history drawn by a fixed rule; a failure names its seed.
        for seed in 1..=6_u64 {
            let mut draw = draws(seed);
            for step in 0..40 {
                let (caller, owner) = (format!("'did:c{}'", draw(2)), format!("'did:o{}'", draw(2)));
                let document = format!("'d{}'", draw(6));
                let word = ["'committed'", "'committed'", "'dead'", "'dead'", "'attempted'", "'reconcile_only'"][usize::try_from(draw(6)).unwrap()];
                let created = draw(30).to_string();
                let key = format!("{seed}-{step}");
                settled(&harness, &key, &[("caller_did", &caller), ("owner_did", &owner), ("document_id", &document), ("state", word), ("created_at", &created)]).await;
                if draw(4) == 0 {
                    let sql = format!("UPDATE kubun_connector_operation SET state = 'dead' WHERE operation_id = '{key}' AND state = 'attempted'");
                    harness.database.execute(&sql).await;
                }
            }
            let open = "SELECT operation_id FROM kubun_connector_operation WHERE state IN ('attempted', 'reconcile_only') ORDER BY 1";
            let (before, unfinished) = (states(&harness, &documents).await, harness.database.texts(open).await);
            let mut deleted = 0;
            loop {
                let count = collect(&harness, 100, 3).await;
                deleted += count;
                assert_eq!(states(&harness, &documents).await, before, "seed {seed}");
                if count == 0 {
                    break;
                }
            }
            assert!(deleted > 5, "seed {seed}: only {deleted} went");
            assert_eq!(harness.database.texts(open).await, unfinished, "seed {seed}");
        }
    }
}
