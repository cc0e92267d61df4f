//! What the tests stand on: real PostgreSQL clusters, real server processes, real clients, and a clock that can be
//! stepped for one process. Owns no assertion about the product; each part fails loudly when something is missing.

pub mod client;
pub mod events;
pub mod faketime;
pub mod postgres;
pub mod server;
pub mod signer;
pub mod socket;
