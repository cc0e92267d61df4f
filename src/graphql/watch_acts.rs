//! The watches' mutations, and the winner's.

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::bulk::perform_each;
use super::documents::Winner;
use super::errors::Failure;
use super::operation_acts::{now, perform};
use super::operation_input::due;
use super::scalars::DateTime;
use super::watches::Watch;
use crate::domain::bounds::{self, BadInput};
use crate::domain::ids::NodeId;
use crate::domain::watches::Verification;
use crate::domain::words::{ArmOutcome, DeferReason, EntityKind, VerificationOutcome, WatchOutcome};
use crate::store::acts::{self, Armed, RecordedWinner, Verified, WatchAct};

type Checked<T> = Result<T, BadInput>;

fn watch_key(id: &ID) -> Checked<String> {
    NodeId::decode_as(EntityKind::Watch, "id", id)
}

/// Says what the local store shows of a document.
#[derive(Debug, InputObject)]
pub(super) struct RecordWinnerInput {
    /// The document.
    document_id: String,
    /// The digest of what it shows; of a deleted document the one that the connector defines for absence.
    digest: String,
    /// Its hybrid logical clock text: one lower than the stored leaves the stored winner alone.
    version: Option<String>,
    /// When its watches are to be checked, at most 366 days ahead; at once when left out.
    due_at: Option<DateTime>,
}

impl RecordWinnerInput {
    fn checked(self, now: i64) -> Checked<acts::RecordWinner> {
        bounds::key("documentId", &self.document_id)?;
        bounds::key("digest", &self.digest)?;
        if let Some(version) = &self.version {
            bounds::hlc("version", version, now)?;
        }
        due("dueAt", self.due_at, now)?;
        Ok(acts::RecordWinner {
            document_id: self.document_id,
            digest: self.digest,
            version: self.version,
            due_at: self.due_at.map(|at| at.0),
        })
    }
}

/// Says that a winner was seen to come in: arms one watch by ingress.
#[derive(Debug, InputObject)]
pub(super) struct ArmWatchInput {
    /// The watch.
    id: ID,
    /// The digest that was seen; nothing is done when it is not the winner any more.
    triggering_winner: String,
    /// When it is to be checked, at most 366 days ahead.
    due_at: DateTime,
}

impl ArmWatchInput {
    fn checked(self, now: i64) -> Checked<acts::ArmWatch> {
        bounds::key("triggeringWinner", &self.triggering_winner)?;
        due("dueAt", Some(self.due_at), now)?;
        Ok(acts::ArmWatch {
            node_key: watch_key(&self.id)?,
            triggering_winner: self.triggering_winner,
            due_at: self.due_at.0,
        })
    }
}

/// Asks that the provider is read again, whatever the watch's state.
#[derive(Debug, InputObject)]
pub(super) struct RequestRepullInput {
    /// The watch.
    id: ID,
    /// When it is to be checked, at most 366 days ahead; at once when left out.
    due_at: Option<DateTime>,
    /// Why, in words; kept with the change, at most 1,000 characters.
    note: Option<String>,
}

impl RequestRepullInput {
    fn checked(self, now: i64) -> Checked<acts::RequestRepull> {
        due("dueAt", self.due_at, now)?;
        bounds::note("note", self.note.as_deref())?;
        Ok(acts::RequestRepull { node_key: watch_key(&self.id)?, due_at: self.due_at.map(|at| at.0), note: self.note })
    }
}

/// Takes one verification attempt.
#[derive(Debug, InputObject)]
pub(super) struct ClaimWatchAttemptInput {
    /// The watch.
    id: ID,
    /// The generation that was read.
    generation: i32,
    /// How long the attempt is one's own, 1,000 to 3,600,000 ms.
    claim_ms: i32,
}

impl ClaimWatchAttemptInput {
    fn checked(self) -> Checked<acts::ClaimWatchAttempt> {
        bounds::count("generation", self.generation)?;
        bounds::lease_ms("claimMs", self.claim_ms)?;
        Ok(acts::ClaimWatchAttempt {
            node_key: watch_key(&self.id)?,
            generation: self.generation,
            claim_ms: self.claim_ms,
        })
    }
}

/// Puts an attempt off, without counting it.
#[derive(Debug, InputObject)]
pub(super) struct DeferWatchInput {
    /// The watch.
    id: ID,
    /// The generation that was read.
    generation: i32,
    /// What claimWatchAttempt answered.
    claimed_until: DateTime,
    /// When it is to be checked, at most 366 days ahead.
    next_attempt_at: DateTime,
    /// What it waits for.
    reason: Option<DeferReason>,
}

impl DeferWatchInput {
    fn checked(self, now: i64) -> Checked<acts::DeferWatch> {
        bounds::count("generation", self.generation)?;
        due("nextAttemptAt", Some(self.next_attempt_at), now)?;
        Ok(acts::DeferWatch {
            node_key: watch_key(&self.id)?,
            generation: self.generation,
            claimed_until: self.claimed_until.0,
            next_attempt_at: self.next_attempt_at.0,
            reason: self.reason,
        })
    }
}

/// Tells what the provider shows.
#[derive(Debug, InputObject)]
pub(super) struct RecordVerificationInput {
    /// The watch.
    id: ID,
    /// The generation that was read.
    generation: i32,
    /// What claimWatchAttempt answered; not compared when left out.
    claimed_until: Option<DateTime>,
    /// The digest of what the provider shows; null, which never matches, when it shows nothing.
    fetched_digest: Option<String>,
    /// How many mismatches end the generation, 1 to 100.
    max_attempts: i32,
    /// When to try again after a mismatch, at most 366 days ahead.
    due_at: DateTime,
}

