//! The questions of the table's queries: what is asked, and where in the answer it would be.

use serde_json::{Value, json};
use writewatch::domain::ids::NodeId;
use writewatch::domain::words::EntityKind;

use super::books::Books;
use crate::support::signer::now_s;

/// Ids of the things that a row may be about.
pub struct Things {
    pub operation: String,
    pub watch: String,
}

/// Makes one of everything.
pub async fn make_all(books: &Books) -> Things {
    let watch = books.watch().await;
    let operation = books.operation().await;
    books.make("setEntityTrim", books.trim()).await;
    books.make("putObservationRepair", books.repair()).await;
    books.make("recordRelistReceipt", books.relist("open", &[books.swept()])).await;
    books.make("recordRelistReceipt", books.relist("done", &[])).await;
    books.make("commitSweepCheckpoint", books.receipt("done")).await;
    let mut sync = books.sync_state();
    sync["lastSyncedAt"] = json!("2026-01-01T00:00:00.000Z");
    sync["entityCount"] = json!(1);
    sync["status"] = json!("IDLE");
    books.make("setSyncState", sync).await;
    books.make("createPendingAuth", books.pending_auth(now_s() + 3_600)).await;
    books.make("putObservationRecord", books.observation()).await;
    Things { operation, watch }
}

/// The selection of a row's query, the variables' types and values, and where what it is about would be.
pub fn question(field: &str, of: &str, books: &Books, things: &Things) -> (String, Value, &'static str) {
    let owner = books.owner.did.clone();
    let part = |partition: &str| [owner.clone(), "contacts".to_owned(), partition.to_owned(), books.name.clone()];
    let node_id =
        |kind, parts: &[String]| NodeId::of_key(kind, &parts.iter().map(String::as_str).collect::<Vec<_>>()).encode();
    let mut candidate = part("open").to_vec();
    candidate.push(books.swept());
    let id = match of {
        "the operation" => things.operation.clone(),
        "the watch" => things.watch.clone(),
        "the receipt" => node_id(EntityKind::SweepReceipt, &part("open")),
        "the candidate" => node_id(EntityKind::SweepCandidate, &candidate),
        "the sync state" => node_id(EntityKind::SyncState, &["contacts".to_owned(), owner.clone()]),
        _ => String::new(),
    };
    let text = match of {
        "the operation" => format!("live-{}", books.name),
        "the watch" => books.source(),
        _ => books.swept(),
    };
    let document = if of == "work of a sweep" { books.swept() } else { books.document() };
    let variables = json!({
        "id": id, "ids": [id], "owner": owner, "caller": books.caller.did, "document": document, "documents": [document],
        "operationId": format!("live-{}", books.name), "identity": books.identity(), "text": text,
        "state": format!("state-{}", books.name), "keys": [{ "owner": books.owner.did, "id": books.document() }],
        "part": { "ownerDid": books.owner.did, "connectorName": "contacts", "partition": "done" },
        "entities": [match of { "the operation" => "OPERATION", "the watch" => "WATCH", _ => "DOCUMENT" }],
        "transitions": [match of {
            "the operation" => "claim", "the watch" => "arm", "the winner" => "record_winner", _ => "put_observation",
        }],
    });
    let (query, place) = selection(field, of);
    (query.to_owned(), variables, place)
}

