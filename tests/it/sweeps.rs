//! Sweeps: every candidate's state × every act, what holds a checkpoint, sequences under concurrency.

use futures_util::future::join_all;
use serde_json::{Value, json};
use writewatch::domain::sweeps::SweepCandidateState;
use writewatch::domain::time::rfc3339;
use writewatch::store::Engine;

use crate::harness::{Harness, merge, on_both_engines};

/// The mutations whose rows are here.
pub const ACTS: [&str; 6] = [
    "recordRelistReceipt",
    "recordSweepOutcome",
    "recordSweepOutcomes",
    "recordSweepApplyFailure",
    "markSweepCandidateApplied",
    "commitSweepCheckpoint",
];

fn partition(provenance: &str) -> Value {
    json!({ "ownerDid": "did:o1", "connectorName": "calendar", "partition": "p", "provenance": provenance })
}

fn relist(provenance: &str, documents: &[&str]) -> Value {
    let candidates: Vec<Value> = documents
        .iter()
        .map(|id| json!({ "documentId": id, "sourceId": format!("s-{id}"), "modelId": "Event" }))
        .collect();
    let mut input = partition(provenance);
    merge(
        &mut input,
        &json!({ "modelId": "Event", "scope": { "p": 1, "q": 2 }, "keep": ["a"], "kind": "relist", "complete": true,
        "sourceFetchHlc": "1700000000000-0000-n1", "candidates": candidates }),
    );
    input
}

fn candidate(provenance: &str, document: &str, changes: &Value) -> Value {
    let mut input = partition(provenance);
    merge(&mut input, &json!({ "documentId": document }));
    merge(&mut input, changes);
    input
}

async fn record(harness: &Harness, input: Value) -> Value {
    harness.act("recordRelistReceipt", input, "outcome candidatesAdded receipt { sequence }").await
}

async fn found(harness: &Harness, provenance: &str, document: &str, finding: &str) -> Value {
    let input = candidate(provenance, document, &json!({ "outcome": finding }));
    harness.act("recordSweepOutcome", input, "outcome candidate { state attempts }").await
}

async fn applied(harness: &Harness, provenance: &str, document: &str) -> Value {
    harness
        .act("markSweepCandidateApplied", candidate(provenance, document, &json!({})), "outcome candidate { state }")
        .await
}

async fn failed(harness: &Harness, provenance: &str, document: &str) -> Value {
    let input = candidate(provenance, document, &json!({ "lastError": "boom" }));
    harness.act("recordSweepApplyFailure", input, "outcome candidate { state applyFailures lastError attempts }").await
}

async fn commit(harness: &Harness, provenance: &str) -> Value {
    let fields = "outcome checkpoint { provenance sequence } blockedBy { documentId }";
    harness.act("commitSweepCheckpoint", partition(provenance), fields).await
}

/// Brings a candidate into a state.
async fn bring(harness: &Harness, document: &str, state: SweepCandidateState) {
    match state {
        SweepCandidateState::Pending => {}
        SweepCandidateState::Present => drop(found(harness, "r", document, "PRESENT").await),
        SweepCandidateState::Absent => drop(found(harness, "r", document, "ABSENT").await),
        SweepCandidateState::Cancelled => drop(found(harness, "r", document, "CANCELLED").await),
        SweepCandidateState::Applied => {
            found(harness, "r", document, "ABSENT").await;
            applied(harness, "r", document).await;
        }
        SweepCandidateState::Refused => {
            for _ in 0..5 {
                failed(harness, "r", document).await;
            }
        }
    }
}

