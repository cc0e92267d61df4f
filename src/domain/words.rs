//! The words of the state machines, each once: its name in Rust and GraphQL, its text in the database, its description.
//!
//! The texts are those of the reference package, so that both can work on one database.

/// A word that the database does not know: a row that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{word:?} is not a known {kind}")]
pub struct UnknownWord {
    /// The enum that has no such word.
    pub kind: &'static str,
    /// The text that was found.
    pub word: String,
}

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $($(#[$item_meta:meta])* $item:ident = $text:literal),+ $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, async_graphql::Enum)]
        pub enum $name { $($(#[$item_meta])* $item),+ }

        impl $name {
            /// Every value, in the order of its declaration: tests build their tables from it.
            pub const ALL: &'static [Self] = &[$(Self::$item),+];

            /// The word in the database.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$item => $text),+ }
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::domain::words::UnknownWord;

            fn from_str(word: &str) -> Result<Self, $crate::domain::words::UnknownWord> {
                match word {
                    $($text => Ok(Self::$item),)+
                    other => Err($crate::domain::words::UnknownWord { kind: stringify!($name), word: other.to_owned() }),
                }
            }
        }
    };
}
pub(super) use words;

words! {
    /// What a write does to the provider's copy.
    OperationOp {
        /// The document is new to the provider.
        Create = "create",
        /// The provider's copy is changed.
        Update = "update",
        /// The provider's copy is removed.
        Delete = "delete",
    }
}

words! {
    /// Where an operation stands. COMMITTED and DEAD are final.
    OperationState {
        /// Live: a worker drives it, now or when it is due again.
        Attempted = "attempted",
        /// Nobody knows whether the provider took it: a person must look.
        ReconcileOnly = "reconcile_only",
        /// The provider took it. Final.
        Committed = "committed",
        /// Given up. Final.
        Dead = "dead",
    }
}

words! {
    /// Why a due time was moved: what has to come back before another attempt makes sense.
    DeferReason {
        /// The provider or the network was not reachable.
        Offline = "offline",
        /// The provider asked for a new authorisation.
        Auth = "auth",
    }
}

words! {
    /// Whether the current attempt may already have reached the provider.
    SendState {
        /// No send was started in this attempt.
        Unsent = "unsent",
        /// One sender said that it starts to send.
        Started = "started",
        /// Two senders said so: the outcome of this attempt cannot be told.
        Contested = "contested",
    }
}

words! {
    /// Where a watch stands: does the provider show what the local store says?
    WatchStatus {
        /// Not known yet: the provider is to be read again.
        PendingVerification = "pending_verification",
        /// The provider was seen to show the winner.
        Verified = "verified",
        /// It did not within the allowed attempts: somebody must know.
        RepairFailed = "repair_failed",
    }
}

words! {
    /// What became of a document's writes, for one viewer.
    DocumentWriteState {
        /// Nothing was ever written.
        None = "none",
        /// A write is on its way.
        Pending = "pending",
        /// Nobody knows whether a write arrived: a person must look.
        NeedsReconcile = "needs_reconcile",
        /// The newest write was given up.
        Failed = "failed",
        /// Written, and nobody watches it.
        Committed = "committed",
        /// Written, and the provider is being read back.
        Verifying = "verifying",
        /// Written, but the provider shows something else.
        Diverged = "diverged",
        /// Written, and the provider was seen to show it.
        InSync = "in_sync",
    }
}

words! {
    /// What a change is about.
    EntityKind {
        /// A write to the provider.
        Operation = "operation",
        /// The check that a write is shown.
        Watch = "watch",
        /// A document's winner, trim or repair.
        Document = "document",
        /// The receipt of one relist.
        SweepReceipt = "sweep_receipt",
        /// A document that a relist did not show.
        SweepCandidate = "sweep_candidate",
        /// How far a partition's sweeps are done.
        SweepCheckpoint = "sweep_checkpoint",
        /// How far a connector has read.
        SyncState = "sync_state",
    }
}

words! {
    /// What came of a claim.
    ClaimOutcome {
        /// The key was free: the operation is yours, under the given lease.
        Claimed = "claimed",
        /// The same envelope was claimed before: here is that operation.
        Exists = "exists",
        /// The same envelope was claimed, settled and collected: here is how it ended.
        Settled = "settled",
        /// The key belongs to another envelope: nothing was written and no row is shown.
        Conflict = "conflict",
    }
}

words! {
    /// What came of a lease act.
    LeaseOutcome {
        /// The lease is yours.
        Acquired = "acquired",
        /// The lease has its new expiry.
        Renewed = "renewed",
        /// The lease is free.
        Released = "released",
        /// Somebody else holds a live lease.
        Held = "held",
        /// The given token does not hold the lease.
        LeaseNotHeld = "lease_not_held",
        /// No such operation.
        NotFound = "not_found",
    }
}

words! {
    /// What came of an act on an operation.
    OperationOutcome {
        /// The send is marked as started; see sendState for a contest.
        Marked = "marked",
        /// The attempt's outcome is recorded.
        Recorded = "recorded",
        /// The operation is due later.
        Deferred = "deferred",
        /// The write is committed and its watch armed.
        Finalized = "finalized",
        /// No such operation.
        NotFound = "not_found",
        /// The given token does not hold the lease.
        LeaseNotHeld = "lease_not_held",
        /// The row has another version than the one that was read.
        StaleVersion = "stale_version",
        /// The operation is in another state.
        WrongState = "wrong_state",
        /// No operation may go from and to these states.
        InvalidTransition = "invalid_transition",
        /// No counted attempt is left to be refunded.
        NothingToRefund = "nothing_to_refund",
        /// Another sender may have sent: the attempt stays counted.
        MaybeSent = "maybe_sent",
    }
}

words! {
    /// What came of arming a watch.
    ArmOutcome {
        /// A new generation is open.
        Opened = "opened",
        /// The pending generation is due sooner.
        Coalesced = "coalesced",
        /// There was nothing to do.
        Noop = "noop",
    }
}

words! {
    /// What came of an act on a watch.
    WatchOutcome {
        /// The attempt is yours until claimedUntil.
        Claimed = "claimed",
        /// The watch is due later.
        Deferred = "deferred",
        /// No such watch.
        NotFound = "not_found",
        /// The watch is settled.
        NotPending = "not_pending",
        /// The watch is not due yet.
        NotDue = "not_due",
        /// Another generation is open.
        StaleGeneration = "stale_generation",
        /// Somebody else has this attempt.
        AlreadyClaimed = "already_claimed",
        /// The attempt was claimed anew since.
        StaleClaim = "stale_claim",
    }
}

words! {
    /// What came of recording what the provider shows.
    VerificationOutcome {
        /// The provider shows the winner.
        Verified = "verified",
        /// It does not, and no attempt is left.
        RepairFailed = "repair_failed",
        /// It does not yet: another attempt follows.
        Pending = "pending",
        /// Another generation is open.
        StaleGeneration = "stale_generation",
        /// The attempt was claimed anew since.
        StaleClaim = "stale_claim",
        /// The watch is settled.
        NotPending = "not_pending",
        /// No such watch.
        NotFound = "not_found",
    }
}

words! {
    /// What came of a reissue.
    ReissueOutcome {
        /// The new operation is yours, under the given lease.
        Claimed = "claimed",
        /// This very reissue was made before: here is its operation.
        Exists = "exists",
        /// This very reissue was made before, settled and collected.
        Settled = "settled",
        /// The new key belongs to another operation: nothing was written.
        Conflict = "conflict",
        /// No such operation.
        NotFound = "not_found",
        /// Only a dead operation or one that a person must look at is reissued.
        WrongState = "wrong_state",
        /// The row has another version than the one that was read.
        StaleVersion = "stale_version",
        /// Somebody holds a live lease.
        Held = "held",
        /// It was reissued under another key: here is that operation, unless it was collected.
        AlreadyReissued = "already_reissued",
    }
}

words! {
    /// What came of sweeping a document.
    SweepDocumentOutcome {
        /// Everything that was known of it is gone.
        Swept = "swept",
        /// A write of it is not settled: nothing was removed.
        UnfinishedOperation = "unfinished_operation",
    }
}
