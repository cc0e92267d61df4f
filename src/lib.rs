//! writewatch keeps the books of a connector's writes to outside providers.
//!
//! Layers, each importing only those to its left:
//!
//! ```text
//!   domain ◀─ store ◀─ events ◀─ app, graphql ◀─ http ◀─ main
//! ```
//!
//! `domain` holds the rules, `store` the SQL and the one write path, `events` the change feed, `graphql` the schema,
//! `http` the transports; `metrics` counts for all of them. `config`, `clock` and `entropy` are the only readers of the environment, of time and of
//! randomness. ARCHITECTURE.md has the map and the invariants.

pub mod access;
pub mod app;
pub mod clock;
pub mod config;
pub mod domain;
pub mod entropy;
pub mod events;
pub mod graphql;
pub mod http;
pub mod keys;
pub mod metrics;
pub mod store;
pub mod upkeep;
