//! Everything that can be followed live.
//!
//! What is awaited seldom is boxed: a subscription lives for long, and would keep the room that it took.
//!
//! Each stream is the feed with the rows of its changes as they are at delivery: fetched once for a run of changes, so
//! that what a client sees never goes back.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_graphql::{Context, ID, SimpleObject};
use futures_util::stream::{self, Stream, StreamExt as _, TryStreamExt as _};

use super::Services;
use super::changes::{Change, ChangeFilter as ChangeFilterInput};
use super::documents::Document;
use super::due::DueFilter;
use super::errors::{Failure, Result};
use super::live::{Event, Same, tell};
use super::operations::{Operation, OperationFilter};
use super::scalars::DateTime;
use super::watches::{Watch, WatchFilter};
use crate::domain::bounds;
use crate::domain::changes::{self as domain, ChangeFilter};
use crate::domain::ids::NodeId;
use crate::domain::viewer::Viewer;
use crate::domain::words::{EntityKind, VerificationOutcome};
use crate::events::{Feed, Run, Shown, Wanted};

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

/// A change of a document's books, with the document as it is now.
#[derive(Clone, SimpleObject)]
pub(super) struct DocumentChange {
    /// The document as it is now.
    document: Document,
    /// What happened; null on the first answer of each document, which tells what is true now.
    change: Option<Change>,
    /// Resumes this subscription from here.
    cursor: String,
}

/// How much work is due.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct WorkDue {
    /// Operations, counted to 1,000.
    operations: i32,
    /// Watches, counted to 1,000.
    watches: i32,
    /// When more will be, by time alone; null when nothing waits.
    next_due_at: Option<DateTime>,
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
    feed: Feed,
    viewer: Arc<Viewer>,
}

/// An entity whose row goes with its changes.
trait Followed: Clone + Send + Sync + 'static {
    /// What its ids name.
    const KIND: EntityKind;

    /// The entity with this node id, as far as the viewer may see it.
    fn of(shown: &Shown, viewer: &Viewer, id: &str) -> Option<Self>;
}

impl Followed for Operation {
    const KIND: EntityKind = EntityKind::Operation;

    fn of(shown: &Shown, viewer: &Viewer, id: &str) -> Option<Self> {
        shown.operation(viewer, id).map(Self)
    }
}

impl Followed for Watch {
    const KIND: EntityKind = EntityKind::Watch;

    fn of(shown: &Shown, viewer: &Viewer, id: &str) -> Option<Self> {
        shown.watch(viewer, id).map(Self)
    }
}

impl Follow {
    fn new(ctx: &Context<'_>) -> Arc<Self> {
        let feed = ctx.data_unchecked::<Services>().feed.clone();
        Arc::new(Self { feed, viewer: Arc::clone(ctx.data_unchecked::<Arc<Viewer>>()) })
    }

    async fn resume(&self, after: Option<String>) -> Result<Option<i64>> {
        match after {
            Some(cursor) => Ok(Some(self.feed.resume("after", &cursor).await?)),
            None => Ok(None),
        }
    }

