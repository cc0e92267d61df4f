//! Lists by write state: they say what the documents themselves say, for everybody, whoever wrote what.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use writewatch::domain::viewer::Viewer;
use writewatch::domain::words::DocumentWriteState;

use crate::harness::{Harness, claim, on_both_engines};
use crate::retention::settled;

pub const VIEWERS: [Option<&str>; 5] = [None, Some("did:c0"), Some("did:c1"), Some("did:o0"), Some("did:o1")];

pub fn asking(viewer: Option<&str>) -> Viewer {
    viewer.map_or_else(Viewer::open, Viewer::of)
}

fn spelled(state: DocumentWriteState) -> String {
    state.as_str().to_uppercase()
}

/// Every page of the documents with these states.
async fn listed(harness: &Harness, viewer: Option<&str>, states: &[String], filter: &Value) -> Vec<String> {
    let query = "query($states: [DocumentWriteState!]!, $filter: DocumentFilter, $after: String) {
        documentsByWriteState(states: $states, filter: $filter, first: 3, after: $after) {
        nodes { id } pageInfo { hasNextPage endCursor } totalCount } }";
    let (mut found, mut after) = (vec![], Value::Null);
    loop {
        let variables = json!({ "states": states, "filter": filter, "after": after });
        let answer = harness.answer_to(asking(viewer), query, variables).await;
        assert!(answer.get("errors").is_none(), "{answer}");
        let page = &answer["data"]["documentsByWriteState"];
        found.extend(page["nodes"].as_array().unwrap().iter().map(|node| node["id"].as_str().unwrap().to_owned()));
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            assert_eq!(page["totalCount"], found.len());
            return found;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

/// The documents by the write state that each says itself.
async fn said(harness: &Harness, viewer: Option<&str>, documents: &[String]) -> BTreeMap<String, Vec<String>> {
    let query = "query($ids: [String!]!) { documents(ids: $ids) { id writeState } }";
    let answer = harness.answer_to(asking(viewer), query, json!({ "ids": documents })).await;
    let mut states: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for document in answer["data"]["documents"].as_array().unwrap() {
        let state = document["writeState"].as_str().unwrap().to_owned();
        states.entry(state).or_default().push(document["id"].as_str().unwrap().to_owned());
    }
    states
}

/// A fixed sequence of numbers below a bound.
pub fn draws(seed: u64) -> impl FnMut(u64) -> u64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    move |below| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state % below
    }
}

/// One change of the package's: an operation, a watch, a step of either, or a removal.
pub async fn scribble(harness: &Harness, key: &str, draw: &mut impl FnMut(u64) -> u64) {
    let (caller, owner, document) = (draw(2), draw(2), draw(8));
    let word = ["attempted", "reconcile_only", "committed", "committed", "dead"][usize::try_from(draw(5)).unwrap()];
    let status = ["pending_verification", "verified", "repair_failed"][usize::try_from(draw(3)).unwrap()];
    match draw(9) {
        0..=3 => {
            let changes = [
                ("caller_did", format!("'did:c{caller}'")),
                ("owner_did", format!("'did:o{owner}'")),
                ("document_id", format!("'d{document}'")),
                ("state", format!("'{word}'")),
                ("created_at", draw(30).to_string()),
            ];
            let changes = changes.each_ref().map(|(column, value)| (*column, value.as_str()));
            settled(harness, key, &changes).await;
        }
        4 | 5 => {
            let sql = format!(
                "INSERT INTO kubun_connector_projection_watch (owner_did, connector_name, model, account_key, source_id, document_id, \
                verification_status, created_at, updated_at) VALUES ('did:o{owner}', 'contacts', 'Contact', 'a1', 's{document}', 'd{document}', \
                '{status}', 1, 1) ON CONFLICT (owner_did, model, document_id) DO UPDATE SET verification_status = excluded.verification_status"
            );
            harness.database.execute(&sql).await;
        }
        7 => {
            // What newer operations had made needless may be needed again.
            let sql = format!(
                "DELETE FROM kubun_connector_operation WHERE document_id = 'd{document}' AND created_at >= {}",
                draw(30)
            );
            harness.database.execute(&sql).await;
        }
        6 => {
            let sql = format!(
                "UPDATE kubun_connector_operation SET state = '{word}' WHERE document_id = 'd{document}' AND state = 'attempted'"
            );
            harness.database.execute(&sql).await;
        }
        _ => {
            let sql = format!(
                "DELETE FROM kubun_connector_projection_watch WHERE document_id = 'd{document}'; \
                UPDATE kubun_connector_operation SET document_id = 'd{caller}' WHERE document_id = 'd{document}' AND state = 'dead'"
            );
            harness.database.execute(&sql).await;
        }
    }
}

