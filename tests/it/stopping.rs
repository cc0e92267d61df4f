//! Case S07: a server that is asked to stop finishes what runs, tells who waits, and ends in time.

use std::time::Duration;

use futures_util::FutureExt as _;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, SqliteConnection};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::Instant;
use writewatch::store::Engine;

use crate::harness::{Database, claim};
use crate::support::client::{post, try_post};
use crate::support::events::Events;
use crate::support::server::Server;
use crate::support::socket::{Arrival, subscribe};

const CLAIM: &str =
    "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { operation { id lease { expiresAt } } } }";
const FINALIZE: &str = "mutation($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { outcome } }";
const LOOK: &str = "query($id: ID!) { node(id: $id) { ... on Operation { state lease { expiresAt live } } } }";
const FOLLOW: &str = "subscription { workDue { operations } }";
/// What `--help` and README promise.
const GRACE_TIME: Duration = Duration::from_secs(10);

/// Another program that holds what every write needs, for as long as it is kept.
enum Hold {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Hold {
    async fn take(database: &Database, engine: Engine) -> Self {
        match engine {
            Engine::Sqlite => {
                let mut connection = SqliteConnection::connect(&database.url()).await.unwrap();
                sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
                Self::Sqlite(connection)
            }
            Engine::Postgres => {
                let mut connection = PgConnection::connect(&database.url()).await.unwrap();
                let hold = "BEGIN; LOCK TABLE kubun_connector_operation IN EXCLUSIVE MODE";
                sqlx::raw_sql(AssertSqlSafe(hold)).execute(&mut connection).await.unwrap();
                Self::Postgres(connection)
            }
        }
    }

    async fn release(self) {
        match self {
            Self::Sqlite(mut connection) => drop(sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap()),
            Self::Postgres(mut connection) => drop(sqlx::raw_sql("ROLLBACK").execute(&mut connection).await.unwrap()),
        }
    }
}

/// A request whose handler has begun: the server asks for the body only when it reads it. The answer, when it comes.
async fn begun(url: &str, query: &str, variables: Value) -> impl Future<Output = Value> + Send + use<> {
    let host = url.strip_prefix("http://").unwrap().to_owned();
    let body = json!({ "query": query, "variables": variables }).to_string();
    let mut stream = TcpStream::connect(&host).await.unwrap();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\
        expect: 100-continue\r\nconnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut go_on = [0; 25];
    stream.read_exact(&mut go_on).await.unwrap();
    assert_eq!(go_on, *b"HTTP/1.1 100 Continue\r\n\r\n");
    stream.write_all(body.as_bytes()).await.unwrap();
    async move {
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        serde_json::from_str(answer.split_once("\r\n\r\n").unwrap().1).unwrap()
    }
}

/// An operation under a lease.
async fn claimed(server: &Server, key: &str) -> Value {
    let mut answer = post(server.url(), CLAIM, json!({ "input": claim(key, &json!({})) })).await;
    answer["data"]["claimOperation"]["operation"].take()
}

fn finalize(id: &Value) -> Value {
    json!({ "input": { "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w" } })
}

async fn s07(engine: Engine) {
    let database = Database::fresh(engine).await;
    let mut server = Server::start(&database.url()).await;
    let (leased, finalized) = (claimed(&server, "leased").await, claimed(&server, "finalized").await);
    let mut socket = subscribe(server.url(), FOLLOW, Value::Null).await;
    let mut events = Events::open(server.url(), FOLLOW, "idle").await;
    assert!(socket.next().await["workDue"].is_object() && events.data().await["data"]["workDue"].is_object());

    let hold = Hold::take(&database, engine).await;
    let url = server.url().to_owned();
    let mut finalizing = tokio::spawn(begun(&url, FINALIZE, finalize(&finalized["id"])).await);
    let asked = Instant::now();
    server.ask_to_stop();

    match socket.arrival_within(Duration::from_secs(5)).await {
        Some(Arrival::Closed { code: Some(1012), .. }) => {}
        other => panic!("the socket is not told: {other:?}"),
    }
    while let Some(line) = events.line().await {
        assert!(!line.contains("complete"), "it is not complete: its client is to come back");
    }
    assert!(try_post(&url, LOOK, json!({ "id": leased["id"] })).await.is_err(), "a new request is refused");
    assert!((&mut finalizing).now_or_never().is_none(), "what runs is waited for");
    hold.release().await;
    assert_eq!(finalizing.await.unwrap()["data"]["finalizeOperation"]["outcome"], "FINALIZED");
    assert_eq!(server.stopped().await.code(), Some(0), "{}", server.log());
    assert!(asked.elapsed() < GRACE_TIME, "it took {:?}", asked.elapsed());

    server.restart().await;
    let found = |id: &Value| {
        let variables = json!({ "id": id });
        let url = server.url().to_owned();
        async move { post(&url, LOOK, variables).await["data"]["node"].take() }
    };
    assert_eq!(found(&finalized["id"]).await["state"], "COMMITTED");
    let lease = json!({ "expiresAt": leased["lease"]["expiresAt"], "live": true });
    assert_eq!(found(&leased["id"]).await, json!({ "state": "ATTEMPTED", "lease": lease }));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s07_a_stop_finishes_what_runs_and_tells_who_waits_on_sqlite() {
    s07(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s07_a_stop_finishes_what_runs_and_tells_who_waits_on_postgres() {
    s07(Engine::Postgres).await;
}

/// A client whose request never becomes whole.
async fn endless(server: &Server) -> TcpStream {
    let host = server.url().trim_start_matches("http://");
    let mut connection = TcpStream::connect(host).await.unwrap();
    let head = format!(
        "POST /graphql HTTP/1.1\r\nhost: {host}\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{{"
    );
    connection.write_all(head.as_bytes()).await.unwrap();
    // Answered after it on the same machine, so that it has been taken up.
    post(server.url(), "{ viewer { did } }", Value::Null).await;
    connection
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_does_not_let_go_is_left_when_the_time_is_over() {
    let database = Database::fresh(Engine::Sqlite).await;
    let mut server = Server::start(&database.url()).await;
    let _endless = endless(&server).await;
    let asked = Instant::now();
    server.ask_to_stop();
    assert_eq!(server.stopped().await.code(), Some(0));
    let took = asked.elapsed();
    assert!(took >= GRACE_TIME.mul_f32(0.9) && took < GRACE_TIME + Duration::from_secs(4), "it took {took:?}");
    assert!(server.log().contains("some clients did not let go in time"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_second_signal_ends_it_at_once() {
    let database = Database::fresh(Engine::Sqlite).await;
    let mut server = Server::start(&database.url()).await;
    let _endless = endless(&server).await;
    let asked = Instant::now();
    server.ask_to_stop();
    // Once it has begun to stop, nobody gets in.
    while TcpStream::connect(server.url().trim_start_matches("http://")).await.is_ok() {
        assert!(asked.elapsed() < Duration::from_secs(5), "it does not stop");
    }
    server.ask_to_stop();
    assert_eq!(server.stopped().await.code(), Some(70));
    assert!(asked.elapsed() < Duration::from_secs(5), "it took {:?}", asked.elapsed());
    server.restart().await;
    assert_eq!(post(server.url(), "{ viewer { did } }", Value::Null).await["data"]["viewer"]["did"], Value::Null);
}
