//! What is said of a document: told to whoever saw an operation or a watch of it when it was said, alike by lists, by whoever
//! resumes and live.

use futures_util::{Stream, StreamExt as _};
use serde_json::{Value, json};
use writewatch::domain::viewer::Viewer;
use writewatch::store::Engine;

use crate::harness::{Harness, claim, next, on_both_engines};

const FOLLOW: &str = "subscription($filter: ChangeFilter, $after: String) { changes(filter: $filter, after: $after) { transition documentId } }";

/// A commit on a document by a caller for an owner.
async fn commit(harness: &Harness, caller: &str, owner: &str, document: &str) {
    let changes = json!({ "callerDid": caller, "ownerDid": owner, "documentId": document });
    let id =
        harness.act("claimOperation", claim(document, &changes), "operation { id }").await["operation"]["id"].take();
    let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": format!("{owner}{document}"), "winnerDigest": "w" });
    harness.act("finalizeOperation", finalize, "outcome").await;
}

async fn say(harness: &Harness, document: &str, digest: &str) {
    harness.act("recordWinner", json!({ "documentId": document, "digest": digest }), "outcome").await;
}

fn about_documents() -> Value {
    json!({ "entities": ["DOCUMENT"] })
}

/// What a list shows somebody of what is said of documents.
async fn listed(harness: &Harness, did: &str) -> Vec<String> {
    let query = "query($filter: ChangeFilter) { changes(filter: $filter) { nodes { transition documentId } } }";
    let page = harness.answer_to(Viewer::of(did), query, json!({ "filter": about_documents() })).await;
    let nodes = page["data"]["changes"]["nodes"].as_array().unwrap().clone();
    nodes.iter().map(told).collect()
}

fn told(change: &Value) -> String {
    format!("{} {}", change["transition"].as_str().unwrap(), change["documentId"].as_str().unwrap())
}

async fn take(answers: &mut (impl Stream<Item = Value> + Unpin), count: usize) -> Vec<String> {
    let mut found = vec![];
    for _ in 0..count {
        found.push(told(&next(answers).await["data"]["changes"]));
    }
    found
}

