//! What the door adds to an error of the server's own: its request's name, the same as in the log.

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection};
use writewatch::store::Engine;

use crate::harness::Database;
use crate::support::client::send;
use crate::support::events::Events;
use crate::support::server::Server;
use crate::support::socket::{Arrival, try_subscribe};

const BROKEN: &str = "query Broken { operation(callerDid: \"a\", operationId: \"b\") { id } }";

/// By HTTP, as events and by a socket.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_internal_error_names_its_request_and_the_log_tells_it_once() {
    let database = Database::fresh(Engine::Sqlite).await;
    let server = Server::start_with(&database.url(), &[("WRITEWATCH_LOG_FORMAT", "json")]).await;
    let mut connection = SqliteConnection::connect(&database.url()).await.unwrap();
    let breaking = "ALTER TABLE kubun_connector_operation RENAME TO elsewhere";
    sqlx::raw_sql(AssertSqlSafe(breaking)).execute(&mut connection).await.unwrap();

    let request = hyper::Request::post(format!("{}/graphql", server.url()))
        .header("content-type", "application/json")
        .header("x-request-id", "by-http")
        .body(json!({ "query": BROKEN }).to_string());
    let response = send(request.unwrap()).await.unwrap();
    let by_http: Value = serde_json::from_slice(response.body()).unwrap();
    let as_events = Events::open(server.url(), BROKEN, "as-events").await.data().await;
    let mut socket = try_subscribe(server.url(), BROKEN, Value::Null).await.unwrap();
    let Arrival::Next(by_socket) = socket.arrival().await else { panic!("no answer by the socket") };

    let log = server.log();
    let logged: Vec<Value> = log.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
    for (answer, way) in [(&by_http, "by-http"), (&as_events, "as-events"), (&by_socket, "by a socket")] {
        let error = &answer["errors"][0];
        assert_eq!(error["extensions"]["code"], "INTERNAL", "{way}: {answer}");
        assert!(!answer.to_string().contains("elsewhere") && !answer.to_string().contains("kubun"), "{answer}");
        let id = error["extensions"]["requestId"].as_str().unwrap();
        let of_it = |line: &&Value| {
            line["level"] == "ERROR" && [&line["span"]["id"], &line["span"]["request"]].contains(&&json!(id))
        };
        let told: Vec<_> = logged.iter().filter(of_it).collect();
        assert_eq!(told.len(), 1, "{way}: {log}");
        assert_eq!((&told[0]["span"]["operation"], &told[0]["span"]["kind"]), (&json!("Broken"), &json!("query")));
    }
    assert_eq!(by_http["errors"][0]["extensions"]["requestId"], "by-http");
    assert_eq!(as_events["errors"][0]["extensions"]["requestId"], "as-events");
}
