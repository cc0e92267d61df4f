//! How much work is due, and when there will be more: what workers wait for.

use super::error::Result;
use super::list::{KeyPart, Keyed as _, List, Slice};
use super::operations::TABLE as OPERATIONS;
use super::select::Select;
use super::watches::TABLE as WATCHES;
use super::{DUE_OPERATIONS, DUE_WATCHES, DueFilter, Store, operation_lists, watches};
use crate::domain::operations::Operation;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch;

/// Counting stops here: a worker takes work by pages of a hundred at most.
const COUNTED: i64 = 1_000;
const FIRST: Slice = Slice { limit: 1, backward: false, after: None, before: None, look_back: false, count: false };

/// How much is due, each counted to 1,000.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkDue {
    /// Operations.
    pub operations: i64,
    /// Watches.
    pub watches: i64,
    /// When more will be by time alone, in ms since the epoch; none when nothing waits.
    pub next_due_at: Option<i64>,
    /// What has been due the longest of each: other work in the same number is other work.
    pub oldest: [Option<Vec<KeyPart>>; 2],
}

/// What is due of one kind.
struct Found {
    count: i64,
    oldest: Option<Vec<KeyPart>>,
    next: Option<i64>,
}

fn of(select: &mut Select, filter: &DueFilter) {
    select.equals("owner_did", filter.owner_did.as_deref());
    select.equals("connector_name", filter.connector_name.as_deref());
}

/// Few operations under an index of their own are to be walked by that one.
pub(super) fn unindexed(select: &mut Select, viewer: &Viewer, [owner, connector]: [&Option<String>; 2]) {
    select.unindexed(|select| {
        select.equals("owner_did", owner.as_deref());
        select.equals("connector_name", connector.as_deref());
        select.concerns(viewer.confined_to());
    });
}

impl Store {
    /// How much is due at `now`.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn work_due(&self, viewer: &Viewer, filter: &DueFilter, now: i64) -> Result<WorkDue> {
        let operations = self.operations_due(viewer, filter, now).await?;
        let watches = self.watches_due(viewer, filter, now).await?;
        let next_due_at = operations.next.into_iter().chain(watches.next).min();
        let oldest = [operations.oldest, watches.oldest];
        Ok(WorkDue { operations: operations.count, watches: watches.count, next_due_at, oldest })
    }

    async fn operations_due(&self, viewer: &Viewer, filter: &DueFilter, now: i64) -> Result<Found> {
        let count = self.count_due_operations(viewer, filter, now, COUNTED).await?;
        let connection = &mut self.read().await?;
        let list =
            |filter| List::of(OPERATIONS, Operation::COLUMNS, DUE_OPERATIONS, filter).concerning(viewer.confined_to());
        let due = |select: &mut Select| operation_lists::is_due(select, filter, now);
        let oldest =
            list(&due).page::<Operation>(connection, &FIRST).await?.rows.first().map(|row| row.key(&DUE_OPERATIONS));
        let later = |select: &mut Select| {
            select.and("state = 'attempted'");
            select.compares("due_at", ">", Some(now));
            if !filter.include_leased {
                // Under a longer lease it waits for that.
                select.and("(lease_token IS NULL OR lease_expires_at < due_at)");
            }
            of(select, filter);
        };
        let later = list(&later).page::<Operation>(connection, &FIRST).await?;
        let mut next = later.rows.first().and_then(Operation::due_at);
        if !filter.include_leased {
            let leased = |select: &mut Select| {
                select.and("due_at IS NOT NULL AND lease_token IS NOT NULL AND due_at <= lease_expires_at");
                select.compares("lease_expires_at", ">=", Some(now));
                unindexed(select, viewer, [&filter.owner_did, &filter.connector_name]);
            };
            let leased = list(&leased).concerning([]);
            // A lease is over in the millisecond after its last.
            let freed = leased.least(connection, "lease_expires_at").await?.map(|last| last + 1);
            next = next.into_iter().chain(freed).min();
        }
        Ok(Found { count, oldest, next })
    }

    async fn watches_due(&self, viewer: &Viewer, filter: &DueFilter, now: i64) -> Result<Found> {
        let connection = &mut self.read().await?;
        let list = |filter| List::of(WATCHES, Watch::COLUMNS, DUE_WATCHES, filter);
        let due = |select: &mut Select| watches::is_due(select, viewer, filter, now);
        let count = list(&due).count(connection, COUNTED).await?;
        let oldest = list(&due).page::<Watch>(connection, &FIRST).await?.rows.first().map(|row| row.key(&DUE_WATCHES));
        let later = |select: &mut Select| {
            select.compares("due_at", ">", Some(now));
            if !filter.include_leased {
                select.and("(claimed_until IS NULL OR claimed_until <= due_at)");
            }
            select.equals("owner_did", viewer.confined_to());
            of(select, filter);
        };
        let later = list(&later).page::<Watch>(connection, &FIRST).await?;
        let mut next = later.rows.first().and_then(Watch::due_at);
        if !filter.include_leased {
            let claimed = |select: &mut Select| {
                select.and("claimed_until IS NOT NULL AND due_at < claimed_until");
                select.compares("claimed_until", ">", Some(now));
                select.unindexed(|select| {
                    select.equals("owner_did", viewer.confined_to());
                    of(select, filter);
                });
            };
            let freed = list(&claimed).least(connection, "claimed_until").await?;
            next = next.into_iter().chain(freed).min();
        }
        Ok(Found { count, oldest, next })
    }
}
