//! Searching: what has an id or a key that begins with a text.

use super::Store;
use super::error::Result;
use super::list::List;
use super::narrowest::FEW;
use super::operation_lists::DUE;
use super::operations::TABLE;
use super::row::FromRow;
use super::select::Select;
use crate::domain::operations::Operation;
use crate::domain::sweeps::Candidate;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch;

/// What was found, of each kind the exact ones first.
#[derive(Debug, Default)]
pub struct Found {
    /// By operation id, document, source or event.
    pub operations: Vec<Operation>,
    /// By document or source.
    pub watches: Vec<Watch>,
    /// By document.
    pub candidates: Vec<Candidate>,
}

impl Store {
    /// What has an id or a key that is this text or begins with it, some of each kind.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn search(&self, viewer: &Viewer, text: &str, limit: usize) -> Result<Found> {
        let mut found = Found::default();
        // Few rows of the viewer's are looked through; of many, those that begin so.
        let few = match viewer.confined_to() {
            Some(did) => {
                let list = List::of(TABLE, "", DUE, &|_| {}).concerning([did]);
                list.count(&mut self.read().await?, FEW).await? < FEW
            }
            None => true,
        };
        for column in ["operation_id", "document_id", "source_id", "deterministic_event_id"] {
            let concerns = |select: &mut Select| select.concerns(viewer.confined_to());
            let rows = self.beginning(TABLE, Operation::COLUMNS, (column, text), limit, few, concerns);
            let rows: Vec<Operation> = rows.await?;
            for row in rows {
                if !found.operations.iter().any(|known: &Operation| known.node_key == row.node_key) {
                    found.operations.push(row);
                }
            }
        }
        let owned = |select: &mut Select| select.equals("owner_did", viewer.confined_to());
        for column in ["document_id", "source_id"] {
            let rows =
                self.beginning("kubun_connector_projection_watch", Watch::COLUMNS, (column, text), limit, few, owned);
            let rows: Vec<Watch> = rows.await?;
            for row in rows {
                if !found.watches.iter().any(|known: &Watch| known.identity() == row.identity()) {
                    found.watches.push(row);
                }
            }
        }
        let table = "kubun_connector_sweep_candidate";
        found.candidates = self.beginning(table, Candidate::COLUMNS, ("document_id", text), limit, few, owned).await?;
        let is = |value: &str| value == text;
        found.operations.sort_by_key(|row| {
            let keys = [Some(&row.operation_id), row.document_id.as_ref(), row.source_id.as_ref()];
            !keys.into_iter().flatten().any(|key| is(key)) && !is(&row.deterministic_event_id)
        });
        found.watches.sort_by_key(|row| !is(&row.document_id) && !is(&row.source_id));
        found.candidates.sort_by_key(|row| !is(&row.document_id));
        Ok(found)
    }

    async fn beginning<T: FromRow>(
        &self,
        table: &str,
        columns: &str,
        (column, text): (&str, &str),
        limit: usize,
        few: bool,
        confine: impl Fn(&mut Select),
    ) -> Result<Vec<T>> {
        let mut select = Select::new(columns, table);
        select.compares(column, ">=", Some(text));
        // The last character there is: no text that begins with this one comes after it.
        select.compares(column, "<", Some(format!("{text}\u{10FFFF}")));
        if few {
            confine(&mut select);
        } else {
            select.unindexed(confine);
        }
        select.first_by(column, limit);
        select.all(&mut self.read().await?, 1).await
    }
}
