//! Several servers over one PostgreSQL: changes come to subscribers of all, in order, and none is skipped.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use writewatch::domain::time::parse;
use writewatch::store::Engine;

use crate::harness::{Database, Harness, claim, next};
use crate::support::client::post;
use crate::support::server::Server;
use crate::support::socket::{Arrival, subscribe};

async fn two() -> (Harness, Harness) {
    let first = Harness::start(Engine::Postgres).await;
    let second = Harness::start_beside(&first).await;
    (first, second)
}

const OPERATION: &str =
    "subscription($id: ID) { operationChanged(id: $id) { operation { version } change { transition } cursor } }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_through_one_server_reaches_the_subscribers_of_another() {
    let (first, second) = two().await;
    let id = first.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
    let mut answers = second.follow(OPERATION, json!({ "id": id }));
    assert_eq!(next(&mut answers).await["data"]["operationChanged"]["change"], Value::Null);
    for version in 0..20 {
        let record = json!({ "id": id, "leaseToken": "L1", "version": version, "toState": "ATTEMPTED" });
        first.act("recordOperation", record, "outcome").await;
        let told = next(&mut answers).await["data"]["operationChanged"].take();
        assert_eq!(told["operation"]["version"], json!(version + 1));
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_server_did_is_in_the_next_answer_of_another() {
    let (first, second) = two().await;
    for place in 0..50 {
        first.act("claimOperation", claim(&format!("k{place}"), &json!({})), "outcome").await;
        assert_eq!(second.log("cursor").await.len(), place + 1);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_that_commits_late_with_a_smaller_number_is_not_skipped() {
    let harness = Harness::start(Engine::Postgres).await;
    harness.act("claimOperation", claim("k0", &json!({})), "outcome").await;
    let start = harness.log("cursor").await[0]["cursor"].clone();
    let query = "subscription($after: String) { changes(after: $after) { transition } }";
    let mut answers = harness.follow(query, json!({ "after": start }));

    let mut late = PgConnection::connect(&harness.database.url()).await.unwrap();
    let insert = "BEGIN; SELECT pg_current_xact_id();
        INSERT INTO change_event (at, entity, entity_id, transition, facts) VALUES (1, 'document', 'do_late', 'late', '{}')";
    sqlx::raw_sql(AssertSqlSafe(insert)).execute(&mut late).await.unwrap();
    // Takes the next number, and commits first.
    harness.act("claimOperation", claim("k1", &json!({})), "outcome").await;
    let early =
        tokio::time::timeout(std::time::Duration::from_millis(300), futures_util::StreamExt::next(&mut answers)).await;
    assert!(early.is_err(), "told before what has a smaller number: {early:?}");
    sqlx::raw_sql(AssertSqlSafe("COMMIT")).execute(&mut late).await.unwrap();
    let told = [next(&mut answers).await, next(&mut answers).await]
        .map(|mut answer| answer["data"]["changes"]["transition"].take());
    assert_eq!(told, [json!("late"), json!("claim")]);
}

/// A transaction that began last, took the smaller number and is still open: no snapshot's bounds tell of it, because
/// everything that has ended began before it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_not_skipped_whose_transaction_began_after_those_that_have_ended() {
    let harness = Harness::start(Engine::Postgres).await;
    harness.act("claimOperation", claim("k0", &json!({})), "outcome").await;
    let start = harness.log("cursor").await[0]["cursor"].clone();
    let query = "subscription($after: String) { changes(after: $after) { transition } }";
    let mut answers = harness.follow(query, json!({ "after": start }));
    let mut older = PgConnection::connect(&harness.database.url()).await.unwrap();
    let mut younger = PgConnection::connect(&harness.database.url()).await.unwrap();
    let run = async |connection: &mut PgConnection, sql: &'static str| {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(connection).await.unwrap();
    };
    run(&mut older, "BEGIN; SELECT pg_current_xact_id()").await;
    run(&mut younger, "BEGIN; INSERT INTO change_event (at, entity, entity_id, transition, facts) VALUES (1, 'document', 'do_1', 'first', '{}')")
        .await;
    run(&mut older, "INSERT INTO change_event (at, entity, entity_id, transition, facts) VALUES (1, 'document', 'do_2', 'second', '{}'); COMMIT")
        .await;
    let early =
        tokio::time::timeout(std::time::Duration::from_millis(2_500), futures_util::StreamExt::next(&mut answers))
            .await;
    assert!(early.is_err(), "told before what has a smaller number: {early:?}");
    run(&mut younger, "COMMIT").await;
    let told = [next(&mut answers).await, next(&mut answers).await]
        .map(|mut answer| answer["data"]["changes"]["transition"].take());
    assert_eq!(told, [json!("first"), json!("second")]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_finalize_across_each_other_all_succeed() {
    let (first, second) = two().await;
    let harnesses = [std::sync::Arc::new(first), std::sync::Arc::new(second)];
    for round in 0..5 {
        let mut tasks = vec![];
        for place in 0..40 {
            let harness = std::sync::Arc::clone(&harnesses[place % 2]);
            let key = format!("k{round}-{place}");
            tasks.push(tokio::spawn(async move {
                let id = harness.act("claimOperation", claim(&key, &json!({})), "operation { id }").await["operation"]["id"].take();
                // Three documents and two identities, in every combination, from both sides at once.
                let finalize = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": format!("d{}", place % 3),
                    "sourceId": format!("s{}", (place / 3) % 2), "winnerDigest": "w" });
                harness.act("finalizeOperation", finalize, "outcome").await["outcome"].take()
            }));
        }
        for task in tasks {
            assert_eq!(task.await.unwrap(), "FINALIZED");
        }
    }
    let deadlocks = harnesses[0]
        .database
        .texts("SELECT deadlocks::text FROM pg_stat_database WHERE datname = current_database()")
        .await;
    assert_eq!(deadlocks, ["0"], "the order of locks lets no circle form");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_outlives_its_connections() {
    let database = Database::fresh(Engine::Postgres).await;
    let harness = Harness::start_on(Engine::Postgres, database).await;
    let id = harness.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
    let mut answers = harness.follow(OPERATION, json!({ "id": id }));
    assert_eq!(next(&mut answers).await["data"]["operationChanged"]["change"], Value::Null);
    harness.database.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()").await;
    let record = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": "ATTEMPTED" });
    assert_eq!(harness.act("recordOperation", record, "outcome").await["outcome"], "RECORDED");
    assert_eq!(next(&mut answers).await["data"]["operationChanged"]["change"]["transition"], "record");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_row_that_a_stranger_holds_holds_up_its_own_act_alone() {
    let harness = std::sync::Arc::new(Harness::start(Engine::Postgres).await);
    let id = harness.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
    let mut stranger = PgConnection::connect(&harness.database.url()).await.unwrap();
    let hold = "BEGIN; SELECT * FROM kubun_connector_operation WHERE operation_id = 'k' FOR UPDATE";
    sqlx::raw_sql(AssertSqlSafe(hold)).execute(&mut stranger).await.unwrap();
    let renewing = {
        let (harness, id) = (std::sync::Arc::clone(&harness), id.clone());
        tokio::spawn(async move {
            let renew = "mutation($input: LeaseInput!) { renewLease(input: $input) { outcome } }";
            harness.answer(renew, json!({ "input": { "id": id, "leaseToken": "L1", "leaseMs": 1_000 } })).await
        })
    };
    for place in 0..20 {
        let claimed = harness.act("claimOperation", claim(&format!("other{place}"), &json!({})), "outcome").await;
        assert_eq!(claimed["outcome"], "CLAIMED", "while the row is held");
    }
    let answer = renewing.await.unwrap();
    assert_eq!(answer["errors"][0]["extensions"]["code"], "CONTENTION", "{answer}");
    sqlx::raw_sql(AssertSqlSafe("COMMIT")).execute(&mut stranger).await.unwrap();
    let renewed = harness.act("renewLease", json!({ "id": id, "leaseToken": "L1", "leaseMs": 1_000 }), "outcome").await;
    assert_eq!(renewed["outcome"], "RENEWED");
}

/// By time alone: the poll under it would come 10 s later.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_that_ends_is_due_work_at_once() {
    let database = Database::fresh(Engine::Sqlite).await;
    let server = Server::start(&database.url()).await;
    let mut answers = subscribe(server.url(), "subscription { workDue { operations nextDueAt } }", Value::Null).await;
    assert_eq!(answers.next().await["workDue"], json!({ "operations": 0, "nextDueAt": null }));
    let query = "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { operation { lease { expiresAt } } } }";
    let mut claimed = post(server.url(), query, json!({ "input": claim("k", &json!({ "leaseMs": 1_500 })) })).await;
    let expires_at = claimed["data"]["claimOperation"]["operation"]["lease"]["expiresAt"].take();
    let told = answers.next().await["workDue"].take();
    assert_eq!(told["operations"], 0, "{told}");
    let [expires_at, next] = [&expires_at, &told["nextDueAt"]].map(|at| parse("at", at.as_str().unwrap()).unwrap());
    assert_eq!(next, expires_at + 1);
    match answers.arrival_within(std::time::Duration::from_secs(6)).await {
        Some(Arrival::Next(told)) => assert_eq!(told["data"]["workDue"], json!({ "operations": 1, "nextDueAt": null })),
        other => panic!("not told: {other:?}"),
    }
}
