//! Statistics as clients see them: how many there are of what, what needs a person's eye, and what happened over time.

use std::sync::Arc;

use async_graphql::{Context, Enum, InputObject, Object, SimpleObject};
use tokio::sync::OnceCell;

use super::Services;
use super::errors::{Failure, Result};
use super::scalars::DateTime;
use crate::domain::bounds::{self, BadInput};
use crate::domain::viewer::Viewer;
use crate::domain::words::{DeferReason, OperationState, WatchStatus};
use crate::store::{self, Counted, OverTime};

/// Of whom and by what statistics are. A field that is left out or null does not filter.
#[derive(Debug, InputObject)]
pub(super) struct StatisticsFilter {
    /// Of this owner.
    owner_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
}

/// Operations of one state.
#[derive(Debug, SimpleObject)]
pub(super) struct OperationStateCount {
    /// The state.
    state: OperationState,
    /// The connector; empty where further groups are counted together.
    connector_name: String,
    /// The owner; empty where further groups are counted together.
    owner_did: String,
    /// How many.
    count: i32,
}

/// Watches of one status.
#[derive(Debug, SimpleObject)]
pub(super) struct WatchStatusCount {
    /// The status.
    status: WatchStatus,
    /// The connector; empty where further groups are counted together.
    connector_name: String,
    /// The owner; empty where further groups are counted together.
    owner_did: String,
    /// How many.
    count: i32,
}

/// All operations of one state.
#[derive(Debug, SimpleObject)]
pub(super) struct OperationTotal {
    /// The state.
    state: OperationState,
    /// How many.
    count: i32,
}

/// All watches of one status.
#[derive(Debug, SimpleObject)]
pub(super) struct WatchTotal {
    /// The status.
    status: WatchStatus,
    /// How many.
    count: i32,
}

/// Operations and watches that wait for one reason.
#[derive(Debug, SimpleObject)]
pub(super) struct DeferReasonCount {
    /// The reason.
    reason: DeferReason,
    /// The connector; empty where further groups are counted together.
    connector_name: String,
    /// How many.
    count: i32,
}

/// Why something needs a person's eye.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum AttentionReason {
    /// Operations that were given up.
    Dead,
    /// Operations of which only the provider can tell whether they were done.
    NeedsReconcile,
    /// Watches whose provider does not show what the local store says, after the last attempt.
    RepairFailed,
    /// Live operations whose write was begun, so that it may have been done, and that nobody works on.
    MaybeSent,
    /// Operations that are due, and whose lease ended more than 5 minutes ago without anybody going on.
    LeaseExpiredLongAgo,
    /// Operations and watches that wait for somebody to authorise the connector again.
    WaitingForAuth,
    /// Operations and watches that wait for the provider to be reached.
    Offline,
    /// Operations and watches that have been due for more than 5 minutes, and that nobody works on.
    Overdue,
    /// Sweep candidates that were refused.
    SweepRefused,
}

/// How many need a person's eye for one reason.
#[derive(Debug, SimpleObject)]
pub(super) struct AttentionCount {
    /// The reason.
    reason: AttentionReason,
    /// How many. `MAYBE_SENT`, `LEASE_EXPIRED_LONG_AGO`, `OVERDUE` and `SWEEP_REFUSED` are counted to 10,000.
    count: i32,
}

/// How often something was done in one part of a time.
#[derive(Debug, SimpleObject)]
pub(super) struct OutcomeBucket {
    /// When the part begins.
    from: DateTime,
    /// What was done.
    transition: String,
    /// The state or status that it led to.
    to_state: Option<String>,
    /// How often.
    count: i32,
}

/// How many there are of what, as far as the viewer may see it.
pub(super) struct Statistics {
    filter: store::StatisticsFilter,
    /// When it was asked: one time for all of it.
    now: i64,
    due: OnceCell<store::Due>,
    totals: OnceCell<store::Totals>,
}

