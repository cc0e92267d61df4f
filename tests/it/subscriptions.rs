//! Following live: what is true now first, then each change once, in order, from any cursor.

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;
use writewatch::domain::viewer::Viewer;

use crate::harness::{Harness, START, claim, next, on_both_engines};

async fn claimed(harness: &Harness, key: &str, changes: &Value) -> Value {
    harness.act("claimOperation", claim(key, changes), "operation { id }").await["operation"]["id"].take()
}

fn record(id: &Value, version: i64) -> Value {
    json!({ "id": id, "leaseToken": "L1", "version": version, "toState": "ATTEMPTED" })
}

async fn verify(harness: &Harness, watch: &Value, digest: &str) -> Value {
    let input =
        json!({ "id": watch, "generation": 0, "fetchedDigest": digest, "maxAttempts": 2, "dueAt": rfc3339(START) });
    harness.act("recordVerification", input, "outcome").await["outcome"].take()
}

async fn armed(harness: &Harness, key: &str, owner: &str) -> Value {
    let id = claimed(harness, key, &json!({ "ownerDid": owner })).await;
    let finalize =
        json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": key, "sourceId": key, "winnerDigest": "w" });
    harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take()
}

const OPERATION: &str = "subscription($id: ID, $filter: OperationFilter, $after: String) {
    operationChanged(id: $id, filter: $filter, after: $after) { operation { operationId version } change { transition toState } cursor } }";

