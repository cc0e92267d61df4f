//! Many at once: one winner each, everybody answered in type, and nobody's work half done.

use std::collections::BTreeMap;
use std::sync::Arc;

use futures_util::future::join_all;
use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, START, claim, merge, on_both_engines};

const RACERS: usize = 20;

/// Runs the same act from many tasks at once; how often each outcome came.
async fn race(harness: &Arc<Harness>, inputs: Vec<(&'static str, Value)>) -> BTreeMap<String, usize> {
    let racers = inputs.into_iter().map(|(mutation, input)| {
        let harness = Arc::clone(harness);
        tokio::spawn(
            async move { harness.act(mutation, input, "outcome").await["outcome"].as_str().unwrap().to_owned() },
        )
    });
    let mut outcomes = BTreeMap::new();
    for outcome in join_all(racers).await {
        *outcomes.entry(outcome.unwrap()).or_default() += 1;
    }
    outcomes
}

fn counts(expected: &[(&str, usize)]) -> BTreeMap<String, usize> {
    expected.iter().map(|(outcome, count)| ((*outcome).to_owned(), *count)).collect()
}

async fn claimed(harness: &Harness, key: &str, changes: &Value) -> Value {
    harness.act("claimOperation", claim(key, changes), "operation { id }").await["operation"]["id"].take()
}

fn finalize(id: &Value, token: &str, document: &str, source: &str, winner: &str) -> Value {
    json!({ "id": id, "leaseToken": token, "version": 0, "documentId": document, "sourceId": source, "winnerDigest": winner })
}

async fn transitions(harness: &Harness) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for change in harness.log("transition").await {
        *found.entry(change["transition"].as_str().unwrap().to_owned()).or_default() += 1;
    }
    found
}

/// The mutations whose rows are here: many acts in one commit.
pub const BULK_ACTS: [&str; 3] = ["claimOperations", "recordWinners", "requestRepulls"];

