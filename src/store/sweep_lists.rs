//! The sweeps' lists, and what is read of them in passing.

use super::Store;
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::select::Select;
use super::sweeps::{CANDIDATE_KEYS, CANDIDATES, CHECKPOINT, RECEIPT_KEYS, RECEIPTS, key_args};
use crate::domain::sweeps::{Candidate, Checkpoint, Partition, Receipt, SweepCandidateState};
use crate::domain::viewer::Viewer;

/// Which receipts a list shows. `None` does not filter.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of SweepReceiptFilter, where they are described")]
pub struct ReceiptFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
    pub partition: Option<String>,
    pub committed: Option<bool>,
}

/// Which candidates a list shows. `None` does not filter, an empty list matches nothing.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of SweepCandidateFilter, where they are described")]
pub struct CandidateFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
    pub partition: Option<String>,
    pub provenance: Option<String>,
    pub states: Option<Vec<SweepCandidateState>>,
    pub due_at: Option<i64>,
}

/// By partition and sequence.
pub const RECEIPT_ORDER: Keyset =
    Keyset { columns: &["owner_did", "connector_name", "partition", "sequence", "provenance"], descending: false };
/// Longest untouched first.
pub const CANDIDATE_ORDER: Keyset = Keyset {
    columns: &["updated_at", "document_id", "owner_did", "connector_name", "partition", "provenance"],
    descending: false,
};

impl Keyed for Receipt {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        let [owner, connector, partition, provenance] = self.parts().map(|part| KeyPart::Text(part.to_owned()));
        vec![owner, connector, partition, KeyPart::Int(self.sequence), provenance]
    }
}

impl Keyed for Candidate {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        let [owner, connector, partition, provenance, document] =
            self.parts().map(|part| KeyPart::Text(part.to_owned()));
        vec![KeyPart::Int(self.updated_at), document, owner, connector, partition, provenance]
    }
}

impl Store {
    /// The receipts with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn receipts_by_node_key(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<Receipt>> {
        self.by_node_key(&RECEIPT_KEYS, Receipt::COLUMNS, viewer, node_keys).await
    }

    /// The candidates with these node keys, in no order.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn candidates_by_node_key(&self, viewer: &Viewer, node_keys: &[String]) -> Result<Vec<Candidate>> {
        self.by_node_key(&CANDIDATE_KEYS, Candidate::COLUMNS, viewer, node_keys).await
    }

    /// A page of the receipts that match, by partition and sequence.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn receipts(&self, viewer: &Viewer, filter: &ReceiptFilter, slice: &Slice) -> Result<Page<Receipt>> {
        let filter = |select: &mut Select| {
            select.equals("owner_did", viewer.confined_to());
            select.equals("owner_did", filter.owner_did.as_deref());
            select.equals("connector_name", filter.connector_name.as_deref());
            select.equals("partition", filter.partition.as_deref());
            if let Some(committed) = filter.committed {
                select.and(if committed { "committed_at IS NOT NULL" } else { "committed_at IS NULL" });
            }
        };
        let list = List::of(RECEIPTS, Receipt::COLUMNS, RECEIPT_ORDER, &filter);
        list.page(&mut self.read().await?, slice).await
    }

    /// A page of the candidates that match, longest untouched first.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn candidates(
        &self,
        viewer: &Viewer,
        filter: &CandidateFilter,
        slice: &Slice,
    ) -> Result<Page<Candidate>> {
        let filter = |select: &mut Select| {
            select.equals("owner_did", viewer.confined_to());
            select.equals("owner_did", filter.owner_did.as_deref());
            select.equals("connector_name", filter.connector_name.as_deref());
            select.equals("partition", filter.partition.as_deref());
            select.equals("provenance", filter.provenance.as_deref());
            select.among("state", filter.states.as_deref());
            if filter.due_at.is_some() {
                select.and("state NOT IN ('applied', 'refused')");
                select.compares("next_attempt_at", "<=", filter.due_at);
            }
        };
        let list = List::of(CANDIDATES, Candidate::COLUMNS, CANDIDATE_ORDER, &filter);
        list.page(&mut self.read().await?, slice).await
    }

    /// A partition's checkpoint.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn checkpoint(&self, viewer: &Viewer, partition: &Partition) -> Result<Option<Checkpoint>> {
        let found = self.read().await?.first::<Checkpoint>(&CHECKPOINT, key_args(partition.parts())).await?;
        Ok(found.filter(|row| viewer.sees(Some(&row.owner_did), None)))
    }

    /// The same page of each receipt's candidates.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn candidates_of(&self, receipts: &[[String; 4]], slice: &Slice) -> Result<Vec<Page<Candidate>>> {
        let filter = |_: &mut Select| {};
        let list = List::of(CANDIDATES, Candidate::COLUMNS, CANDIDATE_ORDER, &filter);
        let columns = ["owner_did", "connector_name", "partition", "provenance"];
        list.page_each_key(&mut self.read().await?, columns, receipts, slice).await
    }

    /// How many candidates of each receipt are in each state.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn sweep_progress(&self, receipts: &[[String; 4]]) -> Result<Vec<Vec<(SweepCandidateState, i64)>>> {
        const COLUMNS: [&str; 4] = ["owner_did", "connector_name", "partition", "provenance"];
        let grouped = COLUMNS.join(", ");
        let mut select = Select::new(&format!("{grouped}, state, count(*)"), CANDIDATES);
        select.keys(&COLUMNS, receipts.iter().map(|key| key.each_ref().map(String::as_str)));
        select.grouped(&format!("{grouped}, state"));
        let rows: Vec<(String, String, String, String, SweepCandidateState, i64)> =
            select.all(&mut self.read().await?, receipts.len()).await?;
        let of = |receipt: &[String; 4]| {
            let own = rows.iter().filter(|(a, b, c, d, _, _)| [a, b, c, d] == receipt.each_ref());
            let mut counts: Vec<_> = own.map(|(_, _, _, _, state, count)| (*state, *count)).collect();
            counts.sort_unstable();
            counts
        };
        Ok(receipts.iter().map(of).collect())
    }
}
