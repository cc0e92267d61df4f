//! The transaction that acts run in: its connection, its `now`, and the changes that it gathers.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use serde_json::Value;

use super::Shared;
use super::changes;
use super::engine::{Arg, Connection, Engine, Sql};
use super::error::{Error, Result};
use super::locks::{Lock, Locks};
use super::row::FromRow;
use super::select::Select;
use crate::clock::Clock;
use crate::domain::changes::NewChange;
use crate::domain::viewer::Viewer;

/// A change with its time and its doer, as it will be logged.
#[derive(Debug)]
pub(super) struct Gathered {
    pub(super) at: i64,
    pub(super) actor_did: Option<String>,
    pub(super) change: NewChange,
    /// Of what is said of a document: who sees it.
    pub(super) seen_by: Option<String>,
}

/// One transaction, shared by the acts of a batch. Each act sees its own `now` and viewer.
#[derive(Debug)]
pub struct Tx {
    pub(super) connection: Connection,
    pub(super) transaction_id: Option<i64>,
    clock: Clock,
    tombstone_ms: i64,
    held: Locks,
    now: i64,
    viewer: Arc<Viewer>,
    changes: Vec<Gathered>,
    act_wrote: bool,
}

impl Tx {
    pub(super) fn new(connection: Connection, shared: &Shared) -> Self {
        Self {
            connection,
            transaction_id: None,
            clock: shared.clock.clone(),
            tombstone_ms: shared.tombstone_ms.load(Ordering::Relaxed),
            held: Locks::none(),
            now: 0,
            viewer: Arc::new(Viewer::open()),
            changes: vec![],
            act_wrote: false,
        }
    }

    pub(super) fn needs_locks(&self) -> bool {
        self.connection.engine() == Engine::Postgres
    }

    pub(super) async fn take_locks(&mut self, locks: Locks) -> Result<()> {
        self.transaction_id = Some(locks.take(&mut self.connection).await?);
        self.held = locks;
        Ok(())
    }

    pub(super) fn start_act(&mut self, viewer: &Arc<Viewer>) {
        self.now = self.clock.now_ms();
        self.viewer = Arc::clone(viewer);
        self.act_wrote = false;
    }

    pub(super) const fn act_wrote(&self) -> bool {
        self.act_wrote
    }

    /// The act's time, read once, in ms since the epoch.
    #[must_use]
    pub const fn now(&self) -> i64 {
        self.now
    }

    /// When what is collected now is forgotten.
    pub(super) const fn tombstone_expires_at(&self) -> i64 {
        self.now.saturating_add(self.tombstone_ms)
    }

    /// The time outside of an act.
    pub(super) fn clock_now(&self) -> i64 {
        self.clock.now_ms()
    }

    /// Whether nobody else of ours writes meanwhile.
    pub(super) const fn holds_everything(&self) -> bool {
        matches!(self.connection.engine(), Engine::Sqlite) || self.held.is_everything()
    }

    /// On whose behalf the act runs.
    #[must_use]
    pub fn viewer(&self) -> &Viewer {
        &self.viewer
    }

    /// Says that a row under this lock is about to be written.
    ///
    /// # Errors
    /// `Moved` when the lock was not taken: what the locks were chosen by has changed since.
    pub fn must_hold(&self, lock: Lock) -> Result<()> {
        if self.needs_locks() && !self.held.cover(lock) {
            return Err(Error::Moved);
        }
        Ok(())
    }

    /// Every row of a query.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn all<T: FromRow>(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<Vec<T>> {
        self.connection.all(sql, args).await
    }

    /// The first row of a query, if there is one.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn first<T: FromRow>(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<Option<T>> {
        self.connection.first(sql, args).await
    }

    /// Every row of a query that was put together.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub(super) async fn all_of<T: FromRow>(&mut self, select: Select) -> Result<Vec<T>> {
        select.all(&mut self.connection, 1).await
    }

    /// Which database it is.
    pub(super) const fn engine(&self) -> Engine {
        self.connection.engine()
    }

    /// Writes; how many rows.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn write(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<u64> {
        self.act_wrote = true;
        self.connection.execute(sql, args).await
    }

    /// The connection, to write by.
    pub(super) fn writing(&mut self) -> &mut Connection {
        self.act_wrote = true;
        &mut self.connection
    }

    /// Writes exactly one row: a guard in the statement repeats what was read.
    ///
    /// # Errors
    /// `Guard` when it met another number of rows, so that the whole act is undone.
    pub async fn write_one(&mut self, table: &'static str, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<()> {
        match self.write(sql, args).await? {
            1 => Ok(()),
            count => Err(Error::Guard(table, count)),
        }
    }

    /// Writes, and reads back what was written.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn write_returning<T: FromRow>(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<Vec<T>> {
        self.act_wrote = true;
        self.connection.all(sql, args).await
    }

    /// Gathers a change; it is logged last thing in this transaction.
    pub fn emit(&mut self, change: NewChange) {
        self.gather(change, None);
    }

    /// Gathers a change of a document itself, with who sees it.
    pub(super) fn emit_seen_by(&mut self, change: NewChange, seen_by: &str) {
        self.gather(change, Some(seen_by.to_owned()));
    }

    fn gather(&mut self, change: NewChange, seen_by: Option<String>) {
        let actor_did = self.viewer.did().map(str::to_owned);
        self.changes.push(Gathered { at: self.now, actor_did, change, seen_by });
    }

    /// Gathers a change with the note that came with the act.
    pub fn emit_noted(&mut self, change: NewChange, note: Option<&str>) {
        self.emit(change.with("note", note.map(Value::from)));
    }

    pub(super) async fn write_changes(&mut self) -> Result<()> {
        changes::append(&mut self.connection, std::mem::take(&mut self.changes)).await
    }
}
