//! The operations' mutations.

use std::sync::Arc;

use async_graphql::{Context, Object, SimpleObject};

use super::Services;
use super::bulk::perform_each;
use super::errors::{Failure, Result};
use super::operation_input::{
    ClaimOperationInput, DeferOperationInput, FinalizeOperationInput, LeaseInput, MarkSendStartedInput,
    RecordOperationInput, ReissueOperationInput, ReleaseLeaseInput, ResumeAuthInput, ResumeOfflineInput,
};
use super::operations::Operation;
use super::watches::Watch;
use crate::domain::viewer::Viewer;
use crate::domain::words::{ClaimOutcome, LeaseOutcome, OperationOutcome, OperationState, ReissueOutcome};
use crate::store::Act;
use crate::store::acts::{Claimed, Driven, Finalized, Leased, Reissued, Resumed};

/// What came of a claim.
#[derive(Debug, SimpleObject)]
pub(super) struct ClaimOperationPayload {
    /// What came of it.
    outcome: ClaimOutcome,
    /// The operation, with CLAIMED and EXISTS.
    operation: Option<Operation>,
    /// How the collected operation had ended, with SETTLED.
    settled_state: Option<OperationState>,
    /// The document that the collected operation had written, with SETTLED.
    settled_document_id: Option<String>,
}

impl From<Claimed> for ClaimOperationPayload {
    fn from(claimed: Claimed) -> Self {
        let (settled_state, settled_document_id) = claimed.settled.unzip();
        Self {
            outcome: claimed.outcome,
            operation: claimed.operation.map(Operation::from),
            settled_state,
            settled_document_id: settled_document_id.flatten(),
        }
    }
}

/// What came of a reissue.
#[derive(Debug, SimpleObject)]
pub(super) struct ReissueOperationPayload {
    /// What came of it.
    outcome: ReissueOutcome,
    /// The new operation, with CLAIMED, EXISTS and `ALREADY_REISSUED`; null when it was collected.
    operation: Option<Operation>,
    /// The operation that it was made from, as it is now; null with `NOT_FOUND`.
    reissued_from: Option<Operation>,
}

/// What came of a lease act.
#[derive(Debug, SimpleObject)]
pub(super) struct LeasePayload {
    /// What came of it.
    outcome: LeaseOutcome,
    /// The operation as it is now; null with `NOT_FOUND`.
    operation: Option<Operation>,
}

/// What came of an act on an operation.
#[derive(Debug, SimpleObject)]
pub(super) struct OperationPayload {
    /// What came of it.
    outcome: OperationOutcome,
    /// The operation as it is now; null with `NOT_FOUND`.
    operation: Option<Operation>,
}

/// What came of a finalize.
#[derive(Debug, SimpleObject)]
pub(super) struct FinalizeOperationPayload {
    /// What came of it.
    outcome: OperationOutcome,
    /// The operation as it is now; null with `NOT_FOUND`.
    operation: Option<Operation>,
    /// The watch that was armed, with FINALIZED.
    watch: Option<Watch>,
}

/// How many rows are due now that waited before.
#[derive(Debug, SimpleObject)]
pub(super) struct ResumePayload {
    /// Operations.
    operations: i32,
    /// Watches.
    watches: i32,
}

/// Performs an act on behalf of the viewer.
pub(super) async fn perform<A: Act>(ctx: &Context<'_>, act: A) -> Result<A::Answer> {
    let store = &ctx.data_unchecked::<Services>().store;
    Ok(store.perform(ctx.data_unchecked::<Arc<Viewer>>(), act).await?)
}

/// The act's time as far as bounds on due times need it.
pub(super) fn now(ctx: &Context<'_>) -> i64 {
    ctx.data_unchecked::<Services>().store.now_ms()
}

fn leased(answer: Leased) -> LeasePayload {
    LeasePayload { outcome: answer.outcome, operation: answer.operation.map(Operation::from) }
}

fn driven(answer: Driven) -> OperationPayload {
    OperationPayload { outcome: answer.outcome, operation: answer.operation.map(Operation::from) }
}

fn resumed(answer: Resumed) -> ResumePayload {
    let count = |rows: usize| i32::try_from(rows).unwrap_or(i32::MAX);
    ResumePayload { operations: count(answer.operations), watches: count(answer.watches) }
}

