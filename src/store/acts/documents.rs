//! What is said of a document beside its writes: trims, repairs, observations.

use std::sync::Arc;

use super::must_own_document;
use crate::domain::documents::{EntityTrim, ObservationRepair};
use crate::domain::observations::copies::{Copy, Decision, ObservationRecordOutcome, decide, prune, put};
use crate::store::error::{Error, Result};
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, documents, observations, seers};

/// Says which fields were left out of a document's copy; its time is the act's.
#[derive(Debug, Clone)]
pub struct SetEntityTrim(pub EntityTrim);

/// Forgets a document's trim; answers how many there were.
#[derive(Debug, Clone)]
pub struct ClearEntityTrim(pub String);

/// Puts the repair that a document waits for; its time and number are the act's.
#[derive(Debug, Clone)]
pub struct PutObservationRepair(pub ObservationRepair);

/// Forgets a document's repair; answers how many there were.
#[derive(Debug, Clone)]
pub struct ClearObservationRepair(pub String);

/// Puts a verified copy of a claim.
#[derive(Debug, Clone)]
pub struct PutObservationRecord {
    /// The copy.
    pub copy: Copy,
    /// Who may sign beside owners.
    pub services: Arc<Vec<String>>,
}

/// Removes a signer's copies when another's remain; answers how many.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of PruneObservationInput, where they are described")]
pub struct PruneObservationRecord {
    pub owner: String,
    pub id: String,
    pub signer: String,
    /// Who may sign beside owners.
    pub services: Arc<Vec<String>>,
}

fn document_locks(document_id: &str) -> Locks {
    Locks::of([Lock::document(document_id)])
}

impl Act for SetEntityTrim {
    type Answer = EntityTrim;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(document_locks(&self.0.document_id))
    }

    async fn run(&self, tx: &mut Tx) -> Result<EntityTrim> {
        must_own_document(tx, &self.0.document_id).await?;
        tx.viewer().must_own("ownerDid", &self.0.owner_did)?;
        let row = EntityTrim { updated_at: tx.now(), ..self.0.clone() };
        documents::put_trim(tx, &row).await?;
        Ok(row)
    }
}

impl Act for ClearEntityTrim {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(document_locks(&self.0))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        must_own_document(tx, &self.0).await?;
        let seen_by = seers::of_document(tx, &self.0).await?;
        documents::clear_trim(tx, &self.0, &seen_by).await
    }
}

impl Act for PutObservationRepair {
    type Answer = ObservationRepair;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(document_locks(&self.0.document_id))
    }

    async fn run(&self, tx: &mut Tx) -> Result<ObservationRepair> {
        must_own_document(tx, &self.0.document_id).await?;
        tx.viewer().must_own("owner", &self.0.owner)?;
        let row = ObservationRepair { written_at: tx.now(), ..self.0.clone() };
        documents::put_repair(tx, &row).await?;
        // Read again for its number, which the database gave it.
        documents::repair(tx, &row.document_id).await?.ok_or(Error::Guard("kubun_connector_observation_repair", 0))
    }
}

impl Act for ClearObservationRepair {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(document_locks(&self.0))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        must_own_document(tx, &self.0).await?;
        let seen_by = seers::of_document(tx, &self.0).await?;
        documents::clear_repair(tx, &self.0, &seen_by).await
    }
}

impl Act for PutObservationRecord {
    type Answer = (ObservationRecordOutcome, Option<Decision>);

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::observations(&self.copy.claim.id)]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Answer> {
        let key = (self.copy.claim.owner.as_str(), self.copy.claim.id.as_str());
        tx.viewer().must_own("owner", key.0)?;
        let copies = observations::copies(tx, key, &self.services).await?;
        let (outcome, kept) = put(&copies, &self.copy);
        if let Some(kept) = &kept {
            observations::keep(tx, "put_observation", key, kept).await?;
        }
        Ok((outcome, decide(&kept.unwrap_or(copies))))
    }
}

impl Act for PruneObservationRecord {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::observations(&self.id)]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        tx.viewer().must_operate("signer")?;
        let key = (self.owner.as_str(), self.id.as_str());
        match prune(&observations::copies(tx, key, &self.services).await?, &self.signer) {
            Some(kept) => observations::keep(tx, "prune_observation", key, &kept).await,
            None => Ok(0),
        }
    }
}
