//! The store: SQL and the transitions' acts, one file a noun, over both databases.
//!
//! Reads take a `Viewer` and a pooled connection. Writes are acts that pass the one write path (`writer`), whose
//! transaction gathers the changes. Nothing outside this folder sees a connection.

mod changes;
mod counts;
mod digests;
mod documents;
mod due;
mod engine;
mod error;
mod grants;
mod list;
mod locks;
mod narrowest;
mod observations;
mod operation_lists;
mod operations;
mod outcomes;
mod parts;
mod pending_auth;
mod pools;
mod retention;
mod row;
mod rows;
mod search;
mod seers;
mod select;
mod statistics;
mod stuck;
mod sweep_lists;
mod sweeps;
mod sync;
mod tx;
mod upkeep;
mod watches;
mod winners;
mod write_states;
mod writer;

pub mod acts;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

pub use changes::{ChangesOf, FeedInfo, Head};

pub use due::WorkDue;
pub use engine::{Engine, Sql, Statement};
pub use error::{Error, Result};
pub use list::{COUNTED_MOST, KeyPart, Keyed, Keyset, Page, Slice};
pub use locks::{Lock, Locks};
pub use operation_lists::{DUE as DUE_OPERATIONS, DueFilter, OperationFilter, OperationOrder};
pub use operations::OperationJson;
pub use outcomes::{Outcome, OverTime};
pub use pools::{DatabaseUrl, Wakeups};
pub use search::Found;
pub use statistics::{Attention, Counted, Due, StatisticsFilter, Totals};
pub use stuck::StuckReason;
pub use sweep_lists::{CANDIDATE_ORDER, CandidateFilter, RECEIPT_ORDER, ReceiptFilter};
pub use tx::Tx;
pub use upkeep::UpkeepTask;
pub use watches::{DUE as DUE_WATCHES, WatchFilter};
pub use write_states::{BY_DOCUMENT, DocumentFilter};
pub use writer::{Act, BATCH_ACTS, Named, QUEUED_ACTS, Told};

use crate::clock::{Clock, Reading, Stopwatch};
use crate::domain::viewer::Viewer;
use crate::metrics::{Connections, Metrics};
use engine::{Connection, args, statements};
use pools::Pools;
use writer::{Job, Pending, Writer};

/// Readings of the database's clock, of which the quickest counts.
const CLOCK_READINGS: usize = 3;

/// Statistics that are read at once, of whomever.
const STATISTICS_AT_ONCE: usize = 2;

/// How often a read has rows of the package adopted before it takes an unknown node id for unknown.
const ADOPTIONS_A_READ: u32 = 4;

/// How often a stream reads again while the database is not reached, and how long it waits in between.
const PATIENCE: (u32, Duration) = (50, Duration::from_millis(200));

/// Reads, and reads again for some seconds while the database is not reached: what goes on for long, as a stream does, is
/// not to end with a connection.
///
/// # Errors
/// What the last read answered.
pub async fn patiently<T, Reading: Future<Output = Result<T>>>(mut read: impl FnMut() -> Reading) -> Result<T> {
    for _ in 0..PATIENCE.0 {
        match read().await {
            Err(error) if error.is_lost() => tracing::warn!(%error, "a stream waits for the database"),
            result => return result,
        }
        tokio::time::sleep(PATIENCE.1).await;
    }
    read().await
}

/// A database with its write path. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Store {
    shared: Arc<Shared>,
    queue: mpsc::Sender<Box<dyn Job>>,
    commits: watch::Receiver<u64>,
    stop: CancellationToken,
}

#[derive(Debug)]
pub(crate) struct Shared {
    pools: Pools,
    clock: Clock,
    tombstone_ms: AtomicI64,
    /// Statistics that are read at once: other readers find a free connection beside them.
    statistics: Semaphore,
    statements: Arc<AtomicU64>,
    metrics: Metrics,
}

statements! {
    /// Differs because only PostgreSQL's clock is asked.
    DATABASE_TIME for Postgres: "", "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint";
    REACHED: "", "SELECT count(*) FROM change_feed";
}

