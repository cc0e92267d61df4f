//! The command itself: settings, health, stopping, and what it never says.

use std::process::{Command, Output};
use std::time::Duration;

use hyper::Request;
use serde_json::{Value, json};
use writewatch::store::Engine;

use crate::access::House;
use crate::harness::{Database, claim};
use crate::support::client::{post, post_as, send};
use crate::support::server::Server;
use crate::support::signer::AUDIENCE;
use crate::support::socket::{Arrival, subscribe};

fn run(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_writewatch")).args(args).env_clear().output().unwrap()
}

#[test]
fn a_bad_setting_names_itself_and_what_it_accepts() {
    let cases: [(&[&str], [&str; 2]); 20] = [
        (&["serve", "--listen", "nonsense"], ["--listen", "nonsense"]),
        (&["serve", "--listen", "0.0.0.0:0"], ["WRITEWATCH_LISTEN", "--allow-open-access-beyond-loopback"]),
        (&["--listen", "[::]:0"], ["WRITEWATCH_LISTEN", "loopback"]),
        (&["serve", "--database-url", "mysql://x"], ["--database-url", "sqlite://"]),
        (&["migrate", "--database-url", "sqlite://"], ["--database-url", "file"]),
        (&["serve", "--allow-origin", "nonsense"], ["--allow-origin", "https://"]),
        (&["serve", "--allow-host", "books.example:443"], ["--allow-host", "without a port"]),
        (&["serve", "--rate-limit", "0"], ["--rate-limit", "0"]),
        (&["serve", "--rate-burst", "5"], ["--rate-limit", "required"]),
        (&["serve", "--persisted-documents", "/nowhere"], ["--persisted-documents", "cannot be read"]),
        (&["schema", "--log-format", "xml"], ["--log-format", "json"]),
        (&["schema", "--log", "=="], ["--log", "=="]),
        (&["--listen", "127.0.0.1:0", "schema"], ["--listen", "schema"]),
        (&["serve", "--auth", "basic"], ["--auth", "did"]),
        (&["serve", "--auth", "did"], ["--audience", "WRITEWATCH_AUDIENCE"]),
        (&["serve", "--auth", "did", "--audience", " "], ["--audience", "URL"]),
        (&["serve", "--audience", "x"], ["--audience", "--auth did"]),
        (&["serve", "--access-file", "x"], ["--access-file", "--auth did"]),
        (&["serve", "--service-did", "did:example:x"], ["--service-did", "did:key"]),
        (&["token", "--key-file", "x", "--audience", "x", "--hours", "25"], ["--hours", "25"]),
    ];
    for (args, expected) in cases {
        let output = run(args);
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {said}");
        for word in expected {
            assert!(said.contains(word), "{args:?} does not name {word}: {said}");
        }
    }
}

