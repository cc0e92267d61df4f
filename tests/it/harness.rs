//! A whole server but for its door, in the test's process: a real database, a clock that only the test moves.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use clap::Parser as _;
use futures_util::{FutureExt as _, Stream, StreamExt as _, stream};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _, SqliteConnection};
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;
use writewatch::access::Access;
use writewatch::app::App;
use writewatch::clock::Clock;
use writewatch::config::Cli;
use writewatch::domain::viewer::Viewer;
use writewatch::graphql;
use writewatch::store::{DatabaseUrl, Engine, Store};

use crate::support::postgres::{TestDatabase, fresh_database};

/// Where a test's clock starts.
pub const START: i64 = 1_700_000_000_000;

/// An empty database of either kind, gone with the test.
pub enum Database {
    Sqlite {
        folder: TempDir,
    },
    Postgres(TestDatabase),
    /// Somebody else's, on PostgreSQL.
    Existing(String),
}

impl Database {
    pub async fn fresh(engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => Self::Sqlite { folder: TempDir::new().unwrap() },
            Engine::Postgres => Self::Postgres(fresh_database().await),
        }
    }

    pub fn url(&self) -> String {
        match self {
            Self::Sqlite { .. } => format!("sqlite://{}", self.file().display()),
            Self::Postgres(database) => database.url(),
            Self::Existing(url) => url.clone(),
        }
    }

    fn file(&self) -> PathBuf {
        match self {
            Self::Sqlite { folder } => folder.path().join("test.db"),
            Self::Postgres(_) | Self::Existing(_) => unreachable!("a file of SQLite's"),
        }
    }

    /// Runs SQL behind the server's back.
    pub async fn execute(&self, sql: &str) {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite { .. } => {
                let mut connection = SqliteConnection::connect(&format!("{}?mode=rwc", self.url())).await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            }
            Self::Postgres(_) | Self::Existing(_) => {
                let mut connection = PgConnection::connect(&self.url()).await.unwrap();
                sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
            }
        }
    }

    /// The texts of a query's first column.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql.to_owned());
        match self {
            Self::Sqlite { .. } => {
                let mut connection = SqliteConnection::connect(&self.url()).await.unwrap();
                let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
                rows.iter().map(|row| row.get::<String, _>(0)).collect()
            }
            Self::Postgres(_) | Self::Existing(_) => {
                let mut connection = PgConnection::connect(&self.url()).await.unwrap();
                let rows = sqlx::query(sql).fetch_all(&mut connection).await.unwrap();
                rows.iter().map(|row| row.get::<String, _>(0)).collect()
            }
        }
    }

    /// Some columns of every row of a table, in the order of the first columns.
    pub async fn rows(&self, table: &str, columns: &[&str], order: &str) -> Vec<BTreeMap<String, Value>> {
        let object = if matches!(self, Self::Sqlite { .. }) { "json_object" } else { "json_build_object" };
        let pairs: Vec<String> = columns.iter().map(|column| format!("'{column}', {column}")).collect();
        let cast = if matches!(self, Self::Sqlite { .. }) { "" } else { "::text" };
        let sql = format!("SELECT {object}({}){cast} FROM {table} ORDER BY {order}", pairs.join(", "));
        self.texts(&sql).await.iter().map(|text| serde_json::from_str(text).unwrap()).collect()
    }
}

/// The server.
pub struct Harness {
    pub app: App,
    pub engine: Engine,
    pub database: Database,
    clock: Arc<AtomicI64>,
    stop: CancellationToken,
}

impl Drop for Harness {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

impl Harness {
    pub async fn start(engine: Engine) -> Self {
        Self::start_on(engine, Database::fresh(engine).await).await
    }

    pub async fn start_on(engine: Engine, database: Database) -> Self {
        Self::start_with(engine, database, &[]).await
    }

