//! The feed: the change log, read once by a follower and handed to every subscription of this server.
//!
//! ```text
//!   change_event ──▶ follower ──▶ position (watch) ──▶ who needs to know how far the log is settled
//!        ▲               └──────▶ router ────────────▶ those subscriptions that a change concerns; one whose
//!        └── commits of this server, wake-ups of others,   mailbox is full reads the log instead
//!            a slow poll as the net under both
//! ```
//!
//! The log is the truth and the router only a short cut. A subscription holds the number of the last change that it
//! got, so that what it has missed, for whatever reason, is what comes after that number in the log. The position is
//! published before the changes are handed on: who listens first and then reads the position loses nothing between the two.

mod cursor;
mod due;
mod follower;
mod router;
mod shown;
mod subscription;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use cursor::{Counted, Cursors};
pub use router::{Run, Wanted};
pub use shown::Shown;

use due::Boards;
use router::Router;
use shown::Readings;

use crate::domain::bounds::BadInput;
use crate::domain::words::EntityKind;
use crate::entropy::salt;
use crate::store::{Engine, Error, Result, Store, patiently};

/// Changes that are read from the log at once, and handed on as one.
const BATCH: i64 = 500;
/// How long a list waits for the feed to settle what was committed before it was asked for.
const SETTLE_WAIT: Duration = Duration::from_secs(2);

/// The feed of one server. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Feed {
    store: Store,
    cursors: Arc<Cursors>,
    position: watch::Receiver<i64>,
    router: Router,
    readings: Readings,
    boards: Boards,
    running: Arc<AtomicBool>,
}

impl Feed {
    /// Starts to follow the log from its present end; stops with the token.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn start(store: Store, stop: CancellationToken) -> Result<Self> {
        let cursors = Cursors::of(&store.feed_info().await?.feed_id).into();
        let head = store.head().await?;
        follower::settle(&store, &head).await?;
        let (publish, position) = watch::channel(head.sequence);
        let running = Arc::new(AtomicBool::new(true));
        let (router, readings) = (Router::default(), Readings::default());
        let boards = Boards::default();
        let feed = Self { store, cursors, position, router, readings, boards, running };
        tokio::spawn(follower::follow(feed.clone(), publish, stop));
        Ok(feed)
    }

    /// Whether the follower read the log at its last try.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.running.load(Ordering::Relaxed)
    }

    /// Reads the entities with these node ids, whoever may see them.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn show(&self, kind: EntityKind, ids: &[&str]) -> Result<Shown> {
        let (operations, watches) = if kind == EntityKind::Operation { (ids, &[][..]) } else { (&[][..], ids) };
        patiently(|| Shown::read(&self.store, &self.readings, operations, watches)).await
    }

    /// The number up to which a reader skips nothing and sees all that was committed before the call.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn settled_through(&self) -> Result<i64> {
        if self.store.engine() == Engine::Sqlite {
            // One writer: whatever is visible has nothing missing before it.
            return Ok(i64::MAX);
        }
        self.caught_up().await
    }

    /// Waits until the follower has handed on all that was committed before the call: its position then.
    ///
    /// # Errors
    /// When the database is not reached.
    async fn caught_up(&self) -> Result<i64> {
        let head = self.store.head().await?.sequence;
        let mut position = self.position.clone();
        let settled = position.wait_for(|position| *position >= head);
        match tokio::time::timeout(SETTLE_WAIT, settled).await {
            Ok(Ok(position)) => Ok(*position),
            Ok(Err(_)) => Err(Error::Stopping),
            // A stranger's transaction runs for long: what is settled is shown.
            Err(_) => Ok(*self.position.borrow()),
        }
    }

    /// The count of readings, one further: what was read by then is older than what is read from then on.
    #[must_use]
    pub fn tick(&self) -> u64 {
        self.readings.tick()
    }

    /// The number of the last change that was handed on.
    #[must_use]
    pub fn position(&self) -> i64 {
        *self.position.borrow()
    }

    /// How long the oldest change that was not handed on has waited, in ms; 0 when there is none.
    ///
    /// # Errors
    /// When the database is not reached.
    pub async fn lag_ms(&self) -> Result<i64> {
        let position = *self.position.borrow();
        let waits = self.store.changed_after(position).await?;
        Ok(waits.map_or(0, |at| (self.store.now_ms() - at).max(0)))
    }

    /// The cursor of a change of this log.
    #[must_use]
    pub fn cursor(&self, sequence: i64) -> String {
        self.cursors.encode(Counted::Changes, sequence, 0)
    }

    /// A cursor of a place that is no change of the client's: another one each time.
    #[must_use]
    pub fn place(&self, sequence: i64) -> String {
        self.cursors.encode(Counted::Changes, sequence, salt())
    }

    /// The cursor of a repair, in the order in which they were written.
    #[must_use]
    pub fn repair_cursor(&self, write_order: i64) -> String {
        self.cursors.encode(Counted::Repairs, write_order, 0)
    }

    /// Reads such a cursor.
    ///
    /// # Errors
    /// `BadInput` for anything else.
    pub fn read_repair_cursor(&self, field: &str, text: &str) -> std::result::Result<i64, BadInput> {
        let found = self.cursors.decode(Counted::Repairs, text);
        found.ok_or_else(|| BadInput::new(field, "is not a cursor of this list"))
    }

    /// Reads a cursor that a client sent: the number after which it wants to go on.
    ///
    /// # Errors
    /// `BadInput` for what is no cursor of this log, `CursorExpired` for one that is older than the oldest kept change.
    pub async fn resume(&self, field: &str, text: &str) -> Result<i64> {
        let found = self.cursors.decode(Counted::Changes, text);
        let sequence = found.ok_or_else(|| BadInput::new(field, "is not a change cursor of this server"))?;
        let oldest = self.store.feed_info().await?.trimmed_through;
        if sequence < oldest {
            return Err(Error::CursorExpired { oldest: self.cursor(oldest) });
        }
        if sequence > self.store.head().await?.sequence {
            // As after the database was put back to an earlier state: what comes would be skipped as known.
            return Err(BadInput::new(field, "is ahead of this log").into());
        }
        Ok(sequence)
    }
}
