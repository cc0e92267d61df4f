//! The feed under everything at once: writers, servers that are killed, a database that crashes, subscribers of every kind that
//! come and go. Each gets every change that it may see exactly once and in the log's order, without looking for doubles.
//!
//! ```text
//!   4 writers ─▶ 3 servers (kill -9, one after the other) ─▶ PostgreSQL (crashes) ─▶ 3 servers ─▶ 24 subscribers,
//!                                                                                              3 who wait for work
//! ```
//!
//! `WRITEWATCH_SOAK_CHANGES` and `WRITEWATCH_SOAK_S` make it longer (`make soak`).

mod kinds;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep, timeout};
use writewatch::clock::Clock;
use writewatch::domain::time::rfc3339;
use writewatch::events::{Counted, Cursors};
use writewatch::store::Engine;

use crate::harness::{Database, claim, input_type};
use crate::support::client::{post, try_post};
use crate::support::postgres::Cluster;
use crate::support::server::Server;
use crate::support::socket::{Arrival, try_subscribe};
use crate::write_states::draws;
use kinds::{Kind, Row, kinds};

const WRITERS: u64 = 4;
const DOCUMENTS: u64 = 12;
/// How long the last changes may take to reach everybody after the last crash.
const ARRIVED_WITHIN: Duration = Duration::from_mins(1);

/// What everybody shares: where the servers are now, and whether it is over.
#[derive(Default)]
struct Stage {
    urls: Mutex<Vec<String>>,
    cursors: OnceLock<Cursors>,
    written: AtomicBool,
    over: AtomicBool,
}

impl Stage {
    fn url(&self, draw: &mut impl FnMut(u64) -> u64) -> String {
        let urls = self.urls.lock().unwrap();
        urls[usize::try_from(draw(urls.len() as u64)).unwrap()].clone()
    }
}

/// The cursors of a database's log, which its servers alone can read.
pub async fn cursors(database: &Database) -> Cursors {
    Cursors::of(&database.texts("SELECT feed_id FROM change_feed").await[0])
}

pub fn sequence(cursors: &Cursors, cursor: &Value) -> i64 {
    cursors.decode(Counted::Changes, cursor.as_str().unwrap()).unwrap()
}

/// Follows from a cursor to the end, coming back with the last cursor received whenever it was cut off or has left by itself.
async fn follow(stage: Arc<Stage>, kind: Kind, start: Value, got: Arc<Mutex<Vec<i64>>>, seed: u64) {
    let mut draw = draws(seed);
    let mut after = start;
    while !stage.over.load(Ordering::SeqCst) {
        let mut variables = kind.variables.clone();
        variables["after"] = after.clone();
        let Ok(mut subscription) = try_subscribe(&stage.url(&mut draw), kind.query, variables).await else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        let stays = draw(400) + 1;
        let mut received = 0;
        while received < stays && !stage.over.load(Ordering::SeqCst) {
            match subscription.arrival_within(Duration::from_millis(500)).await {
                None => {}
                Some(Arrival::Next(mut payload)) if payload["errors"].is_null() => {
                    let data = payload["data"].as_object_mut().unwrap().values_mut().next().unwrap();
                    after = data["cursor"].take();
                    got.lock().unwrap().push(sequence(stage.cursors.get().unwrap(), &after));
                    received += 1;
                }
                Some(Arrival::Next(payload)) => {
                    // A nested read met the database as it was restarted: the answer is told as one with an error.
                    let cursor = payload["data"]
                        .as_object()
                        .and_then(|data| data.values().next())
                        .map(|data| data["cursor"].clone());
                    if let Some(cursor) = cursor.filter(Value::is_string) {
                        got.lock().unwrap().push(sequence(stage.cursors.get().unwrap(), &cursor));
                        after = cursor;
                    }
                    break;
                }
                Some(_) => break,
            }
        }
    }
}

/// Waits for due work as a worker does, coming back whenever it was cut off or has left by itself; keeps what it was told last.
async fn wait_for_work(stage: Arc<Stage>, filter: Value, told: Arc<Mutex<Value>>, seed: u64) {
    const WORK: &str = "subscription($filter: DueFilter) { workDue(filter: $filter) { operations watches } }";
    let mut draw = draws(seed);
    while !stage.over.load(Ordering::SeqCst) {
        let url = stage.url(&mut draw);
        let Ok(mut subscription) = try_subscribe(&url, WORK, json!({ "filter": filter })).await else {
            sleep(Duration::from_millis(20)).await;
            continue;
        };
        // Once all is written it stays: what it is told then has to be the truth in the end.
        let mut stays = draw(40) + 1;
        while stays > 0 && !stage.over.load(Ordering::SeqCst) {
            match subscription.arrival_within(Duration::from_millis(500)).await {
                None => {}
                Some(Arrival::Next(mut payload)) if payload["errors"].is_null() => {
                    *told.lock().unwrap() = payload["data"]["workDue"].take();
                    stays -= u64::from(!stage.written.load(Ordering::SeqCst));
                }
                Some(_) => break,
            }
        }
    }
}