    /// With settings beside the database's address.
    pub async fn start_with(engine: Engine, database: Database, settings: &[&str]) -> Self {
        let clock = Arc::new(AtomicI64::new(START));
        let stop = CancellationToken::new();
        let url: DatabaseUrl = database.url().parse().unwrap();
        let store = Store::open(&url, Some(Clock::Manual(Arc::clone(&clock)))).await.unwrap();
        let address = database.url();
        let config = Cli::parse_from(["writewatch", "--database-url", &address].iter().chain(settings)).config;
        let access = Access::read(&config).unwrap();
        let app = App::start(config, access, store, stop.clone()).await.unwrap();
        Self { app, engine, database, clock, stop }
    }

    /// Another server over the same database.
    pub async fn start_beside(other: &Self) -> Self {
        Self::start_on(other.engine, Database::Existing(other.database.url())).await
    }

    /// Stops what reads beside the requests, the feed's follower above all.
    pub fn stop_loops(&self) {
        self.stop.cancel();
    }

    pub fn now(&self) -> i64 {
        self.clock.load(Ordering::SeqCst)
    }

    pub fn set_clock(&self, at: i64) {
        self.clock.store(at, Ordering::SeqCst);
    }

    pub fn advance(&self, ms: i64) {
        self.clock.fetch_add(ms, Ordering::SeqCst);
    }

    /// The whole answer, data and errors.
    pub async fn answer(&self, query: &str, variables: Value) -> Value {
        self.answer_to(Viewer::open(), query, variables).await
    }

    /// As `answer`, to somebody.
    pub async fn answer_to(&self, viewer: Viewer, query: &str, variables: Value) -> Value {
        serde_json::to_value(graphql::execute(&self.app, request(query, variables), viewer).await).unwrap()
    }

    /// The data of an answer that must have no errors.
    pub async fn ask(&self, query: &str, variables: Value) -> Value {
        let mut answer = self.answer(query, variables.clone()).await;
        assert!(answer.get("errors").is_none(), "{query}\n{variables}\n{answer:#}");
        answer["data"].take()
    }

    /// Performs a mutation of one `input`, selecting `fields` of its payload.
    pub async fn act(&self, mutation: &str, input: Value, fields: &str) -> Value {
        let kind = input_type(mutation);
        let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {fields} }} }}");
        self.ask(&query, json!({ "input": input })).await[mutation].take()
    }

    /// As `act`, for an input that must be refused: the error.
    pub async fn refuse(&self, mutation: &str, input: Value) -> Value {
        let kind = input_type(mutation);
        let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ __typename }} }}");
        let mut answer = self.answer(&query, json!({ "input": input })).await;
        assert!(answer["errors"].is_array(), "{mutation} took {input}: {answer}");
        answer["errors"][0].take()
    }

    /// The answers of a subscription.
    pub fn follow(&self, query: &str, variables: Value) -> impl Stream<Item = Value> + Unpin + use<> {
        self.follow_as(Viewer::open(), query, variables)
    }

    /// The answers of a viewer's subscription.
    pub fn follow_as(
        &self,
        viewer: Viewer,
        query: &str,
        variables: Value,
    ) -> impl Stream<Item = Value> + Unpin + use<> {
        let (app, viewer) = (self.app.clone(), Arc::new(viewer));
        let query = query.to_owned();
        let again = move || request(&query, variables.clone());
        let answers = async move {
            let events = match graphql::follow(&app, again(), &viewer).await {
                Ok(events) => events,
                Err(refusal) => return stream::iter([refusal]).boxed(),
            };
            let tell = move |event| {
                let (app, viewer, request) = (app.clone(), Arc::clone(&viewer), again());
                async move { graphql::tell(&app, request, &viewer, &event).await }
            };
            events.then(tell).boxed()
        };
        answers.flatten_stream().map(|answer| serde_json::to_value(answer).unwrap()).boxed()
    }

    /// How many changes there are, to 10,000.
    pub async fn log_length(&self) -> u64 {
        self.ask("{ changes(first: 0) { totalCount } }", json!({})).await["changes"]["totalCount"].as_u64().unwrap()
    }

    /// Every change in the log, oldest first, with these fields.
    pub async fn log(&self, fields: &str) -> Vec<Value> {
        let mut found = vec![];
        let mut after = Value::Null;
        loop {
            let query = format!(
                "query($after: String) {{ changes(first: 100, after: $after) {{ nodes {{ {fields} }} \
                pageInfo {{ hasNextPage endCursor }} }} }}"
            );
            let page = self.ask(&query, json!({ "after": after })).await["changes"].take();
            found.extend(page["nodes"].as_array().unwrap().iter().cloned());
            if page["pageInfo"]["hasNextPage"] != json!(true) {
                return found;
            }
            after = page["pageInfo"]["endCursor"].clone();
        }
    }
}

