//! Every state × every act, from the enums and the schema: allowed exactly when the rule allows, and a refused act
//! leaves the row and the log as they were. A new state or mutation without a row in a table here fails.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::domain::words::{OperationState, WatchStatus};

use crate::harness::{Harness, claim, on_both_engines};
use crate::{access, contention, documents, reissue, retention, sweeps, sync};

/// The acts on an operation.
const OPERATION_ACTS: [&str; 10] = [
    "claimOperation",
    "acquireLease",
    "renewLease",
    "releaseLease",
    "markSendStarted",
    "recordOperation",
    "deferOperation",
    "finalizeOperation",
    "resumeOfflineDeferred",
    "resumeAuthDeferred",
];
/// The acts on a watch.
const WATCH_ACTS: [&str; 6] =
    ["recordWinner", "armWatch", "requestRepull", "claimWatchAttempt", "deferWatch", "recordVerification"];

/// What came of an act: its outcome, and how many changes it logged.
type Expected = (&'static str, usize);

#[expect(clippy::match_same_arms, reason = "one arm an act, as in the rules")]
fn expected_of_operation(act: &str, state: OperationState, from: OperationState, to: OperationState) -> Expected {
    use OperationState::{Attempted, Committed, Dead, ReconcileOnly};
    match (act, state) {
        ("claimOperation", _) => ("EXISTS", 0),
        ("acquireLease", _) => ("ACQUIRED", 1),
        ("renewLease", _) => ("RENEWED", 0),
        ("releaseLease", _) => ("RELEASED", 1),
        ("markSendStarted", Attempted) => ("MARKED", 1),
        ("markSendStarted", _) => ("WRONG_STATE", 0),
        ("recordOperation", _) => match (from, to) {
            (Committed | Dead, _) | (_, Committed) => ("INVALID_TRANSITION", 0),
            (Attempted | ReconcileOnly, _) if from == state => ("RECORDED", 1),
            _ => ("WRONG_STATE", 0),
        },
        ("deferOperation", Attempted) => ("DEFERRED", 1),
        ("deferOperation", _) => ("WRONG_STATE", 0),
        // The operation, the winner and the watch; on a committed one the same winner is no change.
        ("finalizeOperation", Attempted) => ("FINALIZED", 3),
        ("finalizeOperation", Committed) => ("FINALIZED", 2),
        ("finalizeOperation", _) => ("WRONG_STATE", 0),
        // The rows of this table wait for nothing.
        ("resumeOfflineDeferred" | "resumeAuthDeferred", _) => ("0", 0),
        (other, _) => panic!("{other} has no row for {state:?}"),
    }
}

fn expected_of_watch(act: &str, status: WatchStatus) -> Expected {
    use WatchStatus::{PendingVerification, RepairFailed, Verified};
    match (act, status) {
        // A new winner: the document's change, and a new generation. A pending watch is due already.
        ("recordWinner", PendingVerification) => ("NOOP", 1),
        ("recordWinner", Verified | RepairFailed) => ("OPENED", 2),
        // The winner that the watch knows already.
        ("armWatch", _) => ("NOOP", 0),
        ("requestRepull", _) => ("OPENED", 1),
        ("claimWatchAttempt", PendingVerification) => ("CLAIMED", 1),
        ("recordVerification", PendingVerification) => ("VERIFIED", 1),
        // Claimed by nobody: the caller's claim is not the row's.
        ("deferWatch", PendingVerification) => ("STALE_CLAIM", 0),
        ("claimWatchAttempt" | "deferWatch" | "recordVerification", Verified | RepairFailed) => ("NOT_PENDING", 0),
        (other, _) => panic!("{other} has no row for {status:?}"),
    }
}

/// Makes an operation in a state, held under L1; its id and version.
async fn operation_in(harness: &Harness, key: &str, state: OperationState) -> (Value, Value) {
    let claimed = harness.act("claimOperation", claim(key, &json!({})), "operation { id version }").await;
    let id = claimed["operation"]["id"].clone();
    let reached = match state {
        OperationState::Attempted => return (id, json!(0)),
        OperationState::Committed => {
            harness.act("finalizeOperation", finalize(&id, &json!(0), key), "outcome operation { version }").await
        }
        OperationState::Dead | OperationState::ReconcileOnly => {
            let input = record(&id, &json!(0), OperationState::Attempted, state);
            harness.act("recordOperation", input, "outcome operation { version }").await
        }
    };
    (id, reached["operation"]["version"].clone())
}

fn finalize(id: &Value, version: &Value, document: &str) -> Value {
    json!({ "id": id, "leaseToken": "L1", "version": version, "documentId": format!("doc-{document}"),
        "sourceId": format!("source-{document}"), "winnerDigest": "w1" })
}

fn spelled(state: impl std::fmt::Debug) -> String {
    let name = format!("{state:?}");
    let mut words = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !words.is_empty() {
            words.push('_');
        }
        words.push(letter.to_ascii_uppercase());
    }
    words
}

