//! Everything that can be followed live.
//!
//! Each stream is the feed with the rows of its changes as they are at delivery: fetched once for a run of changes, so
//! that what a client sees never goes back.

use std::collections::HashMap;
use std::future::Future;
use std::sync::Arc;

use async_graphql::{Context, ID, SimpleObject};
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};

use super::Services;
use super::changes::{Change, ChangeFilter as ChangeFilterInput};
use super::errors::Failure;
use super::operations::{Operation, OperationFilter};
use super::scalars::DateTime;
use super::watches::{Watch, WatchFilter};
use crate::domain::changes::{self as domain, ChangeFilter};
use crate::domain::ids::NodeId;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch as WatchRow;
use crate::domain::words::{EntityKind, VerificationOutcome};
use crate::events::Feed;
use crate::store::{Store, patiently};

/// Everything that can be followed live. With `after`, the changes since that cursor come first; none is left out or
/// comes twice.
pub struct Subscription;

/// A change of an operation, with the operation as it is now.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct OperationChange {
    /// The operation as it is now; null when it is gone.
    operation: Option<Operation>,
    /// What happened; null on the first answer, which tells what is true now.
    change: Option<Change>,
    /// Resumes this subscription from here.
    cursor: String,
}

/// A change of a watch, with the watch as it is now.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct WatchChange {
    /// The watch as it is now; null when it is gone.
    watch: Option<Watch>,
    /// What happened; null on the first answer, which tells what is true now.
    change: Option<Change>,
    /// Resumes this subscription from here.
    cursor: String,
}

/// A verification, as it was recorded.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct VerificationResult {
    /// What came of it: VERIFIED, `REPAIR_FAILED` or PENDING.
    outcome: VerificationOutcome,
    /// The watch as it is now; null when it is gone.
    watch: Option<Watch>,
    /// The generation that it was recorded for.
    generation: i32,
    /// The generation's attempts after it.
    attempts: i32,
    /// Resumes this subscription from here.
    cursor: String,
    /// When it was recorded.
    at: DateTime,
}

/// What a resolver of a stream needs, taken out of its context.
struct Follow {
    store: Store,
    feed: Feed,
    viewer: Arc<Viewer>,
}

/// An entity whose row goes with its changes.
trait Followed: Clone + Send + Sync + 'static {
    /// What its ids name.
    const KIND: EntityKind;

    /// The entities with these keys, by their encoded ids.
    fn load(follow: &Follow, keys: &[String]) -> impl Future<Output = Result<HashMap<String, Self>, Failure>> + Send;
}

impl Followed for Operation {
    const KIND: EntityKind = EntityKind::Operation;

    async fn load(follow: &Follow, keys: &[String]) -> Result<HashMap<String, Self>, Failure> {
        let rows = patiently(|| follow.store.operations_by_node_key(&follow.viewer, keys)).await?;
        Ok(rows.into_iter().map(|row| (NodeId::operation(&row.node_key).encode(), Self::from(row))).collect())
    }
}

impl Followed for Watch {
    const KIND: EntityKind = EntityKind::Watch;

    async fn load(follow: &Follow, keys: &[String]) -> Result<HashMap<String, Self>, Failure> {
        let rows = patiently(|| follow.store.watches_by_node_key(&follow.viewer, keys)).await?;
        let id = |row: &WatchRow| NodeId::of_key(EntityKind::Watch, &row.identity().parts()).encode();
        Ok(rows.into_iter().map(|row| (id(&row), Self::from(row))).collect())
    }
}

impl Follow {
    fn new(ctx: &Context<'_>) -> Arc<Self> {
        let Services { store, feed, .. } = ctx.data_unchecked::<Services>().clone();
        Arc::new(Self { store, feed, viewer: Arc::clone(ctx.data_unchecked::<Arc<Viewer>>()) })
    }

    async fn resume(&self, after: Option<String>) -> Result<Option<i64>, Failure> {
        match after {
            Some(cursor) => Ok(Some(self.feed.resume("after", &cursor).await?)),
            None => Ok(None),
        }
    }

    /// Each change that matches with its entity as it is now, told as `tell` says; before them, without `after` and
    /// where one entity is named, that entity alone.
    async fn answers<E: Followed, T: Send + 'static>(
        self: Arc<Self>,
        wanted: ChangeFilter,
        after: Option<String>,
        tell: fn(&Feed, Option<E>, Told) -> Option<T>,
    ) -> Result<impl Stream<Item = async_graphql::Result<T>>, Failure> {
        let after = self.resume(after).await?;
        let named = wanted.entity_id.clone().filter(|_| after.is_none());
        let (runs, start) = self.feed.changes(Arc::clone(&self.viewer), wanted, after).await?;
        // Read after the subscribing: whatever the row does not show yet comes as a change.
        let first = match named {
            Some(id) => {
                let row = E::load(&self, &[NodeId::decode("id", &id)?.key]).await?.remove(&id);
                tell(&self.feed, row, Told::Now(start))
            }
            None => None,
        };
        let runs = runs.map_err(Failure::from).and_then(move |run| {
            let follow = Arc::clone(&self);
            async move {
                let rows = E::load(&follow, &keys(&run)).await?;
                let told = run.into_iter().filter_map(|change| {
                    tell(&follow.feed, rows.get(&change.entity_id).cloned(), Told::Change(change))
                });
                Ok::<Vec<T>, Failure>(told.collect())
            }
        });
        Ok(stream::iter(first.map(Ok)).chain(one_by_one(runs)))
    }
}