on_both_engines! {
    async fn lists_whoever_resumes_and_the_live_feed_tell_the_same(harness: Harness) {
        let dids = ["did:owner", "did:caller", "did:late", "did:stranger"];
        let open = |did: &str| harness.follow_as(Viewer::of(did), FOLLOW, json!({ "filter": about_documents() }));
        let mut live: Vec<_> = dids.iter().map(|did| Box::pin(open(did))).collect();
        // Begun once each has asked where the log ends.
        for answers in &mut live {
            assert!(tokio::time::timeout(std::time::Duration::from_millis(50), answers.next()).await.is_err());
        }
        harness.act("claimOperation", claim("mark", &json!({})), "outcome").await;
        let mark = harness.log("cursor").await[0]["cursor"].clone();
        commit(&harness, "did:caller", "did:owner", "d").await;
        say(&harness, "d", "w2").await;
        say(&harness, "nobodys", "w").await;
        harness.act("claimOperation", claim("late", &json!({ "callerDid": "did:late", "ownerDid": "did:late", "documentId": "d" })), "outcome").await;
        say(&harness, "d", "w3").await;
        let trim = json!({ "documentId": "d", "ownerDid": "did:stranger", "connectorName": "contacts", "trimmedFields": [] });
        harness.act("setEntityTrim", trim, "trim { documentId }").await;
        let all = ["record_winner d", "record_winner d", "record_winner d", "set_trim d"];
        for (did, answers) in dids.iter().zip(&mut live) {
            let expected: &[&str] = match *did {
                "did:late" => &all[2..],
                "did:stranger" => &[],
                _ => &all,
            };
            assert_eq!(listed(&harness, did).await, expected, "{did}, by a list");
            let after = json!({ "filter": about_documents(), "after": mark });
            let mut resumed = harness.follow_as(Viewer::of(did), FOLLOW, after);
            assert_eq!(take(&mut resumed, expected.len()).await, expected, "{did}, resuming");
            assert_eq!(take(answers, expected.len()).await, expected, "{did}, live");
            for answers in [&mut resumed as &mut (dyn Stream<Item = Value> + Unpin), answers] {
                let more = tokio::time::timeout(std::time::Duration::from_millis(50), answers.next()).await;
                assert!(more.is_err(), "{did} is told more: {more:?}");
            }
        }
    }

    async fn what_removes_the_last_of_it_is_told_to_who_saw_that(harness: Harness) {
        commit(&harness, "did:caller", "did:owner", "d").await;
        harness.act("sweepDocument", json!({ "documentId": "d" }), "outcome").await;
        for did in ["did:caller", "did:owner"] {
            assert_eq!(listed(&harness, did).await, ["record_winner d", "remove_winner d"], "{did}");
        }
        say(&harness, "d", "w").await;
        assert_eq!(listed(&harness, "did:owner").await.len(), 2, "by now it is nobody's");
    }

    async fn a_caller_that_finalizes_arms_the_owners_watch_and_is_not_shown_it(harness: Harness) {
        let changes = json!({ "callerDid": "did:caller", "ownerDid": "did:owner", "documentId": "d" });
        let id = harness.act("claimOperation", claim("k", &changes), "operation { id }").await["operation"]["id"].take();
        let query = "mutation($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { outcome watch { id } } }";
        let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
        let answer = harness.answer_to(Viewer::of("did:caller"), query, json!({ "input": input })).await;
        assert_eq!(answer["data"]["finalizeOperation"], json!({ "outcome": "FINALIZED", "watch": null }));
        let query = "{ watches { nodes { ownerDid } } changes { nodes { entity } } }";
        let seen = async |did| harness.answer_to(Viewer::of(did), query, json!({})).await["data"].take();
        assert_eq!(seen("did:owner").await["watches"]["nodes"], json!([{ "ownerDid": "did:owner" }]));
        let caller = seen("did:caller").await;
        assert_eq!(caller["watches"]["nodes"], json!([]));
        assert!(!caller["changes"].to_string().contains("WATCH"), "{caller}");
    }

    /// Another owner's watch is neither shown nor told of.
    async fn a_winner_recorded_by_one_owner_shows_nothing_of_anothers(harness: Harness) {
        commit(&harness, "did:a", "did:a", "d").await;
        commit(&harness, "did:b", "did:b", "d").await;
        let query = "mutation($input: RecordWinnerInput!) { recordWinner(input: $input) { outcome watches { ownerDid } } }";
        let input = json!({ "input": { "documentId": "d", "digest": "w2", "dueAt": "2020-01-01T00:00:00Z" } });
        let answer = harness.answer_to(Viewer::of("did:a"), query, input).await;
        assert_eq!(answer["data"]["recordWinner"], json!({ "outcome": "COALESCED", "watches": [{ "ownerDid": "did:a" }] }));
        let both = harness.ask("{ watches { nodes { ownerDid nextAttemptAt } } }", json!({})).await;
        assert_eq!(both["watches"]["nodes"][1]["nextAttemptAt"], "2020-01-01T00:00:00.000Z", "it is armed all the same");
    }

    /// However many operations others have on it, and however new they are.
    async fn a_crowd_hides_a_document_from_nobody(harness: Harness) {
        let own = |document: &str| json!({ "callerDid": "did:owner", "ownerDid": "did:owner", "documentId": document });
        harness.act("claimOperation", claim("small", &own("small")), "outcome").await;
        harness.act("claimOperation", claim("crowded", &own("a-crowd")), "outcome").await;
        let series = match harness.engine {
            Engine::Sqlite => "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 10001) SELECT value FROM n)",
            Engine::Postgres => "generate_series(1, 10001) AS n(value)",
        };
        harness.database.execute(&format!(
            "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, \
            account_key, target, deterministic_event_id, payload_hash, reissue_intent, document_id, state, created_at, updated_at) \
            SELECT 'did:crowd', 'o' || value, 'n' || value, 'did:crowd', 'c', 'm', 'create', 'a', 't', 'e', 'h', 'null', 'a-crowd', \
            'attempted', 4000000000000 + value, value FROM {series}"
        )).await;
        let inputs = json!([{ "documentId": "a-crowd", "digest": "w2" }, { "documentId": "small", "digest": "w2" }]);
        let query = "mutation($inputs: [RecordWinnerInput!]!) { recordWinners(inputs: $inputs) { outcome } }";
        harness.ask(query, json!({ "inputs": inputs })).await;
        assert_eq!(listed(&harness, "did:owner").await, ["record_winner a-crowd", "record_winner small"]);
        assert_eq!(listed(&harness, "did:crowd").await, ["record_winner a-crowd"]);
        let states = "{ documentsByWriteState(states: [PENDING]) { nodes { id } } }";
        for (did, count) in [("did:owner", 2), ("did:crowd", 1)] {
            let found = harness.answer_to(Viewer::of(did), states, json!({})).await;
            assert_eq!(found["data"]["documentsByWriteState"]["nodes"].as_array().unwrap().len(), count, "{did}: {found}");
        }
    }

    /// There is room for a thousand: owners of watches come first.
    async fn of_very_many_seers_the_owners_of_watches_are_named(harness: Harness) {
        let series = match harness.engine {
            Engine::Sqlite => "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 1200) SELECT value FROM n)",
            Engine::Postgres => "generate_series(1, 1200) AS n(value)",
        };
        harness.database.execute(&format!(
            "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, \
            account_key, target, deterministic_event_id, payload_hash, reissue_intent, document_id, state, created_at, updated_at) \
            SELECT 'did:c' || value, 'o', 'n' || value, 'did:o' || value, 'c', 'm', 'create', 'a', 't', 'e', 'h', 'null', 'd', \
            'attempted', value, value FROM {series}"
        )).await;
        let owners = ["did:z1", "did:z2", "did:z3", "did:z4", "did:z5", "did:z6"];
        for owner in owners {
            commit(&harness, owner, owner, "d").await;
        }
        say(&harness, "d", "w2").await;
        for owner in owners {
            // Of the first winner none of them is told: it was said before anybody watched, and there was no room.
            assert_eq!(listed(&harness, owner).await, ["record_winner d"], "{owner}");
        }
    }

    async fn removed_observations_are_told_to_their_owners_alone(harness: Harness) {
        for owner in ["did:owner", "did:other"] {
            harness.database.execute(&format!(
                "INSERT INTO kubun_connector_observation_records (type, owner, id, op_hash, hlc, op_jwt) \
                VALUES ('connector.observation', '{owner}', 'd', 'h', '1', 'none')"
            )).await;
        }
        commit(&harness, "did:caller", "did:owner", "d").await;
        harness.act("sweepDocument", json!({ "documentId": "d" }), "outcome").await;
        let removed = async |did| {
            let told = listed(&harness, did).await;
            told.into_iter().filter(|told| told.starts_with("remove_observations")).count()
        };
        for (did, count) in [("did:owner", 1), ("did:other", 1), ("did:caller", 0)] {
            assert_eq!(removed(did).await, count, "{did}");
        }
    }

    /// Neither how much others write between, nor whether anybody does.
    async fn cursors_tell_nothing_of_others(harness: Harness) {
        use base64::Engine as _;
        let follow = "subscription { documentChanged(ids: [\"nothing\"]) { cursor } }";
        let place = async || {
            let first = harness.follow_as(Viewer::of("did:a"), follow, json!({})).next().await.unwrap();
            first["data"]["documentChanged"]["cursor"].as_str().unwrap().to_owned()
        };
        let (one, other) = (place().await, place().await);
        assert_ne!(one, other, "two of one place");
        let resume = "subscription($after: String) { changes(after: $after) { transition } }";
        commit(&harness, "did:a", "did:a", "d").await;
        for after in [one, other] {
            let mut changes = harness.follow_as(Viewer::of("did:a"), resume, json!({ "after": after }));
            assert_eq!(next(&mut changes).await["data"]["changes"]["transition"], "claim");
        }
        for document in ["d", "e"] {
            harness.act("claimOperation", claim(document, &json!({ "callerDid": "did:b", "ownerDid": "did:b", "documentId": document })), "outcome").await;
            let repair = json!({ "documentId": document, "owner": "did:b", "fetchHlc": "1700000000000-0001-n1", "decisionHlc": "1700000000000-0002-n1", "present": false });
            harness.act("putObservationRepair", repair, "repair { documentId }").await;
        }
        let query = "query($after: String) { observationRepairsWritten(first: 1, after: $after) { edges { cursor node { documentId } } } }";
        let page = harness.ask(query, json!({})).await;
        let edge = &page["observationRepairsWritten"]["edges"][0];
        let bytes = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(edge["cursor"].as_str().unwrap()).unwrap();
        assert_eq!(bytes.len(), 16, "a block, and no number in it: {bytes:?}");
        let next = harness.ask(query, json!({ "after": edge["cursor"] })).await;
        assert_eq!(next["observationRepairsWritten"]["edges"][0]["node"]["documentId"], "e");
    }
}
