//! Sweeps: a relist is recorded, its candidates are looked at and applied, the checkpoint moves on.
//!
//! Every act takes its partition's lock, so that sequences and checkpoints have one order.

use crate::domain::sweeps::{
    Candidate, Checkpoint, CommitSweepOutcome, Partition, Receipt, RelistReceiptOutcome, Retry, SweepCandidateOutcome,
    SweepCandidateState, SweepFinding,
};
use crate::store::error::{Error, Result};
use crate::store::locks::Locks;
use crate::store::tx::Tx;
use crate::store::{Act, sweeps};

/// What names a receipt.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SweepReceiptKeyInput, where they are described")]
pub struct ReceiptKey {
    pub partition: Partition,
    pub provenance: String,
}

impl ReceiptKey {
    fn parts(&self) -> [&str; 4] {
        let [owner, connector, partition] = self.partition.parts();
        [owner, connector, partition, &self.provenance]
    }

    fn locks(&self) -> Locks {
        Locks::of([sweeps::partition_lock(&self.partition)])
    }
}

/// A document that a relist did not show.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RelistCandidateInput, where they are described")]
pub struct RelistCandidate {
    pub document_id: String,
    pub source_id: String,
    pub model_id: String,
}

/// Records a relist and the documents that it did not show.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RelistReceiptInput, where they are described")]
pub struct RecordRelistReceipt {
    pub key: ReceiptKey,
    pub model_id: String,
    pub scope: String,
    pub keep: String,
    pub source_fetch_hlc: String,
    pub predicate: Option<String>,
    pub kind: String,
    pub complete: bool,
    pub candidates: Vec<RelistCandidate>,
}

/// What came of recording a relist.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RelistReceiptPayload, where they are described")]
pub struct RecordedRelist {
    pub outcome: RelistReceiptOutcome,
    pub receipt: Option<Receipt>,
    pub candidates_added: usize,
}

impl RecordRelistReceipt {
    fn receipt(&self, sequence: i64, now: i64) -> Receipt {
        let [owner, connector, partition, provenance] = self.key.parts().map(str::to_owned);
        Receipt {
            owner_did: owner,
            connector_name: connector,
            partition,
            provenance,
            sequence,
            model_id: self.model_id.clone(),
            scope: self.scope.clone(),
            keep: self.keep.clone(),
            source_fetch_hlc: self.source_fetch_hlc.clone(),
            predicate: self.predicate.clone(),
            kind: self.kind.clone(),
            complete: 1,
            created_at: now,
            committed_at: None,
        }
    }

    fn candidate(&self, given: &RelistCandidate, now: i64) -> Candidate {
        let [owner, connector, partition, provenance] = self.key.parts().map(str::to_owned);
        Candidate {
            owner_did: owner,
            connector_name: connector,
            partition,
            provenance,
            document_id: given.document_id.clone(),
            source_id: given.source_id.clone(),
            model_id: given.model_id.clone(),
            state: SweepCandidateState::Pending,
            attempts: 0,
            apply_failures: 0,
            last_error: None,
            next_attempt_at: 0,
            updated_at: now,
        }
    }
}

impl Act for RecordRelistReceipt {
    type Answer = RecordedRelist;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(self.key.locks())
    }

    async fn run(&self, tx: &mut Tx) -> Result<RecordedRelist> {
        use RelistReceiptOutcome::{AlreadyCommitted, Conflict, Extended, IgnoredIncomplete, Recorded};
        tx.viewer().must_own("ownerDid", &self.key.partition.owner_did)?;
        let nothing = |outcome, receipt| RecordedRelist { outcome, receipt, candidates_added: 0 };
        if !self.complete {
            return Ok(nothing(IgnoredIncomplete, None));
        }
        let now = tx.now();
        let found = sweeps::lock_receipt(tx, self.key.parts()).await?;
        let (outcome, receipt) = match found {
            Some(found) if found.committed_at.is_some() => return Ok(nothing(AlreadyCommitted, Some(found))),
            Some(found) if !found.is_replayed_by(&self.receipt(found.sequence, now)) => {
                return Ok(nothing(Conflict, Some(found)));
            }
            Some(found) => (Extended, found),
            None => {
                let row = self.receipt(sweeps::next_sequence(tx, &self.key.partition).await?, now);
                if !sweeps::insert_receipt(tx, &row).await? {
                    return Err(Error::Moved);
                }
                (Recorded, row)
            }
        };
        let candidates = self.candidates.iter().map(|given| self.candidate(given, now)).collect();
        let candidates_added = sweeps::add_candidates(tx, candidates).await?;
        Ok(RecordedRelist { outcome, receipt: Some(receipt), candidates_added })
    }
}

