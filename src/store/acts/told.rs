//! What acts and their answers are called where they are counted.
//!
//! The names are part of what dashboards and alerts rely on, as the schema's are: one is not changed with a type's name.

use super::{
    AcquireLease, Adopt, AdvanceSyncProgress, ArmWatch, Armed, CandidateNews, Claim, ClaimWatchAttempt, Claimed,
    ClearEntityTrim, ClearObservationRepair, CollectFinished, CommitSweepCheckpoint, CommittedSweep,
    ConsumePendingAuth, CountBooks, CountOutcomes, CreatePendingAuth, DeferOperation, DeferWatch,
    DeleteExpiredPendingAuth, DeleteSyncState, Driven, Each, FinalizeOperation, Finalized, GrantAccess, Leased,
    MarkSendStarted, PendingAuthActed, PruneObservationRecord, PutObservationRecord, PutObservationRepair,
    RecordOperation, RecordRelistReceipt, RecordVerification, RecordWinner, RecordedRelist, RecordedWinner,
    RefreshWriteStates, ReissueOperation, Reissued, ReleaseLease, RenewLease, RequestRepull, Resume, Resumed,
    RevokeAccess, SetEntityTrim, SetSyncState, SweepDocument, SweptDocument, SyncStateWritten, TellCandidate,
    ToldCandidate, Upkeep, Verified, WatchAct,
};
use crate::domain::documents::{EntityTrim, ObservationRepair};
use crate::domain::grants::Grant;
use crate::domain::observations::copies::{Decision, ObservationRecordOutcome};
use crate::domain::words::DeferReason;
use crate::store::writer::{Named, Told};

/// What is counted of an answer that has no word for how it turned out.
const DONE: &str = "done";

macro_rules! named {
    ($($act:ty = $name:literal),+ $(,)?) => {
        $(impl Named for $act {
            fn name(&self) -> &'static str { $name }
        })+
    };
}

named! {
    Claim = "claim_operation",
    ReissueOperation = "reissue_operation",
    AcquireLease = "acquire_lease",
    RenewLease = "renew_lease",
    ReleaseLease = "release_lease",
    MarkSendStarted = "mark_send_started",
    RecordOperation = "record_operation",
    DeferOperation = "defer_operation",
    FinalizeOperation = "finalize_operation",
    RecordWinner = "record_winner",
    ArmWatch = "arm_watch",
    RequestRepull = "request_repull",
    ClaimWatchAttempt = "claim_watch_attempt",
    DeferWatch = "defer_watch",
    RecordVerification = "record_verification",
    CollectFinished = "collect_finished_operations",
    SweepDocument = "sweep_document",
    SetEntityTrim = "set_entity_trim",
    ClearEntityTrim = "clear_entity_trim",
    PutObservationRecord = "put_observation_record",
    PruneObservationRecord = "prune_observation_record",
    PutObservationRepair = "put_observation_repair",
    ClearObservationRepair = "clear_observation_repair",
    RecordRelistReceipt = "record_relist_receipt",
    CommitSweepCheckpoint = "commit_sweep_checkpoint",
    SetSyncState = "set_sync_state",
    AdvanceSyncProgress = "advance_sync_progress",
    DeleteSyncState = "delete_sync_state",
    CreatePendingAuth = "create_pending_auth",
    ConsumePendingAuth = "consume_pending_auth",
    DeleteExpiredPendingAuth = "delete_expired_pending_auth",
    GrantAccess = "grant_access",
    RevokeAccess = "revoke_access",
    Upkeep = "upkeep",
    RefreshWriteStates = "refresh_write_states",
    CountBooks = "count_books",
    CountOutcomes = "count_outcomes",
    Adopt = "adopt",
}

impl Named for TellCandidate {
    fn name(&self) -> &'static str {
        match self.news {
            CandidateNews::Found(..) => "record_sweep_outcome",
            CandidateNews::Applied => "mark_sweep_candidate_applied",
            CandidateNews::Failed(_) => "record_sweep_apply_failure",
        }
    }
}

impl Named for Resume {
    fn name(&self) -> &'static str {
        match self.reason {
            DeferReason::Offline => "resume_offline_deferred",
            DeferReason::Auth => "resume_auth_deferred",
        }
    }
}

/// Many acts of one kind are counted as that kind, answer by answer.
impl<A: Named> Named for Each<A> {
    fn name(&self) -> &'static str {
        self.0.first().map_or("none", Named::name)
    }
}

impl<T: Told> Told for Vec<T> {
    fn tell(&self, count: &mut dyn FnMut(&'static str)) {
        for answer in self {
            answer.tell(count);
        }
    }
}

/// Answers with a word for how the act turned out.
macro_rules! by_outcome {
    ($($answer:ty),+ $(,)?) => {
        $(impl Told for $answer {
            fn tell(&self, count: &mut dyn FnMut(&'static str)) {
                count(self.outcome.as_str());
            }
        })+
    };
}

/// Answers of acts that are always done.
macro_rules! done {
    ($($answer:ty),+ $(,)?) => {
        $(impl Told for $answer {
            fn tell(&self, count: &mut dyn FnMut(&'static str)) {
                count(DONE);
            }
        })+
    };
}

by_outcome!(Claimed, Reissued, Leased, Driven, Finalized, Armed, RecordedWinner, WatchAct, Verified, SweptDocument);
by_outcome!(RecordedRelist, ToldCandidate, CommittedSweep, SyncStateWritten, PendingAuthActed);
done!(usize, u64, Resumed, EntityTrim, ObservationRepair, Grant);

/// A batch of upkeep, or none when it is another server's turn.
impl Told for Option<usize> {
    fn tell(&self, count: &mut dyn FnMut(&'static str)) {
        count(if self.is_some() { DONE } else { "not_our_turn" });
    }
}

impl Told for (ObservationRecordOutcome, Option<Decision>) {
    fn tell(&self, count: &mut dyn FnMut(&'static str)) {
        count(self.0.as_str());
    }
}
