//! Case L01: two servers over one PostgreSQL database, their hosts' clocks minutes off and stepped by an hour meanwhile.
//! The database's clock alone decides what has expired and what is due. Real time passes here: it is what is tested.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::{Connection as _, PgConnection};
use tokio::time::{Instant, sleep};
use writewatch::domain::time::{parse, rfc3339};

use crate::harness::{claim, input_type};
use crate::support::client::post;
use crate::support::faketime::SteppedClock;
use crate::support::postgres::{Cluster, TestDatabase};
use crate::support::server::Server;

/// How far each clock is off, in s: the hosts', and the database's own, which is right by definition.
const AHEAD: i64 = 120;
const BEHIND: i64 = -120;
const DATABASE: i64 = 3_600;
/// How long the lease lasts, and until the watch is due.
const SPAN: Duration = Duration::from_secs(6);
/// The servers know the database's clock by asking over a network; and this machine is busy.
const LEEWAY: Duration = Duration::from_millis(500);
/// From an act's end to an answer that shows it, polls and a busy machine included.
const SOON: Duration = Duration::from_millis(1_500);
const POLL: Duration = Duration::from_millis(50);

/// The servers stop before their database, and it before its cluster.
struct Skewed {
    servers: [Server; 2],
    clocks: [SteppedClock; 2],
    database: TestDatabase,
    _cluster: Cluster,
    _database_clock: SteppedClock,
}

impl Skewed {
    async fn start() -> Self {
        let database_clock = SteppedClock::new(DATABASE);
        let cluster = Cluster::start_under(&database_clock);
        let database = cluster.fresh_database().await;
        let clocks = [SteppedClock::new(AHEAD), SteppedClock::new(BEHIND)];
        let servers = [
            Server::start_under(&clocks[0], &database.url()).await,
            Server::start_under(&clocks[1], &database.url()).await,
        ];
        Self { servers, clocks, database, _cluster: cluster, _database_clock: database_clock }
    }

    /// Both hosts' clocks are set by an administrator: to where a lease would never end, and to where it would at once.
    fn step_the_hosts(&self) {
        self.clocks[0].step_to(AHEAD - 3_600);
        self.clocks[1].step_to(BEHIND + 3_600);
    }

    async fn act(&self, server: usize, mutation: &str, input: &Value, fields: &str) -> Value {
        let kind = input_type(mutation);
        let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {fields} }} }}");
        let mut answer = post(self.servers[server].url(), &query, json!({ "input": input })).await;
        assert!(answer.get("errors").is_none(), "{mutation}: {answer}");
        answer["data"][mutation].take()
    }

    async fn outcome(&self, server: usize, mutation: &str, input: &Value) -> String {
        self.act(server, mutation, input, "outcome").await["outcome"].as_str().unwrap().to_owned()
    }

    /// Tries an act through both servers in turn until it takes effect, which has to be `SPAN` after `since`; meanwhile
    /// it is refused, and the hosts' clocks are stepped half-way.
    async fn takes_effect_in_time(&self, since: [Instant; 2], mutation: &str, input: &Value, words: [&str; 2]) {
        let [began, answered] = since;
        let [refused, done] = words;
        let mut refusals = [0; 2];
        let mut stepped = false;
        for server in [0, 1].into_iter().cycle() {
            if !stepped && answered.elapsed() > SPAN / 2 {
                assert!(refusals[0] > 0 && refusals[1] > 0, "not tried through both: {refusals:?}");
                (refusals, stepped) = ([0; 2], true);
                self.step_the_hosts();
            }
            let asked = Instant::now();
            let outcome = self.outcome(server, mutation, input).await;
            if outcome == done {
                let (shortest, longest) = (asked - answered, began.elapsed());
                assert!(longest + LEEWAY >= SPAN, "server {server}: {done} after {longest:?} already");
                assert!(shortest <= SPAN + SOON, "server {server}: {done} only after {shortest:?}");
                break;
            }
            assert_eq!(outcome, refused, "server {server}");
            assert!(asked - answered <= SPAN + SOON, "server {server}: {refused} still after {:?}", answered.elapsed());
            refusals[server] += 1;
            sleep(POLL).await;
        }
        assert!(refusals[0] > 0 && refusals[1] > 0, "not tried through both after the step: {refusals:?}");
    }

    async fn database_ms(&self) -> i64 {
        let mut connection = PgConnection::connect(&self.database.url()).await.unwrap();
        let sql = "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
        sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
    }

    /// A row that each server writes is dated by the database.
    async fn rows_are_dated_by_the_database(&self) {
        for server in 0..self.servers.len() {
            let before = self.database_ms().await;
            let input = claim(&format!("by-{server}"), &json!({}));
            let row = self.act(server, "claimOperation", &input, "operation { createdAt updatedAt }").await;
            let after = self.database_ms().await;
            let [from, to] = [before - 1_000, after + 1_000];
            for member in ["createdAt", "updatedAt"] {
                let at = ms(&row["operation"][member]);
                assert!((from..=to).contains(&at), "{member} by server {server}: {at} is not in {from}..={to}");
            }
        }
    }
}

