//! The grants' table: which caller may claim for which owner, by one connector or by all.

use super::Store;
use super::engine::{args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::grants::{Grant, GrantKey};
use crate::domain::viewer::Viewer;

const TABLE: &str = "access_grant";
/// Grants that are listed at most.
const LISTED: usize = 1_000;

/// The connector is empty for all of them.
#[derive(Debug)]
struct Stored {
    owner_did: String,
    caller_did: String,
    connector_name: String,
    created_at: i64,
}

row!(Stored from "access_grant" { owner_did, caller_did, connector_name, created_at });

statements! {
    PUT: Stored::COLUMNS,
        "INSERT INTO access_grant ({columns}) VALUES ($1, $2, $3, $4) ON CONFLICT (owner_did, caller_did, connector_name) DO NOTHING";
    FIND: Stored::COLUMNS,
        "SELECT {columns} FROM access_grant WHERE owner_did = $1 AND caller_did = $2 AND connector_name = $3";
    HOLDS: "",
        "SELECT count(*) FROM access_grant WHERE owner_did = $1 AND caller_did = $2 AND connector_name IN ('', $3)";
    DELETE: "",
        "DELETE FROM access_grant WHERE owner_did = $1 AND caller_did = $2 AND connector_name = coalesce($3, connector_name)";
}

impl From<Stored> for Grant {
    fn from(row: Stored) -> Self {
        let connector_name = Some(row.connector_name).filter(|name| !name.is_empty());
        let key = GrantKey { owner_did: row.owner_did, caller_did: row.caller_did, connector_name };
        Self { key, created_at: row.created_at }
    }
}

/// Gives a grant, or finds it given.
pub(super) async fn put(tx: &mut Tx, key: &GrantKey) -> Result<Grant> {
    tx.must_hold(Lock::grants(&key.owner_did, &key.caller_did))?;
    let connector = key.connector_name.as_deref().unwrap_or_default();
    tx.write(&PUT, args![&key.owner_did, &key.caller_did, connector, tx.now()]).await?;
    let found = tx.first::<Stored>(&FIND, args![&key.owner_did, &key.caller_did, connector]).await?;
    found.map(Grant::from).ok_or(super::Error::Guard(TABLE, 0))
}

/// Takes a grant back, without a connector every grant of the two; how many there were.
pub(super) async fn remove(tx: &mut Tx, key: &GrantKey) -> Result<u64> {
    tx.must_hold(Lock::grants(&key.owner_did, &key.caller_did))?;
    tx.write(&DELETE, args![&key.owner_did, &key.caller_did, &key.connector_name]).await
}

/// Whether a caller may claim for an owner by a connector, as it stands: whoever takes the grant back waits for this transaction.
pub(super) async fn holds(tx: &mut Tx, owner_did: &str, caller_did: &str, connector_name: &str) -> Result<bool> {
    tx.must_hold(Lock::grants(owner_did, caller_did))?;
    let found = tx.first::<(i64,)>(&HOLDS, args![owner_did, caller_did, connector_name]).await?;
    Ok(found.is_some_and(|(count,)| count > 0))
}

impl Store {
    /// The grants that the viewer gave or holds, of one owner or of all, by owner, caller and connector; the first 1,000.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn grants(&self, viewer: &Viewer, owner_did: Option<&str>) -> Result<Vec<Grant>> {
        let mut select = Select::new(Stored::COLUMNS, TABLE);
        // Services have no need of them: they claim for everybody.
        select.concerns(viewer.did().filter(|_| !viewer.roles().operator));
        select.equals("owner_did", owner_did);
        select.first_by("owner_did, caller_did, connector_name", LISTED);
        let rows: Vec<Stored> = select.all(&mut self.read().await?, 1).await?;
        Ok(rows.into_iter().map(Grant::from).collect())
    }
}