fn record(id: &Value, version: &Value, from: OperationState, to: OperationState) -> Value {
    json!({ "id": id, "leaseToken": "L1", "version": version, "fromState": spelled(from), "toState": spelled(to) })
}

fn operation_input(harness: &Harness, act: &str, key: &str, id: &Value, version: &Value) -> Value {
    match act {
        "claimOperation" => claim(key, &json!({})),
        "acquireLease" | "renewLease" => json!({ "id": id, "leaseToken": "L1", "leaseMs": 60_000 }),
        "releaseLease" => json!({ "id": id, "leaseToken": "L1" }),
        "markSendStarted" => json!({ "id": id, "leaseToken": "L1", "marker": "m1" }),
        "deferOperation" => json!({ "id": id, "leaseToken": "L1", "nextAttemptAt": rfc3339(harness.now() + 1) }),
        "finalizeOperation" => finalize(id, version, key),
        "resumeOfflineDeferred" => json!({}),
        "resumeAuthDeferred" => json!({ "ownerDid": "did:o1", "connectorNames": ["contacts"] }),
        other => panic!("{other} has no input"),
    }
}

async fn snapshot(harness: &Harness, table: &str) -> Vec<String> {
    let columns = match table {
        "kubun_connector_operation" => {
            "state || '/' || attempts || '/' || version || '/' || coalesce(send_marker, '-') || '/' || updated_at || '/' || \
            coalesce(lease_token, '-') || '/' || coalesce(lease_expires_at, 0) || '/' || coalesce(next_attempt_at, 0) || '/' || \
            coalesce(defer_reason, '-') || '/' || coalesce(document_id, '-') || '/' || node_key"
        }
        _ => {
            "verification_status || '/' || verification_attempts || '/' || repair_generation || '/' || version || '/' || \
            updated_at || '/' || coalesce(next_attempt_at, 0) || '/' || coalesce(claimed_until, 0) || '/' || \
            coalesce(observed_winner_digest, '-') || '/' || coalesce(verified_state_digest, '-') || '/' || source_id"
        }
    };
    harness.database.texts(&format!("SELECT {columns} FROM {table} ORDER BY 1")).await
}

/// Performs one act and checks its outcome, the row and the log.
async fn check(
    harness: &Harness,
    act: &str,
    input: Value,
    fields: &str,
    table: &str,
    (outcome, logged): Expected,
    told: &str,
) {
    harness.advance(1);
    let (before, log) = (snapshot(harness, table).await, harness.log("cursor").await.len());
    let answer = harness.act(act, input, fields).await;
    let found = answer["outcome"].as_str().map_or_else(|| answer["operations"].to_string(), str::to_owned);
    assert_eq!(found, outcome, "{act} on {told}");
    assert_eq!(harness.log("cursor").await.len(), log + logged, "changes of {act} on {told}");
    let moved = snapshot(harness, table).await != before;
    // Renewing moves the expiry, and is no change. A winner alone does not touch the watch.
    let expected = logged > 0 && (act, outcome) != ("recordWinner", "NOOP") || outcome == "RENEWED";
    assert_eq!(moved, expected, "the row after {act} on {told}");
}