impl RecordVerificationInput {
    fn checked(self, now: i64) -> Checked<acts::RecordVerification> {
        bounds::count("generation", self.generation)?;
        bounds::optional_key("fetchedDigest", self.fetched_digest.as_deref())?;
        bounds::max_attempts("maxAttempts", self.max_attempts)?;
        due("dueAt", Some(self.due_at), now)?;
        Ok(acts::RecordVerification {
            node_key: watch_key(&self.id)?,
            verification: Verification {
                generation: self.generation,
                claimed_until: self.claimed_until.map(|at| at.0),
                fetched_digest: self.fetched_digest,
                max_attempts: self.max_attempts,
                due_at: self.due_at.0,
            },
        })
    }
}

/// What came of recording a winner.
#[derive(Debug, SimpleObject)]
pub(super) struct RecordWinnerPayload {
    /// The strongest of what came of the document's watches: OPENED, COALESCED, NOOP.
    outcome: ArmOutcome,
    /// The winner that stands now.
    winner: Winner,
    /// The document's watches as they are now.
    watches: Vec<Watch>,
}

/// What came of arming a watch.
#[derive(Debug, SimpleObject)]
pub(super) struct ArmWatchPayload {
    /// What came of it.
    outcome: ArmOutcome,
    /// The watch as it is now; null when there is none.
    watch: Option<Watch>,
}

/// What came of an act on a watch.
#[derive(Debug, SimpleObject)]
pub(super) struct WatchPayload {
    /// What came of it.
    outcome: WatchOutcome,
    /// The watch as it is now; null with `NOT_FOUND`.
    watch: Option<Watch>,
    /// Until when the attempt is one's own, with CLAIMED: the acts of this attempt name it.
    claimed_until: Option<DateTime>,
}

/// What came of a verification.
#[derive(Debug, SimpleObject)]
pub(super) struct RecordVerificationPayload {
    /// What came of it.
    outcome: VerificationOutcome,
    /// The watch as it is now; null with `NOT_FOUND`.
    watch: Option<Watch>,
}

impl From<RecordedWinner> for RecordWinnerPayload {
    fn from(recorded: RecordedWinner) -> Self {
        Self {
            outcome: recorded.outcome,
            winner: Winner::from(&recorded.winner),
            watches: recorded.watches.into_iter().map(Watch::from).collect(),
        }
    }
}

fn armed(answer: Armed) -> ArmWatchPayload {
    ArmWatchPayload { outcome: answer.outcome, watch: answer.watch.map(Watch::from) }
}

fn acted(answer: WatchAct) -> WatchPayload {
    let claimed = answer.outcome == WatchOutcome::Claimed;
    let claimed_until = answer.watch.as_ref().filter(|_| claimed).and_then(|row| row.claimed_until);
    WatchPayload {
        outcome: answer.outcome,
        watch: answer.watch.map(Watch::from),
        claimed_until: claimed_until.map(DateTime),
    }
}

/// The acts on watches.
#[derive(Default)]
pub struct WatchActs;

/// The acts on watches.
#[Object]
impl WatchActs {
    /// Records what the local store shows of a document, and arms the document's watches by it.
    async fn record_winner(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document and its winner.")] input: RecordWinnerInput,
    ) -> async_graphql::Result<RecordWinnerPayload> {
        Ok(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?.into())
    }

    /// As recordWinner, for many documents in one commit: one answer each, in order.
    async fn record_winners(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The documents and their winners, at most 500.")] inputs: Vec<RecordWinnerInput>,
    ) -> async_graphql::Result<Vec<RecordWinnerPayload>> {
        let now = now(ctx);
        let recorded = perform_each(ctx, inputs, |input| input.checked(now)).await?;
        Ok(recorded.into_iter().map(RecordWinnerPayload::from).collect())
    }

    /// Arms one watch by ingress: its document was seen to have this winner.
    async fn arm_watch(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watch and the winner that was seen.")] input: ArmWatchInput,
    ) -> async_graphql::Result<ArmWatchPayload> {
        Ok(armed(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?))
    }

    /// Opens a new generation of a watch, so that the provider is read again.
    async fn request_repull(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watch, and when.")] input: RequestRepullInput,
    ) -> async_graphql::Result<ArmWatchPayload> {
        Ok(armed(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?))
    }

    /// As requestRepull, for many watches in one commit: one answer each, in order.
    async fn request_repulls(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watches, and when; at most 500.")] inputs: Vec<RequestRepullInput>,
    ) -> async_graphql::Result<Vec<ArmWatchPayload>> {
        let now = now(ctx);
        Ok(perform_each(ctx, inputs, |input| input.checked(now)).await?.into_iter().map(armed).collect())
    }

    /// Takes one verification attempt of a watch that is due.
    async fn claim_watch_attempt(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watch, its generation and the duration.")] input: ClaimWatchAttemptInput,
    ) -> async_graphql::Result<WatchPayload> {
        Ok(acted(perform(ctx, input.checked().map_err(Failure::from)?).await?))
    }

    /// Puts a claimed attempt off, without counting it.
    async fn defer_watch(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watch, the claim and the new time.")] input: DeferWatchInput,
    ) -> async_graphql::Result<WatchPayload> {
        Ok(acted(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?))
    }

    /// Tells what the provider shows: it is compared with the winner of this moment.
    async fn record_verification(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The watch, its generation and what was fetched.")] input: RecordVerificationInput,
    ) -> async_graphql::Result<RecordVerificationPayload> {
        let Verified { outcome, watch } = perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(RecordVerificationPayload { outcome, watch: watch.map(Watch::from) })
    }
}
