//! Statistics: what is counted is what is there, for everybody, whoever wrote it and however much of it there is.

use std::collections::BTreeMap;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, claim, on_both_engines};
use crate::write_states::{VIEWERS, asking, draws, scribble};

/// Counts by what is counted.
type Counts = BTreeMap<Vec<String>, i64>;

async fn statistics(harness: &Harness, viewer: Option<&str>, filter: &Value, fields: &str) -> Value {
    let query = format!("query($filter: StatisticsFilter) {{ statistics(filter: $filter) {{ {fields} }} }}");
    let answer = harness.answer_to(asking(viewer), &query, json!({ "filter": filter })).await;
    assert!(answer.get("errors").is_none(), "{answer}");
    answer["data"]["statistics"].clone()
}

/// A list of counts, by their other fields.
fn counted(rows: &Value, fields: &[&str]) -> Counts {
    let rows = rows.as_array().unwrap().iter();
    let key = |row: &Value| fields.iter().map(|field| row[field].as_str().unwrap_or_default().to_owned()).collect();
    let counts: Vec<(Vec<String>, i64)> = rows.map(|row| (key(row), row["count"].as_i64().unwrap())).collect();
    let len = counts.len();
    let counts: Counts = counts.into_iter().collect();
    assert_eq!(counts.len(), len, "each group once");
    counts
}

/// The same counted by the database: each row's key, as one text.
async fn in_truth(harness: &Harness, key: &str, from: &str) -> Counts {
    let sql = format!("SELECT {key} || '|' || CAST(count(*) AS text) FROM {from} GROUP BY {key}");
    let rows = harness.database.texts(&sql).await;
    let parts = |row: &String| row.split('|').map(str::to_owned).collect::<Vec<_>>();
    rows.iter()
        .map(parts)
        .map(|mut row| (row.len(), row.pop().unwrap(), row))
        .map(|(_, n, row)| (row, n.parse().unwrap()))
        .collect()
}

fn of(viewer: Option<&str>, filter: &Value, callers: bool) -> String {
    let mut conditions = vec!["1 = 1".to_owned()];
    if let Some(did) = viewer {
        let caller = if callers { format!(" OR caller_did = '{did}'") } else { String::new() };
        conditions.push(format!("(owner_did = '{did}'{caller})"));
    }
    for (field, column) in [("ownerDid", "owner_did"), ("connectorName", "connector_name")] {
        if let Some(value) = filter[field].as_str() {
            conditions.push(format!("{column} = '{value}'"));
        }
    }
    conditions.join(" AND ")
}

