//! The sweeps' mutations.

use async_graphql::{Context, InputObject, Object, SimpleObject};

use super::bulk::perform_each;
use super::errors::Failure;
use super::operation_acts::{now, perform};
use super::operation_input::due;
use super::scalars::{DateTime, Json};
use super::sweeps::{SweepCandidate, SweepCheckpoint, SweepReceipt, checked_partition};
use crate::domain::bounds::{self, BadInput};
use crate::domain::sweeps::{CommitSweepOutcome, RelistReceiptOutcome, Retry, SweepCandidateOutcome, SweepFinding};
use crate::store::acts::{self, CandidateNews, CommittedSweep, ReceiptKey, RecordedRelist, ToldCandidate};

type Checked<T> = Result<T, BadInput>;

fn receipt_key(owner: String, connector: String, partition: String, provenance: String) -> Checked<ReceiptKey> {
    bounds::key("provenance", &provenance)?;
    Ok(ReceiptKey { partition: checked_partition(owner, connector, partition)?, provenance })
}

/// What names a receipt.
#[derive(Debug, InputObject)]
pub(super) struct SweepReceiptKeyInput {
    /// The DID whose data was listed.
    owner_did: String,
    /// The connector that listed.
    connector_name: String,
    /// The part of the provider that was listed.
    partition: String,
    /// The connector's own name for the relist.
    provenance: String,
}

/// What names a candidate.
#[derive(Debug, InputObject)]
pub(super) struct SweepCandidateKeyInput {
    /// The DID whose data was listed.
    owner_did: String,
    /// The connector that listed.
    connector_name: String,
    /// The part of the provider that was listed.
    partition: String,
    /// The connector's own name for the relist.
    provenance: String,
    /// The document.
    document_id: String,
}

/// A document that a relist did not show.
#[derive(Debug, InputObject)]
#[expect(clippy::struct_field_names, reason = "the names are the contract's")]
pub(super) struct RelistCandidateInput {
    /// The document.
    document_id: String,
    /// The provider's name for it.
    source_id: String,
    /// The kind of document.
    model_id: String,
}

/// Records a relist of a partition.
#[derive(Debug, InputObject)]
pub(super) struct RelistReceiptInput {
    /// The DID whose data was listed.
    owner_did: String,
    /// The connector that listed.
    connector_name: String,
    /// The part of the provider that was listed.
    partition: String,
    /// The connector's own name for the relist.
    provenance: String,
    /// The kind of document that was listed.
    model_id: String,
    /// What was listed, at most 256 KiB. A replay has to repeat it.
    scope: Json,
    /// What the relist showed and so is kept, at most 256 KiB. A replay has to repeat it.
    keep: Json,
    /// The hybrid logical clock of the fetch.
    source_fetch_hlc: String,
    /// What documents had to be like to be candidates, at most 256 KiB.
    predicate: Option<Json>,
    /// What kind of relist it was, in the connector's own words.
    kind: String,
    /// Whether the relist came to its end; one that did not is ignored.
    complete: bool,
    /// The documents that it did not show, at most 500; replay the receipt to add more.
    candidates: Vec<RelistCandidateInput>,
}

impl RelistReceiptInput {
    fn checked(self, now: i64) -> Checked<acts::RecordRelistReceipt> {
        let key = receipt_key(self.owner_did, self.connector_name, self.partition, self.provenance)?;
        bounds::key("modelId", &self.model_id)?;
        bounds::hlc("sourceFetchHlc", &self.source_fetch_hlc, now)?;
        bounds::key("kind", &self.kind)?;
        bounds::length("candidates", self.candidates.len())?;
        let candidates = self.candidates.into_iter().map(|given| {
            bounds::key("candidates.documentId", &given.document_id)?;
            bounds::key("candidates.sourceId", &given.source_id)?;
            bounds::key("candidates.modelId", &given.model_id)?;
            let RelistCandidateInput { document_id, source_id, model_id } = given;
            Ok(acts::RelistCandidate { document_id, source_id, model_id })
        });
        Ok(acts::RecordRelistReceipt {
            key,
            model_id: self.model_id,
            scope: bounds::json("scope", &self.scope.0)?,
            keep: bounds::json("keep", &self.keep.0)?,
            source_fetch_hlc: self.source_fetch_hlc,
            predicate: self.predicate.map(|predicate| bounds::json("predicate", &predicate.0)).transpose()?,
            kind: self.kind,
            complete: self.complete,
            candidates: candidates.collect::<Checked<_>>()?,
        })
    }
}