/// Waits until each of those who wait for work has been told what is due.
async fn compare_work(url: &str, waiting: &[(Value, Arc<Mutex<Value>>)]) {
    let query = "query($filter: DueFilter) { dueOperations(filter: $filter, first: 0) { totalCount } dueWatches(filter: $filter, first: 0) { totalCount } }";
    let deadline = Instant::now() + ARRIVED_WITHIN;
    for (filter, told) in waiting {
        loop {
            // Asked anew each time: retries become due meanwhile.
            let answer = post(url, query, json!({ "filter": filter })).await;
            let count = |list: &str| answer["data"][list]["totalCount"].as_i64().unwrap().min(1_000);
            let due = json!({ "operations": count("dueOperations"), "watches": count("dueWatches") });
            if *told.lock().unwrap() == due {
                break;
            }
            assert!(Instant::now() < deadline, "{filter}: {due} is due, told was {}", told.lock().unwrap());
            sleep(Duration::from_millis(50)).await;
        }
    }
}

/// One worker: operations from claim to verification, through whichever server; what is refused or lost is left.
async fn write(stage: Arc<Stage>, place: u64, pause: Duration) {
    let mut draw = draws(place + 100);
    let act = async |url: &str, mutation: &str, input: Value, fields: &str| -> Option<Value> {
        let query =
            format!("mutation($input: {}!) {{ {mutation}(input: $input) {{ {fields} }} }}", input_type(mutation));
        let mut answer = try_post(url, &query, json!({ "input": input })).await.ok()?;
        Some(answer["data"][mutation].take()).filter(|payload| !payload.is_null())
    };
    let mut number = 0;
    while !stage.written.load(Ordering::SeqCst) {
        number += 1;
        sleep(pause).await;
        let url = stage.url(&mut draw);
        let (owner, document) = (draw(3), draw(DOCUMENTS));
        let connector = ["contacts", "calendar"][usize::try_from(draw(2)).unwrap()];
        let input = claim(
            &format!("k{number}"),
            &json!({
                "callerDid": format!("did:w{place}"), "ownerDid": format!("did:o{owner}"), "connectorName": connector,
                "documentId": format!("d{document}"), "sourceId": format!("s{document}"),
            }),
        );
        let Some(claimed) = act(&url, "claimOperation", input, "operation { id }").await else { continue };
        let id = claimed["operation"]["id"].clone();
        let mut version = 0;
        for _ in 0..draw(3) {
            let record = json!({ "id": id, "leaseToken": "L1", "version": version, "toState": "ATTEMPTED" });
            if act(&stage.url(&mut draw), "recordOperation", record, "outcome")
                .await
                .is_some_and(|told| told["outcome"] == "RECORDED")
            {
                version += 1;
            }
        }
        let url = stage.url(&mut draw);
        if draw(5) == 0 {
            let dead = json!({ "id": id, "leaseToken": "L1", "version": version, "toState": "DEAD" });
            act(&url, "recordOperation", dead, "outcome").await;
            continue;
        }
        let finalize = json!({ "id": id, "leaseToken": "L1", "version": version, "documentId": format!("d{document}"),
            "sourceId": format!("s{document}"), "winnerDigest": format!("w{}", draw(3)) });
        let Some(finalized) = act(&url, "finalizeOperation", finalize, "watch { id generation }").await else {
            continue;
        };
        let watch = &finalized["watch"];
        let verify = json!({ "id": watch["id"], "generation": watch["generation"], "fetchedDigest": format!("w{}", draw(3)), "maxAttempts": 3,
            "dueAt": rfc3339(Clock::Host.now_ms() + 1_000) });
        act(&stage.url(&mut draw), "recordVerification", verify, "outcome").await;
    }
}

#[expect(clippy::disallowed_methods, reason = "how long a run goes is handed in by the environment")]
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name)
        .map_or(otherwise, |text| text.parse().unwrap_or_else(|_| panic!("{name} is not a number: {text}")))
}