on_both_engines! {
    async fn many_claims_are_one_answer_each_in_order_and_one_refusal_hurts_no_other(harness: Harness) {
        claimed(&harness, "old", &json!({})).await;
        let inputs = [claim("a", &json!({})), claim("old", &json!({ "payloadHash": "other" })), claim("a", &json!({})), claim("b", &json!({}))];
        let query = "mutation($inputs: [ClaimOperationInput!]!) { claimOperations(inputs: $inputs) { outcome operation { operationId } } }";
        let told = harness.ask(query, json!({ "inputs": inputs })).await["claimOperations"].take();
        let row = |outcome: &str, id: &str| json!({ "outcome": outcome, "operation": { "operationId": id } });
        assert_eq!(told, json!([row("CLAIMED", "a"), { "outcome": "CONFLICT", "operation": null }, row("EXISTS", "a"), row("CLAIMED", "b")]));
        let too_many: Vec<Value> = (0..501).map(|place| claim(&format!("k{place}"), &json!({}))).collect();
        for (inputs, field) in [(json!(too_many), "inputs"), (json!([claim("c", &json!({})), claim("d", &json!({ "leaseMs": 1 }))]), "inputs[1].leaseMs")] {
            let answer = harness.answer(query, json!({ "inputs": inputs })).await;
            assert_eq!(answer["errors"][0]["extensions"]["field"], field);
        }
        let all = harness.ask("{ operations { totalCount } }", json!({})).await;
        assert_eq!(all["operations"]["totalCount"], 3, "a bad input writes none of them");
    }

    async fn many_winners_and_repulls_are_one_answer_each_in_order(harness: Harness) {
        let mut ids = vec![];
        for name in ["a", "b"] {
            let id = claimed(&harness, name, &json!({})).await;
            ids.push(harness.act("finalizeOperation", finalize(&id, "L1", name, name, "w"), "watch { id }").await["watch"]["id"].take());
        }
        let query = "mutation($inputs: [RequestRepullInput!]!) { requestRepulls(inputs: $inputs) { outcome watch { documentId generation } } }";
        let unknown = json!(writewatch::domain::ids::NodeId::of_key(writewatch::domain::words::EntityKind::Watch, &["x"]).encode());
        let told = harness.ask(query, json!({ "inputs": [{ "id": ids[1] }, { "id": unknown }, { "id": ids[0] }] })).await["requestRepulls"].take();
        let row = |document: &str| json!({ "outcome": "OPENED", "watch": { "documentId": document, "generation": 1 } });
        assert_eq!(told, json!([row("b"), { "outcome": "NOOP", "watch": null }, row("a")]));
        harness.database.execute("UPDATE kubun_connector_projection_watch SET version = 2147483647 WHERE document_id = 'a'").await;
        let bounded = harness.answer(query, json!({ "inputs": [{ "id": ids[1] }, { "id": ids[0] }] })).await;
        assert_eq!(bounded["errors"][0]["extensions"]["field"], "inputs[1].version");
        let query = "mutation($inputs: [RecordWinnerInput!]!) { recordWinners(inputs: $inputs) { outcome winner { documentId } } }";
        let inputs = json!([{ "documentId": "b", "digest": "w" }, { "documentId": "c", "digest": "w" }]);
        let told = harness.ask(query, json!({ "inputs": inputs })).await["recordWinners"].take();
        assert_eq!(told, json!([{ "outcome": "NOOP", "winner": { "documentId": "b" } }, { "outcome": "NOOP", "winner": { "documentId": "c" } }]));
    }

    /// L09 of the cases.
    async fn twenty_racers_on_one_key_make_one_operation(harness: Harness) {
        let harness = Arc::new(harness);
        for round in 0..20 {
            let key = format!("k{round}");
            let racers = (0..RACERS).map(|place| {
                ("claimOperation", claim(&key, &json!({ "leaseToken": format!("L{place}") })))
            });
            let outcomes = race(&harness, racers.collect()).await;
            assert_eq!(outcomes, counts(&[("CLAIMED", 1), ("EXISTS", RACERS - 1)]), "round {round}");
        }
        assert_eq!(transitions(&harness).await, [("claim".to_owned(), 20)].into());
    }

    async fn twenty_racers_on_one_lease_have_one_holder(harness: Harness) {
        let harness = Arc::new(harness);
        let id = claimed(&harness, "k", &json!({})).await;
        harness.act("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
        for round in 0..10 {
            let racers = (0..RACERS).map(|place| {
                ("acquireLease", json!({ "id": id, "leaseToken": format!("R{round}-{place}"), "leaseMs": 1_000 }))
            });
            let outcomes = race(&harness, racers.collect()).await;
            assert_eq!(outcomes, counts(&[("ACQUIRED", 1), ("HELD", RACERS - 1)]), "round {round}");
            harness.advance(1_001);
        }
    }

    async fn a_finalize_against_a_take_over_settles_once(harness: Harness) {
        let harness = Arc::new(harness);
        for round in 0..30 {
            let (key, document) = (format!("k{round}"), format!("d{round}"));
            let id = claimed(&harness, &key, &json!({})).await;
            harness.advance(30_001);
            // The expired lease is its holder's until somebody takes it: whoever comes first wins.
            let racers = vec![
                ("finalizeOperation", finalize(&id, "L1", &document, &document, "w")),
                ("acquireLease", json!({ "id": id, "leaseToken": "L2", "leaseMs": 30_000 })),
            ];
            let outcomes = race(&harness, racers).await;
            let row = harness.ask("query($id: ID!) { node(id: $id) { ... on Operation { state } } }", json!({ "id": id })).await;
            let state = row["node"]["state"].as_str().unwrap();
            assert!(
                (outcomes.contains_key("FINALIZED") && state == "COMMITTED")
                    || (outcomes.contains_key("LEASE_NOT_HELD") && state == "ATTEMPTED"),
                "round {round}: {outcomes:?}, {state}"
            );
            assert!(outcomes.contains_key("ACQUIRED"), "round {round}: {outcomes:?}");
        }
    }

    async fn finalizes_of_one_document_all_succeed_one_after_the_other(harness: Harness) {
        let harness = Arc::new(harness);
        for round in 0..10 {
            let document = format!("d{round}");
            let mut racers = vec![];
            for place in 0..RACERS {
                let id = claimed(&harness, &format!("k{round}-{place}"), &json!({})).await;
                racers.push(("finalizeOperation", finalize(&id, "L1", &document, &format!("s{round}-{place}"), &format!("w{place}"))));
            }
            let outcomes = race(&harness, racers).await;
            assert_eq!(outcomes, counts(&[("FINALIZED", RACERS)]), "round {round}");
            let found = harness.ask(
                "query($id: String!) { document(id: $id) { watches { observedWinnerDigest } winner { digest } } }",
                json!({ "id": document }),
            ).await;
            let watches = found["document"]["watches"].as_array().unwrap();
            assert_eq!(watches.len(), 1, "one watch of an owner, a model and a document");
            assert_eq!(watches[0]["observedWinnerDigest"], found["document"]["winner"]["digest"]);
        }
    }

    async fn identities_that_cross_documents_all_succeed(harness: Harness) {
        let harness = Arc::new(harness);
        for round in 0..10 {
            let mut racers = vec![];
            for place in 0..RACERS {
                let id = claimed(&harness, &format!("k{round}-{place}"), &json!({})).await;
                // Two documents and two identities, in every combination, at once.
                let (document, source) = (format!("d{}", place % 2), format!("s{}", (place / 2) % 2));
                racers.push(("finalizeOperation", finalize(&id, "L1", &document, &source, "w")));
            }
            assert_eq!(race(&harness, racers).await, counts(&[("FINALIZED", RACERS)]), "round {round}");
        }
        let watches = harness.ask("{ watches { nodes { documentId sourceId } } }", json!({})).await;
        let watches = watches["watches"]["nodes"].as_array().unwrap().clone();
        let mut documents: Vec<&str> = watches.iter().map(|watch| watch["documentId"].as_str().unwrap()).collect();
        documents.sort_unstable();
        documents.dedup();
        assert_eq!(documents.len(), watches.len(), "no document is watched twice: {watches:?}");
    }

    async fn winners_against_finalizes_leave_the_watch_with_the_winner(harness: Harness) {
        let harness = Arc::new(harness);
        for round in 0..20 {
            let document = format!("d{round}");
            let first = claimed(&harness, &format!("k{round}"), &json!({})).await;
            harness.act("finalizeOperation", finalize(&first, "L1", &document, &document, "w0"), "outcome").await;
            let again = claimed(&harness, &format!("again{round}"), &json!({})).await;
            let mut racers = vec![("finalizeOperation", finalize(&again, "L1", &document, &document, "w1"))];
            racers.extend((2..6).map(|place| ("recordWinner", json!({ "documentId": document, "digest": format!("w{place}") }))));
            race(&harness, racers).await;
            let found = harness.ask(
                "query($id: String!) { document(id: $id) { watch { status generation version } winner { digest } changes(last: 100) { nodes { transition } } } }",
                json!({ "id": document }),
            ).await["document"].take();
            assert_eq!(found["watch"]["status"], "PENDING_VERIFICATION");
            assert_eq!(found["watch"]["generation"], 1, "the second finalize opened one generation");
            let winner = found["winner"]["digest"].as_str().unwrap();
            assert!(winner != "w0", "the first winner cannot be the last");
            let recorded = found["changes"]["nodes"].as_array().unwrap().iter().filter(|change| change["transition"] == "record_winner").count();
            assert_eq!(recorded, 6, "each winner is in the log once");
        }
    }

    async fn twenty_racers_on_one_attempt_have_one_claimer(harness: Harness) {
        let harness = Arc::new(harness);
        let id = claimed(&harness, "k", &json!({})).await;
        let armed = harness.act("finalizeOperation", finalize(&id, "L1", "d", "s", "w"), "watch { id }").await;
        let watch = armed["watch"]["id"].clone();
        let racers = (0..RACERS).map(|_| ("claimWatchAttempt", json!({ "id": watch, "generation": 0, "claimMs": 5_000 })));
        let outcomes = race(&harness, racers.collect()).await;
        assert_eq!(outcomes, counts(&[("CLAIMED", 1), ("ALREADY_CLAIMED", RACERS - 1)]));
    }

    async fn resuming_beside_finalizes_and_defers_loses_nothing(harness: Harness) {
        let harness = Arc::new(harness);
        let mut racers = vec![];
        for place in 0..RACERS {
            let id = claimed(&harness, &format!("k{place}"), &json!({})).await;
            let defer = json!({ "id": id, "leaseToken": "L1", "nextAttemptAt": rfc3339(START + 60_000), "reason": "OFFLINE" });
            harness.act("deferOperation", defer.clone(), "outcome").await;
            let mut again = defer;
            merge(&mut again, &json!({ "nextAttemptAt": rfc3339(START + 90_000) }));
            racers.push(("deferOperation", again));
            let other = claimed(&harness, &format!("f{place}"), &json!({})).await;
            racers.push(("finalizeOperation", finalize(&other, "L1", &format!("d{}", place % 3), &format!("s{}", place % 5), "w")));
        }
        let resuming = {
            let harness = Arc::clone(&harness);
            tokio::spawn(async move {
                let mut resumed = 0;
                for _ in 0..10 {
                    let answer = harness.act("resumeOfflineDeferred", json!({}), "operations").await;
                    resumed += answer["operations"].as_u64().unwrap();
                }
                resumed
            })
        };
        let outcomes = race(&harness, racers).await;
        assert_eq!(outcomes, counts(&[("DEFERRED", RACERS), ("FINALIZED", RACERS)]));
        let mut resumed = resuming.await.unwrap();
        resumed += harness.act("resumeOfflineDeferred", json!({}), "operations").await["operations"].as_u64().unwrap();
        let logged = *transitions(&harness).await.get("resume_offline").unwrap();
        assert_eq!(u64::try_from(logged).unwrap(), resumed, "each resumed row has its change");
        let left = harness.ask("{ operations(filter: { deferReasons: [OFFLINE] }) { totalCount } }", json!({})).await;
        assert_eq!(left["operations"]["totalCount"], 0);
    }
}