/// Tells what a look at the provider found.
#[derive(Debug, InputObject)]
pub(super) struct SweepOutcomeInput {
    /// The DID whose data was listed.
    owner_did: String,
    /// The connector that listed.
    connector_name: String,
    /// The part of the provider that was listed.
    partition: String,
    /// The connector's own name for the relist.
    provenance: String,
    /// The document.
    document_id: String,
    /// What was found.
    outcome: SweepFinding,
    /// What went wrong, in words; at most 4,096 bytes.
    last_error: Option<String>,
    /// When to look again, at most 366 days ahead; at once when left out.
    next_attempt_at: Option<DateTime>,
}

impl SweepOutcomeInput {
    fn checked(self, now: i64) -> Checked<acts::TellCandidate> {
        let key = SweepCandidateKeyInput {
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            partition: self.partition,
            provenance: self.provenance,
            document_id: self.document_id,
        };
        let retry = checked_retry(self.last_error, self.next_attempt_at, now)?;
        key.checked(CandidateNews::Found(self.outcome, retry))
    }
}

/// Tells that writing a candidate to the local store failed.
#[derive(Debug, InputObject)]
pub(super) struct SweepApplyFailureInput {
    /// The DID whose data was listed.
    owner_did: String,
    /// The connector that listed.
    connector_name: String,
    /// The part of the provider that was listed.
    partition: String,
    /// The connector's own name for the relist.
    provenance: String,
    /// The document.
    document_id: String,
    /// What went wrong, in words; at most 4,096 bytes.
    last_error: String,
    /// When to look again, at most 366 days ahead; at once when left out.
    next_attempt_at: Option<DateTime>,
}

impl SweepApplyFailureInput {
    fn checked(self, now: i64) -> Checked<acts::TellCandidate> {
        let key = SweepCandidateKeyInput {
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            partition: self.partition,
            provenance: self.provenance,
            document_id: self.document_id,
        };
        let retry = checked_retry(Some(self.last_error), self.next_attempt_at, now)?;
        key.checked(CandidateNews::Failed(retry))
    }
}

fn checked_retry(last_error: Option<String>, next_attempt_at: Option<DateTime>, now: i64) -> Checked<Retry> {
    bounds::message("lastError", last_error.as_deref())?;
    due("nextAttemptAt", next_attempt_at, now)?;
    Ok(Retry { last_error, next_attempt_at: next_attempt_at.map(|at| at.0) })
}

impl SweepReceiptKeyInput {
    fn checked(self) -> Checked<ReceiptKey> {
        receipt_key(self.owner_did, self.connector_name, self.partition, self.provenance)
    }
}

impl SweepCandidateKeyInput {
    fn checked(self, news: CandidateNews) -> Checked<acts::TellCandidate> {
        bounds::key("documentId", &self.document_id)?;
        let receipt = receipt_key(self.owner_did, self.connector_name, self.partition, self.provenance)?;
        Ok(acts::TellCandidate { receipt, document_id: self.document_id, news })
    }
}

/// What came of recording a relist.
#[derive(Debug, SimpleObject)]
pub(super) struct RelistReceiptPayload {
    /// What came of it.
    outcome: RelistReceiptOutcome,
    /// The receipt as it stands; null with `IGNORED_INCOMPLETE`.
    receipt: Option<SweepReceipt>,
    /// How many candidates were added.
    candidates_added: i32,
}