on_both_engines! {
    async fn an_operation_is_told_as_it_is_and_then_each_change(harness: Harness) {
        let id = claimed(&harness, "k", &json!({})).await;
        harness.act("recordOperation", record(&id, 0), "outcome").await;
        let mut answers = harness.follow(OPERATION, json!({ "id": id }));
        let first = next(&mut answers).await["data"]["operationChanged"].take();
        assert_eq!(first["change"], Value::Null);
        assert_eq!(first["operation"]["version"], 1);
        claimed(&harness, "other", &json!({})).await;
        harness.act("recordOperation", record(&id, 1), "outcome").await;
        harness.act("renewLease", json!({ "id": id, "leaseToken": "L1", "leaseMs": 1_000 }), "outcome").await;
        harness.act("recordOperation", record(&id, 7), "outcome").await;
        harness.act("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
        let change = next(&mut answers).await["data"]["operationChanged"].take();
        assert_eq!(change["change"], json!({ "transition": "record", "toState": "ATTEMPTED" }));
        assert!(change["operation"]["version"].as_i64() >= Some(2), "the row at delivery");
        let change = next(&mut answers).await["data"]["operationChanged"].take();
        assert_eq!(change["change"]["transition"], "release_lease", "neither renewals nor refusals are told");
    }

    async fn a_cursor_resumes_where_it_was(harness: Harness) {
        let id = claimed(&harness, "k", &json!({})).await;
        let mut cursors = vec![];
        let mut answers = harness.follow(OPERATION, json!({ "id": id }));
        cursors.push(next(&mut answers).await["data"]["operationChanged"]["cursor"].take());
        for version in 0..5 {
            harness.act("recordOperation", record(&id, version), "outcome").await;
            cursors.push(next(&mut answers).await["data"]["operationChanged"]["cursor"].take());
        }
        for (place, cursor) in cursors.iter().enumerate() {
            let mut resumed = harness.follow(OPERATION, json!({ "id": id, "after": cursor }));
            for expected in &cursors[place + 1..] {
                let answer = next(&mut resumed).await["data"]["operationChanged"].take();
                assert_eq!(&answer["cursor"], expected, "resumed from {place}");
                assert_ne!(answer["change"], Value::Null);
            }
        }
        let mut resumed = harness.follow(OPERATION, json!({ "id": id, "after": cursors[4] }));
        assert_eq!(next(&mut resumed).await["data"]["operationChanged"]["cursor"], cursors[5]);
        harness.act("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
        let live = next(&mut resumed).await["data"]["operationChanged"].take();
        assert_eq!(live["change"]["transition"], "release_lease", "live after the replay");
    }

    async fn each_filter_of_a_subscription_changes_what_comes(harness: Harness) {
        let start = harness.log("cursor").await.last().map_or(Value::Null, |change| change["cursor"].clone());
        assert_eq!(start, Value::Null);
        let first = claimed(&harness, "first", &json!({})).await;
        let begin = harness.log("cursor").await[0]["cursor"].clone();
        let other = json!({ "callerDid": "did:c2", "ownerDid": "did:o2", "connectorName": "crm", "model": "Deal", "documentId": "d2" });
        let second = claimed(&harness, "second", &other).await;
        harness.advance(1_000);
        let dead = json!({ "id": second, "leaseToken": "L1", "version": 0, "toState": "DEAD", "kind": "gone", "deferReason": "AUTH" });
        harness.act("recordOperation", dead, "outcome").await;
        harness.act("recordOperation", record(&first, 0), "outcome").await;
        let probes = [
            ("states", json!(["DEAD"]), vec!["second"]),
            ("documentIds", json!(["d2"]), vec!["second", "second"]),
            ("visibleTo", json!("did:c2"), vec!["second", "second"]),
            ("ownerDid", json!("did:o1"), vec!["first"]),
            ("callerDid", json!("did:c1"), vec!["first"]),
            ("connectorName", json!("crm"), vec!["second", "second"]),
            ("model", json!("Deal"), vec!["second", "second"]),
            ("deferReasons", json!(["AUTH"]), vec!["second"]),
            ("lastKind", json!("gone"), vec!["second"]),
            ("updatedSince", json!(rfc3339(START + 1_000)), vec!["second", "first"]),
            ("updatedBefore", json!(rfc3339(START + 1_000)), vec!["second"]),
        ];
        let fields = harness.ask("{ __type(name: \"OperationFilter\") { inputFields { name } } }", json!({})).await;
        // `stuck` is of lists alone.
        assert_eq!(fields["__type"]["inputFields"].as_array().unwrap().len(), probes.len() + 1);
        for (field, value, expected) in probes {
            let mut filter = json!({});
            filter[field] = value;
            let mut answers = harness.follow(OPERATION, json!({ "filter": filter, "after": begin }));
            for name in &expected {
                let answer = next(&mut answers).await["data"]["operationChanged"].take();
                assert_eq!(answer["operation"]["operationId"], *name, "{filter}");
            }
            let more = tokio::time::timeout(std::time::Duration::from_millis(50), answers.next()).await;
            assert!(more.is_err(), "{filter} lets more through: {more:?}");
        }
    }

    async fn verifications_are_told_as_they_were_recorded(harness: Harness) {
        let query = "subscription($filter: WatchFilter, $after: String) { verificationRecorded(filter: $filter, after: $after) {
            outcome generation attempts at cursor watch { status attempts } } }";
        armed(&harness, "before", "did:o1").await;
        let start = harness.log("cursor").await.last().unwrap()["cursor"].clone();
        let mut all = harness.follow(query, json!({ "after": start }));
        let mut theirs = harness.follow(query, json!({ "after": start, "filter": { "ownerDid": "did:o2" } }));
        let watch = armed(&harness, "a", "did:o1").await;
        let other = armed(&harness, "b", "did:o2").await;
        assert_eq!(verify(&harness, &watch, "x").await, "PENDING");
        assert_eq!(verify(&harness, &watch, "x").await, "REPAIR_FAILED");
        assert_eq!(verify(&harness, &watch, "w").await, "NOT_PENDING");
        assert_eq!(verify(&harness, &other, "w").await, "VERIFIED");
        let mut told = vec![];
        for _ in 0..3 {
            let result = next(&mut all).await["data"]["verificationRecorded"].take();
            told.push((result["outcome"].clone(), result["attempts"].clone()));
        }
        let expected = [("PENDING", 1), ("REPAIR_FAILED", 2), ("VERIFIED", 0)].map(|(outcome, count)| (json!(outcome), json!(count)));
        assert_eq!(told, expected);
        let result = next(&mut theirs).await["data"]["verificationRecorded"].take();
        assert_eq!((&result["outcome"], &result["watch"]["status"]), (&json!("VERIFIED"), &json!("VERIFIED")));
    }

    async fn a_watch_is_told_as_it_is_and_then_each_change(harness: Harness) {
        let watch = armed(&harness, "a", "did:o1").await;
        let query = "subscription($id: ID, $after: String) { watchChanged(id: $id, after: $after) { watch { status } change { transition facts } cursor } }";
        let mut answers = harness.follow(query, json!({ "id": watch }));
        let first = next(&mut answers).await["data"]["watchChanged"].take();
        assert_eq!((&first["watch"]["status"], &first["change"]), (&json!("PENDING_VERIFICATION"), &Value::Null));
        harness.act("requestRepull", json!({ "id": watch, "note": "please" }), "outcome").await;
        let change = next(&mut answers).await["data"]["watchChanged"].take();
        assert_eq!(change["change"]["facts"]["note"], "please");
        let mut resumed = harness.follow(query, json!({ "id": watch, "after": first["cursor"] }));
        assert_eq!(next(&mut resumed).await["data"]["watchChanged"]["cursor"], change["cursor"]);
    }

    async fn cursors_from_elsewhere_are_refused(harness: Harness) {
        let query = "subscription($after: String) { changes(after: $after) { cursor } }";
        for after in ["nonsense", "", "YWJjOjE"] {
            let answer = next(&mut harness.follow(query, json!({ "after": after }))).await;
            assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT", "{after}: {answer}");
        }
        let ahead = harness.app.feed.cursor(1_000_000);
        let answer = next(&mut harness.follow(query, json!({ "after": ahead }))).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "BAD_INPUT", "ahead of the log: {answer}");
        claimed(&harness, "k", &json!({})).await;
        claimed(&harness, "l", &json!({})).await;
        let cursor = harness.log("cursor").await[0]["cursor"].clone();
        harness.database.execute("UPDATE change_feed SET trimmed_through = 2").await;
        let answer = next(&mut harness.follow(query, json!({ "after": cursor }))).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "CURSOR_EXPIRED", "{answer}");
        let oldest = answer["errors"][0]["extensions"]["oldest"].clone();
        let answer = harness.answer("query($after: String) { changes(after: $after) { nodes { cursor } } }", json!({ "after": cursor })).await;
        assert_eq!(answer["errors"][0]["extensions"]["code"], "CURSOR_EXPIRED", "{answer}");
        let answer = harness.answer("query($after: String) { changes(after: $after) { nodes { cursor } } }", json!({ "after": oldest })).await;
        assert_eq!(answer["data"]["changes"]["nodes"], json!([]), "{answer}");
    }

    /// S01 of the cases: a change that lands while the subscription is being set up is seen.
    async fn nothing_is_lost_between_the_first_answer_and_the_subscribing(harness: Harness) {
        let query = "subscription($id: ID) { operationChanged(id: $id) { operation { state } change { transition } } }";
        for round in 0..1_000 {
            let id = claimed(&harness, &format!("k{round}"), &json!({})).await;
            let mut answers = harness.follow(query, json!({ "id": id }));
            let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": format!("d{}", round % 9),
                "sourceId": format!("s{}", round % 9), "winnerDigest": "w" });
            let act = async {
                // It lands at another moment of the setting up each time.
                for _ in 0..round % 40 {
                    tokio::task::yield_now().await;
                }
                harness.act("finalizeOperation", finalize, "outcome").await
            };
            let (_, first) = tokio::join!(act, next(&mut answers));
            let state = |answer: &Value| answer["data"]["operationChanged"]["operation"]["state"].clone();
            let mut last = state(&first);
            if last == "ATTEMPTED" {
                last = state(&next(&mut answers).await);
            }
            assert_eq!(last, "COMMITTED", "round {round}");
            // From now on it is the first that is told.
            let again = next(&mut harness.follow(query, json!({ "id": id }))).await;
            assert_eq!((state(&again), &again["data"]["operationChanged"]["change"]), (last, &Value::Null));
        }
    }

    async fn a_reader_that_lags_is_brought_up_to_date_from_the_log(harness: Harness) {
        let id = claimed(&harness, "k", &json!({})).await;
        let mut answers = harness.follow(OPERATION, json!({ "id": id }));
        assert_eq!(next(&mut answers).await["data"]["operationChanged"]["change"], Value::Null);
        // One act after the other, so that each is a batch of the feed's: more of them than a subscription may be behind.
        for version in 0..600 {
            harness.act("recordOperation", record(&id, version), "outcome").await;
        }
        let mut cursors = vec![];
        for _ in 0..600 {
            cursors.push(next(&mut answers).await["data"]["operationChanged"]["cursor"].take());
        }
        let log: Vec<Value> = harness.log("cursor").await.into_iter().map(|mut change| change["cursor"].take()).collect();
        assert_eq!(cursors, log[1..]);
    }

    async fn a_document_is_told_as_it_is_and_then_whatever_touches_it(harness: Harness) {
        let query = "subscription($ids: [String!]!, $after: String) { documentChanged(ids: $ids, after: $after) {
            document { id writeState winner { digest } } change { transition entity } cursor } }";
        let mut answers = harness.follow(query, json!({ "ids": ["d1", "d2"] }));
        let mut cursors = vec![];
        for id in ["d1", "d2"] {
            let mut first = next(&mut answers).await["data"]["documentChanged"].take();
            cursors.push(first["cursor"].take());
            assert_eq!(first, json!({ "document": { "id": id, "writeState": "NONE", "winner": null }, "change": null, "cursor": null }));
        }
        let id = claimed(&harness, "k", &json!({ "documentId": "d1" })).await;
        claimed(&harness, "other", &json!({ "documentId": "d3" })).await;
        let told = next(&mut answers).await["data"]["documentChanged"].take();
        assert_eq!(told["document"], json!({ "id": "d1", "writeState": "PENDING", "winner": null }));
        assert_eq!(told["change"], json!({ "transition": "claim", "entity": "OPERATION" }));
        // Onto another document than the claim said: both are told.
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d2", "sourceId": "s", "winnerDigest": "w" });
        harness.act("finalizeOperation", finalize, "outcome").await;
        let mut seen = vec![];
        while seen.len() < 4 {
            let told = next(&mut answers).await["data"]["documentChanged"].take();
            cursors.push(told["cursor"].clone());
            seen.push((told["document"].clone(), told["change"].clone()));
        }
        let left = json!({ "id": "d1", "writeState": "NONE", "winner": null });
        let moved = json!({ "id": "d2", "writeState": "VERIFYING", "winner": { "digest": "w" } });
        let change = |transition: &str, entity: &str| json!({ "transition": transition, "entity": entity });
        for expected in [
            (left, change("finalize", "OPERATION")),
            (moved.clone(), change("finalize", "OPERATION")),
            (moved.clone(), change("record_winner", "DOCUMENT")),
            (moved, change("arm", "WATCH")),
        ] {
            assert!(seen.contains(&expected), "{expected:?} is not in {seen:?}");
        }
        harness.act("setEntityTrim", json!({ "documentId": "d1", "ownerDid": "did:o1", "connectorName": "contacts", "trimmedFields": ["a"] }), "trim { updatedAt }").await;
        let told = next(&mut answers).await["data"]["documentChanged"].take();
        assert_eq!(told["change"]["transition"], "set_trim");
        let mut resumed = harness.follow(query, json!({ "ids": ["d1"], "after": cursors[1] }));
        for transition in ["claim", "finalize", "set_trim"] {
            let told = next(&mut resumed).await["data"]["documentChanged"].take();
            assert_eq!((&told["document"]["id"], &told["change"]["transition"]), (&json!("d1"), &json!(transition)));
        }
        let refused = next(&mut harness.follow(query, json!({ "ids": vec!["d"; 501] }))).await;
        assert_eq!(refused["errors"][0]["extensions"], json!({ "code": "BAD_INPUT", "field": "ids" }));
    }

    async fn a_stranger_s_document_is_told_without_what_they_may_not_see(harness: Harness) {
        let query = "subscription { documentChanged(ids: [\"d1\"]) { document { writeState } change { transition } } }";
        let mut answers = harness.follow_as(Viewer::of("did:o2"), query, json!({}));
        assert_eq!(next(&mut answers).await["data"]["documentChanged"], json!({ "document": { "writeState": "NONE" }, "change": null }));
        claimed(&harness, "k", &json!({ "documentId": "d1" })).await;
        claimed(&harness, "k2", &json!({ "documentId": "d1", "ownerDid": "did:o2" })).await;
        let told = next(&mut answers).await["data"]["documentChanged"].take();
        assert_eq!(told, json!({ "document": { "writeState": "PENDING" }, "change": { "transition": "claim" } }));
        let after = json!({ "after": harness.log("cursor").await.last().unwrap()["cursor"] });
        let query = "subscription($after: String) { changes(after: $after) { documentId } }";
        let mut own = harness.follow_as(Viewer::of("did:c1"), query, after.clone());
        let mut others = harness.follow_as(Viewer::of("did:x"), query, after);
        claimed(&harness, "k3", &json!({ "documentId": "d3" })).await;
        assert_eq!(next(&mut own).await["data"]["changes"]["documentId"], "d3");
        claimed(&harness, "k4", &json!({ "callerDid": "did:x", "documentId": "d4" })).await;
        assert_eq!(next(&mut others).await["data"]["changes"]["documentId"], "d4", "nothing of others before it");
    }

    async fn due_work_is_told_now_and_whenever_it_changes(harness: Harness) {
        let query = "subscription($filter: DueFilter) { workDue(filter: $filter) { operations watches nextDueAt } }";
        let mut all = harness.follow(query, json!({ "filter": { "includeLeased": true } }));
        let mut again = harness.follow(query, json!({ "filter": { "includeLeased": true } }));
        let mut free = harness.follow(query, json!({}));
        let mut other = harness.follow_as(Viewer::of("did:other"), query, json!({ "filter": { "includeLeased": true } }));
        let due = |operations: i64, watches: i64, next: Value| json!({ "operations": operations, "watches": watches, "nextDueAt": next });
        assert_eq!(next(&mut other).await["data"]["workDue"], due(0, 0, Value::Null));
        for answers in [&mut all, &mut again, &mut free] {
            assert_eq!(next(answers).await["data"]["workDue"], due(0, 0, Value::Null));
        }
        let id = claimed(&harness, "k", &json!({})).await;
        for answers in [&mut all, &mut again] {
            assert_eq!(next(answers).await["data"]["workDue"], due(1, 0, Value::Null));
        }
        // Under a lease until 30 s from now: free in the millisecond after.
        let freed = rfc3339(harness.now() + 30_001);
        assert_eq!(next(&mut free).await["data"]["workDue"], due(0, 0, json!(freed)));
        let later = rfc3339(harness.now() + 60_000);
        harness.act("deferOperation", json!({ "id": id, "leaseToken": "L1", "nextAttemptAt": later }), "outcome").await;
        assert_eq!(next(&mut all).await["data"]["workDue"], due(0, 0, json!(later)));
        assert_eq!(next(&mut free).await["data"]["workDue"], due(0, 0, json!(later)), "the lease ends before it is due");
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" });
        let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
        assert_eq!(next(&mut all).await["data"]["workDue"], due(0, 1, Value::Null));
        assert_eq!(next(&mut free).await["data"]["workDue"], due(0, 1, Value::Null));
        harness.act("claimWatchAttempt", json!({ "id": watch, "generation": 0, "claimMs": 5_000 }), "outcome").await;
        assert_eq!(next(&mut free).await["data"]["workDue"], due(0, 0, json!(rfc3339(harness.now() + 5_000))));
        assert!(futures_util::future::poll_immediate(other.next()).await.is_none(), "nothing of it is theirs");
        let refused = next(&mut harness.follow(query, json!({ "filter": { "ownerDid": "" } }))).await;
        assert_eq!(refused["errors"][0]["extensions"], json!({ "code": "BAD_INPUT", "field": "filter.ownerDid" }));
    }

    async fn other_work_in_the_same_number_is_told(harness: Harness) {
        let query = "subscription { workDue(filter: { includeLeased: true }) { operations watches } }";
        let ids = [claimed(&harness, "a", &json!({})).await, claimed(&harness, "b", &json!({})).await];
        let later = json!({ "id": ids[1], "leaseToken": "L1", "nextAttemptAt": rfc3339(harness.now() + 60_000) });
        harness.act("deferOperation", later.clone(), "outcome").await;
        let mut answers = harness.follow(query, json!({}));
        let one = json!({ "operations": 1, "watches": 0 });
        assert_eq!(next(&mut answers).await["data"]["workDue"], one);
        // In one batch, so that no look falls between.
        let now = json!({ "id": ids[1], "leaseToken": "L1", "nextAttemptAt": rfc3339(harness.now()) });
        let not_now = json!({ "id": ids[0], "leaseToken": "L1", "nextAttemptAt": rfc3339(harness.now() + 60_000) });
        tokio::join!(harness.act("deferOperation", not_now, "outcome"), harness.act("deferOperation", now, "outcome"));
        assert_eq!(next(&mut answers).await["data"]["workDue"], one, "the one that is due is another");
    }

    async fn who_joins_is_told_what_is_true_by_then(harness: Harness) {
        let query = "subscription { workDue { operations } }";
        let mut first = harness.follow(query, json!({}));
        assert_eq!(next(&mut first).await["data"]["workDue"]["operations"], 0);
        // As the package writes: no change tells of it.
        crate::retention::settled(&harness, "k", &[("state", "'attempted'")]).await;
        let mut second = harness.follow(query, json!({}));
        assert_eq!(next(&mut second).await["data"]["workDue"]["operations"], 1);
        assert_eq!(next(&mut first).await["data"]["workDue"]["operations"], 1);
    }

    async fn one_that_takes_nothing_holds_up_nobody_and_goes_on_from_the_log(harness: Harness) {
        let id = claimed(&harness, "k", &json!({ "documentId": "d1" })).await;
        let mut slow = harness.follow(OPERATION, json!({ "id": id }));
        let first = next(&mut slow).await["data"]["operationChanged"].take();
        let filter = json!({ "filter": { "documentIds": ["d1"] }, "after": first["cursor"] });
        let mut quick = harness.follow(OPERATION, filter);
        let mut expected = 0_i64;
        for version in 0..700 {
            harness.act("recordOperation", record(&id, version), "outcome").await;
            let told = next(&mut quick).await["data"]["operationChanged"].take();
            let shown = told["operation"]["version"].as_i64().unwrap();
            assert!(shown > expected, "never an older row: {shown} after {expected}");
            expected = shown;
        }
        let (mut cursors, mut shown) = (vec![], 0);
        for _ in 0..700 {
            let mut told = next(&mut slow).await["data"]["operationChanged"].take();
            let version = told["operation"]["version"].as_i64().unwrap();
            assert!(version >= shown, "never an older row: {version} after {shown}");
            shown = version;
            cursors.push(told["cursor"].take());
        }
        let log: Vec<Value> = harness.log("cursor").await.into_iter().map(|mut change| change["cursor"].take()).collect();
        assert_eq!(cursors, log[1..]);
    }
}