on_both_engines! {
    async fn each_state_takes_the_acts_that_its_rule_allows(harness: Harness) {
        let table = "kubun_connector_operation";
        for state in OperationState::ALL {
            for act in OPERATION_ACTS {
                let fields = if act.starts_with("resume") { "operations" } else { "outcome" };
                if act == "recordOperation" {
                    for from in OperationState::ALL {
                        for to in OperationState::ALL {
                            let key = format!("{state:?}-{act}-{from:?}-{to:?}");
                            let (id, version) = operation_in(&harness, &key, *state).await;
                            let expected = expected_of_operation(act, *state, *from, *to);
                            check(&harness, act, record(&id, &version, *from, *to), fields, table, expected, &key).await;
                        }
                    }
                    continue;
                }
                let key = format!("{state:?}-{act}");
                let (id, version) = operation_in(&harness, &key, *state).await;
                let expected = expected_of_operation(act, *state, *state, *state);
                let input = operation_input(&harness, act, &key, &id, &version);
                check(&harness, act, input, fields, table, expected, &key).await;
            }
        }
    }

    async fn a_stranger_to_the_lease_is_refused_in_every_state(harness: Harness) {
        for state in OperationState::ALL {
            for act in ["renewLease", "releaseLease", "markSendStarted", "recordOperation", "deferOperation", "finalizeOperation", "acquireLease"] {
                let key = format!("{state:?}-{act}");
                let (id, version) = operation_in(&harness, &key, *state).await;
                let mut input = match act {
                    "recordOperation" => record(&id, &version, OperationState::Attempted, OperationState::Dead),
                    act => operation_input(&harness, act, &key, &id, &version),
                };
                input["leaseToken"] = json!("L2");
                let outcome = if act == "acquireLease" { "HELD" } else { "LEASE_NOT_HELD" };
                check(&harness, act, input, "outcome", "kubun_connector_operation", (outcome, 0), &key).await;
            }
        }
    }

    async fn each_status_takes_the_acts_that_its_rule_allows(harness: Harness) {
        let table = "kubun_connector_projection_watch";
        for status in WatchStatus::ALL {
            for act in WATCH_ACTS {
                let key = format!("{status:?}-{act}");
                let (id, version) = operation_in(&harness, &key, OperationState::Attempted).await;
                let armed = harness.act("finalizeOperation", finalize(&id, &version, &key), "watch { id }").await;
                let watch = armed["watch"]["id"].clone();
                let later = rfc3339(harness.now() + 1_000);
                let verify = |digest: &str| json!({ "id": watch, "generation": 0, "fetchedDigest": digest, "maxAttempts": 1, "dueAt": later });
                match status {
                    WatchStatus::PendingVerification => {}
                    WatchStatus::Verified => drop(harness.act("recordVerification", verify("w1"), "outcome").await),
                    WatchStatus::RepairFailed => drop(harness.act("recordVerification", verify("other"), "outcome").await),
                }
                let input = match act {
                    "recordWinner" => json!({ "documentId": format!("doc-{key}"), "digest": "w2" }),
                    "armWatch" => json!({ "id": watch, "triggeringWinner": "w1", "dueAt": later }),
                    "requestRepull" => json!({ "id": watch }),
                    "claimWatchAttempt" => json!({ "id": watch, "generation": 0, "claimMs": 5_000 }),
                    "deferWatch" => json!({ "id": watch, "generation": 0, "claimedUntil": later, "nextAttemptAt": later }),
                    "recordVerification" => verify("w1"),
                    other => panic!("{other} has no input"),
                };
                check(&harness, act, input, "outcome", table, expected_of_watch(act, *status), &key).await;
            }
        }
    }

    async fn every_mutation_has_its_row(harness: Harness) {
        // What has states of another kind, or none, has its rows beside its own rules.
        let elsewhere = [&reissue::ACTS[..], &retention::ACTS, &sweeps::ACTS, &sync::ACTS, &documents::ACTS, &contention::BULK_ACTS, &access::GRANT_ACTS];
        let schema = harness.ask("{ __schema { mutationType { fields { name } } } }", json!({})).await;
        let fields = schema["__schema"]["mutationType"]["fields"].as_array().unwrap().clone();
        let found: BTreeSet<String> = fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect();
        let rows = OPERATION_ACTS.iter().chain(&WATCH_ACTS).chain(elsewhere.into_iter().flatten());
        let rows: BTreeSet<String> = rows.map(|act| (*act).to_owned()).collect();
        assert_eq!(found, rows);
    }
}