on_both_engines! {
    async fn a_list_says_what_its_documents_say_for_everybody(harness: Harness) {
        let documents: Vec<String> = (0..8).map(|place| format!("d{place}")).collect();
        let mut seen = std::collections::BTreeSet::new();
        for seed in 1..=3_u64 {
            let mut draw = draws(seed);
            for step in 0..60 {
                scribble(&harness, &format!("{seed}-{step}"), &mut draw).await;
                if step % 10 != 9 {
                    continue;
                }
                for viewer in VIEWERS {
                    let mut states = said(&harness, viewer, &documents).await;
                    for state in DocumentWriteState::ALL.iter().filter(|state| **state != DocumentWriteState::None) {
                        let word = spelled(*state);
                        let expected = states.remove(&word).unwrap_or_default();
                        let found = listed(&harness, viewer, std::slice::from_ref(&word), &Value::Null).await;
                        assert_eq!(found, expected, "seed {seed}, step {step}, {viewer:?}: {word}");
                        if !found.is_empty() {
                            seen.insert(word);
                        }
                    }
                }
            }
            let two = ["PENDING".to_owned(), "FAILED".to_owned()];
            let mut expected = said(&harness, None, &documents).await;
            let mut expected: Vec<String> = two.iter().flat_map(|state| expected.remove(state).unwrap_or_default()).collect();
            expected.sort();
            assert_eq!(listed(&harness, None, &two, &Value::Null).await, expected, "seed {seed}: two states in one order");
        }
        assert!(seen.len() >= 6, "only {seen:?} came about");
    }

    async fn a_document_of_very_many_open_operations_is_told_to_everybody(harness: Harness) {
        let rows = |from: usize, count: usize, caller: &str, created: i64| {
            let rows: Vec<String> = (from..from + count).map(|place| format!("('did:{caller}', 'p{place}', 'node-{place}', 'did:o0', 'c', 'M', \
                'create', 'a', 't', 'e', 'h', 'null', 'attempted', 'd0', {created}, 1)")).collect();
            format!("INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, \
                target, deterministic_event_id, payload_hash, reissue_intent, state, document_id, created_at, updated_at) VALUES {}", rows.join(", "))
        };
        let pending = ["PENDING".to_owned()];
        harness.database.execute(&rows(0, 1, "c1", 1)).await;
        assert_eq!(listed(&harness, Some("did:c1"), &pending, &Value::Null).await, ["d0"]);
        for part in 0..6 {
            harness.database.execute(&rows(1 + part * 1_000, 1_000, "c0", 2)).await;
        }
        for viewer in [None, Some("did:c0"), Some("did:c1"), Some("did:o0")] {
            assert_eq!(listed(&harness, viewer, &pending, &Value::Null).await, ["d0"], "{viewer:?}");
        }
        harness.database.execute("UPDATE kubun_connector_operation SET state = 'committed' WHERE caller_did = 'did:c1'").await;
        assert_eq!(listed(&harness, Some("did:c1"), &pending, &Value::Null).await, [""; 0]);
        assert_eq!(listed(&harness, Some("did:c1"), &["COMMITTED".to_owned()], &Value::Null).await, ["d0"]);
        assert_eq!(listed(&harness, None, &pending, &Value::Null).await, ["d0"]);
    }

    async fn acts_are_in_the_next_list_and_each_filter_changes_it(harness: Harness) {
        let pending = ["PENDING".to_owned()];
        for (key, changes) in [("a", json!({})), ("b", json!({ "ownerDid": "did:o2" })), ("c", json!({ "connectorName": "calendar" }))] {
            let mut input = claim(key, &changes);
            input["documentId"] = json!(key);
            harness.act("claimOperation", input, "outcome").await;
        }
        assert_eq!(listed(&harness, None, &pending, &Value::Null).await, ["a", "b", "c"]);
        for (filter, expected) in [
            (json!({ "ownerDid": "did:o1" }), vec!["a", "c"]),
            (json!({ "ownerDid": "did:o2" }), vec!["b"]),
            (json!({ "connectorName": "calendar" }), vec!["c"]),
            (json!({ "ownerDid": "did:o2", "connectorName": "calendar" }), vec![]),
        ] {
            assert_eq!(listed(&harness, None, &pending, &filter).await, expected, "{filter}");
        }
        assert_eq!(listed(&harness, Some("did:o2"), &pending, &json!({ "ownerDid": "did:o1" })).await, [""; 0], "nothing of others");
        assert_eq!(listed(&harness, None, &[], &Value::Null).await, [""; 0]);
        let id = harness.ask("{ operation(callerDid: \"did:c1\", operationId: \"a\") { id } }", json!({})).await["operation"]["id"].take();
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "a", "sourceId": "s", "winnerDigest": "w" });
        harness.act("finalizeOperation", finalize, "outcome").await;
        assert_eq!(listed(&harness, None, &pending, &Value::Null).await, ["b", "c"]);
        assert_eq!(listed(&harness, None, &["VERIFYING".to_owned()], &Value::Null).await, ["a"]);
        harness.advance(60_000);
        assert_eq!(harness.act("sweepDocument", json!({ "documentId": "a" }), "outcome").await["outcome"], "SWEPT");
        assert_eq!(listed(&harness, None, &["VERIFYING".to_owned()], &Value::Null).await, [""; 0]);
    }
}
