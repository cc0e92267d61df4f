//! Upkeep: each task removes what is over and nothing else, one server at a time, and another takes over from a dead one.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;
use writewatch::domain::time::rfc3339;
use writewatch::domain::viewer::Viewer;
use writewatch::store::Engine;
use writewatch::store::acts::{Upkeep, UpkeepTask};

use crate::harness::{Database, Harness, claim, next, on_both_engines};
use crate::support::client::post;
use crate::support::server::Server;

const DAY: i64 = 24 * 3_600 * 1_000;

async fn batch(harness: &Harness, holder: &str, task: UpkeepTask, keep_ms: i64) -> Option<usize> {
    let act = Upkeep { holder: holder.to_owned(), task, keep_ms, limit: 100 };
    harness.app.store.perform(&Arc::new(Viewer::open()), act).await.unwrap()
}

/// Rows as the package would write them, settled long ago and needed by nobody.
fn settled(from: usize, count: usize) -> String {
    let rows: Vec<String> = (from..from + count)
        .map(|place| {
            format!("('did:c1', 'p{place}', 'node-{place}', 'did:o1', 'c', 'M', 'create', 'a', 't', 'e', 'h', 'null', 'committed', 1, 1)")
        })
        .collect();
    format!(
        "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, \
        account_key, target, deterministic_event_id, payload_hash, reissue_intent, state, created_at, updated_at) VALUES {}",
        rows.join(", ")
    )
}

async fn count(database: &Database, table: &str) -> usize {
    database.texts(&format!("SELECT CAST(count(*) AS text) FROM {table}")).await[0].parse().unwrap()
}