impl Store {
    /// Opens a database and brings its schema up to date. `clock` stands in for the real one in tests.
    ///
    /// # Errors
    /// When the database is not reached, or its schema is newer than ours or was changed.
    pub async fn open(url: &DatabaseUrl, clock: Option<Clock>) -> Result<Self> {
        let pools = Pools::open(url).await?;
        let clock = clock.unwrap_or_else(|| match pools.engine() {
            Engine::Sqlite => Clock::Host,
            Engine::Postgres => Clock::database(),
        });
        let tombstone_ms = AtomicI64::new(retention::TOMBSTONE_MS);
        let statistics = Semaphore::new(STATISTICS_AT_ONCE);
        let metrics = Metrics::new(Clock::Host.now_ms(), pools.engine().name());
        let statements = Arc::default();
        let shared = Arc::new(Shared { pools, clock, tombstone_ms, statistics, statements, metrics });
        let (queue, waiting) = mpsc::channel(QUEUED_ACTS);
        let (commits, seen) = watch::channel(0);
        let stop = CancellationToken::new();
        let writer =
            Writer { shared: Arc::clone(&shared), queue: waiting, commits, connection: None, stop: stop.clone() };
        tokio::spawn(writer.run());
        let store = Self { shared, queue, commits: seen, stop };
        store.refresh_clock().await?;
        Ok(store)
    }

    /// Which database it is.
    #[must_use]
    pub fn engine(&self) -> Engine {
        self.shared.pools.engine()
    }

    /// How long what is collected from now on is remembered, in ms; a year when it is not said.
    pub fn keep_tombstones(&self, ms: i64) {
        self.shared.tombstone_ms.store(ms, Ordering::Relaxed);
    }