fn ms(at: &Value) -> i64 {
    parse("at", at.as_str().unwrap_or_else(|| panic!("no time: {at}"))).unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_lease_lasts_as_long_as_it_was_asked_for() {
    let skewed = Skewed::start().await;
    let began = Instant::now();
    let input = claim("k", &json!({ "leaseToken": "W1", "leaseMs": SPAN.as_millis() }));
    let id = skewed.act(0, "claimOperation", &input, "operation { id }").await["operation"]["id"].take();
    let since = [began, Instant::now()];
    let acquire = json!({ "id": id, "leaseToken": "W2", "leaseMs": 3_600_000 });
    skewed.takes_effect_in_time(since, "acquireLease", &acquire, ["HELD", "ACQUIRED"]).await;

    for server in [0, 1] {
        let old = json!({ "id": id, "leaseToken": "W1", "leaseMs": 3_600_000 });
        assert_eq!(skewed.outcome(server, "renewLease", &old).await, "LEASE_NOT_HELD", "server {server}");
        let old = json!({ "id": id, "leaseToken": "W1", "version": 0, "toState": "DEAD" });
        assert_eq!(skewed.outcome(server, "recordOperation", &old).await, "LEASE_NOT_HELD", "server {server}");
    }
    skewed.rows_are_dated_by_the_database().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_watch_is_due_when_it_was_said_to_be() {
    let skewed = Skewed::start().await;
    let claimed = skewed.act(0, "claimOperation", &claim("k", &json!({})), "operation { id }").await;
    let finalize = json!({
        "id": claimed["operation"]["id"], "leaseToken": "L1", "version": 0, "documentId": "d1", "sourceId": "s1",
        "winnerDigest": "w1",
    });
    let id = skewed.act(0, "finalizeOperation", &finalize, "watch { id }").await["watch"]["id"].take();
    let attempt = json!({ "id": id, "generation": 0, "claimMs": 3_600_000 });
    let began = Instant::now();
    let taken = skewed.act(1, "claimWatchAttempt", &attempt, "outcome watch { updatedAt }").await;
    assert_eq!(taken["outcome"], "CLAIMED");
    let since = [began, Instant::now()];
    // That answer is the database's time, as a worker on any host may know it.
    let due = ms(&taken["watch"]["updatedAt"]) + i64::try_from(SPAN.as_millis()).unwrap();
    let mismatch = json!({ "id": id, "generation": 0, "fetchedDigest": "w0", "maxAttempts": 5, "dueAt": rfc3339(due) });
    assert_eq!(skewed.outcome(1, "recordVerification", &mismatch).await, "PENDING");
    skewed.takes_effect_in_time(since, "claimWatchAttempt", &attempt, ["NOT_DUE", "CLAIMED"]).await;
}
