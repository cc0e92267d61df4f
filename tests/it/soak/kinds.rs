//! What the subscribers of the soak ask for, and which changes each is to get.

use std::collections::BTreeMap;

use serde_json::{Value, json};

/// A row of the log.
pub type Row = BTreeMap<String, Value>;

/// What a subscriber asks for, and which changes it is to get.
pub struct Kind {
    pub query: &'static str,
    pub variables: Value,
    pub gets: fn(&Row) -> bool,
}

fn is(row: &Row, column: &str, value: &str) -> bool {
    row[column] == value
}

/// Every kind of subscription, with every kind of filter.
pub fn kinds(first_id: &Value) -> Vec<Kind> {
    const CHANGES: &str = "subscription($filter: ChangeFilter, $after: String) { changes(filter: $filter, after: $after) { cursor node { id } } }";
    const OPERATIONS: &str = "subscription($id: ID, $filter: OperationFilter, $after: String) {
        operationChanged(id: $id, filter: $filter, after: $after) { cursor operation { version state } } }";
    const WATCHES: &str = "subscription($filter: WatchFilter, $after: String) {
        watchChanged(filter: $filter, after: $after) { cursor watch { version document { writeState } } } }";
    const VERIFICATIONS: &str = "subscription($filter: WatchFilter, $after: String) {
        verificationRecorded(filter: $filter, after: $after) { cursor outcome attempts } }";
    const DOCUMENTS: &str = "subscription($ids: [String!]!, $after: String) { documentChanged(ids: $ids, after: $after) { cursor document { writeState } } }";
    let kind = |query, variables, gets| Kind { query, variables, gets };
    vec![
        kind(CHANGES, json!({}), |_| true),
        kind(CHANGES, json!({ "filter": { "ownerDid": "did:o1" } }), |row| is(row, "owner_did", "did:o1")),
        kind(CHANGES, json!({ "filter": { "callerDid": "did:w2" } }), |row| is(row, "caller_did", "did:w2")),
        kind(CHANGES, json!({ "filter": { "connectorName": "calendar" } }), |row| {
            is(row, "connector_name", "calendar")
        }),
        kind(CHANGES, json!({ "filter": { "documentIds": ["d1", "d7"] } }), |row| {
            is(row, "document_id", "d1") || is(row, "document_id", "d7")
        }),
        kind(CHANGES, json!({ "filter": { "transitions": ["finalize", "arm"] } }), |row| {
            is(row, "transition", "finalize") || is(row, "transition", "arm")
        }),
        kind(CHANGES, json!({ "filter": { "entities": ["WATCH", "DOCUMENT"] } }), |row| {
            !is(row, "entity", "operation")
        }),
        kind(CHANGES, json!({ "filter": { "ownerDid": "did:o0", "connectorName": "contacts" } }), |row| {
            is(row, "owner_did", "did:o0") && is(row, "connector_name", "contacts")
        }),
        kind(OPERATIONS, json!({}), |row| is(row, "entity", "operation")),
        kind(OPERATIONS, json!({ "id": first_id }), |row| {
            is(row, "document_id", "d-first") && is(row, "entity", "operation")
        }),
        kind(OPERATIONS, json!({ "filter": { "states": ["COMMITTED", "DEAD"] } }), |row| {
            is(row, "entity", "operation") && (is(row, "to_state", "committed") || is(row, "to_state", "dead"))
        }),
        kind(OPERATIONS, json!({ "filter": { "ownerDid": "did:o2" } }), |row| {
            is(row, "entity", "operation") && is(row, "owner_did", "did:o2")
        }),
        kind(OPERATIONS, json!({ "filter": { "visibleTo": "did:w1" } }), |row| {
            is(row, "entity", "operation") && is(row, "caller_did", "did:w1")
        }),
        kind(OPERATIONS, json!({ "filter": { "documentIds": ["d3"] } }), |row| {
            is(row, "entity", "operation") && is(row, "document_id", "d3")
        }),
        kind(OPERATIONS, json!({ "filter": { "connectorName": "contacts" } }), |row| {
            is(row, "entity", "operation") && is(row, "connector_name", "contacts")
        }),
        kind(WATCHES, json!({}), |row| is(row, "entity", "watch")),
        kind(WATCHES, json!({ "filter": { "ownerDid": "did:o1" } }), |row| {
            is(row, "entity", "watch") && is(row, "owner_did", "did:o1")
        }),
        kind(WATCHES, json!({ "filter": { "statuses": ["VERIFIED"] } }), |row| {
            is(row, "entity", "watch") && is(row, "to_state", "verified")
        }),
        kind(WATCHES, json!({ "filter": { "documentIds": ["d2", "d4"] } }), |row| {
            is(row, "entity", "watch") && (is(row, "document_id", "d2") || is(row, "document_id", "d4"))
        }),
        kind(VERIFICATIONS, json!({}), |row| is(row, "transition", "record_verification")),
        kind(VERIFICATIONS, json!({ "filter": { "connectorName": "calendar" } }), |row| {
            is(row, "transition", "record_verification") && is(row, "connector_name", "calendar")
        }),
        kind(DOCUMENTS, json!({ "ids": ["d5"] }), |row| is(row, "document_id", "d5")),
        kind(DOCUMENTS, json!({ "ids": ["d0", "d1", "d2", "d3"] }), |row| {
            ["d0", "d1", "d2", "d3"].iter().any(|id| is(row, "document_id", id))
        }),
        // Two of the widest kind, on whichever servers.
        kind(CHANGES, json!({}), |_| true),
    ]
}