/// The acts on operations.
#[derive(Default)]
pub struct OperationActs;

/// The acts on operations.
#[Object]
impl OperationActs {
    /// Claims an idempotency key for a write. The same claim again finds the operation and writes nothing.
    async fn claim_operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The write, its key and its first lease.")] input: ClaimOperationInput,
    ) -> async_graphql::Result<ClaimOperationPayload> {
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        Ok(perform(ctx, input.checked(viewer.did()).map_err(Failure::from)?).await?.into())
    }

    /// As claimOperation, for many writes in one commit: one answer each, in order.
    async fn claim_operations(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The writes, at most 500.")] inputs: Vec<ClaimOperationInput>,
    ) -> async_graphql::Result<Vec<ClaimOperationPayload>> {
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        let claimed = perform_each(ctx, inputs, |input| input.checked(viewer.did())).await?;
        Ok(claimed.into_iter().map(ClaimOperationPayload::from).collect())
    }

    /// Claims the write of a dead operation, or of one whose outcome nobody knows, again under a new key. The latter is dead
    /// from then on.
    async fn reissue_operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation as it was read, and the new key.")] input: ReissueOperationInput,
    ) -> async_graphql::Result<ReissueOperationPayload> {
        let Reissued { outcome, operation, from } = perform(ctx, input.checked().map_err(Failure::from)?).await?;
        Ok(ReissueOperationPayload {
            outcome,
            operation: operation.map(Operation::from),
            reissued_from: from.map(Operation::from),
        })
    }

    /// Takes the lease of an operation in any state: when it is free, expired, or one's own.
    async fn acquire_lease(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation, the token and the duration.")] input: LeaseInput,
    ) -> async_graphql::Result<LeasePayload> {
        Ok(leased(perform(ctx, input.acquire().map_err(Failure::from)?).await?))
    }

    /// Extends one's own lease, expired or not, for as long as nobody else took it.
    async fn renew_lease(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation, the token and the duration.")] input: LeaseInput,
    ) -> async_graphql::Result<LeasePayload> {
        Ok(leased(perform(ctx, input.renew().map_err(Failure::from)?).await?))
    }

    /// Frees one's own lease.
    async fn release_lease(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation and the token.")] input: ReleaseLeaseInput,
    ) -> async_graphql::Result<LeasePayload> {
        Ok(leased(perform(ctx, input.checked().map_err(Failure::from)?).await?))
    }

    /// Says, before anything leaves for the provider, that a send is about to start.
    async fn mark_send_started(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation, the token and the sender's marker.")] input: MarkSendStartedInput,
    ) -> async_graphql::Result<OperationPayload> {
        Ok(driven(perform(ctx, input.checked().map_err(Failure::from)?).await?))
    }

    /// Records how an attempt ended, short of success.
    async fn record_operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What was read, and what is to stand instead.")] input: RecordOperationInput,
    ) -> async_graphql::Result<OperationPayload> {
        Ok(driven(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?))
    }

    /// Moves the next attempt, by the lease's holder or while nobody holds a live one.
    async fn defer_operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The operation, the time and the reason.")] input: DeferOperationInput,
    ) -> async_graphql::Result<OperationPayload> {
        Ok(driven(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?))
    }

    /// Settles a write as done, records its winner and arms its watch: all of it, or nothing.
    async fn finalize_operation(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What was written, where, and what the local store shows.")] input: FinalizeOperationInput,
    ) -> async_graphql::Result<FinalizeOperationPayload> {
        let Finalized { outcome, operation, watch } =
            perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(FinalizeOperationPayload {
            outcome,
            operation: operation.map(Operation::from),
            watch: watch.map(Watch::from),
        })
    }

    /// Makes every operation and watch that waits for the network due now.
    async fn resume_offline_deferred(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whose, and by which connectors.")] input: ResumeOfflineInput,
    ) -> async_graphql::Result<ResumePayload> {
        Ok(resumed(perform(ctx, input.checked().map_err(Failure::from)?).await?))
    }

    /// Makes every operation and watch of one owner that waits for an authorisation due now.
    async fn resume_auth_deferred(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whose, and by which connectors.")] input: ResumeAuthInput,
    ) -> async_graphql::Result<ResumePayload> {
        Ok(resumed(perform(ctx, input.checked().map_err(Failure::from)?).await?))
    }
}
