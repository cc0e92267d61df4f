//! A consumer that stops reading: nobody else waits for it, the server holds little for it, and it goes on without a hole.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use writewatch::store::Engine;

use crate::harness::{Database, claim};
use crate::soak::{cursors, sequence};
use crate::support::client::post;
use crate::support::server::Server;
use crate::support::socket::{Arrival, try_subscribe};

/// How long the last changes may take to reach the one that reads.
const ARRIVED_WITHIN: Duration = Duration::from_mins(1);

/// One subscriber takes nothing for as long as 100,000 changes are made, beside one that takes them as they come.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_consumer_that_stops_reading_holds_up_nobody_and_goes_on_without_a_hole() {
    const BATCHES: usize = 200;
    const A_BATCH: usize = 500;
    let database = Database::fresh(Engine::Sqlite).await;
    let server = Server::start(&database.url()).await;
    let query = "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { outcome } }";
    post(server.url(), query, json!({ "input": claim("first", &json!({})) })).await;
    let mut log = post(server.url(), "{ changes { nodes { cursor } } }", Value::Null).await;
    let start = log["data"]["changes"]["nodes"][0]["cursor"].take();
    let follow = "subscription($after: String) { changes(after: $after) { cursor documentId } }";
    let after = |cursor: &Value| json!({ "after": cursor });
    let mut stopped = try_subscribe(server.url(), follow, after(&start)).await.unwrap();
    let mut quick = try_subscribe(server.url(), follow, after(&start)).await.unwrap();
    let cursors = Arc::new(cursors(&database).await);
    let known = Arc::clone(&cursors);
    let quick = tokio::spawn(async move {
        let mut got = vec![];
        while got.len() < BATCHES * A_BATCH {
            got.push(sequence(&known, &quick.next().await["changes"]["cursor"]));
        }
        got
    });

    let memory = server.memory_kb();
    let winners = "mutation($inputs: [RecordWinnerInput!]!) { recordWinners(inputs: $inputs) { outcome } }";
    for batch in 0..BATCHES {
        let winner = |place| json!({ "documentId": format!("d{batch}-{place}"), "digest": "w" });
        let inputs: Vec<Value> = (0..A_BATCH).map(winner).collect();
        let answer = post(server.url(), winners, json!({ "inputs": inputs })).await;
        assert!(answer["data"]["recordWinners"][0]["outcome"].is_string(), "{answer}");
    }
    let quick = timeout(ARRIVED_WITHIN, quick).await.expect("the other one is held up").unwrap();
    let grown = server.memory_kb() - memory;
    // A change held for it would be about a kilobyte, in its frame about 200 bytes.
    assert!(grown < 80_000, "the server holds {grown} kB more");

    let mut got: Vec<i64> = vec![];
    let mut last = start;
    let mut lives = 1;
    while got.len() < BATCHES * A_BATCH {
        match stopped.arrival().await {
            Arrival::Next(mut payload) if payload["errors"].is_null() => {
                last = payload["data"]["changes"]["cursor"].take();
                got.push(sequence(&cursors, &last));
            }
            // It was let go: it goes on from the last that it has.
            Arrival::Closed { .. } => {
                lives += 1;
                stopped = try_subscribe(server.url(), follow, after(&last)).await.unwrap();
            }
            other => panic!("neither a change nor an end: {other:?}"),
        }
    }
    assert!(lives <= 2, "let go of {lives} times");
    assert!(got == quick, "both get the same");
    let table = database.texts("SELECT CAST(sequence AS text) FROM change_event ORDER BY sequence").await;
    let table: Vec<i64> = table[1..].iter().map(|text| text.parse().unwrap()).collect();
    assert!(got == table, "each change of the table once, in its order");
}
