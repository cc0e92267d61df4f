//! What can go wrong in the store, as far as callers act on it differently.

use crate::domain::bounds::BadInput;
use crate::domain::viewer::Forbidden;
use crate::domain::words::UnknownWord;

/// The store's result.
pub type Result<T> = std::result::Result<T, Error>;

/// A failure that is not an expected refusal.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An input out of its bounds; nothing was written.
    #[error(transparent)]
    BadInput(#[from] BadInput),
    /// Something that the viewer may not do; nothing was written.
    #[error(transparent)]
    Forbidden(#[from] Forbidden),
    /// The write queue or the database is taken: nothing was written, the same call may succeed later.
    #[error("the server is busy: nothing was written, try again")]
    Busy,
    /// Others kept changing the same rows: nothing was written, the same call may succeed later.
    #[error("others changed the same rows: nothing was written, try again")]
    Contention,
    /// A cursor from before the oldest kept change.
    #[error("the cursor is older than the oldest kept change")]
    CursorExpired {
        /// The cursor just before the oldest kept change, from which a reader may go on.
        oldest: String,
    },
    /// What was read before a lock was not so any more after it: the act runs again.
    #[error("the rows moved before they were locked")]
    Moved,
    /// A row that cannot be.
    #[error("table {table}, column {column}: {source}")]
    Corrupt {
        /// The table of the row.
        table: &'static str,
        /// The column that cannot be.
        column: &'static str,
        /// What is wrong with it.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A guarded write did not find the row that was read in the same transaction.
    #[error("a guarded write to {0} met {1} rows instead of one")]
    Guard(&'static str, u64),
    /// The database refused or was not reached.
    #[error("database: {0}")]
    Database(#[from] sqlx::Error),
    /// The schema is not ours to use.
    #[error("{0}")]
    Migration(String),
    /// An act failed for a reason that was logged; nothing was written.
    #[error("the act failed: nothing was written")]
    Failed,
    /// The connection was lost during the commit, and the database could not be asked what became of it.
    #[error("the outcome is unknown: read the row before trying again")]
    UnknownOutcome,
    /// The server is stopping.
    #[error("the server is stopping")]
    Stopping,
}

impl Error {
    /// What it is counted as.
    #[must_use]
    pub fn word(&self) -> &'static str {
        match self {
            Self::BadInput(_) => "bad_input",
            Self::Busy => "busy",
            Self::Contention | Self::Moved => "contention",
            Self::Stopping => "stopping",
            Self::UnknownOutcome => "unknown_outcome",
            _ => "failed",
        }
    }

    /// Whether others were in the way, and nothing of the act remains.
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        // 40001 serialization, 40P01 deadlock, 23505 a row that others made meanwhile.
        matches!(self, Self::Moved) || self.is_held() || self.has_code(&["40001", "40P01", "23505"])
    }

    /// Whether somebody holds a row or a lock for longer than an act may wait: to try again at once would only hold up all
    /// others.
    #[must_use]
    pub fn is_held(&self) -> bool {
        self.has_code(&["55P03"])
    }

    /// Whether the connection was lost, or none was to be had: the same on another one may succeed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        use sqlx::Error::{Io, PoolClosed, PoolTimedOut, WorkerCrashed};
        // 57P01 to 57P03 the database stops or starts, 25P03 it gave up waiting for us, class 08 the connection itself.
        matches!(self, Self::Database(Io(_) | PoolTimedOut | PoolClosed | WorkerCrashed))
            || self.has_code(&["57P01", "57P02", "57P03", "25P03", "08000", "08003", "08006"])
    }

    /// Whether running the whole act again, at once, may succeed.
    #[must_use]
    pub fn may_pass(&self) -> bool {
        (self.is_conflict() && !self.is_held()) || self.is_lost()
    }

    fn has_code(&self, codes: &[&str]) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(error))
            if error.code().is_some_and(|code| codes.contains(&&*code)))
    }

    /// Whether `SQLite` did not give the write lock within its timeout.
    #[must_use]
    pub fn is_locked(&self) -> bool {
        matches!(self, Self::Database(sqlx::Error::Database(error))
            if error.code().is_some_and(|code| is_sqlite_busy(&code)))
    }
}

/// `SQLite`'s extended result codes keep the primary one in their low byte: 5 is busy, 6 is locked.
fn is_sqlite_busy(code: &str) -> bool {
    code.len() < 5 && code.parse::<u32>().is_ok_and(|code| matches!(code & 0xff, 5 | 6))
}

impl From<UnknownWord> for Error {
    fn from(error: UnknownWord) -> Self {
        Self::Corrupt { table: "any", column: "word", source: Box::new(error) }
    }
}
