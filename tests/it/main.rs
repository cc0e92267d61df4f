//! The tests of the whole: real databases, real servers, real clients.
#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that meets what it does not expect ends there")]

mod bounds;
mod cases;
mod clock_skew;
mod command;
mod contention;
mod contract;
mod crashes;
mod database;
mod documents;
mod due;
mod harness;
mod histories;
mod lists;
mod metrics;
mod reissue;
mod retention;
mod retention_races;
mod servers;
mod shared_answers;
mod slow_consumer;
mod soak;
mod statistics;
mod subscriptions;
mod support;
mod sweeps;
mod sync;
mod tidy;
mod transitions;
mod upkeep;
mod vectors;
mod winners;
mod write_states;