/// A server that does not know who may what does not begin.
#[test]
fn an_access_file_that_cannot_be_read_at_the_start_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("access.json");
    let database = format!("sqlite://{}", folder.path().join("x.db").display());
    let start = || {
        let file = file.to_str().unwrap();
        run(&[
            "serve",
            "--database-url",
            &database,
            "--listen",
            "127.0.0.1:0",
            "--auth",
            "did",
            "--audience",
            "x",
            "--access-file",
            file,
        ])
    };
    for text in [None, Some("{"), Some(r#"{"admins": []}"#), Some(r#"{"services": ["did:key:zNobody"]}"#)] {
        if let Some(text) = text {
            std::fs::write(&file, text).unwrap();
        }
        let output = start();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(!output.status.success() && said.contains("--access-file") && said.contains("access.json"), "{said}");
    }
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn token_makes_a_key_for_its_owner_alone_and_tokens_that_sign_in() {
    use std::os::unix::fs::PermissionsExt as _;

    let house = House::open(Engine::Sqlite).await;
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.json");
    let make = || {
        let output = run(&["token", "--key-file", file.to_str().unwrap(), "--audience", AUDIENCE, "--hours", "24"]);
        assert!(output.status.success());
        [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap().trim_end().to_owned())
    };
    let [token, said] = make();
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
    let key = std::fs::read_to_string(&file).unwrap();
    let did = said.split_whitespace().last().unwrap();
    for token in [&token, &make()[0]] {
        let (status, answer) =
            post_as(house.server.url(), Some(&format!("Bearer {token}")), "{ viewer { did } }", json!({})).await;
        assert_eq!((status, &answer["data"]["viewer"]["did"]), (200, &json!(did)));
    }
    assert_eq!(std::fs::read_to_string(&file).unwrap(), key, "the key stays");
    let secret: Value = serde_json::from_str(&key).unwrap();
    assert!(!format!("{token}{said}").contains(secret["d"].as_str().unwrap()));
    std::fs::write(&file, key.replace("\"d\":\"", "\"d\":\"A")).unwrap();
    let output = run(&["token", "--key-file", file.to_str().unwrap(), "--audience", AUDIENCE]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(!output.status.success() && said.contains("--key-file") && said.contains("JWK"), "{said}");
}

#[test]
fn an_address_of_a_database_is_not_repeated_with_its_password() {
    let output = run(&["migrate", "--database-url", "postgres://user:hidden@127.0.0.1:1/none"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--database-url") && !said.contains("hidden"), "{said}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn migrate_brings_the_schema_up_to_date_and_schema_prints_it() {
    let database = Database::fresh(Engine::Sqlite).await;
    assert!(run(&["migrate", "--database-url", &database.url()]).status.success());
    assert_eq!(database.texts("SELECT CAST(count(*) AS text) FROM change_feed").await, ["1"]);
    let printed = run(&["schema"]);
    assert_eq!(String::from_utf8(printed.stdout).unwrap(), include_str!("../../schema.graphql"));
}

async fn status(url: &str) -> u16 {
    let response = send(Request::get(url).body(String::new()).unwrap()).await.unwrap();
    response.status().as_u16()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn health_tells_alive_from_ready() {
    let database = Database::fresh(Engine::Postgres).await;
    let server = Server::start(&database.url()).await;
    assert_eq!(status(&format!("{}/healthz", server.url())).await, 200);
    assert_eq!(status(&format!("{}/readyz", server.url())).await, 200);
    drop(database);
    assert_eq!(status(&format!("{}/healthz", server.url())).await, 200, "alive without its database");
    assert_eq!(status(&format!("{}/readyz", server.url())).await, 503, "not ready without its database");
}

const CLAIM: &str =
    "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { outcome operation { id } } }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn stopping_answers_what_runs_and_tells_the_sockets() {
    let database = Database::fresh(Engine::Sqlite).await;
    let mut server = Server::start(&database.url()).await;
    let claimed = post(server.url(), CLAIM, json!({ "input": claim("k", &json!({})) })).await;
    let id = claimed["data"]["claimOperation"]["operation"]["id"].clone();
    let query = "subscription($id: ID) { operationChanged(id: $id) { operation { id } } }";
    let mut idle = subscribe(server.url(), query, json!({ "id": id })).await;
    assert_eq!(idle.next().await["operationChanged"]["operation"]["id"], id);
    assert_eq!(server.terminate().await.code(), Some(0));
    match idle.arrival_within(Duration::from_secs(10)).await {
        Some(Arrival::Closed { code: Some(1012), .. }) => {}
        other => panic!("not told of the restart: {other:?}"),
    }
    server.restart().await;
    let found = post(
        server.url(),
        "query($id: ID!) { node(id: $id) { ... on Operation { lease { expiresAt } } } }",
        json!({ "id": id }),
    )
    .await;
    assert_ne!(found["data"]["node"]["lease"], Value::Null, "the lease outlives its server");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn tokens_and_markers_are_never_said() {
    let database = Database::fresh(Engine::Sqlite).await;
    let server = Server::start(&database.url()).await;
    let secret = "SECRET-TOKEN";
    let claimed = post(server.url(), CLAIM, json!({ "input": claim("k", &json!({ "leaseToken": secret })) })).await;
    let id = claimed["data"]["claimOperation"]["operation"]["id"].clone();
    let mark = "mutation($input: MarkSendStartedInput!) { markSendStarted(input: $input) { outcome } }";
    let marked =
        post(server.url(), mark, json!({ "input": { "id": id, "leaseToken": secret, "marker": "SECRET-MARKER" } }))
            .await;
    assert_eq!(marked["data"]["markSendStarted"]["outcome"], "MARKED");
    // A refused one, whose error names the field but not the value.
    let refused = post(
        server.url(),
        mark,
        json!({ "input": { "id": id, "leaseToken": format!("SECRET{}", "x".repeat(600)), "marker": "m" } }),
    )
    .await;
    assert_eq!(refused["errors"][0]["extensions"]["field"], "leaseToken");
    let all = post(
        server.url(),
        "{ changes { nodes { facts transition } } operations { nodes { lease { expiresAt live } sendState } } }",
        json!({}),
    )
    .await;
    assert_eq!(all["data"]["changes"]["nodes"].as_array().unwrap().len(), 2);
    for said in [refused.to_string(), all.to_string(), server.log()] {
        assert!(!said.contains("SECRET"), "{said}");
    }
}
