//! Lists by several conditions at once: whichever of them a list is read by, it shows the rows that meet them all, in its
//! order. Among rows enough that many, few and none meet a condition, on either side of what a list is sorted for.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::domain::viewer::Viewer;
use writewatch::store::Engine;

use crate::harness::{Harness, on_both_engines};

/// More than a list sorts, most of them alike.
const ROWS: usize = 40_000;
const WATCHES: usize = 3_000;
const START: i64 = 1_000_000;

fn numbers(engine: Engine, rows: usize) -> String {
    if engine == Engine::Sqlite {
        format!(
            "(WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {rows}) SELECT n FROM series)"
        )
    } else {
        format!("(SELECT n FROM generate_series(1, {rows}) AS n)")
    }
}

/// Rows as the package would write them. What is last changed was not made last.
async fn fill(harness: &Harness) {
    let operations = numbers(harness.engine, ROWS);
    harness.database.execute(&format!(
        "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, target, \
        deterministic_event_id, payload_hash, reissue_intent, document_id, state, last_kind, defer_reason, created_at, updated_at) \
        SELECT CASE WHEN n % 9 = 0 THEN 'did:c' || (n % 5) ELSE 'did:c9' END, 'k' || n, 'node-' || n, \
        CASE WHEN n % 8 = 0 THEN 'did:o' || (n % 3) WHEN n % 100 = 1 THEN 'did:c9' ELSE 'did:o9' END, \
        CASE WHEN n % 7 = 0 THEN 'contacts' ELSE 'calendar' END, CASE WHEN n < 60 THEN 'Rare' WHEN n % 7 = 0 THEN 'Contact' ELSE 'Event' END, \
        'update', 'a', 't', 'e', 'h', 'null', 'd' || (n / 20), \
        CASE WHEN n % 500 = 7 THEN 'dead' WHEN n % 50 = 5 THEN 'attempted' ELSE 'committed' END, \
        CASE WHEN n % 500 = 7 THEN 'rejected' WHEN n % 3 = 0 THEN 'timeout' END, CASE WHEN n % 100 = 5 THEN 'offline' WHEN n % 1000 = 55 THEN 'auth' END, \
        {START} + n / 2, {START} + n * 7919 % {ROWS} FROM {operations} AS numbers"
    )).await;
    let watches = numbers(harness.engine, WATCHES);
    harness.database.execute(&format!(
        "INSERT INTO kubun_connector_projection_watch (owner_did, connector_name, model, account_key, source_id, document_id, \
        verified_state_digest, observed_winner_digest, verification_status, defer_reason, created_at, updated_at) \
        SELECT 'did:o' || (n % 2), CASE WHEN n % 7 = 0 THEN 'contacts' ELSE 'calendar' END, CASE WHEN n % 3 = 0 THEN 'Contact' ELSE 'Event' END, 'a', \
        's' || n, 'd' || n, 'w', 'w', CASE WHEN n % 50 = 1 THEN 'repair_failed' WHEN n % 10 = 2 THEN 'pending_verification' ELSE 'verified' END, \
        CASE WHEN n % 20 = 2 THEN 'offline' END, 1, 1 FROM {watches} AS numbers"
    )).await;
}

/// A row's columns by name.
type Row = Vec<(&'static str, String)>;

async fn rows(harness: &Harness, table: &str, columns: &'static [&'static str]) -> Vec<Row> {
    let parts: Vec<String> = columns.iter().map(|column| format!("coalesce(CAST({column} AS text), '')")).collect();
    let found = harness.database.texts(&format!("SELECT {} FROM {table}", parts.join(" || '|' || "))).await;
    found.iter().map(|text| columns.iter().copied().zip(text.split('|').map(str::to_owned)).collect()).collect()
}

fn value<'r>(row: &'r Row, column: &str) -> &'r str {
    row.iter().find(|(name, _)| *name == column).map_or("", |(_, value)| value.as_str())
}

fn number(row: &Row, column: &str) -> i64 {
    value(row, column).parse().unwrap()
}

type Meets = Box<dyn Fn(&Row) -> bool>;

