//! The one write path. A task owns the writing connection and lets the acts that wait share one transaction.
//!
//! ```text
//!   acts ─▶ bounded queue ─▶ drain what waits, ≤ 128, no timer ─▶ BEGIN ─ locks ─ acts ─ changes ─ COMMIT ─▶ answers
//!                                                                   │ a database error
//!                                                                   └─▶ that batch again, one act at a time
//! ```
//!
//! Each act of a batch is accepted or refused for itself. An act that is refused has written nothing, so that the
//! others' commit carries nothing of it. No answer leaves before the commit.

use std::future::Future;
use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::engine::Connection;
use super::error::{Error, Result};
use super::locks::Locks;
use super::tx::Tx;
use super::{Shared, locks};
use crate::clock::Stopwatch;
use crate::domain::viewer::Viewer;
use crate::metrics::Metrics;

/// Acts that share one commit.
pub const BATCH_ACTS: usize = 128;
/// Acts that may wait; beyond, callers hear that the server is busy.
pub const QUEUED_ACTS: usize = 1_024;
/// How often an act that met others runs again before it is given up as contended.
const TRIES: usize = 5;

/// One transition, as a value: it may have to run more than once, and only the run that commits counts.
pub trait Act: Named + Send + Sync + 'static {
    /// What the caller hears after the commit, refusals among it.
    type Answer: Told + Send + Sync + 'static;

    /// The locks that this act needs on PostgreSQL, from its input and from facts that it reads unlocked. All locks of
    /// a batch are taken in one order before any act runs; an act that then finds that the facts moved says `Moved`.
    fn locks(&self, tx: &mut Tx) -> impl Future<Output = Result<Locks>> + Send;

    /// How much of a batch it takes, in single acts.
    fn weight(&self) -> usize {
        1
    }

    /// Reads, decides and writes. An expected refusal is an answer; it must leave the database as it was.
    fn run(&self, tx: &mut Tx) -> impl Future<Output = Result<Self::Answer>> + Send;
}

/// What an act is called where acts are counted.
pub trait Named {
    /// Its name.
    fn name(&self) -> &'static str;
}

/// What an answer is counted as.
pub trait Told {
    /// Counts each outcome that it tells.
    fn tell(&self, count: &mut dyn FnMut(&'static str));
}

/// An act in the queue, whatever it answers.
pub(super) trait Job: Send + Sync {
    fn weight(&self) -> usize;
    fn locks<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<Locks>>;
    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>>;
    fn finish(self: Box<Self>, failure: Option<Error>, metrics: &Metrics);
}

pub(super) struct Pending<A: Act> {
    pub(super) act: A,
    pub(super) viewer: Arc<Viewer>,
    pub(super) waited: Stopwatch,
    pub(super) answer: Option<Result<A::Answer>>,
    pub(super) reply: oneshot::Sender<Result<A::Answer>>,
}

impl<A: Act> Job for Pending<A> {
    fn weight(&self) -> usize {
        self.act.weight()
    }

    fn locks<'a>(&'a self, tx: &'a mut Tx) -> BoxFuture<'a, Result<Locks>> {
        tx.start_act(&self.viewer);
        Box::pin(self.act.locks(tx))
    }

    fn run<'a>(&'a mut self, tx: &'a mut Tx) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            tx.start_act(&self.viewer);
            match self.act.run(tx).await {
                Ok(answer) => self.answer = Some(Ok(answer)),
                // Refused before it wrote: the others' commit need not know.
                Err(error @ (Error::BadInput(_) | Error::Forbidden(_))) if !tx.act_wrote() => {
                    self.answer = Some(Err(error));
                }
                Err(error) => return Err(error),
            }
            Ok(())
        })
    }

    fn finish(self: Box<Self>, failure: Option<Error>, metrics: &Metrics) {
        let answer = match failure {
            Some(error) => Err(error),
            None => self.answer.unwrap_or(Err(Error::Stopping)),
        };
        metrics.acted(self.act.name(), self.waited.seconds(), |count| match &answer {
            Ok(answer) => answer.tell(count),
            Err(error) => count(error.word()),
        });
        // A caller that went away needs no answer; what it asked for is done all the same.
        let _ = self.reply.send(answer);
    }
}

