//! What the books cost when they are full: retention, audit and lists over a million operations and as many watches, for a
//! service and for a single owner. No statistics are gathered by hand. `WRITEWATCH_BENCH_ROWS` sets another count.
//!
//! `SQLite` always; PostgreSQL too where `WRITEWATCH_TEST_POSTGRES` names a cluster (`scripts/with-postgres.sh make bench`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails ends there, and prints what it finds"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its settings")]

use std::time::{Duration, Instant};

use clap::Parser as _;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use tokio_util::sync::CancellationToken;
use writewatch::access::Access;
use writewatch::app::App;
use writewatch::config::Cli;
use writewatch::domain::viewer::Viewer;
use writewatch::graphql;
use writewatch::store::{Engine, Store};

/// Times that each question is asked; the median counts.
const ASKED: usize = 5;
/// What every figure is to stay under.
const GOAL: Duration = Duration::from_millis(100);

#[tokio::main]
async fn main() {
    let rows: u64 = std::env::var("WRITEWATCH_BENCH_ROWS").map_or(1_000_000, |text| text.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut urls = vec![format!("sqlite://{}", folder.path().join("bench.db").display())];
    if let Ok(cluster) = std::env::var("WRITEWATCH_TEST_POSTGRES") {
        let mut connection = PgConnection::connect(&cluster).await.unwrap();
        connection.execute("DROP DATABASE IF EXISTS writewatch_books").await.unwrap();
        connection.execute("CREATE DATABASE writewatch_books").await.unwrap();
        urls.push(format!("{}/writewatch_books", cluster.rsplit_once('/').unwrap().0));
    }
    println!("{:<10} {:<52} {:>9}", "engine", format!("over {rows} operations and watches"), "ms");
    for url in urls {
        let config = Cli::parse_from(["writewatch", "--database-url", &url]).config;
        let store = Store::open(&config.database.database_url, None).await.unwrap();
        let access = Access::read(&config).unwrap();
        let app = App::start(config, access, store, CancellationToken::new()).await.unwrap();
        let began = Instant::now();
        fill(&url, rows).await;
        println!("{:<10} {:<52} {:>9.0}", app.store.engine().name(), "filling the books", began.elapsed().as_millis());
        measure(&app, &url).await;
    }
}

async fn run(url: &str, sql: &str) {
    let sql = AssertSqlSafe(sql.to_owned());
    if url.starts_with("sqlite") {
        sqlx::raw_sql(sql).execute(&mut SqliteConnection::connect(url).await.unwrap()).await.unwrap();
    } else {
        sqlx::raw_sql(sql).execute(&mut PgConnection::connect(url).await.unwrap()).await.unwrap();
    }
}

/// Rows as the package writes them: most of them commits that stay, of a thousand owners by ten callers; one in a hundred is
/// live, half of those waiting for the network, one in a thousand was given up, one in ten thousand needs a person. A connector has
/// a model of its own, and the first rows another that nothing is made of any more.
async fn fill(url: &str, rows: u64) {
    let numbers = if url.starts_with("sqlite") {
        format!(
            "(WITH RECURSIVE series(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < {rows}) SELECT n FROM series)"
        )
    } else {
        format!("(SELECT n FROM generate_series(1, {rows}) AS n)")
    };
    run(url, &format!(
        "INSERT INTO kubun_connector_operation (caller_did, operation_id, node_key, owner_did, connector_name, model, op, account_key, \
        target, source_id, deterministic_event_id, payload_hash, reissue_intent, document_id, state, last_kind, defer_reason, created_at, updated_at) \
        SELECT 'did:c' || (n % 10), 'operation-' || n, 'node-' || n, 'did:o' || (n % 1000), \
        CASE WHEN n % 3 = 0 THEN 'contacts' ELSE 'calendar' END, CASE WHEN n < 50 THEN 'Retired' WHEN n % 3 = 0 THEN 'Contact' ELSE 'Event' END, 'update', 'a', 'target', 'source-' || n, 'event-' || n, 'hash', 'null', \
        'document-' || n, CASE WHEN n % 10000 = 1 THEN 'reconcile_only' WHEN n % 1000 = 7 THEN 'dead' WHEN n % 100 = 5 THEN 'attempted' \
        ELSE 'committed' END, CASE WHEN n % 1000 = 7 THEN 'rejected' END, \
        CASE WHEN n % 200 = 5 THEN 'offline' END, 1000000 + n, 1000000 + n FROM {numbers} AS numbers"
    )).await;
    run(url, &format!(
        "INSERT INTO kubun_connector_projection_watch (owner_did, connector_name, model, account_key, source_id, document_id, \
        verified_state_digest, observed_winner_digest, verification_status, next_attempt_at, created_at, updated_at) \
        SELECT 'did:o' || (n % 1000), CASE WHEN n % 3 = 0 THEN 'contacts' ELSE 'calendar' END, CASE WHEN n < 50 THEN 'Retired' WHEN n % 3 = 0 THEN 'Contact' ELSE 'Event' END, 'a', 'source-' || n, 'document-' || n, \
        'w', 'w', CASE WHEN n % 1000 = 9 THEN 'repair_failed' ELSE 'verified' END, NULL, 1, 1 FROM {numbers} AS numbers"
    )).await;
    run(url, &format!(
        "INSERT INTO change_event (at, entity, entity_id, transition, to_state, document_id, owner_did, caller_did, connector_name, facts) \
        SELECT 1000000 + n, 'operation', 'id-' || n, CASE n % 5 WHEN 0 THEN 'claim' WHEN 1 THEN 'lease' WHEN 2 THEN 'mark_send' WHEN 3 THEN 'record' \
        ELSE 'finalize' END, CASE n % 5 WHEN 4 THEN 'committed' ELSE 'attempted' END, 'document-' || n, 'did:o' || (n % 1000), 'did:c' || (n % 10), \
        CASE WHEN n % 3 = 0 THEN 'contacts' ELSE 'calendar' END, '{{}}' FROM {numbers} AS numbers"
    )).await;
    run(url, &format!(
        "INSERT INTO document_winner (document_id, digest, updated_at) SELECT 'document-' || n, 'w', 1 FROM {numbers} AS numbers"
    )).await;
}

async fn ask(app: &App, viewer: Viewer, query: &str) -> Value {
    let answer = graphql::execute(app, async_graphql::Request::new(query), viewer).await;
    assert!(answer.errors.is_empty(), "{query}: {:?}", answer.errors);
    serde_json::to_value(answer.data).unwrap()
}

async fn timed(app: &App, viewer: &Viewer, told: &str, query: &str) -> Value {
    let mut times = vec![];
    let mut answer = json!(null);
    for _ in 0..ASKED {
        let began = Instant::now();
        answer = ask(app, viewer.clone(), query).await;
        times.push(began.elapsed());
    }
    times.sort_unstable();
    let median = times[ASKED / 2];
    let over = if median > GOAL { "  over the goal" } else { "" };
    println!("{:<10} {told:<52} {:>9.1}{over}", app.store.engine().name(), median.as_secs_f64() * 1_000.0);
    answer
}

async fn measure(app: &App, url: &str) {
    let service = Viewer::open();
    let collect =
        r#"mutation { collectFinishedOperations(input: { before: "2020-01-01T00:00:00Z", limit: 1000 }) { deleted } }"#;
    assert_eq!(
        timed(app, &service, "collect from kept rows, a batch", collect).await["collectFinishedOperations"]["deleted"],
        0
    );
    run(url, "UPDATE document_winner SET digest = 'w2', updated_at = 2 WHERE document_id IN ('document-11', 'document-22', 'document-33', \
        'document-44', 'document-55', 'document-66', 'document-77', 'document-88', 'document-99', 'document-110')").await;
    let audit = timed(
        app,
        &service,
        "the audit after 10 drifted winners",
        "{ dueWatches { nodes { documentId } totalCount } }",
    )
    .await;
    assert_eq!(audit["dueWatches"]["totalCount"], 10);
    let nodes = "nodes { id state updatedAt } pageInfo { hasNextPage }";
    let filters = [
        ("by state", "filter: { states: [DEAD, RECONCILE_ONLY] }"),
        ("by state, last changed first", "filter: { states: [DEAD] }, orderBy: UPDATED_DESC"),
        ("by connector", "filter: { connectorName: \"contacts\" }"),
        ("by a connector that there is not", "filter: { connectorName: \"none\" }"),
        ("by owner", "filter: { ownerDid: \"did:o7\" }, orderBy: UPDATED_DESC"),
        ("by an owner that there is not", "filter: { ownerDid: \"did:none\" }"),
        ("by caller", "filter: { callerDid: \"did:c3\" }, orderBy: UPDATED_DESC"),
        ("by who may see it", "filter: { visibleTo: \"did:o7\" }"),
        ("by an error that is rare", "filter: { lastKind: \"rejected\" }"),
        ("by document", "filter: { documentIds: [\"document-5\", \"document-500000\"] }"),
        ("by a model that nothing is made of any more", "filter: { model: \"Retired\" }, orderBy: UPDATED_DESC"),
        ("by owner and state", "filter: { ownerDid: \"did:o7\", states: [COMMITTED] }, orderBy: CREATED_DESC"),
        (
            "by caller and state",
            "filter: { callerDid: \"did:c7\", states: [DEAD, RECONCILE_ONLY] }, orderBy: UPDATED_DESC",
        ),
        ("by connector and reason", "filter: { connectorName: \"contacts\", deferReasons: [OFFLINE] }"),
        ("by connector and model, of which it has none", "filter: { connectorName: \"contacts\", model: \"Event\" }"),
        (
            "by state, connector and time",
            "filter: { states: [DEAD], connectorName: \"calendar\", updatedSince: \"1970-01-01T00:30:00Z\" }",
        ),
        ("by time", "filter: { updatedSince: \"1970-01-01T00:30:00Z\" }"),
    ];
    for (viewer, who) in [(service, "a service"), (Viewer::of("did:o7"), "an owner")] {
        for (told, arguments) in filters {
            timed(
                app,
                &viewer,
                &format!("{who}: operations {told}"),
                &format!("{{ operations({arguments}) {{ {nodes} }} }}"),
            )
            .await;
        }
        timed(app, &viewer, &format!("{who}: operations, counted"), "{ operations(first: 1) { totalCount } }").await;
        timed(app, &viewer, &format!("{who}: what is due"), "{ dueOperations { nodes { id } totalCount } }").await;
        timed(
            app,
            &viewer,
            &format!("{who}: watches by status"),
            "{ watches(filter: { statuses: [REPAIR_FAILED] }) { nodes { id } } }",
        )
        .await;
        timed(
            app,
            &viewer,
            &format!("{who}: watches by status and model"),
            "{ watches(filter: { statuses: [VERIFIED], model: \"Retired\" }) { nodes { id } totalCount } }",
        )
        .await;
    }
    measure_kept(app).await;
    assert_eq!(app.store.engine() == Engine::Sqlite, url.starts_with("sqlite"));
}

/// What is kept beside the books: how long it takes to bring it up to date, and what is read of it.
async fn measure_kept(app: &App) {
    let began = Instant::now();
    while !app.store.refresh_write_states(20).await.unwrap() {}
    let (engine, ms) = (app.store.engine().name(), began.elapsed().as_millis());
    println!("{engine:<10} {:<52} {ms:>9}", "write states of every document, derived anew");
    let began = Instant::now();
    while !app.store.count_books(20).await.unwrap() {}
    let ms = began.elapsed().as_millis();
    println!("{engine:<10} {:<52} {ms:>9}", "operations and watches, counted");
    let began = Instant::now();
    let settled_through = app.feed.settled_through().await.unwrap();
    while !app.store.count_outcomes(settled_through, 20).await.unwrap() {}
    let ms = began.elapsed().as_millis();
    println!("{engine:<10} {:<52} {ms:>9}", "changes, counted");
    for (viewer, who) in [(Viewer::open(), "a service"), (Viewer::of("did:o7"), "an owner")] {
        for (told, fields) in [
            (
                "all of it",
                "operationsByState { count } watchesByStatus { count } deferred { count } dueOperations dueWatches \
                oldestDueAt attention { count } outcomes(from: \"1970-01-01T00:00:00Z\", to: \"1970-01-02T00:00:00Z\", buckets: 100) { count }",
            ),
            ("operations by state", "operationsByState { count }"),
            ("attention", "attention { count }"),
            (
                "outcomes of a day",
                "outcomes(from: \"1970-01-01T00:00:00Z\", to: \"1970-01-02T00:00:00Z\", buckets: 100) { count }",
            ),
            (
                "outcomes of some minutes",
                "outcomes(from: \"1970-01-01T00:20:00Z\", to: \"1970-01-01T00:20:15Z\", buckets: 100) { count }",
            ),
            (
                "outcomes of a month",
                "outcomes(from: \"1970-01-01T00:00:00Z\", to: \"1970-02-01T00:00:00Z\", buckets: 100) { count }",
            ),
        ] {
            timed(app, &viewer, &format!("{who}: statistics, {told}"), &format!("{{ statistics {{ {fields} }} }}"))
                .await;
        }
        for (told, arguments) in [
            ("that are in sync", "states: [IN_SYNC]"),
            ("that failed or diverged", "states: [FAILED, DIVERGED]"),
            ("that there are none of", "states: [VERIFYING]"),
            ("of a connector that there is not", "states: [IN_SYNC], filter: { connectorName: \"none\" }"),
            ("of an owner that failed", "states: [FAILED], filter: { ownerDid: \"did:o7\" }"),
        ] {
            let query = format!("{{ documentsByWriteState({arguments}) {{ nodes {{ id writeState }} }} }}");
            timed(app, &viewer, &format!("{who}: documents {told}"), &query).await;
        }
        timed(app, &viewer, &format!("{who}: search"), "{ search(text: \"document-77\") { id } }").await;
    }
}