fn selection(field: &str, of: &str) -> (&'static str, &'static str) {
    match (field, of) {
        ("node", _) => ("node(id: $id) { __typename }", "/node"),
        ("nodes", _) => ("nodes(ids: $ids) { __typename }", "/nodes/0"),
        ("viewer", _) => ("viewer { roles }", "/viewer"),
        ("operation", _) => ("operation(callerDid: $caller, operationId: $operationId) { state }", "/operation"),
        ("operations", _) => {
            ("operations(filter: { ownerDid: $owner }) { totalCount nodes { state } }", "/operations/nodes")
        }
        ("watch", _) => ("watch(identity: $identity) { status }", "/watch"),
        ("watches", _) => ("watches(filter: { ownerDid: $owner }) { totalCount nodes { status } }", "/watches/nodes"),
        ("document", "its operations") => (
            "document(id: $document) { writeState inFlight { state } lastCommit { state } operations { totalCount nodes { state } } }",
            "/document/operations/nodes",
        ),
        ("document", "its watches") => {
            ("document(id: $document) { watch { status } watches { status } }", "/document/watches")
        }
        ("document", "its winner") => ("document(id: $document) { winner { digest } }", "/document/winner"),
        ("document", "its trim") => ("document(id: $document) { trim { trimmedFields } }", "/document/trim"),
        ("document", "its repair") => ("document(id: $document) { repair { present } }", "/document/repair"),
        ("document", "its changes") => {
            ("document(id: $document) { changes { totalCount } }", "/document/changes/totalCount")
        }
        ("document", "work of a sweep") => {
            ("document(id: $document) { hasConnectorWork }", "/document/hasConnectorWork")
        }
        ("documents", _) => {
            ("documents(ids: $documents) { hasConnectorWork winner { digest } }", "/documents/0/winner")
        }
        ("documentsByWriteState", _) => (
            "documentsByWriteState(states: [PENDING, VERIFYING, COMMITTED], filter: { ownerDid: $owner }) { nodes { writeState } }",
            "/documentsByWriteState/nodes",
        ),
        ("dueOperations", _) => (
            "dueOperations(filter: { ownerDid: $owner, includeLeased: true }) { totalCount nodes { state } }",
            "/dueOperations/nodes",
        ),
        ("dueWatches", _) => {
            ("dueWatches(filter: { ownerDid: $owner }) { totalCount nodes { status } }", "/dueWatches/nodes")
        }
        ("sweepReceipts", _) => (
            "sweepReceipts(filter: { ownerDid: $owner }) { totalCount nodes { kind candidates { totalCount } progress { count } } }",
            "/sweepReceipts/nodes",
        ),
        ("sweepCandidates", _) => {
            ("sweepCandidates(filter: { ownerDid: $owner }) { totalCount nodes { state } }", "/sweepCandidates/nodes")
        }
        ("sweepCheckpoint", _) => ("sweepCheckpoint(key: $part) { sequence }", "/sweepCheckpoint"),
        ("syncState", _) => ("syncState(connectorName: \"contacts\", ownerDid: $owner) { status }", "/syncState"),
        ("pendingAuth", _) => ("pendingAuth(state: $state) { provider }", "/pendingAuth"),
        ("pendingAuths", _) => {
            ("pendingAuths(ownerDid: $owner) { totalCount nodes { provider } }", "/pendingAuths/nodes")
        }
        ("observationDecision", _) => {
            ("observationDecision(owner: $owner, id: $document) { hlc }", "/observationDecision")
        }
        ("observationDecisions", _) => ("observationDecisions(keys: $keys) { hlc }", "/observationDecisions/0"),
        ("observationRepairs", _) => {
            ("observationRepairs(documentIds: $documents) { present }", "/observationRepairs/0")
        }
        ("changes", _) => (
            "changes(filter: { entities: $entities, documentIds: $documents, transitions: $transitions }) { totalCount }",
            "/changes/totalCount",
        ),
        ("statistics", "operations") => (
            "statistics(filter: { ownerDid: $owner }) { operationsByState { state count } attention { count } dueOperations }",
            "/statistics/operationsByState",
        ),
        ("statistics", _) => (
            "statistics(filter: { ownerDid: $owner }) { watchesByStatus { status count } dueWatches }",
            "/statistics/watchesByStatus",
        ),
        ("search", _) => ("search(text: $text) { __typename }", "/search"),
        ("serverStatus", "the server") => {
            ("serverStatus { version engine startedAt servers }", "/serverStatus/version")
        }
        ("accessGrants", _) => ("accessGrants(ownerDid: $owner) { connectorName }", "/accessGrants"),
        // Lists of everybody's: this owner's are looked for in them.
        ("syncStates", _) => {
            ("syncStates(connectorName: \"contacts\", first: 100) { nodes { ownerDid } }", "/syncStates/nodes")
        }
        ("observationRepairsWritten", _) => {
            ("observationRepairsWritten(first: 100) { nodes { owner } }", "/observationRepairsWritten/nodes")
        }
        ("serverStatus", _) => ("serverStatus { upkeep { lastResult } }", "/serverStatus/upkeep/0/lastResult"),
        (field, of) => panic!("the table asks {field} of {of}, and nobody knows how"),
    }
}

/// Declares those of the variables that a query uses.
pub fn declared(selection: &str, variables: &Value) -> (String, Value) {
    let kind = |name: &str| match name {
        "id" => "ID!",
        "ids" => "[ID!]!",
        "documents" | "transitions" => "[String!]!",
        "entities" => "[EntityKind!]!",
        "identity" => "WatchIdentityInput!",
        "keys" => "[ObservationKeyInput!]!",
        "part" => "SweepPartitionInput!",
        _ => "String!",
    };
    let is_name = |char: char| char.is_ascii_alphanumeric();
    let used = |name: &str| {
        selection
            .match_indices(&format!("${name}"))
            .any(|(at, found)| !selection[at + found.len()..].starts_with(is_name))
    };
    let used: serde_json::Map<String, Value> =
        variables.as_object().unwrap().clone().into_iter().filter(|(name, _)| used(name)).collect();
    let types: Vec<String> = used.keys().map(|name| format!("${name}: {}", kind(name))).collect();
    let head = if types.is_empty() { String::new() } else { format!("query({}) ", types.join(", ")) };
    (format!("{head}{{ {selection} }}"), used.into())
}

/// Whether there is anything: a list of everybody's is looked through for this owner.
pub fn is_there(found: Option<&Value>, books: &Books) -> bool {
    let owned = |row: &Value| {
        ["ownerDid", "owner"].iter().all(|name| row[*name].is_null() || row[*name] == books.owner.did.as_str())
    };
    match found {
        None | Some(Value::Null | Value::Bool(false)) => false,
        Some(Value::Number(count)) => count.as_i64() != Some(0),
        Some(Value::Array(rows)) => rows.iter().any(owned),
        Some(_) => true,
    }
}
