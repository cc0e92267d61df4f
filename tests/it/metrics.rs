//! The metrics as a scraper reads them: the text format, values that move as the books do, labels that do not grow with them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use hyper::Request;
use hyper::header::CONTENT_TYPE;
use serde_json::{Value, json};
use writewatch::store::Engine;

use crate::harness::{Database, claim, input_type, merge};
use crate::support::client::{post, send};
use crate::support::server::Server;
use crate::support::socket::subscribe;

const SETTINGS: [(&str, &str); 1] = [("WRITEWATCH_METRICS_LISTEN", "127.0.0.1:0")];
const MOVES_WITHIN: Duration = Duration::from_secs(40);

/// Every series by its name and labels.
type Series = BTreeMap<String, f64>;

async fn text(url: &str) -> String {
    let response = send(Request::get(url).body(String::new()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()[CONTENT_TYPE], "text/plain; version=0.0.4; charset=utf-8");
    String::from_utf8(response.body().to_vec()).unwrap()
}

/// Reads the format, strictly: each family says what it is and of what type before its samples, which come together, each once.
fn series(text: &str) -> Series {
    let mut found = Series::new();
    let (mut described, mut typed) = (BTreeSet::new(), BTreeMap::new());
    let mut current = "";
    assert!(text.ends_with('\n'), "the last line ends");
    for line in text.lines() {
        if let Some(help) = line.strip_prefix("# HELP ") {
            current = help.split(' ').next().unwrap();
            assert!(described.insert(current), "described twice: {line}");
        } else if let Some(kind) = line.strip_prefix("# TYPE ") {
            let (name, kind) = kind.split_once(' ').unwrap();
            assert_eq!(name, current, "a type without its description");
            assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
            assert!(typed.insert(name, kind).is_none(), "typed twice: {line}");
        } else {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let bare = name.split('{').next().unwrap();
            let suffixes: &[&str] = if typed[current] == "histogram" { &["_bucket", "_sum", "_count"] } else { &[""] };
            assert!(suffixes.iter().any(|suffix| bare == format!("{current}{suffix}")), "{line} beneath {current}");
            if typed[current] == "counter" {
                assert!(bare.ends_with("_total"), "{line}");
            }
            assert!(
                bare.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_'),
                "{line}"
            );
            assert!(found.insert(name.to_owned(), value.parse().unwrap()).is_none(), "twice: {line}");
        }
    }
    found
}

/// The labels' values, of every series.
fn words(series: &Series) -> BTreeSet<String> {
    let parts = series.keys().flat_map(|name| name.split('"').skip(1).step_by(2));
    parts.map(str::to_owned).collect()
}

fn metrics_url(server: &Server) -> String {
    let log = server.log();
    log.lines().find_map(|line| line.strip_prefix("writewatch metrics on ")).expect("where the metrics are").to_owned()
}

/// Scrapes until the series says this.
async fn until(url: &str, name: &str, wanted: f64) -> Series {
    let mut last = None;
    let moved = tokio::time::timeout(MOVES_WITHIN, async {
        loop {
            let found = series(&text(url).await);
            last = found.get(name).copied();
            if last == Some(wanted) {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    });
    moved.await.unwrap_or_else(|_| panic!("{name} is {last:?}, not {wanted}"))
}

async fn act(server: &Server, mutation: &str, input: Value) -> Value {
    let query = format!(
        "mutation($input: {}!) {{ {mutation}(input: $input) {{ outcome operation {{ id }} }} }}",
        input_type(mutation)
    );
    let mut answer = post(server.url(), &query, json!({ "input": input })).await;
    assert!(answer.get("errors").is_none(), "{answer}");
    answer["data"][mutation].take()
}

async fn told_as_they_move(engine: Engine) {
    let database = Database::fresh(engine).await;
    let server = Server::start_with(&database.url(), &SETTINGS).await;
    let url = metrics_url(&server);
    let at_first = until(&url, "writewatch_upkeep_rounds_total", 1.0).await;
    let is = |found: &Series, name: &str, wanted: f64| assert_eq!(found.get(name), Some(&wanted), "{name}");
    is(
        &at_first,
        &format!("writewatch_build_info{{version=\"{}\",engine=\"{}\"}}", env!("CARGO_PKG_VERSION"), engine.name()),
        1.0,
    );
    assert!(at_first["process_start_time_seconds"] > 1_700_000_000.0);
    is(&at_first, "writewatch_write_queue_limit_acts", 1_024.0);
    is(&at_first, "writewatch_write_queue_acts", 0.0);

    let id = act(&server, "claimOperation", claim("k1", &json!({}))).await["operation"]["id"].take();
    act(&server, "claimOperation", claim("k1", &json!({}))).await;
    act(&server, "claimOperation", claim("k1", &json!({ "payloadHash": "another" }))).await;
    let mut dead = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": "DEAD" });
    act(&server, "recordOperation", dead.clone()).await;
    merge(&mut dead, &json!({ "version": -1 }));
    let query = "mutation($input: RecordOperationInput!) { recordOperation(input: $input) { outcome } }";
    post(server.url(), query, json!({ "input": dead })).await;
    post(server.url(), "{ nothing }", Value::Null).await;
    post(server.url(), "{ nothing(", Value::Null).await;
    // Due in a second, when its lease is over.
    act(&server, "claimOperation", claim("k2", &json!({ "leaseMs": 1_000 }))).await;

    let mut answers = subscribe(server.url(), "subscription { workDue { operations } }", Value::Null).await;
    answers.next().await;
    let found = until(&url, "writewatch_subscriptions", 1.0).await;
    for (labels, count) in [("claimed", 2.0), ("exists", 1.0), ("conflict", 1.0)] {
        is(&found, &format!("writewatch_transitions_total{{act=\"claim_operation\",outcome=\"{labels}\"}}"), count);
    }
    is(&found, "writewatch_transitions_total{act=\"record_operation\",outcome=\"recorded\"}", 1.0);
    is(&found, "writewatch_transition_seconds_count{act=\"claim_operation\"}", 4.0);
    is(&found, "writewatch_transition_seconds_bucket{act=\"claim_operation\",le=\"+Inf\"}", 4.0);
    let acts: f64 = found
        .iter()
        .filter(|(name, _)| name.starts_with("writewatch_transition_seconds_count"))
        .map(|(_, count)| count)
        .sum();
    assert!(found["writewatch_write_batch_acts_sum"] >= acts, "each act was in a batch");
    is(&found, "writewatch_graphql_requests_total{type=\"mutation\",result=\"answered\"}", 5.0);
    is(&found, "writewatch_graphql_requests_total{type=\"query\",result=\"refused\"}", 1.0);
    is(&found, "writewatch_graphql_requests_total{type=\"none\",result=\"refused\"}", 1.0);
    is(&found, "writewatch_graphql_requests_total{type=\"subscription\",result=\"begun\"}", 1.0);
    is(&found, "writewatch_sockets", 1.0);
    assert!(found["writewatch_feed_position"] > at_first["writewatch_feed_position"]);
    let pool = if engine == Engine::Sqlite { "readers" } else { "all" };
    let open = |state: &str| found[&format!("writewatch_database_connections{{pool=\"{pool}\",state=\"{state}\"}}")];
    assert!(open("used") + open("idle") >= 1.0);
    assert!(found[&format!("writewatch_database_connections_limit{{pool=\"{pool}\"}}")] >= 8.0);

    drop(answers);
    until(&url, "writewatch_subscriptions", 0.0).await;
    until(&url, "writewatch_sockets", 0.0).await;
    // By the looks into the database.
    until(&url, "writewatch_attention{reason=\"dead\"}", 1.0).await;
    let found = until(&url, "writewatch_due{kind=\"operations\"}", 1.0).await;
    is(&found, "writewatch_due{kind=\"watches\"}", 0.0);
    assert!(found["writewatch_oldest_due_seconds"] >= 0.0);
    assert!(found["writewatch_looked_at_timestamp_seconds"] >= at_first["process_start_time_seconds"].floor());
    is(&found, "writewatch_feed_lag_seconds", 0.0);

    // Another server over the same database tells the same of it.
    let beside = Server::start_with(&database.url(), &SETTINGS).await;
    let found = until(&metrics_url(&beside), "writewatch_attention{reason=\"dead\"}", 1.0).await;
    is(&found, "writewatch_due{kind=\"operations\"}", 1.0);

    // What books hold is in no label, so that they may grow.
    let before = words(&series(&text(&url).await));
    for place in 0..20 {
        let other = json!({ "ownerDid": format!("did:o{place}"), "connectorName": format!("c{place}"), "documentId": format!("d{place}") });
        act(&server, "claimOperation", claim(&format!("more{place}"), &other)).await;
    }
    let after = words(&series(&text(&url).await));
    // Acts of ours that had not run before may have.
    let new: Vec<_> = after.difference(&before).collect();
    assert!(new.len() <= 3 && new.iter().all(|word| !word.contains(|letter: char| letter.is_ascii_digit())), "{new:?}");
    for word in &after {
        assert!(!word.contains("did:") && !["contacts", "k1", "a1", "t-1"].contains(&word.as_str()), "{word}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_move_as_the_books_do_on_sqlite() {
    told_as_they_move(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_move_as_the_books_do_on_postgres() {
    told_as_they_move(Engine::Postgres).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn metrics_have_an_address_of_their_own_or_none() {
    let database = Database::fresh(Engine::Sqlite).await;
    let server = Server::start_with(&database.url(), &SETTINGS).await;
    let metrics = metrics_url(&server);
    let status = async |url: String| {
        let response = send(Request::get(url).body(String::new()).unwrap()).await.unwrap();
        response.status().as_u16()
    };
    assert_eq!(status(format!("{}/metrics", server.url())).await, 404, "not where clients are");
    assert_eq!(status(metrics.replace("/metrics", "/graphql?query={viewer{did}}")).await, 404, "and nothing else here");
    let without = Server::start(&database.url()).await;
    assert!(!without.log().contains("metrics on"), "off unless it is asked for");
}