on_both_engines! {
    async fn finished_operations_and_then_their_tombstones_go_when_their_time_is_over(harness: Harness) {
        harness.database.execute(&settled(0, 3)).await;
        assert_eq!(batch(&harness, "me", UpkeepTask::FinishedOperations, harness.now()).await, Some(0), "not old enough");
        assert_eq!(batch(&harness, "me", UpkeepTask::FinishedOperations, DAY).await, Some(3));
        assert_eq!(count(&harness.database, "operation_tombstone").await, 3);
        assert_eq!(batch(&harness, "me", UpkeepTask::Tombstones, 0).await, Some(0));
        harness.advance(365 * DAY);
        assert_eq!(batch(&harness, "me", UpkeepTask::Tombstones, 0).await, Some(3));
        let status = harness.ask("{ serverStatus { engine servers queueDepth feedLagMs upkeep { task lastRunAt lastResult } } }", json!({})).await;
        let status = &status["serverStatus"];
        let told = json!({ "task": "tombstones", "lastRunAt": rfc3339(harness.now()), "lastResult": { "removed": 3 } });
        assert_eq!(status["upkeep"][1], told);
        assert_eq!(status["engine"], harness.engine.name());
        assert_eq!((&status["servers"], &status["queueDepth"], &status["feedLagMs"]), (&json!(1), &json!(0), &json!(0)));
    }

    async fn of_committed_receipts_the_newest_stays(harness: Harness) {
        for name in ["r1", "r2", "r3"] {
            let relist = json!({ "ownerDid": "did:o1", "connectorName": "c", "partition": "p", "provenance": name, "modelId": "M", "scope": {}, "keep": [],
                "sourceFetchHlc": "1700000000000-0000-n1", "kind": "relist", "complete": true, "candidates": [] });
            harness.act("recordRelistReceipt", relist, "outcome").await;
        }
        for name in ["r1", "r2"] {
            let key = json!({ "ownerDid": "did:o1", "connectorName": "c", "partition": "p", "provenance": name });
            assert_eq!(harness.act("commitSweepCheckpoint", key, "outcome").await["outcome"], "COMMITTED");
        }
        harness.advance(DAY);
        assert_eq!(batch(&harness, "me", UpkeepTask::SweepReceipts, DAY).await, Some(0), "a day is not over yet");
        harness.advance(1);
        assert_eq!(batch(&harness, "me", UpkeepTask::SweepReceipts, DAY).await, Some(1));
        let left = harness.database.texts("SELECT provenance FROM kubun_connector_sweep_receipt ORDER BY provenance").await;
        assert_eq!(left, ["r2", "r3"]);
    }

    async fn authorisations_that_nobody_came_back_for_go(harness: Harness) {
        let auth = json!({ "state": "st", "codeVerifier": "v", "provider": "google", "ownerDid": "did:o1", "redirectUrl": "https://app.example/cb",
            "scopes": [], "incremental": false, "expiresAt": rfc3339(harness.now()) });
        harness.act("createPendingAuth", auth, "outcome").await;
        assert_eq!(batch(&harness, "me", UpkeepTask::PendingAuth, 0).await, Some(0));
        harness.advance(1);
        assert_eq!(batch(&harness, "me", UpkeepTask::PendingAuth, 0).await, Some(1));
    }

    async fn old_changes_go_and_a_cursor_from_before_is_told_the_oldest_kept(harness: Harness) {
        for key in ["a", "b"] {
            harness.act("claimOperation", claim(key, &json!({})), "outcome").await;
        }
        let old = harness.log("cursor").await;
        harness.advance(DAY);
        harness.act("claimOperation", claim("c", &json!({})), "outcome").await;
        harness.advance(1);
        let settled_through = harness.app.feed.settled_through().await.unwrap();
        let changes = UpkeepTask::Changes { settled_through };
        assert_eq!(batch(&harness, "me", changes, DAY).await, Some(2));
        assert_eq!(harness.log("cursor").await.len(), 1);
        let query = "query($after: String) { changes(after: $after) { nodes { transition } } }";
        let expired = harness.answer(query, json!({ "after": old[0]["cursor"] })).await;
        assert_eq!(expired["errors"][0]["extensions"]["code"], "CURSOR_EXPIRED");
        let oldest = expired["errors"][0]["extensions"]["oldest"].clone();
        assert_eq!(oldest, old[1]["cursor"]);
        let rest = harness.ask(query, json!({ "after": oldest })).await;
        assert_eq!(rest["changes"]["nodes"], json!([{ "transition": "claim" }]));
    }

    async fn a_cursor_goes_on_when_every_change_was_removed(harness: Harness) {
        for key in ["a", "b"] {
            harness.act("claimOperation", claim(key, &json!({})), "outcome").await;
        }
        let old = harness.log("cursor").await;
        harness.advance(DAY + 1);
        let settled_through = harness.app.feed.settled_through().await.unwrap();
        assert_eq!(batch(&harness, "me", UpkeepTask::Changes { settled_through }, DAY).await, Some(2));
        let query = "query($after: String) { changes(after: $after) { nodes { transition } } }";
        let rest = harness.ask(query, json!({ "after": old[1]["cursor"] })).await;
        assert_eq!(rest["changes"]["nodes"], json!([]));
        let expired = harness.answer(query, json!({ "after": old[0]["cursor"] })).await;
        assert_eq!(expired["errors"][0]["extensions"]["oldest"], old[1]["cursor"]);
        // A server that starts on the empty log knows where it is.
        let again = if harness.engine == Engine::Postgres { Some(Harness::start_beside(&harness).await) } else { None };
        let server = again.as_ref().unwrap_or(&harness);
        let follow = "subscription($ids: [String!]!, $after: String) { documentChanged(ids: $ids, after: $after) { change { transition } cursor } }";
        let mut first = next(&mut server.follow(follow, json!({ "ids": ["d"] }))).await["data"]["documentChanged"].take();
        let place = async |cursor: &Value| server.app.feed.resume("after", cursor.as_str().unwrap()).await.unwrap();
        assert_eq!(place(&first["cursor"]).await, place(&old[1]["cursor"]).await);
        let mut resumed = server.follow(follow, json!({ "ids": ["d"], "after": first["cursor"].take() }));
        harness.act("claimOperation", claim("c", &json!({ "documentId": "d" })), "outcome").await;
        assert_eq!(next(&mut resumed).await["data"]["documentChanged"]["change"]["transition"], "claim");
    }

    async fn it_is_one_server_s_turn_until_it_falls_silent(harness: Harness) {
        assert_eq!(batch(&harness, "one", UpkeepTask::PendingAuth, 0).await, Some(0));
        harness.advance(10_000);
        for task in [UpkeepTask::PendingAuth, UpkeepTask::FinishedOperations] {
            assert_eq!(batch(&harness, "other", task, 0).await, None);
        }
        assert_eq!(batch(&harness, "one", UpkeepTask::FinishedOperations, 0).await, Some(0), "each batch keeps the turn");
        harness.advance(10_001);
        assert_eq!(batch(&harness, "other", UpkeepTask::PendingAuth, 0).await, Some(0));
        assert_eq!(batch(&harness, "one", UpkeepTask::PendingAuth, 0).await, None);
    }
}

