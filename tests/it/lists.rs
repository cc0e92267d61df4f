//! Lists: every filter field, order and page argument changes the answer as it says; pages tell the truth; what rows
//! ask for beside themselves costs the same for ten of them as for a hundred.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::domain::viewer::Viewer;
use writewatch::store::Engine;

use crate::harness::{Harness, START, claim, on_both_engines};
use crate::write_states::{asking, draws, scribble};

/// The fields of an input type, as the schema has them.
async fn input_fields(harness: &Harness, kind: &str) -> BTreeSet<String> {
    let query = "query($kind: String!) { __type(name: $kind) { inputFields { name } } }";
    let found = harness.ask(query, json!({ "kind": kind })).await["__type"]["inputFields"].take();
    found.as_array().unwrap().iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect()
}

/// Checks that each field of a filter has a probe and that each probe finds just what it should.
async fn probe(harness: &Harness, kind: &str, list: &str, name: &str, probes: &[(&str, Value, &[&str])]) {
    let covered: BTreeSet<String> = probes.iter().map(|(field, _, _)| (*field).to_owned()).collect();
    assert_eq!(covered, input_fields(harness, kind).await, "a probe for each field of {kind}");
    for (field, value, expected) in probes {
        let query = format!("query($filter: {kind}) {{ {list}(filter: $filter) {{ nodes {{ {name} }} totalCount }} }}");
        let mut filter = json!({});
        filter[field] = value.clone();
        let found = harness.ask(&query, json!({ "filter": filter })).await[list].take();
        assert_eq!(names(&found, name), *expected, "{list} by {field} = {value}");
        assert_eq!(found["totalCount"], json!(expected.len()), "the count of {list} by {field} = {value}");
        filter[field] = Value::Null;
        let all = harness.ask(&query, json!({ "filter": filter })).await[list].take();
        let everything = harness.ask(&query, json!({})).await[list].take();
        assert_eq!(all, everything, "null in {field} does not filter");
    }
}

fn names<'a>(page: &'a Value, name: &str) -> Vec<&'a str> {
    page["nodes"].as_array().unwrap().iter().map(|node| node[name].as_str().unwrap()).collect()
}

/// Four operations that differ in everything a filter asks for, claimed and updated in different orders.
async fn four(harness: &Harness) {
    let differing = [
        ("k1", json!({ "callerDid": "did:c1", "ownerDid": "did:o1", "connectorName": "contacts", "model": "Contact" })),
        ("k2", json!({ "callerDid": "did:c2", "ownerDid": "did:o1", "connectorName": "calendar", "model": "Event" })),
        (
            "k3",
            json!({ "callerDid": "did:c1", "ownerDid": "did:o2", "connectorName": "calendar", "model": "Event", "sourceId": "s3" }),
        ),
        (
            "k4",
            json!({ "callerDid": "did:o1", "ownerDid": "did:o3", "connectorName": "crm", "model": "Deal", "documentId": "d4" }),
        ),
    ];
    let mut ids = vec![];
    for (key, changes) in differing {
        harness.advance(1_000);
        let claimed = harness.act("claimOperation", claim(key, &changes), "operation { id }").await;
        ids.push(claimed["operation"]["id"].clone());
    }
    harness.advance(1_000);
    let finalize = |id: &Value, document: &str| {
        json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": document,
        "sourceId": document, "winnerDigest": "w" })
    };
    harness.act("finalizeOperation", finalize(&ids[2], "d3"), "outcome").await;
    harness.advance(1_000);
    harness.act("finalizeOperation", finalize(&ids[0], "d1"), "outcome").await;
    harness.advance(1_000);
    let record = json!({ "id": ids[1], "leaseToken": "L1", "version": 0, "toState": "RECONCILE_ONLY", "kind": "rejected",
        "deferReason": "AUTH" });
    harness.act("recordOperation", record, "outcome").await;
}

const PAGE: &str = "nodes { operationId } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

async fn page(harness: &Harness, args: &str) -> Value {
    harness.ask(&format!("{{ operations({args}) {{ {PAGE} }} }}"), json!({})).await["operations"].take()
}

fn told(page: &Value) -> (Vec<&str>, bool, bool) {
    let info = &page["pageInfo"];
    (names(page, "operationId"), info["hasPreviousPage"] == json!(true), info["hasNextPage"] == json!(true))
}

