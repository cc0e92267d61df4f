//! What the write path is worth: acts a second through it, beside the same UPDATE in a transaction of its own each, on the
//! same machine in the same run. Read the ratios; the figures move with the machine.
//!
//! `SQLite` always; PostgreSQL too where `WRITEWATCH_TEST_POSTGRES` names a cluster (`scripts/with-postgres.sh make bench`).
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark that fails ends there, and prints what it finds"
)]
#![expect(clippy::disallowed_methods, reason = "a benchmark reads the clock and its one setting")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Connection as _, Executor as _, PgConnection, SqliteConnection};
use writewatch::domain::envelope::Envelope;
use writewatch::domain::viewer::Viewer;
use writewatch::domain::words::OperationOp;
use writewatch::store::acts::{Claim, RenewLease};
use writewatch::store::{DatabaseUrl, Store};

const ROUND: Duration = Duration::from_secs(3);
const CLIENTS: [usize; 2] = [1, 64];

#[tokio::main]
async fn main() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("bench.db");
    let mut urls = vec![format!("sqlite://{}", file.display())];
    if let Ok(cluster) = std::env::var("WRITEWATCH_TEST_POSTGRES") {
        let mut connection = PgConnection::connect(&cluster).await.unwrap();
        connection.execute("DROP DATABASE IF EXISTS writewatch_bench").await.unwrap();
        connection.execute("CREATE DATABASE writewatch_bench").await.unwrap();
        urls.push(format!("{}/writewatch_bench", cluster.rsplit_once('/').unwrap().0));
    }
    println!("{:<10} {:<34} {:>10}", "engine", "what", "a second");
    for url in urls {
        measure(&url).await;
    }
}

async fn measure(url: &str) {
    let address: DatabaseUrl = url.parse().unwrap();
    let store = Store::open(&address, None).await.unwrap();
    let engine = store.engine().name();
    let keys = claim_some(&store).await;
    let plain = plain_updates(url).await;
    println!("{engine:<10} {:<34} {plain:>10.0}", "an UPDATE in its own transaction");
    for clients in CLIENTS {
        let rate = renewals(&store, &keys, clients).await;
        println!("{engine:<10} {:<34} {rate:>10.0}   {:.2} ×", format!("renewals by {clients} clients"), rate / plain);
    }
}

/// One operation a client, held under its own token.
async fn claim_some(store: &Store) -> Vec<String> {
    let viewer = Arc::new(Viewer::open());
    let mut keys = vec![];
    for place in 0..CLIENTS[1] {
        let envelope = Envelope {
            owner_did: "did:o".into(),
            connector_name: "c".into(),
            model: "m".into(),
            op: OperationOp::Update,
            account_key: "a".into(),
            target: "t".into(),
            source_id: None,
            deterministic_event_id: "e".into(),
            payload_hash: "h".into(),
        };
        let claim = Claim {
            caller_did: "did:c".into(),
            operation_id: format!("k{place}"),
            envelope,
            reissue_intent: "null".into(),
            provider_etag: None,
            document_id: None,
            lease_token: "L".into(),
            lease_ms: 60_000,
        };
        keys.push(store.perform(&viewer, claim).await.unwrap().operation.unwrap().node_key);
    }
    keys
}

async fn renewals(store: &Store, keys: &[String], clients: usize) -> f64 {
    let done = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = keys[..clients]
        .iter()
        .cloned()
        .map(|node_key| {
            let (store, done) = (store.clone(), Arc::clone(&done));
            tokio::spawn(async move {
                let viewer = Arc::new(Viewer::open());
                while began.elapsed() < ROUND {
                    let renew = RenewLease { node_key: node_key.clone(), lease_token: "L".into(), lease_ms: 60_000 };
                    store.perform(&viewer, renew).await.unwrap();
                    done.fetch_add(1, Ordering::Relaxed);
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    rate(done.load(Ordering::Relaxed), began)
}

/// The same row, written over a connection of the driver's own, one transaction after the other.
async fn plain_updates(url: &str) -> f64 {
    let sql = "UPDATE kubun_connector_operation SET lease_expires_at = lease_expires_at + 1 WHERE operation_id = 'k0'";
    let mut done = 0;
    let began = Instant::now();
    if url.starts_with("sqlite") {
        let mut connection = SqliteConnection::connect(url).await.unwrap();
        connection.execute("PRAGMA synchronous = FULL").await.unwrap();
        while began.elapsed() < ROUND {
            sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
            done += 1;
        }
    } else {
        let mut connection = PgConnection::connect(url).await.unwrap();
        while began.elapsed() < ROUND {
            sqlx::query(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
            done += 1;
        }
    }
    rate(done, began)
}

fn rate(done: u64, began: Instant) -> f64 {
    let done = u32::try_from(done).unwrap_or(u32::MAX);
    f64::from(done) / began.elapsed().as_secs_f64()
}