/// Waits until upkeep has left fewer than `most` operations.
async fn fewer_than(database: &Database, most: usize) {
    let seen = tokio::time::timeout(Duration::from_mins(1), async {
        while count(database, "kubun_connector_operation").await >= most {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
    assert!(seen.await.is_ok(), "nobody does the upkeep");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn another_server_takes_over_from_one_that_was_killed_in_the_middle() {
    let database = Database::fresh(Engine::Postgres).await;
    let settings = [("WRITEWATCH_UPKEEP_PERIOD_S", "1"), ("WRITEWATCH_KEEP_FINISHED_DAYS", "0")];
    let mut servers =
        [Server::start_with(&database.url(), &settings).await, Server::start_with(&database.url(), &settings).await];
    let status = post(servers[0].url(), "{ serverStatus { servers } }", Value::Null).await;
    assert_eq!(status["data"]["serverStatus"]["servers"], 2);
    // Whichever has its turn: one of these kills meets it at work.
    for (round, place) in [0_usize, 1].into_iter().enumerate() {
        for part in 0..8 {
            database.execute(&settled(round * 8_000 + part * 1_000, 1_000)).await;
        }
        fewer_than(&database, 7_800).await;
        servers[place].kill9();
        fewer_than(&database, 1).await;
        servers[place].restart().await;
    }
    assert_eq!(count(&database, "operation_tombstone").await, 16_000, "each with its tombstone, once");
    let changes = database.texts("SELECT count(*) || ' ' || count(DISTINCT entity_id) FROM change_event").await;
    assert_eq!(changes, ["16000 16000"]);
}

/// How long claims take one after another for as long as `until` says so, shortest first.
async fn claims(harness: &Harness, prefix: &str, mut until: impl FnMut(usize) -> bool) -> Vec<Duration> {
    let mut times = vec![];
    while !until(times.len()) {
        let began = Instant::now();
        harness.act("claimOperation", claim(&format!("{prefix}{}", times.len()), &json!({})), "outcome").await;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    times
}

fn p99(times: &[Duration]) -> Duration {
    times[times.len() * 99 / 100]
}

on_both_engines! {
    async fn a_writer_waits_for_one_batch_of_upkeep_at_most(harness: Harness) {
        for part in 0..6 {
            harness.database.execute(&settled(part * 1_000, 1_000)).await;
        }
        let alone = claims(&harness, "alone", |done| done == 100).await;
        let over = AtomicBool::new(false);
        let work = async {
            let mut longest = Duration::ZERO;
            let mut removed = 0;
            while removed < 6_000 {
                let began = Instant::now();
                removed += batch(&harness, "me", UpkeepTask::FinishedOperations, DAY).await.unwrap();
                longest = longest.max(began.elapsed());
            }
            over.store(true, Ordering::Relaxed);
            longest
        };
        let (longest, beside) = tokio::join!(work, claims(&harness, "beside", |_| over.load(Ordering::Relaxed)));
        // Wide room in both: of writers kept out until upkeep is over, a claim or two get in and take sixty batches.
        assert!(beside.len() >= 20, "only {} claims got in between 60 batches", beside.len());
        let bound = 4 * longest + 4 * p99(&alone);
        assert!(p99(&beside) < bound, "{:?} beside upkeep, {:?} alone, a batch {longest:?}", p99(&beside), p99(&alone));
    }
}