    /// The store's time, in ms since the epoch.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.shared.clock.now_ms()
    }

    /// How many statements were run since the start.
    #[must_use]
    pub fn statements_run(&self) -> u64 {
        self.shared.statements.load(Ordering::Relaxed)
    }

    /// Sets the clock by the database's, where that one decides.
    ///
    /// # Errors
    /// When the database is not reached; the clock then runs on by the last reading.
    pub async fn refresh_clock(&self) -> Result<()> {
        let Clock::Database(offset) = &self.shared.clock else { return Ok(()) };
        let mut connection = self.read().await?;
        let mut readings = vec![];
        for _ in 0..CLOCK_READINGS {
            let before = offset.moment();
            if let Some((database_ms,)) = connection.first::<(i64,)>(&DATABASE_TIME, args![]).await? {
                readings.push(Reading { before, database_ms, after: offset.moment() });
            }
        }
        offset.set(readings);
        Ok(())
    }

    /// Whether the database answers and has our tables.
    ///
    /// # Errors
    /// When it does not.
    pub async fn reached(&self) -> Result<()> {
        self.read().await?.first::<(i64,)>(&REACHED, args![]).await.map(|_| ())
    }

    /// Performs an act: it waits its turn, shares a commit with others, and answers after it.
    ///
    /// # Errors
    /// `BadInput`, `Busy`, `Contention`, or what went wrong in the database; nothing is written then.
    pub async fn perform<A: Act>(&self, viewer: &Arc<Viewer>, act: A) -> Result<A::Answer> {
        let (reply, answer) = oneshot::channel();
        let job: Box<dyn Job> =
            Box::new(Pending { act, viewer: Arc::clone(viewer), waited: Stopwatch::start(), answer: None, reply });
        let queued = self.queue.try_send(job).map_err(|error| match error {
            mpsc::error::TrySendError::Full(job) => (job, Error::Busy),
            mpsc::error::TrySendError::Closed(job) => (job, Error::Stopping),
        });
        if let Err((job, error)) = queued {
            job.finish(Some(error), self.metrics());
        }
        answer.await.map_err(|_| Error::Stopping)?
    }

    /// Where this server counts.
    #[must_use]
    pub fn metrics(&self) -> &Metrics {
        &self.shared.metrics
    }

    /// The connections to the database, pool by pool.
    #[must_use]
    pub fn connections(&self) -> Vec<Connections> {
        self.shared.pools.connections()
    }

    /// How many acts wait.
    #[must_use]
    pub fn queue_depth(&self) -> usize {
        self.queue.max_capacity() - self.queue.capacity()
    }

    /// Tells of every commit of this process.
    #[must_use]
    pub fn commits(&self) -> watch::Receiver<u64> {
        self.commits.clone()
    }

    /// A connection that hears other servers' wake-ups; `None` where there are none.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn wakeups(&self) -> Result<Option<Wakeups>> {
        self.shared.pools.wakeups().await
    }

    /// Does what waits, refuses what comes later, and closes every connection once what runs is done.
    pub async fn close(&self) {
        self.stop.cancel();
        self.shared.pools.close().await;
    }

    /// The rows with these node keys, in no order, as far as their owner is the viewer's to see.
    async fn by_node_key<T: row::FromRow>(
        &self,
        digested: &'static digests::Digested,
        columns: &str,
        viewer: &Viewer,
        node_keys: &[String],
    ) -> Result<Vec<T>> {
        for tries_left in (0..=ADOPTIONS_A_READ).rev() {
            let mut select = select::Select::new(columns, digested.table);
            select.among("node_key", Some(node_keys));
            select.equals("owner_did", viewer.confined_to());
            let mut connection = self.read().await?;
            let found = select.all(&mut connection, 1).await?;
            let all = found.len() == node_keys.len();
            if all || tries_left == 0 || !digested.has_unadopted(&mut connection).await? {
                return Ok(found);
            }
            drop(connection);
            self.perform(&Arc::new(Viewer::open()), acts::Adopt(digested)).await?;
        }
        Ok(vec![])
    }

    async fn read(&self) -> Result<Connection> {
        self.shared.pools.reader(&self.shared.statements).await
    }

    /// Gives the package's rows their node keys, some at a time.
    ///
    /// # Errors
    /// As `perform`.
    pub async fn adopt_all(&self) -> Result<()> {
        for digested in [&watches::DIGESTED, &sweeps::RECEIPT_KEYS, &sweeps::CANDIDATE_KEYS, &sync::DIGESTED] {
            while digested.has_unadopted(&mut self.read().await?).await? {
                self.perform(&Arc::new(Viewer::open()), acts::Adopt(digested)).await?;
            }
        }
        Ok(())
    }

    /// Prepares one text, without running it.
    ///
    /// # Errors
    /// When the database finds a fault in it.
    pub async fn prepare(&self, text: &str) -> Result<()> {
        self.read().await?.prepare(text).await
    }

    /// Every fixed statement by its file and name, with its text for this engine.
    #[must_use]
    pub fn statements(&self) -> Vec<(String, &'static str)> {
        let shared = [
            ("store", STATEMENTS),
            ("changes", changes::STATEMENTS),
            ("operations", operations::STATEMENTS),
            ("watches", watches::STATEMENTS),
            ("winners", winners::STATEMENTS),
            ("seers", seers::STATEMENTS),
            ("sweeps", sweeps::STATEMENTS),
            ("counts", counts::STATEMENTS),
            ("write_states", write_states::STATEMENTS),
            ("upkeep", upkeep::STATEMENTS),
            ("retention", retention::STATEMENTS),
            ("documents", documents::STATEMENTS),
            ("observations", observations::STATEMENTS),
            ("sync", sync::STATEMENTS),
            ("pending_auth", pending_auth::STATEMENTS),
            ("grants", grants::STATEMENTS),
            ("locks", locks::STATEMENTS),
        ];
        let engine = self.engine();
        shared
            .iter()
            .flat_map(|(file, list)| {
                let ours = list.iter().filter(move |(_, statement)| statement.is_for(engine));
                ours.map(move |(name, statement)| (format!("{file}::{name}"), statement.text(engine)))
            })
            .collect()
    }
}