pub(super) struct Writer {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: mpsc::Receiver<Box<dyn Job>>,
    pub(super) commits: watch::Sender<u64>,
    pub(super) connection: Option<Connection>,
    pub(super) stop: CancellationToken,
}

/// How a transaction ended that did not commit.
enum Failed {
    /// The database would not even begin: nothing ran.
    Begin(Error),
    /// Everything was rolled back.
    RolledBack(Error),
    /// The connection was lost while it committed, and the database could not be asked since.
    Unknown,
}

impl Writer {
    pub(super) async fn run(mut self) {
        let mut batch = Vec::with_capacity(BATCH_ACTS);
        let stop = self.stop.clone();
        loop {
            tokio::select! {
                biased;
                count = self.queue.recv_many(&mut batch, BATCH_ACTS) => {
                    if count == 0 {
                        return;
                    }
                    for batch in weighed(std::mem::take(&mut batch)) {
                        self.settle(batch).await;
                    }
                }
                // What waits is still done; what comes later is refused.
                () = stop.cancelled(), if !self.queue.is_closed() => self.queue.close(),
            }
        }
    }

    async fn settle(&mut self, mut batch: Vec<Box<dyn Job>>) {
        if batch.len() > 1 {
            match self.transaction(&mut batch).await {
                Err(Failed::RolledBack(error)) => {
                    // What a caller may not do is its own affair; told alone, that is no news for the log.
                    tracing::debug!(%error, acts = batch.len(), "a batch failed: its acts run again one by one");
                }
                Ok(()) => return self.answer(batch),
                Err(failed) => {
                    return batch.into_iter().for_each(|job| job.finish(Some(failed.tell()), &self.shared.metrics));
                }
            }
        }
        for job in batch {
            self.settle_one(job).await;
        }
    }

    /// Runs one act by itself, again while others are in its way.
    async fn settle_one(&mut self, job: Box<dyn Job>) {
        let mut batch = vec![job];
        let mut result = self.transaction(&mut batch).await;
        for _ in 1..TRIES {
            match &result {
                Err(Failed::RolledBack(error)) if error.may_pass() && !self.stop.is_cancelled() => {
                    result = self.transaction(&mut batch).await;
                }
                _ => break,
            }
        }
        match result {
            Ok(()) => self.answer(batch),
            Err(failed) => {
                let mut told = Some(failed.tell());
                for job in batch {
                    job.finish(told.take(), &self.shared.metrics);
                }
            }
        }
    }

    fn answer(&self, batch: Vec<Box<dyn Job>>) {
        for job in batch {
            job.finish(None, &self.shared.metrics);
        }
        self.commits.send_modify(|count| *count += 1);
    }

    async fn transaction(&mut self, batch: &mut [Box<dyn Job>]) -> std::result::Result<(), Failed> {
        self.shared.metrics.batch(batch.len());
        let connection = self.begin().await.map_err(Failed::Begin)?;
        let mut tx = Tx::new(connection, &self.shared);
        let body = std::panic::AssertUnwindSafe(run_batch(&mut tx, batch)).catch_unwind().await;
        let Ok(result) = body else {
            // A panic: who knows in what state the connection is.
            tx.connection.discard();
            return Err(Failed::RolledBack(Error::Failed));
        };
        match result {
            Ok(()) => self.commit(tx).await,
            Err(error) => {
                if tx.connection.execute(locks::ROLLBACK, vec![]).await.is_err() {
                    tx.connection.discard();
                } else {
                    self.connection = Some(tx.connection);
                }
                Err(Failed::RolledBack(error))
            }
        }
    }

