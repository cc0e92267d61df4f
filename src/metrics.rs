//! What the person on call counts by: numbers of this server since its start, and of the database as it was looked at last.
//!
//! A metric's labels are words of ours alone, never a DID, a document or a connector: how many series there are does not
//! grow with the books. Counting takes no lock that anything waits under. Knows no table and no request.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::prometheus_text;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::Registry;

/// Labels: names and words of ours.
type Labels<const N: usize> = [(&'static str, &'static str); N];
type Seconds = Gauge<f64, AtomicU64>;
type Histograms = Family<Labels<1>, Histogram, fn() -> Histogram>;

/// The metrics of one server. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Metrics(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    registry: Registry,
    transitions: Family<Labels<2>, Counter>,
    transition_seconds: Histograms,
    batch_acts: Histogram,
    requests: Family<Labels<2>, Counter>,
    sockets: Gauge,
    subscriptions: Gauge,
    upkeep_rounds: Counter,
    upkeep_rows: Family<Labels<1>, Counter>,
    upkeep_failures: Family<Labels<1>, Counter>,
    queue: Gauge,
    queue_limit: Gauge,
    connections: Family<Labels<2>, Gauge>,
    connections_limit: Family<Labels<1>, Gauge>,
    feed_position: Gauge,
    feed_lag: Seconds,
    due: Family<Labels<1>, Gauge>,
    oldest_due: Seconds,
    attention: Family<Labels<1>, Gauge>,
    looked_at: Seconds,
    access_file_wrong: Gauge,
}

/// What can be told at any moment without asking the database.
#[derive(Debug, Clone, Copy)]
pub struct Now {
    /// Acts that wait to be written, and how many may.
    pub queue: [usize; 2],
    /// The number of the last change that was handed on.
    pub feed_position: i64,
}

/// Connections of one pool to the database.
#[derive(Debug, Clone, Copy)]
pub struct Connections {
    /// Which pool.
    pub pool: &'static str,
    /// In use.
    pub used: i64,
    /// Open and free.
    pub idle: i64,
    /// At most.
    pub limit: i64,
}

