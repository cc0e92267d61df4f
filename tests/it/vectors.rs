//! The reference package's answers, replayed through the schema: every scenario, on both engines, none skipped.
//!
//! `VECTORS_DIR` names the folder of `core.jsonl` and `full.jsonl`; without it the shared one beside the project, or else the project's own
//! copy in tests/vectors.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::{Value, json};
use writewatch::domain::ids::NodeId;
use writewatch::domain::time::rfc3339;
use writewatch::domain::words::EntityKind;
use writewatch::store::Engine;

use crate::harness::Harness;

/// What an act that took effect answers.
const TOOK_EFFECT: [&str; 12] = [
    "ACQUIRED",
    "RENEWED",
    "RELEASED",
    "MARKED",
    "RECORDED",
    "DEFERRED",
    "FINALIZED",
    "CLAIMED",
    "OPENED",
    "SWEPT",
    "COMMITTED",
    "ADVANCED",
];
/// Columns that hold JSON text.
const JSON_COLUMNS: [&str; 9] = [
    "reissue_intent",
    "result_entity",
    "scope",
    "keep",
    "predicate",
    "checkpoint",
    "recovery",
    "scopes",
    "trimmed_fields",
];
/// The tables that the package makes, with the columns of their keys.
const TABLES: [(&str, &str); 9] = [
    ("kubun_connector_operation", "caller_did, operation_id"),
    ("kubun_connector_projection_watch", "owner_did, connector_name, model, account_key, source_id"),
    ("kubun_connector_sweep_receipt", "owner_did, connector_name, partition, provenance"),
    ("kubun_connector_sweep_candidate", "owner_did, connector_name, partition, provenance, document_id"),
    ("kubun_connector_sweep_checkpoint", "owner_did, connector_name, partition"),
    ("kubun_connector_sync_state", "connector_name, owner_did"),
    ("kubun_connector_pending_auth", "state"),
    ("kubun_connector_entity_trim", "document_id"),
    ("kubun_connector_observation_repair", "document_id"),
];

#[expect(clippy::disallowed_methods, reason = "the folder is handed to the runner by the environment")]
fn folder() -> PathBuf {
    let manifest = PathBuf::from(env!("CARGO_MANIFEST_DIR"));
    match std::env::var_os("VECTORS_DIR") {
        Some(folder) => manifest.join(folder),
        None if manifest.join("../shared/vectors").is_dir() => manifest.join("../shared/vectors"),
        None => manifest.join("tests/vectors"),
    }
}

