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

/// What the database's clock said between two moments.
#[derive(Debug, Clone, Copy)]
pub struct Reading {
    /// When it was asked.
    pub before: Moment,
    /// What it said, in ms since the epoch.
    pub database_ms: i64,
    /// When the answer was there.
    pub after: Moment,
}

/// For what is measured, never for what is decided.
#[derive(Debug, Clone, Copy)]
pub struct Stopwatch(Instant);

impl Stopwatch {
    /// Starts now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "this file is the one that reads the clock")]
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// How long it has run.
    #[must_use]
    pub fn seconds(self) -> f64 {
        self.0.elapsed().as_secs_f64()
    }
}

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

    /// Takes the best of some readings of the database's clock: the one that took the shortest, since it was made at some
    /// moment between being asked for and being had, and half-way is only a guess.
    pub fn set(&self, readings: impl IntoIterator<Item = Reading>) {
        if let Some(best) = readings.into_iter().min_by_key(|reading| reading.after.0 - reading.before.0) {
            let middle = i64::midpoint(best.before.0, best.after.0);
            self.at_origin_ms.store(best.database_ms - middle / 1_000, Ordering::Relaxed);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stalled_reading_does_not_move_the_clock() {
        let Clock::Database(offset) = Clock::database() else { panic!("a database clock") };
        let reading =
            |before, database_ms, after| Reading { before: Moment(before), database_ms, after: Moment(after) };
        offset.set([
            reading(0, 5_000, 2_000_000),
            reading(2_000_000, 7_000, 2_002_000),
            reading(3_000_000, 9_500, 5_000_000),
        ]);
        assert_eq!(offset.at_origin_ms.load(Ordering::Relaxed), 7_000 - 2_001);
    }
}