impl Statistics {
    pub(super) fn of(ctx: &Context<'_>, filter: Option<StatisticsFilter>) -> Result<Self> {
        let filter = filter.map_or_else(Default::default, |filter| store::StatisticsFilter {
            owner_did: filter.owner_did,
            connector_name: filter.connector_name,
        });
        bounds::optional_key("filter.ownerDid", filter.owner_did.as_deref())?;
        bounds::optional_key("filter.connectorName", filter.connector_name.as_deref())?;
        Ok(Self { filter, now: store(ctx).now_ms(), due: OnceCell::new(), totals: OnceCell::new() })
    }

    async fn due(&self, ctx: &Context<'_>) -> async_graphql::Result<&store::Due> {
        let due = self.due.get_or_try_init(|| store(ctx).count_due(viewer(ctx), &self.filter, self.now));
        Ok(due.await.map_err(Failure::from)?)
    }

    async fn totals(&self, ctx: &Context<'_>) -> async_graphql::Result<&store::Totals> {
        let totals = self.totals.get_or_try_init(|| store(ctx).count_totals(viewer(ctx), &self.filter));
        Ok(totals.await.map_err(Failure::from)?)
    }
}

/// A word of the books; one that we do not know is not counted, and stops no other.
fn known<W: std::str::FromStr<Err = crate::domain::words::UnknownWord>>(word: &str) -> Option<W> {
    word.parse().inspect_err(|error| tracing::warn!(%error, "not counted")).ok()
}

fn store<'c>(ctx: &Context<'c>) -> &'c store::Store {
    &ctx.data_unchecked::<Services>().store
}

fn viewer<'c>(ctx: &Context<'c>) -> &'c Arc<Viewer> {
    ctx.data_unchecked()
}

fn narrow(count: i64) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

/// How many parts a time is told in at most.
const BUCKETS_MOST: i32 = 200;