    /// Begins on the kept connection, or on a fresh one when that one is gone.
    async fn begin(&mut self) -> Result<Connection> {
        if let Some(mut connection) = self.connection.take() {
            match connection.execute(locks::begin(connection.engine()), vec![]).await {
                Ok(_) => return Ok(connection),
                Err(error) if error.is_locked() => {
                    self.connection = Some(connection);
                    return Err(error);
                }
                Err(error) => {
                    tracing::warn!(%error, "the writing connection is gone: opening another");
                    connection.discard();
                }
            }
        }
        let mut connection = self.shared.pools.writer(&self.shared.statements).await?;
        connection.execute(locks::begin(connection.engine()), vec![]).await?;
        Ok(connection)
    }

    async fn commit(&mut self, mut tx: Tx) -> std::result::Result<(), Failed> {
        let Err(error) = tx.connection.execute(locks::COMMIT, vec![]).await else {
            self.connection = Some(tx.connection);
            return Ok(());
        };
        tx.connection.discard();
        let Some(transaction_id) = tx.transaction_id else { return Err(Failed::RolledBack(error)) };
        drop(tx);
        // The answer to COMMIT was lost, not necessarily the commit: the database knows.
        match self.was_committed(transaction_id).await {
            Some(true) => Ok(()),
            Some(false) => Err(Failed::RolledBack(error)),
            None => Err(Failed::Unknown),
        }
    }

    async fn was_committed(&self, transaction_id: i64) -> Option<bool> {
        for _ in 0..50 {
            if let Ok(mut connection) = self.shared.pools.writer(&self.shared.statements).await {
                match locks::transaction_status(&mut connection, transaction_id).await {
                    Ok(Some(committed)) => return Some(committed),
                    Ok(None) => {}
                    Err(error) => {
                        tracing::warn!(%error, "cannot ask what became of a commit");
                        connection.discard();
                    }
                }
            }
            tokio::time::sleep(std::time::Duration::from_millis(200)).await;
        }
        None
    }
}

/// Cuts what was drained, in order, so that no batch but one of a single act weighs more than its bound.
fn weighed(drained: Vec<Box<dyn Job>>) -> Vec<Vec<Box<dyn Job>>> {
    let mut batches: Vec<(usize, Vec<Box<dyn Job>>)> = vec![];
    for job in drained {
        let weight = job.weight();
        match batches.last_mut() {
            Some((taken, batch)) if *taken + weight <= BATCH_ACTS => {
                *taken += weight;
                batch.push(job);
            }
            _ => batches.push((weight, vec![job])),
        }
    }
    batches.into_iter().map(|(_, batch)| batch).collect()
}

async fn run_batch(tx: &mut Tx, batch: &mut [Box<dyn Job>]) -> Result<()> {
    if tx.needs_locks() {
        let mut wanted = Locks::none();
        for job in batch.iter() {
            wanted.merge(job.locks(tx).await?);
        }
        tx.take_locks(wanted).await?;
    }
    for job in batch.iter_mut() {
        job.run(tx).await?;
    }
    tx.write_changes().await
}

impl Failed {
    /// What the caller of an act hears, logged here once where it is not an expected one.
    fn tell(&self) -> Error {
        match self {
            Self::Begin(error) => {
                tracing::error!(%error, "cannot begin a transaction");
                Error::Busy
            }
            Self::RolledBack(Error::BadInput(bad)) => Error::BadInput(bad.clone()),
            Self::RolledBack(Error::Forbidden(forbidden)) => Error::Forbidden(forbidden.clone()),
            Self::RolledBack(error) if error.is_locked() || error.is_lost() => Error::Busy,
            Self::RolledBack(error) if error.is_conflict() => Error::Contention,
            Self::RolledBack(error) => {
                tracing::error!(%error, "a transaction failed");
                Error::Failed
            }
            Self::Unknown => Error::UnknownOutcome,
        }
    }
}