/// A filter's field with a value, and which rows meet it.
struct Probe(&'static str, Value, Meets);

fn among(field: &'static str, column: &'static str, asked: Value, words: &'static [&'static str]) -> Probe {
    Probe(field, asked, Box::new(move |row| words.contains(&value(row, column))))
}

fn is(field: &'static str, column: &'static str, word: &'static str) -> Probe {
    Probe(field, json!(word), Box::new(move |row| value(row, column) == word))
}

fn concerns(did: &'static str) -> Meets {
    Box::new(move |row| value(row, "owner_did") == did || value(row, "caller_did") == did)
}

fn operation_probes() -> Vec<Probe> {
    let (early, late) = (START + 1_000, START + 39_000);
    vec![
        among("states", "state", json!(["COMMITTED"]), &["committed"]),
        among("states", "state", json!(["DEAD"]), &["dead"]),
        among("states", "state", json!(["DEAD", "ATTEMPTED", "DEAD"]), &["dead", "attempted"]),
        among("states", "state", json!([]), &[]),
        among("documentIds", "document_id", json!(["d77"]), &["d77"]),
        among("documentIds", "document_id", json!(["d3", "d1999", "none", "d3"]), &["d3", "d1999"]),
        is("ownerDid", "owner_did", "did:o9"),
        is("ownerDid", "owner_did", "did:o1"),
        is("ownerDid", "owner_did", "did:none"),
        is("callerDid", "caller_did", "did:c9"),
        is("callerDid", "caller_did", "did:c3"),
        Probe("visibleTo", json!("did:c9"), concerns("did:c9")),
        Probe("visibleTo", json!("did:o2"), concerns("did:o2")),
        is("connectorName", "connector_name", "calendar"),
        is("connectorName", "connector_name", "contacts"),
        is("model", "model", "Event"),
        is("model", "model", "Contact"),
        is("model", "model", "Rare"),
        among("deferReasons", "defer_reason", json!(["OFFLINE"]), &["offline"]),
        among("deferReasons", "defer_reason", json!(["OFFLINE", "AUTH"]), &["offline", "auth"]),
        is("lastKind", "last_kind", "timeout"),
        is("lastKind", "last_kind", "rejected"),
        Probe("updatedSince", json!(rfc3339(early)), Box::new(move |row| number(row, "updated_at") >= early)),
        Probe("updatedSince", json!(rfc3339(late)), Box::new(move |row| number(row, "updated_at") >= late)),
        Probe("updatedBefore", json!(rfc3339(early)), Box::new(move |row| number(row, "updated_at") < early)),
    ]
}

/// Each of the filters alone and with each other, beside what it has to find.
fn pairs(probes: &[Probe]) -> Vec<(Value, Vec<&Meets>)> {
    let mut pairs = vec![];
    for (place, Probe(field, asked, meets)) in probes.iter().enumerate() {
        pairs.push((json!({ (*field): asked }), vec![meets]));
        for Probe(other, value, too) in probes[place + 1..].iter().filter(|probe| probe.0 != *field) {
            pairs.push((json!({ (*field): asked, (*other): value }), vec![meets, too]));
        }
    }
    pairs
}

/// Checks the first page, the one after it, the last one and the count of a list.
async fn check(harness: &Harness, viewer: &Viewer, query: &str, filter: &Value, expected: &[&str]) {
    let page = async |arguments: &str| {
        let query = query.replace("{arguments}", arguments);
        let mut answer = harness.answer_to(viewer.clone(), &query, json!({ "filter": filter })).await;
        assert!(answer.get("errors").is_none(), "{filter}: {answer}");
        answer["data"]["list"].take()
    };
    let names = |page: &Value| -> Vec<String> {
        page["nodes"].as_array().unwrap().iter().map(|node| node["name"].as_str().unwrap().to_owned()).collect()
    };
    let told = format!("{query} by {filter}");
    let first = page("first: 5").await;
    assert_eq!(names(&first), expected[..expected.len().min(5)], "{told}");
    assert_eq!(first["totalCount"], json!(expected.len().min(10_000)), "{told}");
    assert_eq!(first["pageInfo"]["hasNextPage"], json!(expected.len() > 5), "{told}");
    let last = page("last: 3").await;
    assert_eq!(names(&last), expected[expected.len().saturating_sub(3)..], "{told}, the last");
    if expected.len() > 5 {
        let second = page(&format!("first: 5, after: {}", first["pageInfo"]["endCursor"])).await;
        assert_eq!(names(&second), expected[5..expected.len().min(10)], "{told}, the second page");
        assert_eq!(second["pageInfo"]["hasPreviousPage"], json!(true), "{told}");
    }
}