/// How many there are of what, as far as the viewer may see it.
#[Object]
impl Statistics {
    /// How many operations are in each state, whosever they are.
    async fn operation_totals(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<OperationTotal>> {
        let counts = self.totals(ctx).await?;
        let of = |(state, count): &(String, i64)| Some(OperationTotal { state: known(state)?, count: narrow(*count) });
        Ok(counts.operations.iter().filter_map(of).collect())
    }

    /// How many watches are in each status, whosever they are.
    async fn watch_totals(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<WatchTotal>> {
        let counts = self.totals(ctx).await?;
        let of = |(status, count): &(String, i64)| Some(WatchTotal { status: known(status)?, count: narrow(*count) });
        Ok(counts.watches.iter().filter_map(of).collect())
    }

    /// How many operations are in each state, by connector and owner, the largest groups first. Beyond the first 1,000 groups by
    /// owner and connector the others are counted together, state by state, with an empty owner and connector.
    async fn operations_by_state(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<OperationStateCount>> {
        let rows = store(ctx).count_operations(viewer(ctx), &self.filter).await.map_err(Failure::from)?;
        let of = |Counted { word, connector_name, owner_did, count }| {
            Some(OperationStateCount { state: known(&word)?, connector_name, owner_did, count: narrow(count) })
        };
        Ok(rows.into_iter().filter_map(of).collect())
    }

    /// How many watches are in each status, by connector and owner, the largest groups first. Beyond the first 1,000 groups by
    /// owner and connector the others are counted together, status by status, with an empty owner and connector.
    async fn watches_by_status(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<WatchStatusCount>> {
        let rows = store(ctx).count_watches(viewer(ctx), &self.filter).await.map_err(Failure::from)?;
        let of = |Counted { word, connector_name, owner_did, count }| {
            Some(WatchStatusCount { status: known(&word)?, connector_name, owner_did, count: narrow(count) })
        };
        Ok(rows.into_iter().filter_map(of).collect())
    }

    /// How many operations and watches wait, by reason and connector, the largest groups first. Beyond the
    /// first 1,000 connectors' the others are counted together, reason by reason, with an empty connector.
    async fn deferred(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<DeferReasonCount>> {
        let rows = store(ctx).count_deferred(viewer(ctx), &self.filter).await.map_err(Failure::from)?;
        let of = |Counted { word, connector_name, count, .. }| {
            Some(DeferReasonCount { reason: known(&word)?, connector_name, count: narrow(count) })
        };
        Ok(rows.into_iter().filter_map(of).collect())
    }

    /// How many operations are due and nobody works on, counted to 10,000.
    async fn due_operations(&self, ctx: &Context<'_>) -> async_graphql::Result<i32> {
        self.due(ctx).await.map(|due| narrow(due.operations))
    }

    /// How many watches are due and nobody works on, counted to 10,000.
    async fn due_watches(&self, ctx: &Context<'_>) -> async_graphql::Result<i32> {
        self.due(ctx).await.map(|due| narrow(due.watches))
    }

    /// Since when the one is due that has been due the longest; null when nothing is.
    async fn oldest_due_at(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<DateTime>> {
        self.due(ctx).await.map(|due| due.oldest_due_at.map(DateTime))
    }

    /// How many need a person's eye, for each reason that there is one for.
    async fn attention(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<AttentionCount>> {
        use AttentionReason as Reason;
        let found = store(ctx).count_attention(viewer(ctx), &self.filter, self.now).await.map_err(Failure::from)?;
        let counts = [
            (Reason::Dead, found.dead),
            (Reason::NeedsReconcile, found.needs_reconcile),
            (Reason::RepairFailed, found.repair_failed),
            (Reason::MaybeSent, found.maybe_sent),
            (Reason::LeaseExpiredLongAgo, found.lease_expired_long_ago),
            (Reason::WaitingForAuth, found.waiting_for_auth),
            (Reason::Offline, found.offline),
            (Reason::Overdue, found.overdue),
            (Reason::SweepRefused, found.sweep_refused),
        ];
        let told =
            |(reason, count): (Reason, i64)| (count > 0).then(|| AttentionCount { reason, count: narrow(count) });
        Ok(counts.into_iter().filter_map(told).collect())
    }

    /// How often each thing was done over a time, in equal parts of it; parts in which nothing was done are left out. Where more
    /// than 5,000 changes were made in that time, a change counts by the minute in which it was made, or in more than
    /// 25 hours by the hour. As far back as changes are kept.
    async fn outcomes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The first instant of the time.")] from: DateTime,
        #[graphql(desc = "The first instant after it.")] to: DateTime,
        #[graphql(desc = "How many equal parts to tell apart, 1 to 200.")] buckets: i32,
    ) -> async_graphql::Result<Vec<OutcomeBucket>> {
        let (from, to, parts) = (from.0, to.0, i64::from(buckets));
        if to <= from {
            return Err(Failure::from(BadInput::new("to", "must be after from")).into());
        }
        if !(1..=BUCKETS_MOST).contains(&buckets) {
            let bad = BadInput::new("buckets", format!("must be 1 to {BUCKETS_MOST}, got {buckets}"));
            return Err(Failure::from(bad).into());
        }
        let feed = &ctx.data_unchecked::<Services>().feed;
        let settled_through = feed.settled_through().await.map_err(Failure::from)?;
        let time = OverTime { from, to, parts, settled_through };
        let mut found = store(ctx).outcomes(viewer(ctx), &self.filter, &time).await.map_err(Failure::from)?;
        found.sort_by(|a, b| (a.part, &a.transition, &a.to_state).cmp(&(b.part, &b.transition, &b.to_state)));
        let bucket = |row: store::Outcome| OutcomeBucket {
            // The first whole millisecond of the part.
            from: DateTime(from + (row.part * (to - from) + parts - 1) / parts),
            transition: row.transition,
            to_state: Some(row.to_state).filter(|state| !state.is_empty()),
            count: narrow(row.count),
        };
        Ok(found.into_iter().map(bucket).collect())
    }
}
