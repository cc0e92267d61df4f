//! The sync states' table.

use super::Store;
use super::digests::Digested;
use super::engine::{args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::ids::digest;
use crate::domain::sync::SyncState;
use crate::domain::viewer::Viewer;

const TABLE: &str = "kubun_connector_sync_state";
/// How its rows are named.
pub(super) const DIGESTED: Digested = Digested { table: TABLE, key: &["connector_name", "owner_did"] };

row!(SyncState from "kubun_connector_sync_state" {
    connector_name, owner_did, checkpoint, last_synced_at, entity_count, status, error, recovery, version, incarnation,
});

statements! {
    BY_KEY: SyncState::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sync_state WHERE connector_name = $1 AND owner_did = $2";
    LOCK: SyncState::COLUMNS,
        "SELECT {columns} FROM kubun_connector_sync_state WHERE connector_name = $1 AND owner_did = $2 {for_update}";
    INSERT: SyncState::COLUMNS,
        "INSERT INTO kubun_connector_sync_state ({columns}, node_key) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) \
        ON CONFLICT (connector_name, owner_did) DO NOTHING";
    UPDATE: "",
        "UPDATE kubun_connector_sync_state SET checkpoint = $1, last_synced_at = $2, entity_count = $3, status = $4, \
        error = $5, recovery = $6, version = $7 WHERE connector_name = $8 AND owner_did = $9 AND version = $10 \
        AND incarnation IS NOT DISTINCT FROM $11";
    DELETE: SyncState::COLUMNS,
        "DELETE FROM kubun_connector_sync_state WHERE connector_name = $1 AND owner_did = $2 RETURNING {columns}";
}

/// Ordered by the primary key.
const KEYSET: Keyset = Keyset { columns: &["connector_name", "owner_did"], descending: false };

impl Keyed for SyncState {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        vec![KeyPart::Text(self.connector_name.clone()), KeyPart::Text(self.owner_did.clone())]
    }
}

fn must_hold(tx: &Tx, row: &SyncState) -> Result<()> {
    tx.must_hold(Lock::sync_state(&row.connector_name, &row.owner_did))
}

/// A sync state, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, connector_name: &str, owner_did: &str) -> Result<Option<SyncState>> {
    tx.first(&LOCK, args![connector_name, owner_did]).await
}

/// Makes a sync state; false when somebody made it meanwhile who takes no locks of ours.
pub(super) async fn insert(tx: &mut Tx, transition: &'static str, row: &SyncState) -> Result<bool> {
    must_hold(tx, row)?;
    let args = args![
        &row.connector_name,
        &row.owner_did,
        &row.checkpoint,
        &row.last_synced_at,
        row.entity_count,
        row.status,
        &row.error,
        &row.recovery,
        row.version,
        &row.incarnation,
        digest(&[&row.connector_name, &row.owner_did]),
    ];
    let made = tx.write(&INSERT, args).await? == 1;
    if made {
        tx.emit(NewChange::sync_state(transition, row, [None, Some(row.status)]));
    }
    Ok(made)
}

/// Writes a sync state as a rule made it of the row that was read.
pub(super) async fn change(tx: &mut Tx, transition: &'static str, before: &SyncState, after: &SyncState) -> Result<()> {
    must_hold(tx, before)?;
    let args = args![
        &after.checkpoint,
        &after.last_synced_at,
        after.entity_count,
        after.status,
        &after.error,
        &after.recovery,
        after.version,
        &before.connector_name,
        &before.owner_did,
        before.version,
        &before.incarnation,
    ];
    tx.write_one(TABLE, &UPDATE, args).await?;
    tx.emit(NewChange::sync_state(transition, after, [Some(before.status), Some(after.status)]));
    Ok(())
}

/// Removes a sync state.
pub(super) async fn remove(tx: &mut Tx, row: &SyncState) -> Result<()> {
    must_hold(tx, row)?;
    let removed: Vec<SyncState> = tx.write_returning(&DELETE, args![&row.connector_name, &row.owner_did]).await?;
    for row in &removed {
        tx.emit(NewChange::sync_state("remove", row, [Some(row.status), None]));
    }
    Ok(())
}

impl Store {
    /// A connector's sync state of one owner.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn sync_state(
        &self,
        viewer: &Viewer,
        connector_name: &str,
        owner_did: &str,
    ) -> Result<Option<SyncState>> {
        let found = self.read().await?.first::<SyncState>(&BY_KEY, args![connector_name, owner_did]).await?;
        Ok(found.filter(|row| viewer.sees(Some(&row.owner_did), None)))
    }

    /// The sync states with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn sync_states_by_node_key(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<SyncState>> {
        self.by_node_key(&DIGESTED, SyncState::COLUMNS, viewer, node_keys).await
    }

    /// A page of the sync states, of one connector and owner or all, by key.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn sync_states(
        &self,
        viewer: &Viewer,
        [connector_name, owner_did]: [Option<&str>; 2],
        slice: &Slice,
    ) -> Result<Page<SyncState>> {
        let filter = |select: &mut Select| {
            select.equals("owner_did", viewer.confined_to());
            select.equals("owner_did", owner_did);
            select.equals("connector_name", connector_name);
        };
        let list = List::of(TABLE, SyncState::COLUMNS, KEYSET, &filter);
        list.page(&mut self.read().await?, slice).await
    }
}