/// What a subscriber asked for, and what it got.
type Subscriber = (&'static str, Value, fn(&Row) -> bool, Arc<Mutex<Vec<i64>>>);

/// Waits until each has as many changes as concern it, and compares them with the table; how many each got.
async fn compare(subscribers: &[Subscriber], table: &[Row], through: i64) -> Vec<usize> {
    let mut counts = vec![];
    for (query, variables, gets, got) in subscribers {
        let expected: Vec<i64> = table
            .iter()
            .filter(|row| gets(row))
            .map(|row| row["sequence"].as_i64().unwrap())
            .filter(|at| *at > through)
            .collect();
        assert!(!expected.is_empty(), "nothing concerns {query} {variables}");
        let arrived = async {
            while got.lock().unwrap().len() < expected.len() {
                sleep(Duration::from_millis(20)).await;
            }
        };
        let arrived = timeout(ARRIVED_WITHIN, arrived).await;
        let got = got.lock().unwrap();
        let differs = got.iter().zip(&expected).position(|(got, expected)| got != expected);
        assert!(
            differs.is_none() && got.len() == expected.len(),
            "{variables} {query}: {} of {} changes, the first other one at {differs:?} ({:?}), {arrived:?}",
            got.len(),
            expected.len(),
            differs.map(|place| (got[place], expected[place])),
        );
        counts.push(expected.len());
    }
    counts
}

#[expect(clippy::print_stdout, reason = "the figures of a long run")]
async fn soak(engine: Engine) {
    let changes = setting("WRITEWATCH_SOAK_CHANGES", 2_000);
    let time = Duration::from_secs(setting("WRITEWATCH_SOAK_S", 20));
    let cluster = (engine == Engine::Postgres).then(Cluster::start);
    let database = match &cluster {
        Some(cluster) => Database::Postgres(cluster.fresh_database().await),
        None => Database::fresh(engine).await,
    };
    let count = if cluster.is_some() { 3 } else { 1 };
    let mut servers = vec![];
    for _ in 0..count {
        servers.push(Server::start(&database.url()).await);
    }
    let first = claim("first", &json!({ "documentId": "d-first", "leaseMs": 3_600_000 }));
    let query = "mutation($input: ClaimOperationInput!) { claimOperation(input: $input) { operation { id } } }";
    let mut first = post(servers[0].url(), query, json!({ "input": first })).await;
    let first_id = first["data"]["claimOperation"]["operation"]["id"].take();
    let mut log = post(servers[0].url(), "{ changes { nodes { cursor } } }", Value::Null).await;
    let start = log["data"]["changes"]["nodes"][0]["cursor"].take();

    let stage = Arc::new(Stage::default());
    stage.cursors.set(cursors(&database).await).unwrap();
    let show = |servers: &[Server], stage: &Stage| {
        *stage.urls.lock().unwrap() = servers.iter().map(|server| server.url().to_owned()).collect();
    };
    show(&servers, &stage);
    let mut subscribers: Vec<Subscriber> = vec![];
    for (place, kind) in kinds(&first_id).into_iter().enumerate() {
        let got = Arc::new(Mutex::new(vec![]));
        let seed = place as u64 + 1;
        subscribers.push((kind.query, kind.variables.clone(), kind.gets, Arc::clone(&got)));
        tokio::spawn(follow(Arc::clone(&stage), kind, start.clone(), got, seed));
    }
    assert!(subscribers.len() >= 20);
    let mut waiting = vec![];
    for filter in
        [json!({}), json!({ "connectorName": "calendar" }), json!({ "ownerDid": "did:o1", "includeLeased": true })]
    {
        let told = Arc::new(Mutex::new(Value::Null));
        waiting.push((filter.clone(), Arc::clone(&told)));
        tokio::spawn(wait_for_work(Arc::clone(&stage), filter, told, 1_000 + waiting.len() as u64));
    }
    let pause = time / u32::try_from(changes / 20).unwrap();
    let writers: Vec<_> = (0..WRITERS).map(|place| tokio::spawn(write(Arc::clone(&stage), place, pause))).collect();

    // Servers are killed in turn, the database crashes between, until there is enough of it.
    let began = Instant::now();
    let mut crashes = 0;
    let rounds = u32::try_from(time.as_secs() / 5).unwrap().max(3);
    loop {
        sleep(time / rounds).await;
        let place = crashes % servers.len();
        servers[place].kill9();
        servers[place].restart().await;
        show(&servers, &stage);
        if let Some(cluster) = &cluster
            && crashes % 4 == 1
        {
            tokio::task::block_in_place(|| cluster.restart());
        }
        crashes += 1;
        let written =
            database.texts("SELECT CAST(count(*) AS text) FROM change_event").await[0].parse::<u64>().unwrap();
        if began.elapsed() >= time && written >= changes {
            break;
        }
        assert!(began.elapsed() < 20 * time, "only {written} changes in {:?}", began.elapsed());
    }
    stage.written.store(true, Ordering::SeqCst);
    join_all(writers).await.into_iter().for_each(|writer| writer.unwrap());
    // A last change that concerns the one operation, and shows that it is followed to the end.
    let release = json!({ "id": first_id, "leaseToken": "L1" });
    let query = "mutation($input: ReleaseLeaseInput!) { releaseLease(input: $input) { outcome } }";
    let released = post(servers[0].url(), query, json!({ "input": release })).await;
    assert_eq!(released["data"]["releaseLease"]["outcome"], "RELEASED", "{released}");

    let columns =
        ["sequence", "entity", "transition", "to_state", "document_id", "owner_did", "caller_did", "connector_name"];
    let table = database.rows("change_event", &columns, "sequence").await;
    compare_work(servers[0].url(), &waiting).await;
    let through = sequence(stage.cursors.get().unwrap(), &start);
    let counts = compare(&subscribers, &table, through).await;
    // Nothing came after the last either, while the others were waited for.
    for ((query, variables, _, got), expected) in subscribers.iter().zip(&counts) {
        assert_eq!(got.lock().unwrap().len(), *expected, "{variables} {query}");
    }
    stage.over.store(true, Ordering::SeqCst);
    println!(
        "{}: {} changes, {crashes} kills in {:?}; each subscriber got {counts:?}",
        engine.name(),
        table.len(),
        began.elapsed()
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sqlite() {
    soak(Engine::Sqlite).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn postgres() {
    soak(Engine::Postgres).await;
}
