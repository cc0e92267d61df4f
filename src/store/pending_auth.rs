//! The pending authorisations' table. The code verifier is written, and leaves once, with the row that is consumed.

use super::Store;
use super::engine::{args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::row::{FromRow, Row, row};
use super::select::Select;
use super::tx::Tx;
use crate::domain::pending_auth::{PendingAuth, Secret};
use crate::domain::viewer::Viewer;

const TABLE: &str = "kubun_connector_pending_auth";

row!(PendingAuth from "kubun_connector_pending_auth" {
    state, provider, owner_did, owner_wrappable_did, controller_wrappable_did, created_at, redirect_url, scopes,
    is_incremental, expires_at,
});

statements! {
    BY_STATE: PendingAuth::COLUMNS, "SELECT {columns} FROM kubun_connector_pending_auth WHERE state = $1";
    INSERT: PendingAuth::COLUMNS,
        "INSERT INTO kubun_connector_pending_auth ({columns}, code_verifier) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, \
        $11) ON CONFLICT (state) DO NOTHING";
    CONSUME: PendingAuth::COLUMNS,
        "DELETE FROM kubun_connector_pending_auth WHERE state = $1 AND owner_did = coalesce($2, owner_did) \
        RETURNING {columns}, code_verifier";
    DELETE_EXPIRED: "",
        "DELETE FROM kubun_connector_pending_auth WHERE state IN (SELECT state FROM kubun_connector_pending_auth \
        WHERE expires_at < $1 AND owner_did = coalesce($2, owner_did) ORDER BY expires_at, state LIMIT $3 {skip_locked})";
}

/// Oldest first.
const KEYSET: Keyset = Keyset { columns: &["created_at", "state"], descending: false };

impl Keyed for PendingAuth {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        vec![KeyPart::Int(self.created_at), KeyPart::Text(self.state.clone())]
    }
}

/// A row that is gone, with its code verifier.
#[derive(Debug)]
pub(super) struct Consumed(pub PendingAuth, pub Secret);

impl FromRow for Consumed {
    fn from_row(row: &Row) -> Result<Self> {
        Ok(Self(PendingAuth::from_row(row)?, Secret(row.last("code_verifier")?)))
    }
}

/// Reads what is waited for under a state.
pub(super) async fn find(tx: &mut Tx, state: &str) -> Result<Option<PendingAuth>> {
    tx.first(&BY_STATE, args![state]).await
}

/// Waits for an authorisation; false when there is one under the state.
pub(super) async fn insert(tx: &mut Tx, row: &PendingAuth, code_verifier: &Secret) -> Result<bool> {
    let args = args![
        &row.state,
        &row.provider,
        &row.owner_did,
        &row.owner_wrappable_did,
        &row.controller_wrappable_did,
        row.created_at,
        &row.redirect_url,
        &row.scopes,
        row.is_incremental,
        row.expires_at,
        &code_verifier.0,
    ];
    Ok(tx.write(&INSERT, args).await? == 1)
}

/// Takes a row out: of all who try, one gets it.
pub(super) async fn consume(tx: &mut Tx, state: &str) -> Result<Option<Consumed>> {
    let owner = tx.viewer().confined_to().map(str::to_owned);
    Ok(tx.write_returning(&CONSUME, args![state, owner]).await?.into_iter().next())
}

/// Removes the oldest of those that expired before a time; how many.
pub(super) async fn delete_expired(tx: &mut Tx, before: i64, limit: i32) -> Result<u64> {
    let owner = tx.viewer().confined_to().map(str::to_owned);
    tx.write(&DELETE_EXPIRED, args![before, owner, limit]).await
}

impl Store {
    /// What is waited for under a state.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn pending_auth(&self, viewer: &Viewer, state: &str) -> Result<Option<PendingAuth>> {
        let found = self.read().await?.first::<PendingAuth>(&BY_STATE, args![state]).await?;
        Ok(found.filter(|row| viewer.sees(Some(&row.owner_did), None)))
    }

    /// A page of what is waited for, oldest first.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn pending_auths(
        &self,
        viewer: &Viewer,
        (owner_did, provider): (Option<&str>, Option<&str>),
        slice: &Slice,
    ) -> Result<Page<PendingAuth>> {
        let filter = |select: &mut Select| {
            select.equals("owner_did", viewer.confined_to());
            select.equals("owner_did", owner_did);
            select.equals("provider", provider);
        };
        let list = List::of(TABLE, PendingAuth::COLUMNS, KEYSET, &filter);
        list.page(&mut self.read().await?, slice).await
    }
}
