//! Upkeep: one batch of one task, by the server whose turn it is.

use crate::store::error::{Error, Result};
use crate::store::locks::Locks;
use crate::store::tx::Tx;
use crate::store::{Act, changes, counts, pending_auth, retention, sweeps, upkeep};

/// What is removed when its time is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UpkeepTask {
    /// Finished operations that no document's write state needs.
    FinishedOperations,
    /// What is remembered of collected operations.
    Tombstones,
    /// Committed receipts of relists below their partition's checkpoint.
    SweepReceipts,
    /// Authorisations that nobody came back for.
    PendingAuth,
    /// The kept counts of changes.
    Outcomes,
    /// Changes, oldest first, up to a settled number.
    Changes {
        /// The last number that every reader can have seen.
        settled_through: i64,
    },
}

impl UpkeepTask {
    /// Its name, as `serverStatus` and log lines give it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FinishedOperations => "finished_operations",
            Self::Tombstones => "tombstones",
            Self::SweepReceipts => "sweep_receipts",
            Self::PendingAuth => "pending_auth",
            Self::Outcomes => "outcomes",
            Self::Changes { .. } => "changes",
        }
    }

    /// Whether the rows it removes are others' to write too: then these are kept out for the batch.
    const fn keeps_others_out(self) -> bool {
        matches!(self, Self::FinishedOperations | Self::SweepReceipts)
    }
}

/// One batch; answers how many rows went, or none when it is another server's turn.
#[derive(Debug, Clone)]
pub struct Upkeep {
    /// This server.
    pub holder: String,
    /// The task.
    pub task: UpkeepTask,
    /// How long rows are kept, in ms.
    pub keep_ms: i64,
    /// Rows at most.
    pub limit: i32,
}

impl Act for Upkeep {
    type Answer = Option<usize>;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        // Asked first: keeping everybody out for another server's turn would be for nothing.
        let now = tx.clock_now();
        let ours = upkeep::is_free(tx, &self.holder, now).await?;
        Ok(if ours && self.task.keeps_others_out() { Locks::everything() } else { Locks::none() })
    }

    async fn run(&self, tx: &mut Tx) -> Result<Option<usize>> {
        if !upkeep::take(tx, &self.holder).await? {
            return Ok(None);
        }
        if self.task.keeps_others_out() && !tx.holds_everything() {
            return Err(Error::Moved);
        }
        let before = tx.now() - self.keep_ms;
        let removed = match self.task {
            UpkeepTask::FinishedOperations => retention::collect(tx, before, self.limit).await?,
            UpkeepTask::Tombstones => count(retention::delete_tombstones(tx, self.limit).await?),
            UpkeepTask::SweepReceipts => sweeps::remove_committed(tx, before, self.limit).await?,
            UpkeepTask::PendingAuth => count(pending_auth::delete_expired(tx, before, self.limit).await?),
            UpkeepTask::Outcomes => count(counts::trim(tx, before, self.limit).await?),
            UpkeepTask::Changes { settled_through } => changes::trim(tx, before, settled_through, self.limit).await?,
        };
        upkeep::note(tx, self.task.name(), removed).await?;
        Ok(Some(removed))
    }
}

fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}