const PAGE: &str = "totalCount pageInfo { hasNextPage hasPreviousPage endCursor }";

on_both_engines! {
    async fn two_conditions_find_what_meets_both(harness: Harness) {
        fill(&harness).await;
        let columns = &["operation_id", "caller_did", "owner_did", "connector_name", "model", "document_id", "state", "last_kind", "defer_reason",
            "created_at", "updated_at"];
        let operations = rows(&harness, "kubun_connector_operation", columns).await;
        let viewers: [(Viewer, Meets); 3] = [
            (Viewer::open(), Box::new(|_| true)),
            (Viewer::of("did:c9"), concerns("did:c9")),
            (Viewer::of("did:o1"), concerns("did:o1")),
        ];
        let orders = [("CREATED_ASC", "created_at", false), ("UPDATED_DESC", "updated_at", true), ("UPDATED_ASC", "updated_at", false),
            ("CREATED_DESC", "created_at", true)];
        // Every order and viewer takes its turn, out of step with each other.
        let probes = operation_probes();
        for (turn, (filter, conditions)) in pairs(&probes).into_iter().enumerate() {
            let (order, column, descending) = orders[turn % 4];
            let (viewer, may_see) = &viewers[turn % 3];
            let mut expected: Vec<&Row> =
                operations.iter().filter(|row| may_see(row) && conditions.iter().all(|meets| meets(row))).collect();
            expected.sort_by_key(|row| (number(row, column), value(row, "caller_did"), value(row, "operation_id")));
            if descending {
                expected.reverse();
            }
            let expected: Vec<&str> = expected.iter().map(|row| value(row, "operation_id")).collect();
            let query = format!(
                "query($filter: OperationFilter) {{ list: operations({{arguments}}, filter: $filter, orderBy: {order}) \
                {{ nodes {{ name: operationId }} {PAGE} }} }}"
            );
            check(&harness, viewer, &query, &filter, &expected).await;
        }
        let columns = &["owner_did", "connector_name", "model", "source_id", "document_id", "verification_status", "defer_reason"];
        let watches = rows(&harness, "kubun_connector_projection_watch", columns).await;
        let probes = [
            among("statuses", "verification_status", json!(["VERIFIED"]), &["verified"]),
            among("statuses", "verification_status", json!(["REPAIR_FAILED", "PENDING_VERIFICATION"]), &["repair_failed", "pending_verification"]),
            among("documentIds", "document_id", json!(["d77", "d78", "none"]), &["d77", "d78"]),
            is("ownerDid", "owner_did", "did:o1"),
            is("ownerDid", "owner_did", "did:none"),
            is("connectorName", "connector_name", "contacts"),
            is("model", "model", "Event"),
            is("model", "model", "Contact"),
            among("deferReasons", "defer_reason", json!(["OFFLINE", "AUTH"]), &["offline"]),
        ];
        let query = format!("query($filter: WatchFilter) {{ list: watches({{arguments}}, filter: $filter) {{ nodes {{ name: sourceId }} {PAGE} }} }}");
        for (turn, (filter, conditions)) in pairs(&probes).into_iter().enumerate() {
            let viewer = if turn % 2 == 0 { Viewer::open() } else { Viewer::of("did:o1") };
            let may_see = |row: &Row| turn % 2 == 0 || value(row, "owner_did") == "did:o1";
            let mut expected: Vec<&Row> =
                watches.iter().filter(|row| may_see(row) && conditions.iter().all(|meets| meets(row))).collect();
            expected.sort();
            let expected: Vec<&str> = expected.iter().map(|row| value(row, "source_id")).collect();
            check(&harness, &viewer, &query, &filter, &expected).await;
        }
    }
}