fn scenarios() -> Vec<Value> {
    let mut scenarios = vec![];
    for name in ["core.jsonl", "full.jsonl"] {
        let file = folder().join(name);
        let text = std::fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
        let before = scenarios.len();
        scenarios.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        assert!(scenarios.len() > before, "{} has no scenario", file.display());
    }
    scenarios
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    replay_all(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    replay_all(Engine::Postgres).await;
}

async fn replay_all(engine: Engine) {
    for scenario in scenarios() {
        replay(engine, &scenario).await;
    }
}

async fn replay(engine: Engine, scenario: &Value) {
    let harness = Harness::start(engine).await;
    let name = scenario["scenario"].as_str().unwrap();
    for (place, step) in scenario["steps"].as_array().unwrap().iter().enumerate() {
        harness.set_clock(step["at"].as_i64().unwrap());
        let answer = perform(&harness, step).await;
        for (field, expected) in step["expect"].as_object().unwrap() {
            assert_eq!(&answer[field], expected, "{name}, step {place}, {field}: {step}\nanswered {answer}");
        }
    }
    for (table, expected) in scenario["final"].as_object().unwrap() {
        compare(&harness, name, table, expected.as_array().unwrap()).await;
    }
}

/// Performs a step; the answer in the words of its expectation.
async fn perform(harness: &Harness, step: &Value) -> Value {
    let call = step["call"].as_str().unwrap();
    let args = step["args"].clone();
    match call {
        "operations" => list_operations(harness, args).await,
        "resumeOfflineDeferred" | "resumeAuthDeferred" => {
            harness.act(call, inputs(args), "operations watches").await;
            json!({})
        }
        "claimOperation" | "recordWinner" => outcome(harness, call, inputs(args)).await,
        "armWatch" | "requestRepull" | "claimWatchAttempt" | "deferWatch" | "recordVerification" => {
            let input = with_watch_id(inputs(args));
            outcome(harness, call, input).await
        }
        "acquireLease" | "renewLease" | "releaseLease" | "markSendStarted" | "recordOperation" | "deferOperation"
        | "finalizeOperation" => {
            let input = with_operation_id(harness, inputs(args)).await;
            outcome(harness, call, input).await
        }
        "sweepDocument" | "recordRelistReceipt" | "setSyncState" | "createPendingAuth" => {
            outcome(harness, call, inputs(args)).await
        }
        "recordSweepOutcome" | "markSweepCandidateApplied" | "recordSweepApplyFailure" => {
            let mut answer = outcome(harness, call, inputs(args)).await;
            answer["refused"] = json!(answer["outcome"] == "REFUSED");
            answer
        }
        "collectFinishedOperations"
        | "deleteExpiredPendingAuth"
        | "deleteSyncState"
        | "clearEntityTrim"
        | "clearObservationRepair" => harness.act(call, inputs(args), "deleted").await,
        "setEntityTrim" => harness.act(call, inputs(args), "trim { updatedAt }").await,
        "putObservationRepair" => harness.act(call, inputs(args), "repair { writtenAt }").await,
        "commitSweepCheckpoint" => {
            let answer = harness.act(call, inputs(args), "outcome checkpoint { provenance }").await;
            json!({ "ok": answer["outcome"] == "COMMITTED", "checkpoint": answer["checkpoint"]["provenance"] })
        }
        "consumePendingAuth" => {
            let answer = harness.act(call, inputs(args), "outcome codeVerifier").await;
            json!({ "found": answer["outcome"] == "CONSUMED", "codeVerifier": answer["codeVerifier"] })
        }
        "advanceSyncProgress" => advance(harness, inputs(args)).await,
        "due" => list_due(harness, &args).await,
        "sweepCandidates" => list_candidates(harness, inputs(args)).await,
        "@moveWinner" => {
            let (document, digest, at) = (&args["documentId"], &args["digest"], &step["at"]);
            let sql = format!(
                "INSERT INTO document_winner (document_id, digest, version, updated_at) VALUES ('{}', '{}', NULL, {at}) \
                ON CONFLICT (document_id) DO UPDATE SET digest = excluded.digest, updated_at = excluded.updated_at",
                document.as_str().unwrap(),
                digest.as_str().unwrap(),
            );
            harness.database.execute(&sql).await;
            json!({})
        }
        other => panic!("{other} is not a call that this runner knows"),
    }
}

/// Advances from the version that is there, from none, or from one that is not.
async fn advance(harness: &Harness, mut input: Value) -> Value {
    let key = json!({ "connector": input["connectorName"], "owner": input["ownerDid"] });
    let query = "query($connector: String!, $owner: String!) {
        syncState(connectorName: $connector, ownerDid: $owner) { version incarnation } }";
    let mut found = harness.ask(query, key).await["syncState"].take();
    input["expected"] = match input["expected"].as_str().unwrap() {
        "absent" => Value::Null,
        "current" => found,
        "stale" => {
            let version = found["version"].as_i64().unwrap_or(6) + 1;
            found = json!({ "version": version, "incarnation": found["incarnation"] });
            found
        }
        other => panic!("{other} is not a version that this runner knows"),
    };
    outcome(harness, "advanceSyncProgress", input).await
}

/// Every page of both lists of due work.
async fn list_due(harness: &Harness, args: &Value) -> Value {
    let mut answer = json!({});
    for (list, node) in
        [("dueOperations", "callerDid operationId"), ("dueWatches", "ownerDid connectorName model accountKey sourceId")]
    {
        let query = format!(
            "query($filter: DueFilter, $after: String) {{ page: {list}(filter: $filter, first: 2, after: $after) {{
            nodes {{ {node} }} pageInfo {{ hasNextPage endCursor }} }} }}"
        );
        let rows = every_page(harness, &query, args, |row| {
            node.split(' ').map(|field| row[field].as_str().unwrap()).collect::<Vec<_>>().join(" ")
        });
        let mut rows = rows.await;
        rows.sort();
        answer[if list == "dueWatches" { "watches" } else { "operations" }] = json!(rows);
    }
    answer
}

async fn list_candidates(harness: &Harness, filter: Value) -> Value {
    let query = "query($filter: SweepCandidateFilter, $after: String) {
        page: sweepCandidates(filter: $filter, first: 2, after: $after) {
        nodes { receipt { partition provenance } documentId } pageInfo { hasNextPage endCursor } } }";
    let text = |row: &Value| {
        let receipt = &row["receipt"];
        [&receipt["partition"], &receipt["provenance"], &row["documentId"]].map(|part| part.as_str().unwrap()).join(" ")
    };
    json!({ "candidates": every_page(harness, query, &filter, text).await })
}