    /// Each change that matches with its entity as it is now, told as `tell` says; before them, without `after` and
    /// where one entity is named, that entity alone.
    async fn answers<E: Followed, T: Send + Sync + 'static>(
        self: Arc<Self>,
        filter: ChangeFilter,
        after: Option<String>,
        tell: fn(&Feed, Option<E>, Told) -> Option<T>,
    ) -> Result<impl Stream<Item = Result<Event>>> {
        let after = self.resume(after).await?;
        let named = filter.entity_id.clone().filter(|_| after.is_none());
        let wanted = Wanted { viewer: Arc::clone(&self.viewer), filter, shows: Some(E::KIND) };
        let (runs, start) = self.feed.changes(wanted, after).await?;
        // When the rows that were told last were read: nobody is ever told an older one.
        let told_of = AtomicU64::new(0);
        // Read after the subscribing: whatever the row does not show yet comes as a change.
        let first = match named {
            Some(id) => {
                let shown = self.feed.show(E::KIND, &[&id]).await?;
                told_of.store(shown.ended(), Ordering::Relaxed);
                tell(&self.feed, E::of(&shown, &self.viewer, &id), Told::Now(start)).map(Event::new)
            }
            None => None,
        };
        let state = Arc::new((self, told_of));
        let runs = runs.map_err(Failure::from).and_then(move |Run { changes, shown }| {
            let state = Arc::clone(&state);
            async move {
                let (follow, told_of) = &*state;
                let shown = match shown.filter(|shown| shown.is_after(told_of.load(Ordering::Relaxed))) {
                    Some(shown) => shown,
                    None => Arc::new(Box::pin(follow.feed.show(E::KIND, &ids(&changes))).await?),
                };
                told_of.fetch_max(shown.ended(), Ordering::Relaxed);
                let told = changes.into_iter().filter_map(|change| {
                    // Others are told the same if they are shown what the same reading found.
                    let same: Same = (change.sequence, shown.ended());
                    let entity = E::of(&shown, &follow.viewer, &change.entity_id);
                    Some(Event::shared(tell(&follow.feed, entity, Told::Change(change))?, same))
                });
                Ok(told.collect())
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
            Self::Now(sequence) => (None, feed.place(sequence)),
            Self::Change(change) => {
                let change = Change::new(feed, change);
                let cursor = change.cursor.clone();
                (Some(change), cursor)
            }
        }
    }
}

/// The entities of some changes, each once.
fn ids(changes: &[Arc<domain::Change>]) -> Vec<&str> {
    let mut ids: Vec<&str> = changes.iter().map(|change| change.entity_id.as_str()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

/// Checks that an id names this kind of entity.
fn checked_id(kind: EntityKind, id: Option<ID>) -> Result<Option<String>> {
    let Some(id) = id else { return Ok(None) };
    NodeId::decode_as(kind, "id", &id)?;
    Ok(Some(id.0))
}

/// Runs of events, one by one.
fn one_by_one(runs: impl Stream<Item = Result<Vec<Event>>>) -> impl Stream<Item = Result<Event>> {
    runs.map_ok(|run| stream::iter(run.into_iter().map(Ok))).try_flatten()
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
        let begin = async {
            let mut wanted = filter.unwrap_or_default().for_changes()?;
            wanted.entity_id = checked_id(Operation::KIND, id)?;
            let tell = |feed: &Feed, operation, told: Told| {
                let (change, cursor) = told.split(feed);
                Some(OperationChange { operation, change, cursor })
            };
            Follow::new(ctx).answers(wanted, after, tell).await
        };
        tell(ctx, begin).await
    }

    /// The changes of watches. With `id` and without `after`, the first answer tells what is true now.
    async fn watch_changed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of this watch.")] id: Option<ID>,
        #[graphql(desc = "Only of watches that matched when they changed.")] filter: Option<WatchFilter>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<WatchChange>>> {
        let begin = async {
            let mut wanted = filter.unwrap_or_default().for_changes()?;
            wanted.entity_id = checked_id(Watch::KIND, id)?;
            let tell = |feed: &Feed, watch, told: Told| {
                let (change, cursor) = told.split(feed);
                Some(WatchChange { watch, change, cursor })
            };
            Follow::new(ctx).answers(wanted, after, tell).await
        };
        tell(ctx, begin).await
    }

    /// The changes of what stands in the books of these documents: of their operations, watches, winners, trims and repairs.
    /// Without `after`, the first answers tell what is true now of each, in the given order.
    async fn document_changed(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The documents' ids in the local store, at most 500.")] ids: Vec<String>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<DocumentChange>>> {
        let begin = async {
            bounds::ids("ids", &ids)?;
            let follow = Follow::new(ctx);
            let after = follow.resume(after).await?;
            let filter = ChangeFilter { touching: Some(ids.clone()), ..ChangeFilter::default() };
            let wanted = Wanted { viewer: Arc::clone(&follow.viewer), filter, shows: None };
            let (runs, start) = follow.feed.changes(wanted, after).await?;
            let feed = follow.feed.clone();
            let cursor = feed.place(start);
            let now =
                |id: &String| DocumentChange { document: Document(id.clone()), change: None, cursor: cursor.clone() };
            let unknown = ids.iter().filter(|_| after.is_none());
            let now: Vec<_> = unknown.map(|id| Ok(Event::new(now(id)))).collect();
            let touched = move |run: Run| run.changes.into_iter().flat_map(|it| touched(&feed, &ids, &it)).collect();
            Ok(stream::iter(now).chain(one_by_one(runs.map_err(Failure::from).map_ok(touched))))
        };
        tell(ctx, begin).await
    }

    /// How much work is due that the viewer may see: now, and again whenever that changes, by what is written or by time. Has no
    /// cursor: what is told is always what is true.
    async fn work_due(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which work; all that nobody works on when left out.")] filter: Option<DueFilter>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<WorkDue>>> {
        let begin = async {
            let filter = DueFilter::checked(filter)?;
            let follow = Follow::new(ctx);
            let narrow = |count: i64| i32::try_from(count).unwrap_or(i32::MAX);
            Ok(follow.feed.work_due(&follow.viewer, filter).map(move |due| {
                Ok(Event::new(WorkDue {
                    operations: narrow(due.operations),
                    watches: narrow(due.watches),
                    next_due_at: due.next_due_at.map(DateTime),
                }))
            }))
        };
        tell(ctx, begin).await
    }

    /// What verifications found, with generation and attempts as they were then.
    async fn verification_recorded(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Only of watches that matched afterwards.")] filter: Option<WatchFilter>,
        #[graphql(desc = "Go on after this cursor; the results since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<VerificationResult>>> {
        let begin = async {
            let mut wanted = filter.unwrap_or_default().for_changes()?;
            wanted.transitions = Some(vec!["record_verification".to_owned()]);
            Follow::new(ctx).answers(wanted, after, verification).await
        };
        tell(ctx, begin).await
    }

    /// Every change, of everything that matches.
    async fn changes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Which changes; all when left out.")] filter: Option<ChangeFilterInput>,
        #[graphql(desc = "Go on after this cursor; the changes since come first.")] after: Option<String>,
    ) -> async_graphql::Result<impl Stream<Item = async_graphql::Result<Change>>> {
        let begin = async {
            let follow = Follow::new(ctx);
            let after = follow.resume(after).await?;
            let filter = filter.unwrap_or_default().checked()?;
            let wanted = Wanted { viewer: Arc::clone(&follow.viewer), filter, shows: None };
            let (runs, _) = follow.feed.changes(wanted, after).await?;
            let feed = follow.feed.clone();
            let told = move |change: Arc<domain::Change>| {
                let same = (change.sequence, 0);
                Event::shared(Change::new(&feed, change), same)
            };
            Ok(one_by_one(runs.map_err(Failure::from).map_ok(move |run| run.changes.into_iter().map(&told).collect())))
        };
        tell(ctx, begin).await
    }
}

/// What a change did to those of the documents that it touched: the one that it left first. Whoever resumes between the two
/// is told of both again.
fn touched(feed: &Feed, ids: &[String], change: &Arc<domain::Change>) -> Vec<Event> {
    let wanted = |id: Option<&str>| id.filter(|id| ids.iter().any(|wanted| wanted == id)).map(str::to_owned);
    let left = wanted(change.left_document_id());
    let is = wanted(change.document_id.as_deref());
    let both = left.is_some() && is.is_some();
    let event = |id: String, cursor: i64, part: u64| {
        let change = Change::new(feed, Arc::clone(change));
        let same = (change.change.sequence, part);
        let cursor = feed.cursor(cursor);
        Event::shared(DocumentChange { document: Document(id), change: Some(change), cursor }, same)
    };
    let left = left.map(|id| event(id, if both { change.sequence - 1 } else { change.sequence }, 1));
    left.into_iter().chain(is.map(|id| event(id, change.sequence, 0))).collect()
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
        cursor: feed.cursor(change.sequence),
        at: DateTime(change.at),
    })
}