/// What happened to a candidate.
#[derive(Debug, Clone)]
pub enum CandidateNews {
    /// A look at the provider found this.
    Found(SweepFinding, Retry),
    /// It is written to the local store.
    Applied,
    /// Writing it to the local store failed.
    Failed(Retry),
}

/// Tells what happened to a candidate.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of the inputs that become one, where they are described")]
pub struct TellCandidate {
    pub receipt: ReceiptKey,
    pub document_id: String,
    pub news: CandidateNews,
}

/// What came of it, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of SweepCandidatePayload, where they are described")]
pub struct ToldCandidate {
    pub outcome: SweepCandidateOutcome,
    pub candidate: Option<Candidate>,
}

impl Act for TellCandidate {
    type Answer = ToldCandidate;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(self.receipt.locks())
    }

    async fn run(&self, tx: &mut Tx) -> Result<ToldCandidate> {
        let [owner, connector, partition, provenance] = self.receipt.parts();
        let found = sweeps::lock_candidate(tx, [owner, connector, partition, provenance, &self.document_id]).await?;
        let Some(row) = found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None)) else {
            return Ok(ToldCandidate { outcome: SweepCandidateOutcome::NotFound, candidate: None });
        };
        let now = tx.now();
        let (transition, next) = match &self.news {
            CandidateNews::Found(finding, retry) => ("record_outcome", row.found(*finding, retry, now)?),
            CandidateNews::Applied => ("apply", row.applied(now)),
            CandidateNews::Failed(retry) => ("record_apply_failure", row.failed(retry, now)),
        };
        let Some(next) = next else {
            return Ok(ToldCandidate { outcome: SweepCandidateOutcome::WrongState, candidate: Some(row) });
        };
        sweeps::change_candidate(tx, transition, &row, &next).await?;
        let outcome = match (&self.news, next.state) {
            (CandidateNews::Found(..), _) => SweepCandidateOutcome::Recorded,
            (CandidateNews::Applied, _) => SweepCandidateOutcome::Applied,
            (CandidateNews::Failed(_), SweepCandidateState::Refused) => SweepCandidateOutcome::Refused,
            (CandidateNews::Failed(_), _) => SweepCandidateOutcome::Retry,
        };
        Ok(ToldCandidate { outcome, candidate: Some(next) })
    }
}

/// Commits a receipt, and moves its partition's checkpoint forward.
#[derive(Debug, Clone)]
pub struct CommitSweepCheckpoint(pub ReceiptKey);

/// What came of it, or what held it.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of CommitSweepCheckpointPayload, where they are described")]
pub struct CommittedSweep {
    pub outcome: CommitSweepOutcome,
    pub checkpoint: Option<Checkpoint>,
    pub receipt: Option<Receipt>,
    pub blocked_by: Option<Candidate>,
}

impl Act for CommitSweepCheckpoint {
    type Answer = CommittedSweep;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(self.0.locks())
    }

    async fn run(&self, tx: &mut Tx) -> Result<CommittedSweep> {
        let found = sweeps::lock_receipt(tx, self.0.parts()).await?;
        let receipt = found.filter(|row| tx.viewer().sees(Some(&row.owner_did), None));
        let stands = sweeps::checkpoint(tx, &self.0.partition).await?;
        let checkpoint = stands.filter(|row| tx.viewer().sees(Some(&row.owner_did), None));
        let held = |outcome, receipt, blocked_by| CommittedSweep { outcome, checkpoint, receipt, blocked_by };
        let Some(receipt) = receipt else { return Ok(held(CommitSweepOutcome::NotFound, None, None)) };
        if receipt.complete == 0 {
            return Ok(held(CommitSweepOutcome::Incomplete, Some(receipt), None));
        }
        if receipt.committed_at.is_some() {
            return Ok(held(CommitSweepOutcome::AlreadyCommitted, Some(receipt), None));
        }
        if let Some(candidate) = sweeps::unresolved(tx, &receipt).await? {
            return Ok(held(CommitSweepOutcome::UnresolvedCandidate, Some(receipt), Some(candidate)));
        }
        if let Some(candidate) = sweeps::earlier_unresolved(tx, &receipt).await? {
            return Ok(held(CommitSweepOutcome::EarlierUnresolved, Some(receipt), Some(candidate)));
        }
        let (receipt, checkpoint) = sweeps::commit(tx, &receipt).await?;
        Ok(CommittedSweep {
            outcome: CommitSweepOutcome::Committed,
            checkpoint: Some(checkpoint),
            receipt: Some(receipt),
            blocked_by: None,
        })
    }
}