on_both_engines! {
    async fn the_counts_are_what_the_books_hold_for_everybody_whoever_wrote(harness: Harness) {
        let fields = "operationsByState { state connectorName ownerDid count } watchesByStatus { status connectorName ownerDid count }
            deferred { reason connectorName count } operationTotals { state count } watchTotals { status count }";
        let mut draw = draws(7);
        for step in 0..80 {
            scribble(&harness, &step.to_string(), &mut draw).await;
            let reason = ["'auth'", "'offline'", "NULL"][usize::try_from(draw(3)).unwrap()];
            let connector = ["contacts", "calendar"][usize::try_from(draw(2)).unwrap()];
            let table = ["operation", "projection_watch"][usize::try_from(draw(2)).unwrap()];
            harness.database.execute(&format!("UPDATE kubun_connector_{table} SET defer_reason = {reason}, \
                connector_name = '{connector}' WHERE document_id = 'd{}'", draw(8))).await;
            if draw(4) == 0 {
                harness.database.execute(&format!("DELETE FROM kubun_connector_operation WHERE operation_id = '{}'", draw(80))).await;
            }
            if step % 16 != 15 {
                continue;
            }
            for viewer in VIEWERS {
                for filter in [json!({}), json!({ "ownerDid": "did:o1" }), json!({ "connectorName": "calendar" })] {
                    let told = statistics(&harness, viewer, &filter, fields).await;
                    let why = format!("step {step}, {viewer:?}, {filter}");
                    let operations = format!("kubun_connector_operation WHERE {}", of(viewer, &filter, true));
                    let watches = format!("kubun_connector_projection_watch WHERE {}", of(viewer, &filter, false));
                    let truth = in_truth(&harness, "upper(state) || '|' || connector_name || '|' || owner_did", &operations).await;
                    assert_eq!(counted(&told["operationsByState"], &["state", "connectorName", "ownerDid"]), truth, "{why}");
                    let key = "upper(verification_status) || '|' || connector_name || '|' || owner_did";
                    let truth = in_truth(&harness, key, &watches).await;
                    assert_eq!(counted(&told["watchesByStatus"], &["status", "connectorName", "ownerDid"]), truth, "{why}");
                    let totals = [("operationTotals", "state", "state", &operations), ("watchTotals", "status", "verification_status", &watches)];
                    for (name, field, column, rows) in totals {
                        let truth = in_truth(&harness, &format!("upper({column})"), rows).await;
                        assert_eq!(counted(&told[name], &[field]), truth, "{name}: {why}");
                    }
                    let key = "upper(defer_reason) || '|' || connector_name";
                    let waiting = format!("{operations} AND defer_reason IS NOT NULL AND state = 'attempted'");
                    let mut truth = in_truth(&harness, key, &waiting).await;
                    let waiting = format!("{watches} AND defer_reason IS NOT NULL AND verification_status = 'pending_verification'");
                    for (key, count) in in_truth(&harness, key, &waiting).await {
                        *truth.entry(key).or_default() += count;
                    }
                    assert_eq!(counted(&told["deferred"], &["reason", "connectorName"]), truth, "{why}");
                }
            }
        }
        let kept = harness.database.texts("SELECT CAST(count(*) AS text) FROM book_count WHERE count <= 0").await;
        assert_eq!(kept, ["0"], "no group is kept that nothing is in");
    }

    async fn what_was_not_counted_yet_is_told_too(harness: Harness) {
        let numbers = match harness.engine.name() {
            "sqlite" => "(WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < 11999) SELECT n FROM series)",
            _ => "(SELECT n FROM generate_series(0, 11999) AS n)",
        };
        // More than a read waits for.
        harness.database.execute(&format!(
            "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, \
            target, deterministic_event_id, payload_hash, reissue_intent, state, defer_reason, created_at, updated_at) \
            SELECT 'did:c' || (n % 2), 'p' || n, 'node-' || n, 'did:o' || (n % 3), 'c', 'M', 'create', 'a', 't', 'e', 'h', 'null', 'attempted', \
            CASE WHEN n % 4 = 0 THEN 'auth' END, 1, 1 FROM {numbers} AS numbers"
        )).await;
        let fields = "operationsByState { state connectorName ownerDid count } deferred { reason connectorName count } attention { reason count }";
        for (viewer, filter) in [(None, json!({})), (Some("did:c1"), json!({})), (Some("did:c1"), json!({ "ownerDid": "did:o2" })), (None, json!({ "connectorName": "c" }))] {
            let told = statistics(&harness, viewer, &filter, fields).await;
            let operations = format!("kubun_connector_operation WHERE {}", of(viewer, &filter, true));
            let truth = in_truth(&harness, "upper(state) || '|' || connector_name || '|' || owner_did", &operations).await;
            assert_eq!(counted(&told["operationsByState"], &["state", "connectorName", "ownerDid"]), truth, "{viewer:?} {filter}");
            let waiting = format!("{operations} AND defer_reason IS NOT NULL");
            let truth = in_truth(&harness, "upper(defer_reason) || '|' || connector_name", &waiting).await;
            assert_eq!(counted(&told["deferred"], &["reason", "connectorName"]), truth, "{viewer:?} {filter}");
            let waiting = counted(&told["attention"], &["reason"]).get(&vec!["WAITING_FOR_AUTH".to_owned()]).copied();
            assert_eq!(waiting, truth.values().next().copied(), "{viewer:?} {filter}");
        }
    }

    async fn a_row_in_a_state_that_nobody_knows_stops_no_other(harness: Harness) {
        for key in ["odd", "even"] {
            harness.act("claimOperation", claim(key, &json!({ "documentId": key })), "outcome").await;
        }
        harness.database.execute("UPDATE kubun_connector_operation SET state = 'paused' WHERE operation_id = 'odd'").await;
        let told = statistics(&harness, None, &json!({}), "operationsByState { state count }").await;
        assert_eq!(told["operationsByState"], json!([{ "state": "ATTEMPTED", "count": 1 }]));
        let listed = harness.ask("{ documentsByWriteState(states: [PENDING]) { nodes { id } } }", json!({})).await;
        assert_eq!(listed["documentsByWriteState"]["nodes"], json!([{ "id": "even" }]));
    }

    async fn beyond_a_thousand_groups_the_smallest_are_counted_together(harness: Harness) {
        let rows: Vec<String> = (0..1_030).map(|place| {
            let owner = if place < 1_020 { place } else { 7 };
            format!("('did:c1', 'p{place}', 'node-{place}', 'did:o{owner}', 'c', 'M', 'create', 'a', 't', 'e', 'h', 'null', 'dead', 1, 1)")
        }).collect();
        harness.database.execute(&format!(
            "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, \
            account_key, target, deterministic_event_id, payload_hash, reissue_intent, state, created_at, updated_at) VALUES {}",
            rows.join(", ")
        )).await;
        let fields = "operationsByState { state connectorName ownerDid count } attention { reason count }";
        for viewer in [None, Some("did:c1")] {
            let told = statistics(&harness, viewer, &Value::Null, fields).await;
            let groups = told["operationsByState"].as_array().unwrap();
            assert_eq!(groups.len(), 1_001, "{viewer:?}");
            assert_eq!(groups.iter().map(|group| group["count"].as_i64().unwrap()).sum::<i64>(), 1_030, "{viewer:?}");
            assert!(groups.contains(&json!({ "state": "DEAD", "connectorName": "c", "ownerDid": "did:o7", "count": 11 })), "the largest");
            assert!(groups.contains(&json!({ "state": "DEAD", "connectorName": "", "ownerDid": "", "count": 20 })), "the rest");
            assert_eq!(told["attention"][0], json!({ "reason": "DEAD", "count": 1_030 }), "{viewer:?}");
        }
        let own = statistics(&harness, Some("did:o7"), &Value::Null, fields).await;
        assert_eq!(own["operationsByState"], json!([{ "state": "DEAD", "connectorName": "c", "ownerDid": "did:o7", "count": 11 }]));
    }

    async fn each_reason_for_a_person_s_eye_is_counted_and_no_other(harness: Harness) {
        let later = |ms: i64| rfc3339(harness.now() + ms);
        let mut ids = BTreeMap::new();
        for key in ["sent", "left", "offline", "auth", "dead", "asked", "diverged", "fresh"] {
            let input = claim(key, &json!({ "sourceId": key, "documentId": key }));
            ids.insert(key, harness.act("claimOperation", input, "operation { id }").await["operation"]["id"].take());
        }
        let act = |key: &str, fields: Value| {
            let mut input = json!({ "id": ids[key], "leaseToken": "L1" });
            crate::harness::merge(&mut input, &fields);
            input
        };
        harness.act("markSendStarted", act("sent", json!({ "marker": "m" })), "outcome").await;
        harness.act("deferOperation", act("offline", json!({ "nextAttemptAt": later(86_400_000), "reason": "OFFLINE" })), "outcome").await;
        harness.act("deferOperation", act("auth", json!({ "nextAttemptAt": later(86_400_000), "reason": "AUTH" })), "outcome").await;
        harness.act("recordOperation", act("dead", json!({ "version": 0, "toState": "DEAD" })), "outcome").await;
        harness.act("recordOperation", act("asked", json!({ "version": 0, "toState": "RECONCILE_ONLY" })), "outcome").await;
        let finalize = act("diverged", json!({ "version": 0, "documentId": "diverged", "sourceId": "diverged", "winnerDigest": "w" }));
        let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
        let verify = json!({ "id": watch, "generation": 0, "fetchedDigest": "other", "maxAttempts": 1, "dueAt": later(0) });
        assert_eq!(harness.act("recordVerification", verify, "outcome").await["outcome"], "REPAIR_FAILED");
        harness.database.execute("INSERT INTO kubun_connector_sweep_candidate (owner_did, connector_name, partition, provenance, document_id, \
            source_id, model_id, state, attempts, updated_at) VALUES ('did:o1', 'contacts', 'p', 'r', 'd', 's', 'M', 'refused', 3, 1)").await;
        let told = |viewer: Option<&'static str>, filter: Value| {
            let harness = &harness;
            async move { counted(&statistics(harness, viewer, &filter, "attention { reason count }").await["attention"], &["reason"]) }
        };
        let expected = |counts: &[(&str, i64)]| counts.iter().map(|(word, count)| (vec![(*word).to_owned()], *count)).collect::<Counts>();
        let at_once = [("DEAD", 1), ("NEEDS_RECONCILE", 1), ("REPAIR_FAILED", 1), ("WAITING_FOR_AUTH", 1), ("OFFLINE", 1), ("SWEEP_REFUSED", 1)];
        assert_eq!(told(None, json!({})).await, expected(&at_once), "live leases need nobody");
        harness.advance(30_001);
        let soon = [&at_once[..], &[("MAYBE_SENT", 1)]].concat();
        assert_eq!(told(None, json!({})).await, expected(&soon), "the leases are over, not long ago");
        harness.advance(300_000);
        // "sent", "left" and "fresh" wait since they were claimed.
        let late = [&soon[..], &[("LEASE_EXPIRED_LONG_AGO", 3), ("OVERDUE", 3)]].concat();
        assert_eq!(told(None, json!({})).await, expected(&late));
        assert_eq!(told(Some("did:o1"), json!({})).await, expected(&late), "their owner");
        let called = expected(&late.iter().copied().filter(|(word, _)| !["REPAIR_FAILED", "SWEEP_REFUSED"].contains(word)).collect::<Vec<_>>());
        assert_eq!(told(Some("did:c1"), json!({})).await, called, "their caller sees no watch and no sweep");
        for (viewer, filter) in [(Some("did:other"), json!({})), (None, json!({ "ownerDid": "did:other" })), (None, json!({ "connectorName": "other" }))] {
            assert_eq!(told(viewer, filter.clone()).await, Counts::new(), "{viewer:?} {filter}");
        }
        // Their lists hold what is counted, in any order and from page to page.
        let query = "query($stuck: StuckReason, $order: OperationOrder, $after: String) { operations(filter: { stuck: $stuck }, \
            orderBy: $order, first: 2, after: $after) { nodes { operationId } totalCount pageInfo { endCursor hasNextPage } } }";
        let listed = async |viewer: Option<&'static str>, stuck: &str, order: &str| {
            let (mut found, mut after) = (vec![], Value::Null);
            loop {
                let variables = json!({ "stuck": stuck, "order": order, "after": after });
                let page = harness.answer_to(asking(viewer), query, variables).await["data"]["operations"].take();
                found.extend(page["nodes"].as_array().unwrap().iter().map(|node| node["operationId"].as_str().unwrap().to_owned()));
                after = page["pageInfo"]["endCursor"].clone();
                if page["pageInfo"]["hasNextPage"] == false {
                    assert_eq!(page["totalCount"], found.len());
                    return found;
                }
            }
        };
        for viewer in [None, Some("did:o1"), Some("did:c1")] {
            for order in ["CREATED_ASC", "UPDATED_ASC"] {
                assert_eq!(listed(viewer, "MAYBE_SENT", order).await, ["sent"]);
            }
            assert_eq!(listed(viewer, "LEASE_EXPIRED_LONG_AGO", "CREATED_ASC").await, ["fresh", "left", "sent"]);
            assert_eq!(listed(viewer, "LEASE_EXPIRED_LONG_AGO", "CREATED_DESC").await, ["sent", "left", "fresh"]);
            let by_update = listed(viewer, "LEASE_EXPIRED_LONG_AGO", "UPDATED_DESC").await;
            assert_eq!(by_update, ["sent", "left", "fresh"]);
        }
        assert!(listed(Some("did:other"), "MAYBE_SENT", "CREATED_ASC").await.is_empty());
        let follow = "subscription { operationChanged(filter: { stuck: MAYBE_SENT }) { cursor } }";
        let refused = harness.follow_as(asking(None), follow, json!({})).next().await.unwrap();
        assert_eq!(refused["errors"][0]["extensions"]["field"], "filter.stuck", "{refused}");
        harness.act("acquireLease", json!({ "id": ids["left"], "leaseToken": "L2", "leaseMs": 30_000 }), "outcome").await;
        let back = told(None, json!({})).await;
        assert_eq!((back[&vec!["LEASE_EXPIRED_LONG_AGO".to_owned()]], back[&vec!["OVERDUE".to_owned()]]), (2, 2));
    }

    async fn what_is_due_is_counted_with_the_oldest_of_it(harness: Harness) {
        let fields = "dueOperations dueWatches oldestDueAt";
        assert_eq!(statistics(&harness, None, &json!({}), fields).await, json!({ "dueOperations": 0, "dueWatches": 0, "oldestDueAt": null }));
        let since = harness.now();
        for key in ["a", "b"] {
            let input = claim(key, &json!({ "sourceId": key }));
            let id = harness.act("claimOperation", input, "operation { id }").await["operation"]["id"].take();
            if key == "b" {
                let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": key, "sourceId": key, "winnerDigest": "w" });
                harness.act("finalizeOperation", finalize, "outcome").await;
            }
        }
        harness.advance(30_001);
        let all = json!({ "dueOperations": 1, "dueWatches": 1, "oldestDueAt": rfc3339(since) });
        assert_eq!(statistics(&harness, None, &json!({}), fields).await, all);
        assert_eq!(statistics(&harness, Some("did:o1"), &json!({}), fields).await, all);
        let called = json!({ "dueOperations": 1, "dueWatches": 0, "oldestDueAt": rfc3339(since) });
        assert_eq!(statistics(&harness, Some("did:c1"), &json!({}), fields).await, called);
        assert_eq!(statistics(&harness, Some("did:x"), &json!({}), fields).await["dueOperations"], 0);
    }

    async fn outcomes_are_told_to_the_millisecond_in_equal_parts(harness: Harness) {
        let start = harness.now();
        let first = harness.act("claimOperation", claim("a", &json!({})), "operation { id }").await["operation"]["id"].take();
        harness.advance(10);
        harness.act("recordOperation", json!({ "id": first, "leaseToken": "L1", "version": 0, "toState": "DEAD" }), "outcome").await;
        harness.act("claimOperation", claim("b", &json!({ "ownerDid": "did:o2" })), "outcome").await;
        let ask = |viewer: Option<&'static str>, filter: Value, from: i64, to: i64, buckets: i64| {
            let harness = &harness;
            async move {
                let fields = format!("outcomes(from: \"{}\", to: \"{}\", buckets: {buckets}) {{ from transition toState count }}", rfc3339(from), rfc3339(to));
                statistics(harness, viewer, &filter, &fields).await["outcomes"].take()
            }
        };
        let bucket = |at: i64, transition: &str, state: &str| json!({ "from": rfc3339(at), "transition": transition, "toState": state, "count": 1 });
        let all = json!([bucket(start, "claim", "attempted"), bucket(start + 10, "claim", "attempted"), bucket(start + 10, "record", "dead")]);
        assert_eq!(ask(None, json!({}), start, start + 20, 2).await, all);
        assert_eq!(ask(None, json!({}), start, start + 10, 1).await, json!([all[0]]), "the end is not in it");
        assert_eq!(ask(None, json!({}), start + 1, start + 11, 3).await, json!([bucket(start + 8, "claim", "attempted"), bucket(start + 8, "record", "dead")]));
        assert_eq!(ask(Some("did:o2"), json!({}), start, start + 20, 2).await, json!([all[1]]));
        assert_eq!(ask(Some("did:x"), json!({}), start, start + 20, 2).await, json!([]));
        assert_eq!(ask(None, json!({ "ownerDid": "did:o1" }), start, start + 20, 2).await, json!([all[0], all[2]]));
        assert_eq!(ask(None, json!({ "connectorName": "other" }), start, start + 20, 2).await, json!([]));
        let query = "query($from: DateTime!, $to: DateTime!, $buckets: Int!) { statistics { outcomes(from: $from, to: $to, buckets: $buckets) { count } } }";
        for (from, to, buckets, field) in [(1, 1, 1, "to"), (2, 1, 1, "to"), (1, 2, 0, "buckets"), (1, 2, -1, "buckets"), (1, 2, 501, "buckets")] {
            let answer = harness.answer(query, json!({ "from": rfc3339(from), "to": rfc3339(to), "buckets": buckets })).await;
            assert_eq!(answer["errors"][0]["extensions"], json!({ "code": "BAD_INPUT", "field": field }), "{from} {to} {buckets}");
        }
        let long = "x".repeat(513);
        let answer = harness.answer("query($did: String) { statistics(filter: { ownerDid: $did }) { dueWatches } }", json!({ "did": long })).await;
        assert_eq!(answer["errors"][0]["extensions"], json!({ "code": "BAD_INPUT", "field": "filter.ownerDid" }));
    }

    async fn many_changes_are_told_by_the_minute_from_kept_counts(harness: Harness) {
        // 21,000 changes in 70 minutes from the epoch, by three callers for two owners. More than a read waits for: as the loop does, they are counted first,
        // but for the last thousands.
        let numbers = match harness.engine.name() {
            "sqlite" => "(WITH RECURSIVE series(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM series WHERE n < 20999) SELECT n FROM series)",
            _ => "(SELECT n FROM generate_series(0, 20999) AS n)",
        };
        harness.database.execute(&format!(
            "INSERT INTO change_event (at, entity, entity_id, transition, to_state, owner_did, caller_did, connector_name, facts) \
            SELECT n * 200, 'operation', 'x', CASE WHEN n % 7 = 0 THEN 'lease' ELSE 'record' END, CASE WHEN n % 7 = 0 THEN NULL ELSE 'dead' END, \
            'did:o' || (n % 2), 'did:c' || (n % 3), 'c' || (n % 5), '{{}}' FROM {numbers} AS numbers"
        )).await;
        let settled_through = harness.app.feed.settled_through().await.unwrap();
        assert!(!harness.app.store.count_outcomes(settled_through, 18).await.unwrap());
        let fields = "outcomes(from: \"1970-01-01T00:00:00Z\", to: \"1970-01-01T01:10:00Z\", buckets: 70) { from transition toState count }";
        for viewer in [None, Some("did:o1"), Some("did:c0"), Some("did:x")] {
            for filter in [json!({}), json!({ "ownerDid": "did:o1" }), json!({ "connectorName": "c3" })] {
                let told = statistics(&harness, viewer, &filter, fields).await;
                let told = counted(&told["outcomes"], &["from", "transition", "toState"]);
                let key = "CAST(at / 60000 AS text) || '|' || transition || '|' || coalesce(to_state, '')";
                let truth = in_truth(&harness, key, &format!("change_event WHERE {}", of(viewer, &filter, true))).await;
                let truth: Counts = truth.into_iter().map(|(mut key, count)| {
                    key[0] = rfc3339(key[0].parse::<i64>().unwrap() * 60_000);
                    (key, count)
                }).collect();
                assert_eq!(told, truth, "{viewer:?} {filter}");
                assert_eq!(truth.is_empty(), viewer == Some("did:x"));
            }
        }
        let hours = "outcomes(from: \"1970-01-01T00:00:00Z\", to: \"1970-01-03T00:00:00Z\", buckets: 48) { from count transition toState }";
        let told = statistics(&harness, None, &json!({}), hours).await;
        let told = counted(&told["outcomes"], &["from", "transition"]);
        let hour = |at: i64, transition: &str| told[&vec![rfc3339(at), transition.to_owned()]];
        assert_eq!((hour(0, "lease"), hour(3_600_000, "lease")), (2_572, 428));
        assert_eq!((hour(0, "record"), hour(3_600_000, "record")), (15_428, 2_572));
    }
}