fn request(query: &str, variables: Value) -> async_graphql::Request {
    async_graphql::Request::new(query).variables(async_graphql::Variables::from_json(variables))
}

/// The input type of a mutation, by the contract's rule and its exceptions.
pub fn input_type(mutation: &str) -> String {
    match mutation {
        "acquireLease" | "renewLease" => "LeaseInput".to_owned(),
        "resumeOfflineDeferred" => "ResumeOfflineInput".to_owned(),
        "resumeAuthDeferred" => "ResumeAuthInput".to_owned(),
        "collectFinishedOperations" => "CollectFinishedInput".to_owned(),
        "recordRelistReceipt" => "RelistReceiptInput".to_owned(),
        "recordSweepOutcome" => "SweepOutcomeInput".to_owned(),
        "recordSweepApplyFailure" => "SweepApplyFailureInput".to_owned(),
        "markSweepCandidateApplied" => "SweepCandidateKeyInput".to_owned(),
        "commitSweepCheckpoint" => "SweepReceiptKeyInput".to_owned(),
        "deleteSyncState" => "SyncStateKeyInput".to_owned(),
        "deleteExpiredPendingAuth" => "DeleteExpiredInput".to_owned(),
        "setEntityTrim" => "EntityTrimInput".to_owned(),
        "clearEntityTrim" | "clearObservationRepair" => "DocumentKeyInput".to_owned(),
        "grantAccess" | "revokeAccess" => "AccessGrantInput".to_owned(),
        "putObservationRepair" => "ObservationRepairInput".to_owned(),
        "putObservationRecord" => "ObservationRecordInput".to_owned(),
        "pruneObservationRecord" => "PruneObservationInput".to_owned(),
        other => format!("{}{}Input", other[..1].to_uppercase(), &other[1..]),
    }
}

/// The input of a claim, with what a test wants otherwise.
pub fn claim(operation_id: &str, changes: &Value) -> Value {
    let mut input = json!({
        "callerDid": "did:c1", "operationId": operation_id, "ownerDid": "did:o1", "connectorName": "contacts",
        "model": "Contact", "op": "UPDATE", "accountKey": "a1", "target": "t-1", "sourceId": "s1",
        "deterministicEventId": "ev-1", "payloadHash": "h-1", "leaseToken": "L1", "leaseMs": 30_000,
    });
    merge(&mut input, changes);
    input
}

/// Puts the members of one object into another.
pub fn merge(into: &mut Value, from: &Value) {
    if let (Some(into), Some(from)) = (into.as_object_mut(), from.as_object()) {
        into.extend(from.clone());
    }
}

/// The next answer of a subscription, which must come soon.
pub async fn next(answers: &mut (impl Stream<Item = Value> + Unpin)) -> Value {
    let answer = tokio::time::timeout(std::time::Duration::from_secs(20), answers.next()).await;
    answer.expect("an answer in time").expect("an answer before the end")
}

/// Runs a scenario on both engines, each on a database of its own.
macro_rules! on_both_engines {
    ($($(#[$meta:meta])* async fn $name:ident($harness:ident: Harness) $body:block)+) => {
        $(mod $name {
            #[allow(unused_imports, reason = "what a scenario needs of its file, every file's otherwise")]
            use super::*;

            $(#[$meta])*
            async fn scenario($harness: $crate::harness::Harness) $body

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                scenario($crate::harness::Harness::start(writewatch::store::Engine::Sqlite).await).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                scenario($crate::harness::Harness::start(writewatch::store::Engine::Postgres).await).await;
            }
        })+
    };
}
pub(crate) use on_both_engines;
