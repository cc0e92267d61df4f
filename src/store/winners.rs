//! The winners' table: what the local store shows for each document, as the connector said last.

use super::documents::of_seen_documents;
use super::engine::{args, statements};
use super::error::Result;
use super::locks::Lock;
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use super::{Store, seers};
use crate::domain::changes::NewChange;
use crate::domain::documents::Winner;
use crate::domain::viewer::Viewer;

row!(Winner from "document_winner" { document_id, digest, version, updated_at });

statements! {
    LOCK: Winner::COLUMNS, "SELECT {columns} FROM document_winner WHERE document_id = $1 {for_update}";
    DELETE: "", "DELETE FROM document_winner WHERE document_id = $1";
    PUT: Winner::COLUMNS,
        "INSERT INTO document_winner ({columns}) VALUES ($1, $2, $3, $4) ON CONFLICT (document_id) \
        DO UPDATE SET digest = excluded.digest, version = excluded.version, updated_at = excluded.updated_at";
}

/// The winner of a document, locked until the transaction ends.
pub(super) async fn lock(tx: &mut Tx, document_id: &str) -> Result<Option<Winner>> {
    tx.first(&LOCK, args![document_id]).await
}

/// Which winner stands, before it is written: watches that are armed in between have seen it by the time that the
/// database would mark them as drifted.
pub(super) struct Decided {
    /// The winner that stands.
    pub winner: Winner,
    /// Whether it is the given one.
    pub taken: bool,
    news: bool,
}

/// Decides on a winner: the given one, unless the stored one has a higher version.
pub(super) async fn decide(tx: &mut Tx, document_id: &str, digest: &str, version: Option<&str>) -> Result<Decided> {
    tx.must_hold(Lock::document(document_id))?;
    let stored = lock(tx, document_id).await?;
    // One without a version takes the place of any, but does not let an older version in behind it.
    let version = version.or(stored.as_ref().and_then(|stored| stored.version.as_deref())).map(str::to_owned);
    if let Some(stored) = stored {
        if stored.outranks(version.as_deref()) {
            return Ok(Decided { winner: stored, taken: false, news: false });
        }
        if stored.digest == digest && stored.version == version {
            return Ok(Decided { winner: stored, taken: true, news: false });
        }
    }
    let winner =
        Winner { document_id: document_id.to_owned(), digest: digest.to_owned(), version, updated_at: tx.now() };
    let change = NewChange::document("record_winner", document_id)
        .with("digest", Some(digest))
        .with("winnerVersion", winner.version.as_deref());
    seers::tell(tx, change).await?;
    Ok(Decided { winner, taken: true, news: true })
}

/// Writes what was decided.
pub(super) async fn write(tx: &mut Tx, decided: &Decided) -> Result<()> {
    if decided.news {
        let Winner { document_id, digest, version, updated_at } = &decided.winner;
        tx.write(&PUT, args![document_id, digest, version, *updated_at]).await?;
    }
    Ok(())
}

/// Forgets a winner.
pub(super) async fn remove(tx: &mut Tx, document_id: &str, seen_by: &str) -> Result<()> {
    tx.must_hold(Lock::document(document_id))?;
    if tx.write(&DELETE, args![document_id]).await? > 0 {
        tx.emit_seen_by(NewChange::document("remove_winner", document_id), seen_by);
    }
    Ok(())
}

impl Store {
    /// The winners of these documents, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn winners(&self, viewer: &Viewer, document_ids: &[String]) -> Result<Vec<Winner>> {
        let mut select = Select::new(Winner::COLUMNS, "document_winner");
        select.among("document_id", Some(document_ids));
        of_seen_documents(&mut select, viewer, "document_winner");
        select.all(&mut self.read().await?, 1).await
    }
}
