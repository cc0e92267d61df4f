//! The table's subscriptions: something happens to the owner's, then to the viewer's own; whichever is told first decides.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use super::books::Books;
use crate::support::client::Failure;
use crate::support::signer::{Person, now_s};
use crate::support::socket::{Subscription, try_subscribe_as};

/// What is followed, and where in an answer its document is.
fn followed(field: &str, of: &str) -> (&'static str, &'static str) {
    match (field, of) {
        ("operationChanged", _) => (
            "subscription($documents: [String!]!, $after: String) {
                operationChanged(filter: { documentIds: $documents }, after: $after) { operation { state } change { documentId } } }",
            "/operationChanged/change/documentId",
        ),
        ("watchChanged", _) => (
            "subscription($documents: [String!]!, $after: String) {
                watchChanged(filter: { documentIds: $documents }, after: $after) { watch { status } change { documentId } } }",
            "/watchChanged/change/documentId",
        ),
        ("documentChanged", _) => (
            "subscription($documents: [String!]!, $after: String) {
                documentChanged(ids: $documents, after: $after) { document { writeState } change { documentId } } }",
            "/documentChanged/change/documentId",
        ),
        ("verificationRecorded", _) => (
            "subscription($documents: [String!]!, $after: String) {
                verificationRecorded(filter: { documentIds: $documents }, after: $after) { watch { documentId } } }",
            "/verificationRecorded/watch/documentId",
        ),
        ("changes", "the operation") => (
            "subscription($documents: [String!]!, $after: String) {
                changes(filter: { documentIds: $documents, entities: [OPERATION] }, after: $after) { documentId } }",
            "/changes/documentId",
        ),
        ("changes", "the watch") => (
            "subscription($documents: [String!]!, $after: String) {
                changes(filter: { documentIds: $documents, entities: [WATCH] }, after: $after) { documentId } }",
            "/changes/documentId",
        ),
        ("changes", _) => (
            "subscription($documents: [String!]!, $after: String) {
                changes(filter: { documentIds: $documents, entities: [DOCUMENT] }, after: $after) { documentId } }",
            "/changes/documentId",
        ),
        (field, of) => panic!("the table follows {field} of {of}, and nobody knows how"),
    }
}

/// Subscribes as somebody, or without a token.
pub async fn begin(books: &Books, token: Option<&str>, query: &str, variables: Value) -> Result<Subscription, Failure> {
    let init = token.map_or(Value::Null, |token| json!({ "authorization": format!("Bearer {token}") }));
    try_subscribe_as(books.house.server.url(), init, query, variables).await
}

/// A query of a row that anybody could send.
pub fn any_query(field: &str, of: &str) -> (&'static str, Value) {
    if field == "workDue" {
        return ("subscription { workDue { operations } }", json!({}));
    }
    (followed(field, of).0, json!({ "documents": ["d"] }))
}

/// What somebody is told of a row.
pub async fn told(field: &str, of: &str, books: &Books, who: &Person) -> &'static str {
    let token = who.token();
    let watch = books.watch().await;
    let operation = books.operation().await;
    if field == "workDue" {
        let query = "subscription($owner: String!) { workDue(filter: { ownerDid: $owner, includeLeased: true }) { operations } }";
        let begun = begin(books, Some(&token), query, json!({ "owner": books.owner.did })).await;
        let due = begun.unwrap().next().await["workDue"]["operations"].take();
        return if due == 0 { "silent" } else { "told" };
    }
    let last = books.house.ask("{ changes(last: 1) { nodes { cursor } } }", json!({})).await;
    let own = format!("own-{}", books.document());
    let variables = json!({ "documents": [books.document(), own], "after": last["changes"]["nodes"][0]["cursor"] });
    let (query, place) = followed(field, of);
    let mut begun = begin(books, Some(&token), query, variables).await.unwrap();
    happen(of, books, &operation, &watch).await;
    happen_to_own(books, who, &own).await;
    let first = begun.next().await;
    let document = first.pointer(place).and_then(Value::as_str).unwrap_or_else(|| panic!("{field} of {of}: {first}"));
    if document == own { "silent" } else { "told" }
}

async fn happen(of: &str, books: &Books, operation: &str, watch: &str) {
    let later = rfc3339((now_s() + 600) * 1_000);
    let verified = json!({ "id": watch, "generation": 0, "fetchedDigest": "w1", "maxAttempts": 5, "dueAt": later });
    match of {
        "the operation" => books.make("releaseLease", json!({ "id": operation, "leaseToken": "L1" })).await,
        "the watch" => books.make("recordVerification", verified).await,
        "the winner" => books.make("recordWinner", json!({ "documentId": books.document(), "digest": "w2" })).await,
        "the observation" => books.make("putObservationRecord", books.observation()).await,
        other => panic!("nobody knows how anything happens to {other}"),
    }
}

/// An operation, a watch, a winner and a verification of somebody's own.
async fn happen_to_own(books: &Books, who: &Person, document: &str) {
    let mutate = async |query: &str, input: Value| {
        let mut answer = books.house.answer(who, query, json!({ "input": input })).await;
        assert!(answer.get("errors").is_none(), "{answer}");
        answer["data"].take()
    };
    let own = books.claim("own", &json!({ "callerDid": null, "ownerDid": who.did, "documentId": document }));
    let claimed =
        mutate("mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { operation { id } } }", own)
            .await;
    let finalize = json!({ "id": claimed["claimOperation"]["operation"]["id"], "leaseToken": "L1", "version": 0,
        "documentId": document, "sourceId": document, "winnerDigest": "w" });
    let query = "mutation($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { watch { id } } }";
    let finalized = mutate(query, finalize).await;
    let verified = json!({ "id": finalized["finalizeOperation"]["watch"]["id"], "generation": 0, "fetchedDigest": "w",
        "maxAttempts": 5, "dueAt": rfc3339(now_s() * 1_000) });
    let query = "mutation($input: RecordVerificationInput!) { recordVerification(input: $input) { outcome } }";
    mutate(query, verified).await;
}