on_both_engines! {
    async fn each_state_takes_the_acts_that_its_rule_allows(harness: Harness) {
        use SweepCandidateState::{Absent, Applied, Cancelled, Pending, Present, Refused};
        record(&harness, relist("r", &["none"])).await;
        for state in SweepCandidateState::ALL {
            for act in ["PRESENT", "ABSENT", "CANCELLED", "INCONCLUSIVE", "applied", "failed"] {
                let document = format!("{state:?}-{act}");
                record(&harness, relist("r", &[&document])).await;
                bring(&harness, &document, *state).await;
                let log = harness.log("transition").await.len();
                let answer = match act {
                    "applied" => applied(&harness, "r", &document).await,
                    "failed" => failed(&harness, "r", &document).await,
                    finding => found(&harness, "r", &document, finding).await,
                };
                let (outcome, reached) = match (act, state) {
                    (_, Applied | Refused) | ("applied", Pending) => ("WRONG_STATE", *state),
                    ("applied", Present | Absent | Cancelled) => ("APPLIED", Applied),
                    ("failed", _) => ("RETRY", Pending),
                    ("PRESENT", _) => ("RECORDED", Present),
                    ("ABSENT", _) => ("RECORDED", Absent),
                    ("CANCELLED", _) => ("RECORDED", Cancelled),
                    (_, _) => ("RECORDED", Pending),
                };
                assert_eq!(answer["outcome"], outcome, "{document}");
                assert_eq!(answer["candidate"]["state"], reached.as_str().to_uppercase(), "{document}");
                let logged = usize::from(outcome != "WRONG_STATE");
                assert_eq!(harness.log("transition").await.len(), log + logged, "{document}");
            }
        }
        assert_eq!(found(&harness, "r", "unknown", "ABSENT").await["outcome"], "NOT_FOUND");
    }

    async fn the_fifth_failure_to_apply_refuses_and_counts_no_attempt(harness: Harness) {
        record(&harness, relist("r", &["d"])).await;
        found(&harness, "r", "d", "ABSENT").await;
        for count in 1..=5 {
            let answer = failed(&harness, "r", "d").await;
            assert_eq!(answer["outcome"], if count == 5 { "REFUSED" } else { "RETRY" });
            assert_eq!(answer["candidate"], json!({ "state": if count == 5 { "REFUSED" } else { "PENDING" }, "applyFailures": count, "lastError": "boom", "attempts": 1 }));
        }
    }

    async fn a_replayed_receipt_adds_what_is_missing_and_nothing_else(harness: Harness) {
        let told = |outcome: &str, added: i64, sequence: i64| json!({ "outcome": outcome, "candidatesAdded": added, "receipt": { "sequence": sequence } });
        let mut incomplete = relist("r", &["a"]);
        incomplete["complete"] = json!(false);
        assert_eq!(record(&harness, incomplete).await, json!({ "outcome": "IGNORED_INCOMPLETE", "candidatesAdded": 0, "receipt": null }));
        assert_eq!(record(&harness, relist("r", &["a", "b"])).await, told("RECORDED", 2, 1));
        found(&harness, "r", "a", "ABSENT").await;
        let mut reordered = relist("r", &["a", "b", "c"]);
        reordered["scope"] = json!({ "q": 2, "p": 1 });
        assert_eq!(record(&harness, reordered).await, told("EXTENDED", 1, 1));
        for (field, other) in [("scope", json!({ "p": 2, "q": 2 })), ("keep", json!(["b"])), ("modelId", json!("Other"))] {
            let mut conflicting = relist("r", &["z"]);
            conflicting[field] = other;
            assert_eq!(record(&harness, conflicting).await, told("CONFLICT", 0, 1), "{field}");
        }
        let states = harness.ask("{ sweepReceipts { nodes { progress { state count } candidates(first: 1) { totalCount nodes { receipt { provenance } } } } } }", json!({})).await;
        let receipt = &states["sweepReceipts"]["nodes"][0];
        assert_eq!(receipt["progress"], json!([{ "state": "PENDING", "count": 2 }, { "state": "ABSENT", "count": 1 }]));
        assert_eq!(receipt["candidates"], json!({ "totalCount": 3, "nodes": [{ "receipt": { "provenance": "r" } }] }));
    }

    async fn a_checkpoint_says_what_holds_it_and_never_goes_back(harness: Harness) {
        assert_eq!(commit(&harness, "r1").await, json!({ "outcome": "NOT_FOUND", "checkpoint": null, "blockedBy": null }));
        record(&harness, relist("r1", &["a"])).await;
        record(&harness, relist("r2", &["b", "c"])).await;
        record(&harness, relist("r3", &[])).await;
        assert_eq!(commit(&harness, "r2").await, json!({ "outcome": "UNRESOLVED_CANDIDATE", "checkpoint": null, "blockedBy": { "documentId": "b" } }));
        assert_eq!(commit(&harness, "r3").await, json!({ "outcome": "EARLIER_UNRESOLVED", "checkpoint": null, "blockedBy": { "documentId": "a" } }));
        found(&harness, "r1", "a", "ABSENT").await;
        applied(&harness, "r1", "a").await;
        found(&harness, "r2", "b", "ABSENT").await;
        applied(&harness, "r2", "b").await;
        for _ in 0..5 {
            failed(&harness, "r2", "c").await;
        }
        let reached = json!({ "provenance": "r3", "sequence": 3 });
        assert_eq!(commit(&harness, "r3").await, json!({ "outcome": "COMMITTED", "checkpoint": reached, "blockedBy": null }));
        assert_eq!(commit(&harness, "r2").await, json!({ "outcome": "COMMITTED", "checkpoint": reached, "blockedBy": null }), "higher already");
        assert_eq!(commit(&harness, "r2").await, json!({ "outcome": "ALREADY_COMMITTED", "checkpoint": reached, "blockedBy": null }));
        assert_eq!(record(&harness, relist("r2", &["z"])).await["outcome"], "ALREADY_COMMITTED");
        let left = harness.ask("{ sweepCandidates { nodes { documentId state } } }", json!({})).await;
        assert_eq!(left["sweepCandidates"]["nodes"], json!([{ "documentId": "a", "state": "APPLIED" }, { "documentId": "c", "state": "REFUSED" }]), "r1 was never committed");
        harness.database.execute("UPDATE kubun_connector_sweep_receipt SET complete = 0 WHERE provenance = 'r1'").await;
        assert_eq!(commit(&harness, "r1").await["outcome"], "INCOMPLETE");
    }

    async fn l05_receipts_of_one_sequence_do_not_pass_each_other_s_candidates(harness: Harness) {
        record(&harness, relist("r1", &["a"])).await;
        record(&harness, relist("r2", &[])).await;
        harness.database.execute("UPDATE kubun_connector_sweep_receipt SET sequence = 7").await;
        assert_eq!(commit(&harness, "r2").await["outcome"], "EARLIER_UNRESOLVED");
        found(&harness, "r1", "a", "ABSENT").await;
        applied(&harness, "r1", "a").await;
        assert_eq!(commit(&harness, "r2").await["outcome"], "COMMITTED");
    }

    async fn each_filter_of_sweeps_changes_the_answer(harness: Harness) {
        record(&harness, relist("r1", &["a", "b"])).await;
        record(&harness, relist("r2", &["a"])).await;
        let later = rfc3339(harness.now() + 1_000);
        let input = candidate("r1", "b", &json!({ "outcome": "INCONCLUSIVE", "lastError": "late", "nextAttemptAt": later }));
        harness.act("recordSweepOutcome", input, "outcome").await;
        found(&harness, "r2", "a", "ABSENT").await;
        applied(&harness, "r2", "a").await;
        assert_eq!(commit(&harness, "r2").await["outcome"], "EARLIER_UNRESOLVED");
        let count = async |filter: Value| {
            let query = "query($filter: SweepCandidateFilter) { sweepCandidates(filter: $filter) { totalCount } }";
            harness.ask(query, json!({ "filter": filter })).await["sweepCandidates"]["totalCount"].take()
        };
        for (filter, expected) in [
            (json!({}), 3), (json!({ "ownerDid": "did:o1" }), 3), (json!({ "ownerDid": "x" }), 0), (json!({ "connectorName": "x" }), 0),
            (json!({ "partition": "x" }), 0), (json!({ "provenance": "r1" }), 2), (json!({ "states": ["APPLIED"] }), 1), (json!({ "states": [] }), 0),
            (json!({ "dueAt": rfc3339(harness.now()) }), 1), (json!({ "dueAt": later }), 2),
        ] {
            assert_eq!(count(filter.clone()).await, expected, "{filter}");
        }
        let receipts = async |filter: Value| {
            let query = "query($filter: SweepReceiptFilter) { sweepReceipts(filter: $filter) { totalCount } }";
            harness.ask(query, json!({ "filter": filter })).await["sweepReceipts"]["totalCount"].take()
        };
        for (filter, expected) in [
            (json!({}), 2), (json!({ "ownerDid": "x" }), 0), (json!({ "connectorName": "x" }), 0), (json!({ "partition": "x" }), 0),
            (json!({ "committed": false }), 2), (json!({ "committed": true }), 0),
        ] {
            assert_eq!(receipts(filter.clone()).await, expected, "{filter}");
        }
    }

    async fn many_outcomes_are_one_answer_each_in_order(harness: Harness) {
        record(&harness, relist("r", &["a", "b"])).await;
        let inputs: Vec<Value> = ["a", "unknown", "b"].iter().map(|id| candidate("r", id, &json!({ "outcome": "ABSENT" }))).collect();
        let query = "mutation($inputs: [SweepOutcomeInput!]!) { recordSweepOutcomes(inputs: $inputs) { outcome candidate { documentId } } }";
        let told = harness.ask(query, json!({ "inputs": inputs })).await["recordSweepOutcomes"].take();
        assert_eq!(told, json!([
            { "outcome": "RECORDED", "candidate": { "documentId": "a" } }, { "outcome": "NOT_FOUND", "candidate": null }, { "outcome": "RECORDED", "candidate": { "documentId": "b" } },
        ]));
        let mut bad = inputs;
        bad[1]["documentId"] = json!("");
        let answer = harness.answer(query, json!({ "inputs": bad })).await;
        assert_eq!(answer["errors"][0]["extensions"]["field"], "inputs[1].documentId");
    }

    async fn receipts_and_candidates_are_found_by_their_node_ids_whoever_wrote_them(harness: Harness) {
        record(&harness, relist("r", &["a"])).await;
        harness.database.execute("UPDATE kubun_connector_sweep_receipt SET node_key = NULL; UPDATE kubun_connector_sweep_candidate SET node_key = NULL").await;
        let rows = harness.ask("{ sweepReceipts { nodes { id } } sweepCandidates { nodes { id } } }", json!({})).await;
        let ids = [&rows["sweepReceipts"]["nodes"][0]["id"], &rows["sweepCandidates"]["nodes"][0]["id"]];
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename ... on SweepReceipt { provenance } ... on SweepCandidate { documentId } } }";
        let found = harness.ask(query, json!({ "ids": ids })).await;
        assert_eq!(found["nodes"], json!([{ "__typename": "SweepReceipt", "provenance": "r" }, { "__typename": "SweepCandidate", "documentId": "a" }]));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sequences_of_a_partition_are_unique_on_two_servers() {
    let first = Harness::start(Engine::Postgres).await;
    let second = Harness::start_beside(&first).await;
    let (one, other) = (&first, &second);
    let names: Vec<String> = (0..40).map(|place| format!("r{place}")).collect();
    let recorded = names.iter().enumerate().map(|(place, name)| {
        let server = if place % 2 == 0 { one } else { other };
        async move { record(server, relist(name, &["a"])).await }
    });
    let mut sequences: Vec<i64> =
        join_all(recorded).await.iter().map(|answer| answer["receipt"]["sequence"].as_i64().unwrap()).collect();
    sequences.sort_unstable();
    assert_eq!(sequences, (1..=40).collect::<Vec<i64>>());
}