/// What an answer is about.
enum Told {
    /// What is true now; the place before every change that follows.
    Now(i64),
    /// A change.
    Change(Arc<domain::Change>),
}

impl Told {
    /// The change as clients see it, and the cursor of the answer.
    fn split(self, feed: &Feed) -> (Option<Change>, String) {
        match self {
            Self::Now(sequence) => (None, feed.cursor(sequence).to_string()),
            Self::Change(change) => {
                let change = Change::new(feed, change);
                let cursor = change.cursor.clone();
                (Some(change), cursor)
            }
        }
    }
}

/// The keys behind the entities of a run of changes, each once.
fn keys(changes: &[Arc<domain::Change>]) -> Vec<String> {
    let mut keys: Vec<String> =
        changes.iter().filter_map(|change| NodeId::decode("id", &change.entity_id).ok()).map(|id| id.key).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Checks that an id names this kind of entity.
fn checked_id(kind: EntityKind, id: Option<ID>) -> Result<Option<String>, Failure> {
    let Some(id) = id else { return Ok(None) };
    NodeId::decode_as(kind, "id", &id)?;
    Ok(Some(id.0))
}

/// Runs of answers, one by one.
fn one_by_one<T>(runs: impl Stream<Item = Result<Vec<T>, Failure>>) -> impl Stream<Item = async_graphql::Result<T>> {
    runs.map_ok(|run| stream::iter(run.into_iter().map(Ok::<T, Failure>)))
        .try_flatten()
        .map_err(async_graphql::Error::from)
}

/// Everything that can be followed live. With `after`, the changes since that cursor come first; none is left out or
/// comes twice.
#[async_graphql::Subscription]
impl Subscription {
    /// The changes of operations. With `id` and without `after`, the first answer tells what is true now.
    async fn operation_changed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this operation.")] id: Option<ID>,
        #[graphql(desc = "Only of operations that matched when they changed.")] filter: Option<OperationFilter>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<OperationChange>>> {
        let mut wanted = filter.unwrap_or_default().for_changes().map_err(Failure::from)?;
        wanted.entity_id = checked_id(Operation::KIND, id)?;
        let answers = Follow::new(ctx).answers(wanted, after, |feed, operation, told| {
            let (change, cursor) = told.split(feed);
            Some(OperationChange { operation, change, cursor })
        });
        Ok(answers.await?)
    }

    /// The changes of watches. With `id` and without `after`, the first answer tells what is true now.
    async fn watch_changed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this watch.")] id: Option<ID>,
        #[graphql(desc = "Only of watches that matched when they changed.")] filter: Option<WatchFilter>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<WatchChange>>> {
        let mut wanted = filter.unwrap_or_default().for_changes().map_err(Failure::from)?;
        wanted.entity_id = checked_id(Watch::KIND, id)?;
        let answers = Follow::new(ctx).answers(wanted, after, |feed, watch, told| {
            let (change, cursor) = told.split(feed);
            Some(WatchChange { watch, change, cursor })
        });
        Ok(answers.await?)
    }

    /// What verifications found, with generation and attempts as they were then.
    async fn verification_recorded(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of watches that matched afterwards.")] filter: Option<WatchFilter>,
        #[graphql(desc = "Go on after this cursor; the results since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<VerificationResult>>> {
        let mut wanted = filter.unwrap_or_default().for_changes().map_err(Failure::from)?;
        wanted.transitions = Some(vec!["record_verification".to_owned()]);
        Ok(Follow::new(ctx).answers(wanted, after, verification).await?)
    }

    /// Every change, of everything that matches.
    async fn changes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which changes; all when left out.")] filter: Option<ChangeFilterInput>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<Change>>> {
        let follow = Follow::new(ctx);
        let after = follow.resume(after).await?;
        let wanted = filter.unwrap_or_default().checked().map_err(Failure::from)?;
        let (runs, _) = follow.feed.changes(Arc::clone(&follow.viewer), wanted, after).await.map_err(Failure::from)?;
        let feed = follow.feed.clone();
        Ok(one_by_one(
            runs.map_err(Failure::from)
                .map_ok(move |run| run.into_iter().map(|change| Change::new(&feed, change)).collect()),
        ))
    }
}

/// The result that a change carries in its facts.
fn verification(feed: &Feed, watch: Option<Watch>, told: Told) -> Option<VerificationResult> {
    let Told::Change(change) = told else { return None };
    let number = |name: &str| change.facts.get(name)?.as_i64()?.try_into().ok();
    let outcome = change.facts.get("outcome")?.as_str()?.to_ascii_lowercase();
    Some(VerificationResult {
        outcome: outcome.parse().ok()?,
        watch,
        generation: number("generation")?,
        attempts: number("attempts")?,
        cursor: feed.cursor(change.sequence).to_string(),
        at: DateTime(change.at),
    })
}
