//! Operations that are stuck: found without a walk over those that are not, where they are few.

use std::fmt::Write as _;

use super::Store;
use super::due::unindexed;
use super::error::Result;
use super::narrowest::FEW;
use super::operations::TABLE;
use super::select::Select;
use super::statistics::StatisticsFilter;
use crate::domain::viewer::Viewer;

/// What has waited this long waits too long (5 minutes).
pub(super) const LONG_MS: i64 = 300_000;

/// What keeps an operation from going on by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, async_graphql::Enum)]
pub enum StuckReason {
    /// A send was begun, no answer was recorded, and nobody holds a lease: it may have been sent.
    MaybeSent,
    /// It has been due for more than 5 minutes, and the lease of whoever was on it expired more than 5 minutes ago.
    LeaseExpiredLongAgo,
}

impl StuckReason {
    /// Adds that an operation is stuck so at `now`.
    pub(super) fn apply(self, select: &mut Select, now: i64) {
        // Live operations alone have a time at which they are due.
        select.and("due_at IS NOT NULL");
        match self {
            Self::MaybeSent => {
                let now = select.arg(now);
                select.and("send_marker IS NOT NULL");
                select.and(&format!("(lease_token IS NULL OR lease_expires_at < {now})"));
            }
            Self::LeaseExpiredLongAgo => {
                select.and("lease_token IS NOT NULL");
                select.compares("lease_expires_at", "<", Some(now - LONG_MS));
                select.compares("due_at", "<=", Some(now - LONG_MS));
            }
        }
    }
}

/// How a list finds the operations that are stuck.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Finds {
    /// By walking the list: they are many among the others.
    Along(StuckReason),
    /// By an index over few, which are sorted.
    First(StuckReason),
}

impl Finds {
    /// Adds that.
    pub(super) fn apply(self, select: &mut Select, viewer: &Viewer, now: i64) {
        match self {
            Self::Along(stuck) => select.unindexed(|select| stuck.apply(select, now)),
            Self::First(stuck) => {
                select.and(&format!("(caller_did, operation_id) IN (SELECT caller_did, operation_id FROM {TABLE}"));
                let conditions = std::mem::take(&mut select.conditions);
                stuck.apply(select, now);
                unindexed(select, viewer, [&None, &None]);
                let _ = write!(select.text, " ORDER BY lease_expires_at LIMIT {FEW})");
                select.conditions = conditions;
            }
        }
    }
}

impl Store {
    /// How a list of the viewer's operations that are stuck so finds them.
    pub(super) async fn finds(&self, viewer: &Viewer, stuck: StuckReason, now: i64) -> Result<Finds> {
        let count = self.count_stuck(viewer, &StatisticsFilter::default(), stuck, now, FEW).await?;
        Ok(if count < FEW { Finds::First(stuck) } else { Finds::Along(stuck) })
    }
}
