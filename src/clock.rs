//! The only reader of time.
//!
//! On `SQLite` the host's clock is the one clock there is. On PostgreSQL several servers share one database, so its
//! clock decides: each server keeps the offset from its own monotonic clock to the database's and refreshes it, and
//! neither a skewed nor a stepped host clock changes an expiry.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// Where `now` comes from.
#[derive(Debug, Clone)]
pub enum Clock {
    /// The host's wall clock.
    Host,
    /// The database's clock, by its offset to the host's monotonic clock.
    Database(Arc<Offset>),
    /// A clock that only its owner moves: tests and vectors.
    Manual(Arc<AtomicI64>),
}

/// The database's time at the origin of this process's monotonic clock.
#[derive(Debug)]
pub struct Offset {
    origin: Instant,
    at_origin_ms: AtomicI64,
}

/// A moment on the monotonic clock, in µs since this process's origin.
#[derive(Debug, Clone, Copy)]
pub struct Moment(i64);

impl Clock {
    /// A database clock that has not been set yet.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file is the one that reads the clock")]
    pub fn database() -> Self {
        Self::Database(Arc::new(Offset { origin: Instant::now(), at_origin_ms: AtomicI64::new(0) }))
    }

    /// Now, in ms since the epoch, UTC.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file is the one that reads the clock")]
    pub fn now_ms(&self) -> i64 {
        match self {
            Self::Host => SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |elapsed| i64::try_from(elapsed.as_millis()).unwrap_or(i64::MAX)),
            Self::Database(offset) => offset.at_origin_ms.load(Ordering::Relaxed) + offset.moment().0 / 1_000,
            Self::Manual(at) => at.load(Ordering::SeqCst),
        }
    }
}

impl Offset {
    /// The moment on the monotonic clock.
    #[must_use]
    pub fn moment(&self) -> Moment {
        Moment(i64::try_from(self.origin.elapsed().as_micros()).unwrap_or(i64::MAX))
    }

    /// Takes the database's reading: it was made between the two moments, so half-way is the best guess.
    pub fn set(&self, before: Moment, database_ms: i64, after: Moment) {
        let middle = i64::midpoint(before.0, after.0);
        self.at_origin_ms.store(database_ms - middle / 1_000, Ordering::Relaxed);
    }
}
