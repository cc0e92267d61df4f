//! The winners' table: what the local store shows for each document, as the connector said last.

use super::Store;
use super::engine::{args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::documents::Winner;

row!(Winner from "document_winner" { document_id, digest, version, updated_at });

statements! {
    LOCK: Winner::COLUMNS, "SELECT {columns} FROM document_winner WHERE document_id = $1 {for_update}";
    PUT: Winner::COLUMNS,
        "INSERT INTO document_winner ({columns}) VALUES ($1, $2, $3, $4) ON CONFLICT (document_id) \
        DO UPDATE SET digest = excluded.digest, version = excluded.version, updated_at = excluded.updated_at";
}

/// The winner of a document, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, document_id: &str) -> Result<Option<Winner>> {
    tx.first(&LOCK, args![document_id]).await
}

/// Records a winner, unless the stored one has a higher version: the one that stands afterwards, and whether it is the
/// given one.
pub(super) async fn put(tx: &mut Tx, document_id: &str, digest: &str, version: Option<&str>) -> Result<(Winner, bool)> {
    tx.must_hold(Lock::document(document_id))?;
    let stored = lock(tx, document_id).await?;
    // One without a version takes the place of any, but does not let an older version in behind it.
    let version = version.or(stored.as_ref().and_then(|stored| stored.version.as_deref())).map(str::to_owned);
    if let Some(stored) = stored {
        if stored.outranks(version.as_deref()) {
            return Ok((stored, false));
        }
        if stored.digest == digest && stored.version == version {
            return Ok((stored, true));
        }
    }
    let winner =
        Winner { document_id: document_id.to_owned(), digest: digest.to_owned(), version, updated_at: tx.now() };
    tx.write(&PUT, args![document_id, digest, &winner.version, winner.updated_at]).await?;
    let change = NewChange::document("record_winner", document_id)
        .with("digest", Some(digest))
        .with("winnerVersion", winner.version.as_deref());
    tx.emit(change);
    Ok((winner, true))
}

impl Store {
    /// The winners of these documents, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn winners(&self, document_ids: &[String]) -> Result<Vec<Winner>> {
        let mut select = Select::new(Winner::COLUMNS, "document_winner");
        select.among("document_id", Some(document_ids));
        select.all(&mut self.read().await?, 1).await
    }
}
