//! Retention: finished operations that nobody needs any more, and whole documents.

use crate::domain::operations::Operation;
use crate::domain::words::SweepDocumentOutcome;
use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, documents, observations, operations, retention, seers, sweeps, watches, winners};

/// Removes finished operations that nobody needs; answers how many.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of CollectFinishedInput, where they are described")]
pub struct CollectFinished {
    pub before: i64,
    pub limit: i32,
}

/// Removes everything that is known of a document.
#[derive(Debug, Clone)]
pub struct SweepDocument(pub String);

/// What came of sweeping a document.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SweepDocumentPayload, where they are described")]
pub struct SweptDocument {
    pub outcome: SweepDocumentOutcome,
    pub unfinished: Vec<Operation>,
    pub operations_removed: usize,
}

impl Act for CollectFinished {
    type Answer = usize;

    /// Nobody else writes meanwhile: what is kept must not move while the rule is asked. So a batch is the longest that any
    /// writer waits for it.
    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::everything())
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        tx.viewer().must_operate("before")?;
        retention::collect(tx, self.before, self.limit).await
    }
}

impl Act for SweepDocument {
    type Answer = SweptDocument;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let mut locks = vec![Lock::document(&self.0), Lock::observations(&self.0)];
        locks.extend(operations::of_document(tx, &self.0, false).await?.iter().flat_map(operations::locks));
        locks.extend(watches::peek_of_document(tx, &self.0).await?.iter().flat_map(watches::locks));
        locks.extend(sweeps::partitions_of_document(tx, &self.0).await?.iter().map(sweeps::partition_lock));
        Ok(Locks::of(locks))
    }

    async fn run(&self, tx: &mut Tx) -> Result<SweptDocument> {
        tx.viewer().must_operate("documentId")?;
        // Whoever merely names a document of others neither holds its sweep up nor is swept.
        let (finished, unfinished): (Vec<_>, Vec<_>) =
            operations::of_document(tx, &self.0, true).await?.into_iter().partition(Operation::is_finished);
        if !unfinished.is_empty() {
            let outcome = SweepDocumentOutcome::UnfinishedOperation;
            return Ok(SweptDocument { outcome, unfinished, operations_removed: 0 });
        }
        // While it is there by which somebody sees what is told.
        let seen_by = seers::of_document(tx, &self.0).await?;
        documents::clear_repair(tx, &self.0, &seen_by).await?;
        documents::clear_trim(tx, &self.0, &seen_by).await?;
        winners::remove(tx, &self.0, &seen_by).await?;
        retention::sweep(tx, &finished).await?;
        for row in watches::lock_of_document(tx, &self.0).await? {
            watches::remove(tx, &row).await?;
        }
        sweeps::remove_of_document(tx, &self.0).await?;
        observations::remove_of_document(tx, &self.0).await?;
        let outcome = SweepDocumentOutcome::Swept;
        Ok(SweptDocument { outcome, unfinished, operations_removed: finished.len() })
    }
}
