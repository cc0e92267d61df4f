//! Upkeep: what is kept for a time is removed after it, in small batches, by one server at a time; what is derived, counted and
//! looked for beside the requests.

use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::config::Upkeep as Settings;
use crate::domain::viewer::Viewer;
use crate::entropy::fresh_key;
use crate::metrics::Look;
use crate::store::acts::{Upkeep, UpkeepTask};
use crate::store::{Error, Result, StatisticsFilter};

/// Rows of a batch: the longest that a writer waits for upkeep is one batch.
const BATCH: i32 = 200;
/// What others get between two batches.
const PAUSE: Duration = Duration::from_millis(20);
pub(crate) const DAY_MS: i64 = 24 * 3_600 * 1_000;

/// Between two looks for what is to be derived or counted anew.
const REFRESH: Duration = Duration::from_secs(1);
/// Between two looks for what the metrics tell of the database.
const LOOK: Duration = Duration::from_secs(10);
/// Acts of each kind in one look; others' acts go between them.
const REFRESHES: usize = 20;

/// Keeps the write states and the counts up to date until it is told to stop. Every server does: each finds what the others
/// left.
pub async fn keep_books(app: App, stop: CancellationToken) {
    loop {
        tokio::select! {
            () = tokio::time::sleep(REFRESH) => {}
            () = stop.cancelled() => return,
        }
        // Each by itself: what stops one stops no other.
        let outcomes = async {
            let settled_through = app.feed.settled_through().await?;
            app.store.count_outcomes(settled_through, REFRESHES).await
        };
        for (what, result) in [
            ("write states", app.store.refresh_write_states(REFRESHES).await),
            ("counts", app.store.count_books(REFRESHES).await),
            ("counts over time", outcomes.await),
        ] {
            // Who stops lets go of the database meanwhile.
            if let Err(error) = result
                && !stop.is_cancelled()
            {
                tracing::warn!(what, %error, "brought up to date later");
            }
        }
    }
}

/// Looks into the database for what the metrics tell of it, now and then: a bounded look, however many scrape. Every server
/// does, so that each tells the whole even while others are away.
pub async fn look(app: App, stop: CancellationToken) {
    loop {
        match look_once(&app).await {
            Ok(look) => app.store.metrics().looked(&look),
            Err(error) => tracing::warn!(%error, "the metrics tell what was found before"),
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            () = stop.cancelled() => return,
        }
    }
}

async fn look_once(app: &App) -> Result<Look> {
    let (viewer, all, now) = (Viewer::open(), StatisticsFilter::default(), app.store.now_ms());
    let due = app.store.count_due(&viewer, &all, now).await?;
    let attention = app.store.count_attention(&viewer, &all, now).await?;
    Ok(Look {
        at_ms: now,
        feed_lag_ms: app.feed.lag_ms().await?,
        due: [("operations", due.operations), ("watches", due.watches)],
        oldest_due_ms: due.oldest_due_at.map_or(0, |at| (now - at).max(0)),
        attention: [
            ("dead", attention.dead),
            ("needs_reconcile", attention.needs_reconcile),
            ("repair_failed", attention.repair_failed),
            ("maybe_sent", attention.maybe_sent),
            ("lease_expired_long_ago", attention.lease_expired_long_ago),
            ("waiting_for_auth", attention.waiting_for_auth),
            ("offline", attention.offline),
            ("overdue", attention.overdue),
            ("sweep_refused", attention.sweep_refused),
        ],
    })
}

/// Does the upkeep every period until it is told to stop.
pub async fn run(app: App, stop: CancellationToken) {
    let settings = app.config.upkeep.clone();
    if settings.upkeep_period_s == 0 {
        tracing::info!("upkeep is off");
        return;
    }
    let holder = fresh_key();
    let period = Duration::from_secs(settings.upkeep_period_s.into());
    loop {
        tokio::select! {
            () = round(&app, &settings, &holder) => app.store.metrics().upkeep_round(),
            () = stop.cancelled() => return,
        }
        tokio::select! {
            () = tokio::time::sleep(period) => {}
            () = stop.cancelled() => return,
        }
    }
}

/// Every task once, batch after batch. What fails is told and tried again in the next round.
async fn round(app: &App, settings: &Settings, holder: &str) {
    if let Err(error) = app.store.adopt_all().await {
        tracing::warn!(%error, "upkeep gives rows their node keys later");
    }
    let changes = match app.feed.settled_through().await {
        Ok(settled_through) => Some((UpkeepTask::Changes { settled_through }, settings.keep_changes_days)),
        Err(error) => {
            tracing::warn!(%error, "upkeep leaves the changes for later");
            None
        }
    };
    let tasks = [
        (UpkeepTask::FinishedOperations, settings.keep_finished_days),
        (UpkeepTask::SweepReceipts, settings.keep_receipts_days),
        // These say themselves when their time is over.
        (UpkeepTask::Tombstones, 0),
        (UpkeepTask::PendingAuth, 0),
        (UpkeepTask::Outcomes, settings.keep_changes_days),
    ];
    for (task, days) in tasks.into_iter().chain(changes) {
        match every_batch(app, holder, task, i64::from(days) * DAY_MS).await {
            Ok(0) => {}
            Ok(removed) => tracing::info!(task = task.name(), removed, "upkeep"),
            Err(error) => {
                app.store.metrics().upkeep_failed(task.name());
                tracing::warn!(task = task.name(), %error, "upkeep goes on in the next round");
            }
        }
    }
}

/// Batches of a task for as long as they are full and it is our turn; how many rows went.
async fn every_batch(app: &App, holder: &str, task: UpkeepTask, keep_ms: i64) -> Result<usize> {
    let viewer = Arc::new(Viewer::open());
    let mut removed = 0;
    loop {
        let batch = Upkeep { holder: holder.to_owned(), task, keep_ms, limit: BATCH };
        match app.store.perform(&viewer, batch).await {
            Ok(None) => return Ok(removed),
            Ok(Some(count)) => {
                removed += count;
                app.store.metrics().upkeep_removed(task.name(), count);
                if i32::try_from(count).is_ok_and(|count| count < BATCH) {
                    return Ok(removed);
                }
            }
            // Others' acts go first.
            Err(Error::Busy) => {}
            Err(error) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
}
