//! The rules: what each transition may do, as pure functions over rows that were already read.
//!
//! Nothing here waits, reads a clock, draws randomness or knows SQL. A rule takes the row it found, the input and the
//! transaction's `now`, and answers with the row as it should be or with the refusal. The vocabulary (`words`) carries
//! its GraphQL spelling, because a second copy of every enum would only have to be kept in step.

pub mod bounds;
pub mod changes;
pub mod documents;
pub mod envelope;
pub mod grants;
pub mod ids;
pub mod observations;
pub mod operations;
pub mod pending_auth;
pub mod sweeps;
pub mod sync;
pub mod time;
pub mod tokens;
pub mod viewer;
pub mod watches;
pub mod words;
