//! kill -9 under load: whatever was acknowledged is found as it was answered, its changes are in the log once and in
//! order, and what was not acknowledged happened wholly or not at all. The moment between an answer and a commit that
//! comes too late is too short for a kill to hit; clients that read back at once find it.
//!
//! ```text
//!   round: 16 clients act ─▶ kill -9 at a random moment ─▶ start on the same database ─▶ compare rows and log ─▶ go on
//! ```
//!
//! `WRITEWATCH_SEED` repeats the intentions and moments of a run; `WRITEWATCH_CHAOS_ROUNDS` makes it longer.

mod client;
mod operation_acts;
mod rows;
mod watch_acts;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{sleep, timeout};
use writewatch::clock::Clock;
use writewatch::store::Engine;

use self::client::{Client, Dice, OPERATION, Round, WATCH, WINNER, kinds};
use self::rows::{Found, heard};
use crate::harness::Database;
use crate::support::client::post;
use crate::support::server::Server;

const CLIENTS: usize = 16;
const ROUNDS: u64 = 20;
/// Rounds until a client is replaced by one with new keys; its rows are looked at once more at the end.
const ROUNDS_OF_A_CLIENT: u64 = 10;
/// When a round's server is killed, in ms since the clients began.
const LIFE_MS: std::ops::Range<usize> = 100..500;
/// Acts that a round waits for, however slow the machine is.
const ACTS_OF_A_ROUND: usize = 4 * CLIENTS;
const ACTED_WITHIN: Duration = Duration::from_secs(30);
/// A killed server's connections end by themselves.
const CUT_OFF_WITHIN: Duration = Duration::from_secs(20);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    survive(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    survive(Engine::Postgres).await;
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long and from which seed a run goes is handed in by the environment"
)]
fn setting(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

async fn survive(engine: Engine) {
    let rounds = setting("WRITEWATCH_CHAOS_ROUNDS").unwrap_or(ROUNDS);
    let seed = setting("WRITEWATCH_SEED").unwrap_or_else(|| Clock::Host.now_ms().unsigned_abs());
    let run = AssertUnwindSafe(run(engine, seed, rounds)).catch_unwind().await;
    assert!(run.is_ok(), "as told above; WRITEWATCH_SEED={seed} WRITEWATCH_CHAOS_ROUNDS={rounds} runs it again");
}

async fn run(engine: Engine, seed: u64, rounds: u64) {
    let database = Database::fresh(engine).await;
    let mut server = Server::start(&database.url()).await;
    let mut dice = Dice::new(seed);
    let mut log = Log::default();
    let (mut clients, mut retired) = (vec![], vec![]);
    for round in 0..rounds {
        if round % ROUNDS_OF_A_CLIENT == 0 {
            retired.append(&mut clients);
            let name = |place| format!("did:client{place}-of-round{round}");
            clients.extend((0..CLIENTS).map(|place| Client::new(name(place), Dice::new(dice.number()))));
        }
        let life = Duration::from_millis((LIFE_MS.start + dice.below(LIFE_MS.len())).try_into().unwrap());
        clients = act_until_killed(&mut server, clients, life).await;
        restart(&mut server, &database).await;
        log.read_on(server.url()).await;
        for client in &mut clients {
            client.settle(&found(server.url(), client, &log).await);
        }
    }
    retired.append(&mut clients);
    // Nothing of the early rounds was lost, or logged late, in the later ones.
    let mut whole = Log::default();
    whole.read_on(server.url()).await;
    for client in &mut retired {
        client.settle(&found(server.url(), client, &whole).await);
    }
    check_effort(&retired);
}

/// All clients at once, until the server is killed in the middle of what they do.
async fn act_until_killed(server: &mut Server, clients: Vec<Client>, life: Duration) -> Vec<Client> {
    let round = Arc::new(Round::default());
    let work = |client: Client| tokio::spawn(client.work(server.url().to_owned(), Arc::clone(&round)));
    let clients: Vec<_> = clients.into_iter().map(work).collect();
    sleep(life).await;
    let acted = timeout(ACTED_WITHIN, async {
        // A client that ended has failed: its panic is told below.
        while round.acknowledged.load(Ordering::SeqCst) < ACTS_OF_A_ROUND
            && clients.iter().all(|client| !client.is_finished())
        {
            sleep(Duration::from_millis(1)).await;
        }
    });
    acted.await.expect("some acts before the crash");
    round.killed.store(true, Ordering::SeqCst);
    server.kill9();
    let clients = join_all(clients).await.into_iter();
    clients.map(|client| client.unwrap_or_else(|_| panic!("a client failed, as told above"))).collect()
}

/// Starts the server again. On PostgreSQL the killed one's sessions may still be at work then: a COMMIT that was sent is
/// carried out, so that only their end settles what happened.
async fn restart(server: &mut Server, database: &Database) {
    let Database::Postgres(_) = database else { return server.restart().await };
    let killed_at = database.texts("SELECT clock_timestamp()::text").await.remove(0);
    server.restart().await;
    let sessions = format!(
        "SELECT pid::text FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'writewatch' \
        AND backend_start < '{killed_at}'"
    );
    let gone = timeout(CUT_OFF_WITHIN, async {
        while !database.texts(&sessions).await.is_empty() {
            sleep(Duration::from_millis(5)).await;
        }
    });
    gone.await.expect("the end of the killed server's sessions");
}

/// The change log as a server shows it, by client.
#[derive(Default)]
struct Log {
    after: Value,
    changes: BTreeMap<String, Vec<Value>>,
}

impl Log {
    async fn read_on(&mut self, url: &str) {
        let fields = "cursor entity transition fromState toState documentId at facts";
        let (changes, end) = pages(url, "changes", &json!({}), "ChangeFilter", fields, self.after.take()).await;
        self.after = end;
        for change in changes {
            let change = heard(&change);
            let name = change["name"].as_str().unwrap_or_else(|| panic!("about nothing: {change}"));
            let (client, _) = name.rsplit_once('-').expect("a name that begins with its client's");
            self.changes.entry(client.to_owned()).or_default().push(change);
        }
    }
}

/// What the server shows of a client.
async fn found(url: &str, client: &Client, log: &Log) -> Found {
    let filter = json!({ "ownerDid": client.name });
    let (mut rows, _) = pages(url, "operations", &filter, "OperationFilter", OPERATION, Value::Null).await;
    rows.extend(pages(url, "watches", &filter, "WatchFilter", WATCH, Value::Null).await.0);
    let query = format!("query($ids: [String!]!) {{ documents(ids: $ids) {{ winner {{ {WINNER} }} }} }}");
    let answer = post(url, &query, json!({ "ids": client.document_ids() })).await;
    let documents = answer["data"]["documents"].as_array().unwrap_or_else(|| panic!("no documents: {answer}"));
    rows.extend(documents.iter().map(|document| document["winner"].clone()).filter(|winner| !winner.is_null()));
    Found { rows, log: log.changes.get(&client.name).cloned().unwrap_or_default() }
}

/// Every row of a list after a cursor, and the cursor of the last.
async fn pages(url: &str, list: &str, filter: &Value, kind: &str, fields: &str, after: Value) -> (Vec<Value>, Value) {
    let query = format!(
        "query($filter: {kind}, $after: String) {{ {list}(filter: $filter, first: 100, after: $after) {{ \
        nodes {{ {fields} }} pageInfo {{ hasNextPage endCursor }} }} }}"
    );
    let (mut rows, mut after) = (vec![], after);
    loop {
        let mut answer = post(url, &query, json!({ "filter": filter, "after": after })).await;
        let page = &mut answer["data"][list];
        assert!(page.is_object(), "no {list}: {answer}");
        rows.append(page["nodes"].as_array_mut().unwrap());
        if !page["pageInfo"]["endCursor"].is_null() {
            after = page["pageInfo"]["endCursor"].take();
        }
        if page["pageInfo"]["hasNextPage"] == false {
            return (rows, after);
        }
    }
}

/// A run in which some kind of act was never answered has not shown it.
fn check_effort(clients: &[Client]) {
    let mut acknowledged: BTreeMap<&str, usize> = kinds().map(|(kind, _)| (kind, 0)).collect();
    for (kind, count) in clients.iter().flat_map(|client| &client.acknowledged) {
        *acknowledged.get_mut(kind).unwrap() += count;
    }
    assert!(acknowledged.values().all(|count| *count > 0), "a kind of act was never acknowledged: {acknowledged:#?}");
}
