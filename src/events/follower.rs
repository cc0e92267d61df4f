//! The follower: the one reader of the log's end on this server.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::{BATCH, Feed, Shown};
use crate::domain::changes::Change;
use crate::domain::words::EntityKind;
use crate::store::{Head, Result, Store, Wakeups};

/// The net under the wake-ups.
const POLL: Duration = Duration::from_secs(1);
/// How long to wait after the database refused.
const RETRY: Duration = Duration::from_millis(500);
/// How long to wait between two looks at whether the writers that a head may have overtaken are done.
const SETTLE_LOOK: Duration = Duration::from_millis(2);
/// The same, when they take their time.
const SETTLE_LOOK_MOST: Duration = Duration::from_millis(50);

/// Looks after which the person on call is told that somebody's transaction holds the feed up (about 10 s).
const LOOKS_A_WARNING: u32 = 200;

pub(super) async fn follow(feed: Feed, publish: watch::Sender<i64>, stop: CancellationToken) {
    let work = async {
        let mut commits = feed.store.commits();
        let mut wakeups = listen(&feed.store).await;
        loop {
            match advance(&feed, &publish).await {
                Ok(()) => feed.running.store(true, Ordering::Relaxed),
                Err(error) => {
                    feed.running.store(false, Ordering::Relaxed);
                    tracing::warn!(%error, "the feed cannot read the log");
                    tokio::time::sleep(RETRY).await;
                }
            }
            tokio::select! {
                changed = commits.changed() => if changed.is_err() { return },
                lost = heard(wakeups.as_mut()) => if lost {
                    // Some wake-ups may have been missed: listen again, then read.
                    wakeups = listen(&feed.store).await;
                },
                () = tokio::time::sleep(POLL) => if wakeups.is_none() { wakeups = listen(&feed.store).await },
            }
        }
    };
    tokio::select! {
        // First: the database is let go of at the same time.
        biased;
        () = stop.cancelled() => {}
        () = work => {}
    }
    feed.router.close();
}

/// Listens for other servers; without, the poll has to do until the database is back.
async fn listen(store: &Store) -> Option<Wakeups> {
    match store.wakeups().await {
        Ok(wakeups) => wakeups,
        Err(error) => {
            tracing::warn!(%error, "the feed cannot listen for other servers");
            None
        }
    }
}

/// Waits for a wake-up; true when the connection was lost.
async fn heard(wakeups: Option<&mut Wakeups>) -> bool {
    match wakeups {
        Some(wakeups) => wakeups.heard().await.is_err(),
        None => std::future::pending().await,
    }
}

/// Waits until no lower number than the head's can appear any more.
pub(super) async fn settle(store: &Store, head: &Head) -> Result<()> {
    let mut looks = 0_u32;
    while !store.is_settled(head).await? {
        looks += 1;
        if looks.is_multiple_of(LOOKS_A_WARNING) {
            tracing::warn!("the feed waits for a transaction that has run for long, perhaps of another program");
        }
        tokio::time::sleep((SETTLE_LOOK * looks).min(SETTLE_LOOK_MOST)).await;
    }
    Ok(())
}

/// Reads what is settled and not yet handed on.
async fn advance(feed: &Feed, publish: &watch::Sender<i64>) -> Result<()> {
    let head = feed.store.head().await?;
    let mut position = *publish.borrow();
    if head.sequence <= position {
        return Ok(());
    }
    settle(&feed.store, &head).await?;
    while position < head.sequence {
        let changes = feed.store.changes_between(position, head.sequence, BATCH).await?;
        // The last batch ends at the head, whose own row retention may have taken meanwhile.
        position = match changes.last() {
            Some(last) if i64::try_from(changes.len()) == Ok(BATCH) => last.sequence,
            _ => head.sequence,
        };
        publish.send_replace(position);
        let changes: Vec<Arc<Change>> = changes.into_iter().map(Arc::new).collect();
        hand_on(feed, &changes).await;
    }
    Ok(())
}

/// Hands changes to those whom they concern, with their entities, read once for all who are shown them.
async fn hand_on(feed: &Feed, changes: &[Arc<Change>]) {
    let concerned = feed.router.concerned(changes);
    let (operations, watches) = (concerned.shown(EntityKind::Operation), concerned.shown(EntityKind::Watch));
    let shown = if operations.is_empty() && watches.is_empty() {
        None
    } else {
        match Shown::read(&feed.store, &feed.readings, &operations, &watches).await {
            Ok(shown) => Some(Arc::new(shown)),
            Err(error) => {
                tracing::warn!(%error, "each subscription reads what it shows by itself");
                None
            }
        }
    };
    concerned.hand_on(shown.as_ref());
}