/// What came of an act on a candidate.
#[derive(Debug, SimpleObject)]
pub(super) struct SweepCandidatePayload {
    /// What came of it.
    outcome: SweepCandidateOutcome,
    /// The candidate as it is now; null with `NOT_FOUND`.
    candidate: Option<SweepCandidate>,
}

impl From<ToldCandidate> for SweepCandidatePayload {
    fn from(told: ToldCandidate) -> Self {
        Self { outcome: told.outcome, candidate: told.candidate.map(SweepCandidate::from) }
    }
}

/// What came of committing a receipt.
#[derive(Debug, SimpleObject)]
pub(super) struct CommitSweepCheckpointPayload {
    /// What came of it, or which rule held it.
    outcome: CommitSweepOutcome,
    /// The partition's checkpoint as it stands now.
    checkpoint: Option<SweepCheckpoint>,
    /// The receipt as it is now; null with `NOT_FOUND`.
    receipt: Option<SweepReceipt>,
    /// The candidate that held it.
    blocked_by: Option<SweepCandidate>,
}

/// The acts on sweeps.
#[derive(Default)]
pub struct SweepActs;

/// The acts on sweeps.
#[Object]
impl SweepActs {
    /// Records a relist of a partition and the documents that it did not show.
    async fn record_relist_receipt(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The relist and its candidates.")] input: RelistReceiptInput,
    ) -> async_graphql::Result<RelistReceiptPayload> {
        let RecordedRelist { outcome, receipt, candidates_added } =
            perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(RelistReceiptPayload {
            outcome,
            receipt: receipt.map(SweepReceipt::from),
            candidates_added: i32::try_from(candidates_added).unwrap_or(i32::MAX),
        })
    }

    /// Tells what a look at the provider found of a candidate.
    async fn record_sweep_outcome(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The candidate and what was found.")] input: SweepOutcomeInput,
    ) -> async_graphql::Result<SweepCandidatePayload> {
        Ok(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?.into())
    }

    /// As recordSweepOutcome, for many candidates in one commit: one answer each, in order.
    async fn record_sweep_outcomes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The candidates and what was found, at most 500.")] inputs: Vec<SweepOutcomeInput>,
    ) -> async_graphql::Result<Vec<SweepCandidatePayload>> {
        let now = now(ctx);
        let told = perform_each(ctx, inputs, |input| input.checked(now)).await?;
        Ok(told.into_iter().map(SweepCandidatePayload::from).collect())
    }

    /// Tells that writing a candidate to the local store failed. The fifth failure refuses it.
    async fn record_sweep_apply_failure(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The candidate and what went wrong.")] input: SweepApplyFailureInput,
    ) -> async_graphql::Result<SweepCandidatePayload> {
        Ok(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?.into())
    }

    /// Tells that what was found of a candidate is written to the local store.
    async fn mark_sweep_candidate_applied(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The candidate.")] input: SweepCandidateKeyInput,
    ) -> async_graphql::Result<SweepCandidatePayload> {
        Ok(perform(ctx, input.checked(CandidateNews::Applied).map_err(Failure::from)?).await?.into())
    }

    /// Commits a receipt whose candidates are all resolved, and moves the partition's checkpoint forward to it.
    async fn commit_sweep_checkpoint(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The receipt.")] input: SweepReceiptKeyInput,
    ) -> async_graphql::Result<CommitSweepCheckpointPayload> {
        let act = acts::CommitSweepCheckpoint(input.checked().map_err(Failure::from)?);
        let CommittedSweep { outcome, checkpoint, receipt, blocked_by } = perform(ctx, act).await?;
        Ok(CommitSweepCheckpointPayload {
            outcome,
            checkpoint: checkpoint.map(SweepCheckpoint::from),
            receipt: receipt.map(SweepReceipt::from),
            blocked_by: blocked_by.map(SweepCandidate::from),
        })
    }
}
