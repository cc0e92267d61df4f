//! Transactions begun and ended, and the one order of locks on PostgreSQL.
//!
//! Before a batch runs, the locks of all its acts are taken in ascending order by one statement: advisory locks on
//! operations' keys, documents and watch identities. Whoever writes a row of one of these holds its lock (`Tx::must_hold`
//! checks it), so that no two servers ever wait for each other in a circle; row locks below them only keep the package's
//! own writers away. An act over a whole filter takes the one lock that all others share.

use std::collections::BTreeSet;

use super::engine::{Connection, Engine, Sql, args, statements};
use super::error::{Error, Result};
use crate::domain::ids::hash;
use crate::domain::watches::WatchIdentity;

pub(super) const COMMIT: Sql<'static> = Sql::Shaped("COMMIT");
pub(super) const ROLLBACK: Sql<'static> = Sql::Shaped("ROLLBACK");

/// `SQLite` takes its write lock at once: a read that upgrades later can fail without waiting.
pub(super) const fn begin(engine: Engine) -> Sql<'static> {
    match engine {
        Engine::Sqlite => Sql::Shaped("BEGIN IMMEDIATE"),
        Engine::Postgres => Sql::Shaped("BEGIN ISOLATION LEVEL READ COMMITTED"),
    }
}

/// Shared by every batch, exclusive to acts over a whole filter.
const EVERYTHING: i64 = 0x7772_6974_6577_6174;

statements! {
    /// Differs because only PostgreSQL has several writers: the transaction's id, with the shared lock taken.
    SHARE_EVERYTHING for Postgres: "", "SELECT (pg_current_xact_id()::text)::bigint, count(pg_advisory_xact_lock_shared($1))";
    /// As above, for an act over a whole filter.
    TAKE_EVERYTHING for Postgres: "", "SELECT (pg_current_xact_id()::text)::bigint, count(pg_advisory_xact_lock($1))";
    /// Differs because only PostgreSQL has several writers: the keys come as a JSON list, ascending; the subquery keeps their order.
    TAKE for Postgres: "", "SELECT count(pg_advisory_xact_lock(key)) FROM (SELECT value::bigint AS key \
        FROM json_array_elements_text($1::json) WITH ORDINALITY AS keys(value, place) ORDER BY place OFFSET 0) AS ordered";
    /// Differs because only a connection to a server can be lost in the middle of a commit.
    STATUS for Postgres: "", "SELECT pg_xact_status(($1::text)::xid8)";
}

/// What an act is about to write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Lock(i64);

impl Lock {
    /// The operation with this key, there or not.
    #[must_use]
    pub fn operation(caller_did: &str, operation_id: &str) -> Self {
        Self::of(&["operation", caller_did, operation_id])
    }

    /// A document: its winner and all its watches.
    #[must_use]
    pub fn document(document_id: &str) -> Self {
        Self::of(&["document", document_id])
    }

    /// A watch identity, there or not.
    #[must_use]
    pub fn watch(identity: &WatchIdentity) -> Self {
        let [owner, connector, model, account, source] = identity.parts();
        Self::of(&["watch", owner, connector, model, account, source])
    }

    /// A partition's receipts, candidates and checkpoint.
    #[must_use]
    pub fn partition(owner_did: &str, connector_name: &str, partition: &str) -> Self {
        Self::of(&["partition", owner_did, connector_name, partition])
    }

    /// A connector's sync state of one owner, there or not.
    #[must_use]
    pub fn sync_state(connector_name: &str, owner_did: &str) -> Self {
        Self::of(&["sync_state", connector_name, owner_did])
    }

    /// A pending authorisation, there or not.
    #[must_use]
    pub fn pending_auth(state: &str) -> Self {
        Self::of(&["pending_auth", state])
    }

    /// What an owner grants a caller.
    #[must_use]
    pub fn grants(owner_did: &str, caller_did: &str) -> Self {
        Self::of(&["grants", owner_did, caller_did])
    }

    /// The kept write states: one refreshes them at a time.
    #[must_use]
    pub fn write_states() -> Self {
        Self::of(&["write_states"])
    }

    /// The kept counts of the books: one works them off at a time.
    #[must_use]
    pub fn book_counts() -> Self {
        Self::of(&["book_counts"])
    }

    /// The kept counts of the changes: one works them off at a time.
    #[must_use]
    pub fn outcome_counts() -> Self {
        Self::of(&["outcome_counts"])
    }

    /// The observations of one id, whoever's.
    #[must_use]
    pub fn observations(id: &str) -> Self {
        Self::of(&["observations", id])
    }

    fn of(parts: &[&str]) -> Self {
        let mut first = [0; 8];
        first.copy_from_slice(&hash(parts)[..8]);
        Self(i64::from_be_bytes(first))
    }
}

/// The locks of an act, or of a batch.
#[derive(Debug, Default)]
pub struct Locks {
    everything: bool,
    keys: BTreeSet<Lock>,
}

impl Locks {
    /// No lock.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// The lock that keeps every other batch out, for acts over a whole filter.
    #[must_use]
    pub fn everything() -> Self {
        Self { everything: true, keys: BTreeSet::new() }
    }

    /// These locks.
    #[must_use]
    pub fn of(keys: impl IntoIterator<Item = Lock>) -> Self {
        Self { everything: false, keys: keys.into_iter().collect() }
    }

    pub(super) fn merge(&mut self, other: Self) {
        self.everything |= other.everything;
        self.keys.extend(other.keys);
    }

    pub(super) const fn is_everything(&self) -> bool {
        self.everything
    }

    /// Whether a row under this lock may be written.
    pub(super) fn cover(&self, lock: Lock) -> bool {
        self.everything || self.keys.contains(&lock)
    }

    /// Takes them all, in order. Answers with the transaction's id.
    pub(super) async fn take(&self, connection: &mut Connection) -> Result<i64> {
        let first = if self.everything { &TAKE_EVERYTHING } else { &SHARE_EVERYTHING };
        let id = connection.first::<(i64, i64)>(first, args![EVERYTHING]).await?;
        if !self.everything && !self.keys.is_empty() {
            let keys: Vec<i64> = self.keys.iter().map(|lock| lock.0).collect();
            connection.all::<(i64,)>(&TAKE, args![serde_json::json!(keys).to_string()]).await?;
        }
        id.map(|(id, _)| id).ok_or(Error::Guard("pg_current_xact_id", 0))
    }
}

/// What became of a transaction: committed or not, or `None` while it still runs.
pub(super) async fn transaction_status(connection: &mut Connection, id: i64) -> Result<Option<bool>> {
    let status = connection.first::<(Option<String>,)>(&STATUS, args![id.to_string()]).await?;
    Ok(match status.and_then(|(status,)| status).as_deref() {
        Some("committed") => Some(true),
        Some("aborted") => Some(false),
        _ => None,
    })
}