/// The rows of every page, each as a text.
async fn every_page(harness: &Harness, query: &str, filter: &Value, text: impl Fn(&Value) -> String) -> Vec<String> {
    let (mut rows, mut after) = (vec![], Value::Null);
    loop {
        let page = harness.ask(query, json!({ "filter": filter, "after": after })).await["page"].take();
        rows.extend(page["nodes"].as_array().unwrap().iter().map(&text));
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            return rows;
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

async fn outcome(harness: &Harness, call: &str, input: Value) -> Value {
    let outcome = harness.act(call, input, "outcome").await["outcome"].take();
    let ok = TOOK_EFFECT.contains(&outcome.as_str().unwrap());
    json!({ "outcome": outcome, "ok": ok })
}

/// Turns ms into times and the database's words into the schema's.
fn inputs(mut args: Value) -> Value {
    for (name, value) in args.as_object_mut().unwrap() {
        match name.as_str() {
            "nextAttemptAt" | "dueAt" | "claimedUntil" | "before" | "expiresAt" => {
                if let Some(ms) = value.as_i64() {
                    *value = json!(rfc3339(ms));
                }
            }
            "op" | "fromState" | "toState" | "deferReason" | "reason" | "outcome" | "status" => {
                if let Some(word) = value.as_str() {
                    *value = json!(word.to_uppercase());
                }
            }
            _ => {}
        }
    }
    args
}

async fn with_operation_id(harness: &Harness, mut input: Value) -> Value {
    let members = input.as_object_mut().unwrap();
    let key = json!({ "caller": members.remove("callerDid"), "id": members.remove("operationId") });
    let query = "query($caller: String!, $id: String!) { operation(callerDid: $caller, operationId: $id) { id } }";
    let found = harness.ask(query, key).await["operation"]["id"].take();
    let id = if found.is_null() { json!(NodeId::operation("unknown").encode()) } else { found };
    members.insert("id".to_owned(), id);
    input
}

fn with_watch_id(mut input: Value) -> Value {
    let members = input.as_object_mut().unwrap();
    let parts =
        ["ownerDid", "connectorName", "model", "accountKey", "sourceId"].map(|name| members.remove(name).unwrap());
    let parts = parts.each_ref().map(|part| part.as_str().unwrap());
    members.insert("id".to_owned(), json!(NodeId::of_key(EntityKind::Watch, &parts).encode()));
    input
}

/// Every page of the filtered list.
async fn list_operations(harness: &Harness, args: Value) -> Value {
    let mut filter = args["filter"].clone();
    if let Some(states) = filter.get_mut("states").and_then(Value::as_array_mut) {
        for state in states {
            *state = json!(state.as_str().unwrap().to_uppercase());
        }
    }
    let query =
        "query($filter: OperationFilter, $after: String) { operations(filter: $filter, first: 3, after: $after) {
        nodes { callerDid operationId superseded } pageInfo { hasNextPage endCursor } } }";
    let (mut operations, mut superseded, mut after) = (vec![], vec![], Value::Null);
    loop {
        let page = harness.ask(query, json!({ "filter": filter, "after": after })).await["operations"].take();
        for node in page["nodes"].as_array().unwrap() {
            let key = format!("{} {}", node["callerDid"].as_str().unwrap(), node["operationId"].as_str().unwrap());
            if node["superseded"] == json!(true) {
                superseded.push(key.clone());
            }
            operations.push(key);
        }
        if page["pageInfo"]["hasNextPage"] == json!(false) {
            return json!({ "operations": operations, "superseded": superseded });
        }
        after = page["pageInfo"]["endCursor"].clone();
    }
}

async fn compare(harness: &Harness, name: &str, table: &str, expected: &[Value]) {
    let count = harness.database.texts(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await;
    assert_eq!(count, [expected.len().to_string()], "{name}: rows of {table}");
    let Some(first) = expected.first().and_then(Value::as_object) else { return };
    let columns: Vec<&str> = first.keys().map(String::as_str).collect();
    // The rows come by primary key in byte order.
    let order =
        TABLES.iter().find(|(name, _)| *name == table).unwrap_or_else(|| panic!("{table} is not a known table")).1;
    for (row, expected) in harness.database.rows(table, &columns, order).await.into_iter().zip(expected) {
        let expected: BTreeMap<String, Value> = serde_json::from_value(expected.clone()).unwrap();
        let (row, expected) = (parsed(row), parsed(expected));
        assert_eq!(row, expected, "{name}: a row of {table}");
    }
}

fn parsed(mut row: BTreeMap<String, Value>) -> BTreeMap<String, Value> {
    for column in JSON_COLUMNS {
        if let Some(Value::String(text)) = row.get(column) {
            let value: Value = serde_json::from_str(text).unwrap();
            row.insert(column.to_owned(), json!([value]));
        }
    }
    row
}
