//! Finalizing: the write is done, its winner recorded and its watch armed, all or nothing.

use std::collections::BTreeSet;

use super::arm::arm_document;
use super::{Note, driven_operation};
use crate::domain::operations::{self as rules, Operation, Refusal};
use crate::domain::viewer::Forbidden;
use crate::domain::watches::{self as watch_rules, Watch, WatchIdentity};
use crate::domain::words::OperationOutcome;
use crate::store::documents::{self, Held};
use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, grants, operations, watches, winners};

/// Settles a write as done.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of FinalizeOperationInput, where they are described")]
pub struct FinalizeOperation {
    pub node_key: String,
    pub finalize: rules::Finalize,
    pub result_entity: Option<String>,
    pub source_id: String,
    pub winner_digest: String,
    pub winner_version: Option<String>,
}

/// What came of a finalize, with the rows as they are now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of FinalizeOperationPayload, where they are described")]
pub struct Finalized {
    pub outcome: OperationOutcome,
    pub operation: Option<Operation>,
    pub watch: Option<Watch>,
}

impl FinalizeOperation {
    /// The watch is named by the operation itself: only its source is news.
    fn identity(&self, row: &Operation) -> WatchIdentity {
        WatchIdentity {
            owner_did: row.owner_did.clone(),
            connector_name: row.connector_name.clone(),
            model: row.model.clone(),
            account_key: row.account_key.clone(),
            source_id: self.source_id.clone(),
        }
    }

    /// Makes sure that the viewer may put a watch of this identity on the document, before anything is written.
    async fn must_be_allowed(&self, tx: &mut Tx, row: &Operation, identity: &WatchIdentity) -> Result<()> {
        let forbidden = |problem| Err(Forbidden::new("documentId", problem).into());
        if tx.viewer().did().is_none() {
            return Ok(());
        }
        let document_id = &self.finalize.document_id;
        // A worker that drives what is due does not know who named its document: operators may.
        let may_vouch =
            tx.viewer().roles().operator || (tx.viewer().roles().service && !operations::is_unproven(tx, row).await?);
        let held = if may_vouch { Held::Free } else { documents::held(tx, document_id, &row.owner_did).await? };
        if held == Held::Foreign {
            return forbidden("is a document of others");
        }
        if tx.viewer().acts_for(&row.owner_did) {
            return Ok(());
        }
        // What was claimed may be finished, whatever became of the grant. Whatever else it does to the owner's books goes by the
        // grant: another document than the one that was claimed, a watch that moves here or that makes place.
        let watches = watches::lock_of_document(tx, document_id).await?;
        let own: Vec<&Watch> = watches.iter().filter(|watch| watch.owner_did == row.owner_did).collect();
        let found = watches::lock_by_identity(tx, identity).await?;
        let is_as_claimed = match &row.document_id {
            Some(claimed) => claimed == document_id,
            // The owner's own watch of it is the one that is armed, or there is none.
            None => held == Held::Free || !own.is_empty(),
        };
        let moves = found.is_some_and(|watch| watch.document_id != *document_id);
        let is_watched_otherwise = own.iter().any(|watch| watch.identity() != *identity);
        let mut connectors: BTreeSet<&str> = own.iter().map(|watch| watch.connector_name.as_str()).collect();
        connectors.remove(identity.connector_name.as_str());
        if !is_as_claimed || moves || is_watched_otherwise {
            connectors.insert(&identity.connector_name);
        }
        for connector in connectors {
            if !grants::holds(tx, &row.owner_did, &row.caller_did, connector).await? {
                return forbidden("is not the one that was claimed, or is watched for its owner: that takes a grant");
            }
        }
        Ok(())
    }

    /// Puts the watch in its place: no other identity of its owner and model keeps watching the document.
    async fn arm(&self, tx: &mut Tx, identity: WatchIdentity, winner: &str) -> Result<Watch> {
        let document_id = &self.finalize.document_id;
        for other in watches::lock_of_document(tx, document_id).await? {
            if other.owner_did == identity.owner_did && other.model == identity.model && other.identity() != identity {
                watches::remove(tx, &other).await?;
            }
        }
        let found = watches::lock_by_identity(tx, &identity).await?;
        let next = watch_rules::arm_by_finalize(found.as_ref(), identity, document_id, winner, tx.now())?;
        watches::put(tx, "arm", found.as_ref(), &next, |change| {
            change.with("trigger", Some("FINALIZE")).with("winnerDigest", Some(winner))
        })
        .await?;
        Ok(next)
    }
}

impl Act for FinalizeOperation {
    type Answer = Finalized;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let Some(row) = operations::peek(tx, &self.node_key).await? else { return Ok(Locks::none()) };
        let identity = self.identity(&row);
        let mut locks = vec![Lock::document(&self.finalize.document_id), Lock::watch(&identity)];
        if !tx.viewer().acts_for(&row.owner_did) {
            locks.push(Lock::grants(&row.owner_did, &row.caller_did));
        }
        locks.extend(operations::locks(&row));
        // The identity's watch may be another document's until now.
        locks.extend(watches::peek_by_identity(tx, &identity).await?.iter().flat_map(watches::locks));
        // Those of the same document are removed or armed with it.
        locks.extend(watches::peek_of_document(tx, &self.finalize.document_id).await?.iter().flat_map(watches::locks));
        Ok(Locks::of(locks))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Finalized> {
        let Some(row) = driven_operation(tx, &self.node_key).await? else {
            return Ok(Finalized { outcome: OperationOutcome::NotFound, operation: None, watch: None });
        };
        let next = match rules::finalize(&row, &self.finalize, tx.now()) {
            Ok(next) => next,
            Err(Refusal::Outcome(outcome)) => return Ok(Finalized { outcome, operation: Some(row), watch: None }),
            Err(Refusal::BadInput(bad)) => return Err(bad.into()),
        };
        self.must_be_allowed(tx, &row, &self.identity(&row)).await?;
        operations::change(tx, "finalize", &row, &next, &Note::None).await?;
        operations::put_result(tx, &next, self.result_entity.as_deref()).await?;
        let document_id = &self.finalize.document_id;
        let decided = winners::decide(tx, document_id, &self.winner_digest, self.winner_version.as_deref()).await?;
        let winner = &decided.winner.digest;
        let watch = self.arm(tx, self.identity(&row), winner).await?;
        let now = tx.now();
        arm_document(tx, document_id, winner, now, Some(&watch.identity())).await?;
        winners::write(tx, &decided).await?;
        let watch = Some(watch).filter(|row| tx.viewer().sees(Some(&row.owner_did), None));
        Ok(Finalized { outcome: OperationOutcome::Finalized, operation: Some(next), watch })
    }
}