/// What was found by a look into the database.
#[derive(Debug, Clone)]
pub struct Look {
    /// When, in ms since the epoch.
    pub at_ms: i64,
    /// How long the oldest change waits that was not handed on.
    pub feed_lag_ms: i64,
    /// What is due, by kind.
    pub due: [(&'static str, i64); 2],
    /// How long the oldest of it has been.
    pub oldest_due_ms: i64,
    /// What needs a person's eye, by reason.
    pub attention: [(&'static str, i64); 9],
}

/// Counted as open for as long as it is held.
#[derive(Debug)]
pub struct Open(Gauge);

impl Open {
    fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        self.0.dec();
    }
}

/// A request that is under way: counted when it is dropped, by how it ended.
#[derive(Debug)]
pub struct Asked {
    metrics: Metrics,
    kind: &'static str,
    /// How it ended; given up as long as nothing else is said.
    pub result: &'static str,
}

impl Drop for Asked {
    fn drop(&mut self) {
        self.metrics.0.requests.get_or_create(&[("type", self.kind), ("result", self.result)]).inc();
    }
}

#[expect(clippy::cast_precision_loss, reason = "a time in ms is far below 2^52")]
fn seconds(ms: i64) -> f64 {
    ms as f64 / 1_000.0
}

/// From half a millisecond to sixteen seconds.
fn latencies() -> Histogram {
    Histogram::new(exponential_buckets(0.000_5, 2.0, 16))
}

/// Registers metrics by their names, and gives them back.
struct Registering(Registry);

impl Registering {
    fn put<M: prometheus_client::registry::Metric + Clone>(&mut self, name: &str, help: &str, metric: M) -> M {
        self.0.register(name, help, metric.clone());
        metric
    }
}

impl Metrics {
    /// The metrics of a server that starts now, over this kind of database.
    #[must_use]
    pub fn new(started_at_ms: i64, engine: &'static str) -> Self {
        let mut process = Registering(Registry::default());
        process
            .put("process_start_time_seconds", "When this server started, since the epoch", Seconds::default())
            .set(seconds(started_at_ms));
        let mut ours = Registering(std::mem::take(process.0.sub_registry_with_prefix("writewatch")));
        let build: Family<Labels<2>, Gauge> = Family::default();
        build.get_or_create(&[("version", env!("CARGO_PKG_VERSION")), ("engine", engine)]).set(1);
        ours.put("build_info", "This server's version and its kind of database", build);
        let mut inner = Inner::registered(&mut ours);
        *process.0.sub_registry_with_prefix("writewatch") = ours.0;
        inner.registry = process.0;
        Self(Arc::new(inner))
    }

    /// An act was answered after its commit, or refused, so many seconds after it was asked for.
    pub fn acted(&self, act: &'static str, waited: f64, tell: impl FnOnce(&mut dyn FnMut(&'static str))) {
        tell(&mut |outcome| {
            self.0.transitions.get_or_create(&[("act", act), ("outcome", outcome)]).inc();
        });
        self.0.transition_seconds.get_or_create(&[("act", act)]).observe(waited);
    }

    /// So many acts share a commit.
    pub fn batch(&self, acts: usize) {
        self.0.batch_acts.observe(f64::from(u32::try_from(acts).unwrap_or(u32::MAX)));
    }

    /// A GraphQL request is under way.
    #[must_use]
    pub fn asked(&self, kind: &'static str) -> Asked {
        Asked { metrics: self.clone(), kind, result: "given_up" }
    }

    /// A subscription runs.
    #[must_use]
    pub fn subscription(&self) -> Open {
        Open::new(&self.0.subscriptions)
    }

    /// A WebSocket is open.
    #[must_use]
    pub fn socket(&self) -> Open {
        Open::new(&self.0.sockets)
    }

    /// Whether the access file, as it is now, cannot be read or has an entry that names nobody.
    pub fn access_file_is_wrong(&self, wrong: bool) {
        self.0.access_file_wrong.set(wrong.into());
    }

    /// A round of upkeep is over.
    pub fn upkeep_round(&self) {
        self.0.upkeep_rounds.inc();
    }

    /// Upkeep removed so many rows.
    pub fn upkeep_removed(&self, task: &'static str, rows: usize) {
        self.0.upkeep_rows.get_or_create(&[("task", task)]).inc_by(rows as u64);
    }

    /// A task of upkeep failed.
    pub fn upkeep_failed(&self, task: &'static str) {
        self.0.upkeep_failures.get_or_create(&[("task", task)]).inc();
    }

    /// Keeps what a look into the database found, until the next.
    pub fn looked(&self, look: &Look) {
        let inner = &self.0;
        inner.looked_at.set(seconds(look.at_ms));
        inner.feed_lag.set(seconds(look.feed_lag_ms));
        inner.oldest_due.set(seconds(look.oldest_due_ms));
        for (kind, count) in look.due {
            inner.due.get_or_create(&[("kind", kind)]).set(count);
        }
        for (reason, count) in look.attention {
            inner.attention.get_or_create(&[("reason", reason)]).set(count);
        }
    }

    /// Everything, in Prometheus' text format.
    #[must_use]
    pub fn text(&self, now: Now, connections: &[Connections]) -> String {
        let inner = &self.0;
        for (gauge, value) in [&inner.queue, &inner.queue_limit].into_iter().zip(now.queue) {
            gauge.set(i64::try_from(value).unwrap_or(i64::MAX));
        }
        inner.feed_position.set(now.feed_position);
        for of in connections {
            for (state, count) in [("used", of.used), ("idle", of.idle)] {
                inner.connections.get_or_create(&[("pool", of.pool), ("state", state)]).set(count);
            }
            inner.connections_limit.get_or_create(&[("pool", of.pool)]).set(of.limit);
        }
        let mut text = String::new();
        if prometheus_text::encode(&mut text, &inner.registry).is_err() {
            text.clear();
            let _ = writeln!(text, "# the metrics cannot be written");
        }
        text
    }
}

impl Inner {
    fn registered(ours: &mut Registering) -> Self {
        Self {
            transitions: ours.put("transitions", "Acts by what came of them", Family::default()),
            transition_seconds: ours.put(
                "transition_seconds",
                "From asking for an act to its answer, which comes after the commit",
                Histograms::new_with_constructor(latencies),
            ),
            batch_acts: ours.put(
                "write_batch_acts",
                "Acts that shared a transaction",
                Histogram::new(exponential_buckets(1.0, 2.0, 8)),
            ),
            requests: ours.put("graphql_requests", "GraphQL requests by type and result", Family::default()),
            sockets: ours.put("sockets", "Open WebSockets", Gauge::default()),
            subscriptions: ours.put("subscriptions", "Running subscriptions", Gauge::default()),
            upkeep_rounds: ours.put("upkeep_rounds", "Rounds of upkeep by this server", Counter::default()),
            upkeep_rows: ours.put("upkeep_removed_rows", "Rows that upkeep removed, by task", Family::default()),
            upkeep_failures: ours.put("upkeep_failures", "Tasks of upkeep that failed in a round", Family::default()),
            queue: ours.put("write_queue_acts", "Acts that wait to be written", Gauge::default()),
            queue_limit: ours.put("write_queue_limit_acts", "Acts that may wait", Gauge::default()),
            connections: ours.put("database_connections", "Connections by pool and state", Family::default()),
            connections_limit: ours.put("database_connections_limit", "Connections at most", Family::default()),
            feed_position: ours.put("feed_position", "The last change that was handed on", Gauge::default()),
            feed_lag: ours.put(
                "feed_lag_seconds",
                "How long the oldest change waits that was not handed on, when it was looked at last",
                Seconds::default(),
            ),
            due: ours.put(
                "due",
                "Operations and watches that are due and nobody works on, each counted to 10,000",
                Family::default(),
            ),
            oldest_due: ours.put("oldest_due_seconds", "How long the oldest of them has been due", Seconds::default()),
            attention: ours.put(
                "attention",
                "What needs a person's eye, by the reasons of AttentionReason",
                Family::default(),
            ),
            looked_at: ours.put(
                "looked_at_timestamp_seconds",
                "When the database was looked at last for feed lag, due work and attention",
                Seconds::default(),
            ),
            access_file_wrong: ours.put(
                "access_file_wrong",
                "1 while the access file cannot be read or has an entry that names nobody",
                Gauge::default(),
            ),
            registry: Registry::default(),
        }
    }
}