on_both_engines! {
    async fn each_filter_of_operations_changes_the_answer(harness: Harness) {
        four(&harness).await;
        harness.advance(400_000);
        probe(&harness, "OperationFilter", "operations", "operationId", &[
            ("stuck", json!("MAYBE_SENT"), &[]),
            ("stuck", json!("LEASE_EXPIRED_LONG_AGO"), &["k4"]),
            ("states", json!(["COMMITTED"]), &["k1", "k3"]),
            ("states", json!(["COMMITTED", "RECONCILE_ONLY"]), &["k1", "k2", "k3"]),
            ("states", json!([]), &[]),
            ("documentIds", json!(["d1", "d4", "nothing"]), &["k1", "k4"]),
            ("documentIds", json!([]), &[]),
            ("visibleTo", json!("did:o1"), &["k1", "k2", "k4"]),
            ("ownerDid", json!("did:o1"), &["k1", "k2"]),
            ("callerDid", json!("did:c1"), &["k1", "k3"]),
            ("connectorName", json!("calendar"), &["k2", "k3"]),
            ("model", json!("Deal"), &["k4"]),
            ("deferReasons", json!(["AUTH", "OFFLINE"]), &["k2"]),
            ("deferReasons", json!([]), &[]),
            ("lastKind", json!("rejected"), &["k2"]),
            ("updatedSince", json!(rfc3339(START + 6_000)), &["k1", "k2"]),
            ("updatedBefore", json!(rfc3339(START + 6_000)), &["k3", "k4"]),
        ]).await;
    }

    async fn operations_of_several_states_come_in_one_order_page_by_page(harness: Harness) {
        let mut draw = draws(11);
        for step in 0..110 {
            scribble(&harness, &step.to_string(), &mut draw).await;
        }
        let query = "query($filter: OperationFilter, $order: OperationOrder, $first: Int, $after: String, $last: Int, $before: String) {
            operations(filter: $filter, orderBy: $order, first: $first, after: $after, last: $last, before: $before) {
            nodes { id state } totalCount pageInfo { startCursor endCursor hasNextPage hasPreviousPage } } }";
        let sets = [json!(["COMMITTED", "ATTEMPTED"]), json!(["COMMITTED", "DEAD", "COMMITTED", "RECONCILE_ONLY"]),
            json!(["ATTEMPTED", "COMMITTED", "DEAD", "RECONCILE_ONLY"])];
        let mut most = 0;
        for viewer in [None, Some("did:c0"), Some("did:o1")] {
            for (states, order) in sets.iter().flat_map(|states| ["CREATED_ASC", "UPDATED_DESC"].map(|order| (states, order))) {
                let ask = async |mut variables: Value| {
                    variables["order"] = json!(order);
                    let answer = harness.answer_to(asking(viewer), query, variables).await;
                    answer["data"]["operations"].clone()
                };
                let all = ask(json!({ "first": 100 })).await;
                let wanted = |node: &&Value| states.as_array().unwrap().contains(&node["state"]);
                let expected: Vec<&Value> = all["nodes"].as_array().unwrap().iter().filter(wanted).collect();
                most = most.max(expected.len());
                let (mut found, mut after) = (vec![], Value::Null);
                loop {
                    let page = ask(json!({ "filter": { "states": states }, "first": 3, "after": after })).await;
                    assert_eq!(page["totalCount"], expected.len(), "{viewer:?} {states}");
                    found.extend(page["nodes"].as_array().unwrap().clone());
                    after = page["pageInfo"]["endCursor"].clone();
                    if page["pageInfo"]["hasNextPage"] == false {
                        break;
                    }
                }
                assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{viewer:?} {states} {order}");
                let Some(before_last) = expected.len().checked_sub(1) else { continue };
                let back = ask(json!({ "filter": { "states": states }, "last": 3, "before": after })).await;
                let nodes: Vec<&Value> = back["nodes"].as_array().unwrap().iter().collect();
                let wanted = &expected[before_last.saturating_sub(3)..before_last];
                assert_eq!(nodes, wanted, "{viewer:?} {states} {order}, backwards");
            }
        }
        assert!(most > 12, "several pages: {most}");
    }

    /// So many that they are walked among the others, where fewer would be sorted.
    async fn very_many_stuck_operations_are_listed_in_order_too(harness: Harness) {
        let series = match harness.engine {
            Engine::Sqlite => "(WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 30100) SELECT value FROM n)",
            Engine::Postgres => "generate_series(1, 30100) AS n(value)",
        };
        harness.database.execute(&format!(
            "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, \
            target, deterministic_event_id, payload_hash, reissue_intent, state, lease_token, lease_expires_at, created_at, updated_at) \
            SELECT 'did:c', 'o' || value, 'n' || value, 'did:o' || (value % 7), 'c', 'm', 'create', 'a', 't', 'e', 'h', 'null', \
            'attempted', CASE WHEN value > 100 THEN 'L' END, CASE WHEN value > 100 THEN 1 END, value, 40000 - value FROM {series}"
        )).await;
        let query = "query($filter: OperationFilter, $order: OperationOrder) { operations(filter: $filter, orderBy: $order, first: 3) {
            nodes { operationId } totalCount totalCountExact pageInfo { hasNextPage } } }";
        for (order, owner, expected, total) in [
            ("CREATED_ASC", None, ["o101", "o102", "o103"], 10_000),
            ("UPDATED_DESC", None, ["o101", "o102", "o103"], 10_000),
            ("UPDATED_ASC", None, ["o30100", "o30099", "o30098"], 10_000),
            ("CREATED_DESC", Some("did:o3"), ["o30096", "o30089", "o30082"], 4_286),
        ] {
            let filter = json!({ "stuck": "LEASE_EXPIRED_LONG_AGO", "ownerDid": owner });
            let page = harness.ask(query, json!({ "filter": filter, "order": order })).await["operations"].take();
            assert_eq!(names(&page, "operationId"), expected, "{order} of {owner:?}");
            assert_eq!((&page["totalCount"], &page["totalCountExact"]), (&json!(total), &json!(owner.is_some())));
            assert_eq!(page["pageInfo"]["hasNextPage"], true);
        }
    }

    async fn each_filter_of_watches_changes_the_answer(harness: Harness) {
        four(&harness).await;
        let watch = harness.ask("{ watches(filter: { ownerDid: \"did:o2\" }) { nodes { id } } }", json!({})).await;
        let id = watch["watches"]["nodes"][0]["id"].clone();
        let claimed = harness.act("claimWatchAttempt", json!({ "id": id, "generation": 0, "claimMs": 1_000 }), "claimedUntil").await;
        let defer = json!({ "id": id, "generation": 0, "claimedUntil": claimed["claimedUntil"], "nextAttemptAt": rfc3339(START), "reason": "OFFLINE" });
        harness.act("deferWatch", defer, "outcome").await;
        let first = harness.ask("{ watches(filter: { ownerDid: \"did:o1\" }) { nodes { id } } }", json!({})).await;
        let verify = json!({ "id": first["watches"]["nodes"][0]["id"], "generation": 0, "fetchedDigest": "w", "maxAttempts": 3, "dueAt": rfc3339(START) });
        harness.act("recordVerification", verify, "outcome").await;
        probe(&harness, "WatchFilter", "watches", "documentId", &[
            ("statuses", json!(["VERIFIED"]), &["d1"]),
            ("statuses", json!([]), &[]),
            ("documentIds", json!(["d3"]), &["d3"]),
            ("ownerDid", json!("did:o2"), &["d3"]),
            ("connectorName", json!("contacts"), &["d1"]),
            ("model", json!("Event"), &["d3"]),
            ("deferReasons", json!(["OFFLINE"]), &["d3"]),
        ]).await;
    }

    async fn each_filter_of_changes_changes_the_answer(harness: Harness) {
        four(&harness).await;
        probe(&harness, "ChangeFilter", "changes", "transition", &[
            ("entities", json!(["WATCH"]), &["arm", "arm"]),
            ("entities", json!([]), &[]),
            ("documentIds", json!(["d4"]), &["claim"]),
            ("ownerDid", json!("did:o2"), &["claim", "finalize", "arm"]),
            ("callerDid", json!("did:c2"), &["claim", "record"]),
            ("connectorName", json!("crm"), &["claim"]),
            ("transitions", json!(["record", "record_winner"]), &["record_winner", "record_winner", "record"]),
        ]).await;
    }

    async fn each_order_is_its_own(harness: Harness) {
        four(&harness).await;
        let orders = [
            ("CREATED_ASC", ["k1", "k2", "k3", "k4"]),
            ("CREATED_DESC", ["k4", "k3", "k2", "k1"]),
            ("UPDATED_ASC", ["k4", "k3", "k1", "k2"]),
            ("UPDATED_DESC", ["k2", "k1", "k3", "k4"]),
        ];
        let known = harness.ask("{ __type(name: \"OperationOrder\") { enumValues { name } } }", json!({})).await;
        assert_eq!(known["__type"]["enumValues"].as_array().unwrap().len(), orders.len());
        for (order, expected) in orders {
            let mut found = vec![];
            let mut after = "null".to_owned();
            for _ in 0..4 {
                let one = page(&harness, &format!("orderBy: {order}, first: 1, after: {after}")).await;
                found.extend(names(&one, "operationId").into_iter().map(str::to_owned));
                after = one["pageInfo"]["endCursor"].to_string();
            }
            assert_eq!(found, expected, "{order}, row by row");
        }
        let created = page(&harness, "first: 1").await["pageInfo"]["endCursor"].to_string();
        let answer = harness.answer(&format!("{{ operations(orderBy: UPDATED_ASC, after: {created}) {{ {PAGE} }} }}"), json!({})).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT", "a cursor of another order: {answer}");
    }

    /// P02 and P04 of the cases.
    async fn pages_are_bounded_and_tell_the_truth(harness: Harness) {
        four(&harness).await;
        let one = page(&harness, "first: 2").await;
        assert_eq!(told(&one), (vec!["k1", "k2"], false, true));
        let end = one["pageInfo"]["endCursor"].to_string();
        let two = page(&harness, &format!("first: 2, after: {end}")).await;
        assert_eq!(told(&two), (vec!["k3", "k4"], true, false), "a full last page");
        let start = two["pageInfo"]["startCursor"].to_string();
        let back = page(&harness, &format!("last: 2, before: {start}")).await;
        assert_eq!(told(&back), (vec!["k1", "k2"], false, true), "back on page one");
        assert_eq!(told(&page(&harness, "last: 3").await), (vec!["k2", "k3", "k4"], true, false));
        assert_eq!(told(&page(&harness, "first: 0").await), (vec![], false, true));
        assert_eq!(told(&page(&harness, "first: null, last: null").await), (vec!["k1", "k2", "k3", "k4"], false, false));
        let none = page(&harness, "filter: { states: [] }").await;
        assert_eq!(told(&none), (vec![], false, false));
        assert_eq!(none["pageInfo"]["startCursor"], Value::Null);
        let past = page(&harness, &format!("after: {}", two["pageInfo"]["endCursor"])).await;
        assert_eq!(told(&past), (vec![], true, false), "past the end there are rows before");
        for args in ["first: -1", "first: 101", "first: 1000000", "last: -1", "first: 1, last: 1", "after: \"x\"", "before: \"\""] {
            let answer = harness.answer(&format!("{{ operations({args}) {{ {PAGE} }} }}"), json!({})).await;
            assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT", "{args}: {answer}");
        }
        harness.set_clock(START);
        harness.act("claimOperation", claim("k0", &json!({})), "outcome").await;
        harness.set_clock(START + 60_000);
        harness.act("claimOperation", claim("k9", &json!({})), "outcome").await;
        let on = page(&harness, &format!("first: 2, after: {end}")).await;
        assert_eq!(told(&on), (vec!["k3", "k4"], true, true), "rows that came ahead and behind neither skip nor repeat");
    }

    async fn id_lists_are_bounded(harness: Harness) {
        let many: Vec<String> = (0..500).map(|place| format!("d{place}")).collect();
        let query = "query($ids: [String!]!) { documents(ids: $ids) { id writeState } }";
        let found = harness.ask(query, json!({ "ids": many })).await;
        assert_eq!(found["documents"].as_array().unwrap().len(), 500);
        let more: Vec<String> = (0..501).map(|place| format!("d{place}")).collect();
        let answer = harness.answer(query, json!({ "ids": more })).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT");
        let filter = "query($ids: [String!]) { operations(filter: { documentIds: $ids }) { nodes { id } } }";
        harness.ask(filter, json!({ "ids": many })).await;
        let answer = harness.answer(filter, json!({ "ids": more })).await;
        assert_eq!(answer["errors"][0]["extensions"]["field"], "filter.documentIds");
    }

    async fn nodes_answers_in_order_with_null_for_what_is_not_there(harness: Harness) {
        four(&harness).await;
        let rows = harness.ask("{ operations { nodes { id } } watches { nodes { id } } }", json!({})).await;
        let operation = rows["operations"]["nodes"][3]["id"].clone();
        let watch = rows["watches"]["nodes"][1]["id"].clone();
        let unknown = json!(writewatch::domain::ids::NodeId::operation("unknown").encode());
        let query = "query($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Operation { operationId } ... on Watch { documentId } } }";
        let found = harness.ask(query, json!({ "ids": [watch, unknown, operation, watch] })).await["nodes"].take();
        assert_eq!(found[0]["__typename"], "Watch");
        assert_eq!(found[1], Value::Null);
        assert_eq!(found[2]["operationId"], "k4");
        assert_eq!(found[3], found[0]);
        let answer = harness.answer(query, json!({ "ids": ["nonsense"] })).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT");
    }

    async fn a_search_finds_by_any_id_or_key_or_its_beginning(harness: Harness) {
        for (key, source, event) in [("order-1", "src-a", "ev-x"), ("order-12", "src-b", "order-1"), ("other", "src-%", "ev-z")] {
            let input = claim(key, &json!({ "sourceId": source, "deterministicEventId": event, "documentId": format!("doc-{key}") }));
            harness.act("claimOperation", input, "outcome").await;
        }
        let id = harness.ask("{ operation(callerDid: \"did:c1\", operationId: \"other\") { id } }", json!({})).await["operation"]["id"].take();
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "doc-other", "sourceId": "src-w", "winnerDigest": "w" });
        harness.act("finalizeOperation", finalize, "outcome").await;
        let search = async |viewer: Viewer, text: &str, first: Option<i32>| {
            let query = "query($text: String!, $first: Int) { search(text: $text, first: $first) { __typename ... on Operation { operationId } ... on Watch { documentId } } }";
            let found = harness.answer_to(viewer, query, json!({ "text": text, "first": first })).await["data"]["search"].take();
            let name = |node: &Value| node.get("operationId").or(node.get("documentId")).unwrap().as_str().unwrap().to_owned();
            found.as_array().unwrap().iter().map(name).collect::<Vec<_>>()
        };
        assert_eq!(search(Viewer::open(), "order-1", None).await, ["order-1", "order-12"], "exact by id, and by event");
        assert_eq!(search(Viewer::open(), "order", None).await, ["order-1", "order-12"]);
        assert_eq!(search(Viewer::open(), "src-%", None).await, ["other"], "no pattern");
        assert_eq!(search(Viewer::open(), "doc-other", None).await, ["other", "doc-other"], "the operation and the watch");
        assert_eq!(search(Viewer::open(), "src-w", None).await, ["doc-other"]);
        assert_eq!(search(Viewer::open(), id.as_str().unwrap(), None).await, ["other"]);
        assert_eq!(search(Viewer::open(), "ORDER", None).await, [""; 0]);
        assert_eq!(search(Viewer::open(), "order", Some(1)).await, ["order-1"]);
        assert_eq!(search(Viewer::of("did:stranger"), "order", None).await, [""; 0]);
        for arguments in ["text: \"\"", "text: \"a\", first: 101", "text: \"a\", first: -1"] {
            let answer = harness.answer(&format!("{{ search({arguments}) {{ id }} }}"), json!({})).await;
            assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT", "{arguments}");
        }
    }

    async fn a_nested_list_of_a_hundred_takes_no_more_statements_than_one_of_ten(harness: Harness) {
        for place in 0..100 {
            let key = format!("k{place:03}");
            let claimed = harness.act("claimOperation", claim(&key, &json!({ "sourceId": key })), "operation { id }").await;
            let finalize = json!({ "id": claimed["operation"]["id"], "leaseToken": "L1", "version": 0, "documentId": key,
                "sourceId": key, "winnerDigest": "w" });
            harness.act("finalizeOperation", finalize, "outcome").await;
        }
        let nested = "superseded reissuedFrom { id } reissuedAs { id } \
            changes(first: 2) { nodes { cursor transition node { id } } totalCount pageInfo { hasPreviousPage hasNextPage } } \
            document { id writeState hasConnectorWork inFlight { id } lastCommit { id superseded } lastFailure { id } \
            watch { id changes(last: 1) { nodes { at } pageInfo { hasNextPage hasPreviousPage } } } watches { id document { id writeState } } \
            winner { digest } trim { updatedAt } repair { writtenAt } \
            operations(first: 3) { nodes { id } totalCount pageInfo { hasPreviousPage } } changes(first: 5) { nodes { at } } }";
        // The feed has handed on all of it, and reads no more beside us.
        assert_eq!(harness.log("cursor").await.len(), 400);
        harness.stop_loops();
        let mut counts = vec![];
        for first in [10, 100] {
            let query = format!("{{ operations(first: {first}) {{ nodes {{ id {nested} }} }} }}");
            let mut fewest = u64::MAX;
            // The follower may have been in the middle of a last look.
            for _ in 0..3 {
                let before = harness.app.store.statements_run();
                let answer = harness.ask(&query, json!({})).await;
                fewest = fewest.min(harness.app.store.statements_run() - before);
                assert_eq!(answer["operations"]["nodes"].as_array().unwrap().len(), first);
                assert_eq!(answer["operations"]["nodes"][first - 1]["document"]["writeState"], "VERIFYING");
            }
            counts.push(fewest);
        }
        assert!(counts[1] <= counts[0], "statements for ten and for a hundred rows: {counts:?}");
        assert!(counts[0] > 10, "the nested list reads nothing: {counts:?}");
    }
}
