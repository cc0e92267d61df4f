//! Loaders: what the rows of one list ask for beside themselves is fetched together, one statement for all of them.

use std::collections::HashMap;
use std::sync::Arc;

use async_graphql::Context;
use async_graphql::dataloader::Loader;

use super::errors::Failure;
use super::together::Loads;
use crate::domain::changes::Change;
use crate::domain::documents::{EntityTrim, ObservationRepair, Winner, WriteFacts};
use crate::domain::operations::Operation;
use crate::domain::sweeps::{Candidate, Receipt, SweepCandidateState};
use crate::domain::sync::SyncState;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch;
use crate::events::Feed;
use crate::store::{ChangesOf, OperationJson, Page, Slice, Store};

/// Reads on behalf of one viewer.
pub(super) struct Reader {
    store: Store,
    feed: Feed,
    viewer: Arc<Viewer>,
}

impl Reader {
    pub(super) const fn new(store: Store, feed: Feed, viewer: Arc<Viewer>) -> Self {
        Self { store, feed, viewer }
    }
}

/// Loads one thing, together with what others of the same list load now.
pub(super) async fn load<K>(ctx: &Context<'_>, key: K) -> Result<Option<<Reader as Loader<K>>::Value>, Failure>
where
    K: Send + Sync + std::hash::Hash + Eq + Clone + 'static,
    Reader: Loader<K, Error = Failure>,
{
    ctx.data_unchecked::<Loads<Reader>>().load(key).await
}

macro_rules! keys {
    ($($(#[$meta:meta])* $name:ident),+ $(,)?) => {
        $($(#[$meta])*
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub(super) struct $name(pub String);)+
    };
}

keys! {
    /// An operation by its node key.
    OperationByNodeKey,
    /// The JSON columns of the operation with this node key.
    JsonOf,
    /// The operation that was reissued from this node key.
    ReissueOf,
    /// A watch by its node key.
    WatchByNodeKey,
    /// The newest operation of a document.
    NewestOf,
    /// What a document's write state derives from.
    WriteFactsOf,
    /// The receipt with this node key.
    ReceiptByNodeKey,
    /// The sweep candidate with this node key.
    CandidateByNodeKey,
    /// The sync state with this node key.
    SyncStateByNodeKey,
    /// A document's watches.
    WatchesOf,
    /// A document's winner.
    WinnerOf,
    /// A document's trim.
    TrimOf,
    /// A document's repair.
    RepairOf,
    /// Whether a sweep has the document among its candidates.
    IsCandidate,
}

/// Loads by one statement for all keys, and sorts the rows to their keys. Many may ask for the same row: it is shared.
macro_rules! loader {
    ($key:ident => $value:ty, |$reader:ident, $ids:ident| $rows:expr, |$row:ident| $id:expr) => {
        impl Loader<$key> for Reader {
            type Value = Arc<$value>;
            type Error = Failure;

            async fn load(&self, keys: &[$key]) -> Result<HashMap<$key, Arc<$value>>, Failure> {
                let $reader = self;
                let ids: Vec<String> = keys.iter().map(|key| key.0.clone()).collect();
                let $ids = ids.as_slice();
                Ok($rows.into_iter().map(|$row| ($key($id), Arc::new($row))).collect())
            }
        }
    };
}

loader!(OperationByNodeKey => Operation,
    |reader, ids| reader.store.operations_by_node_key(&reader.viewer, ids).await?, |row| row.node_key.clone());
loader!(JsonOf => OperationJson,
    |reader, ids| reader.store.operation_json(&reader.viewer, ids).await?, |row| row.node_key.clone());
loader!(ReissueOf => Operation,
    |reader, ids| reader.store.operations_reissued_from(&reader.viewer, ids).await?,
    |row| row.reissued_from.clone().unwrap_or_default());
loader!(WatchByNodeKey => Watch,
    |reader, ids| reader.store.watches_by_node_key(&reader.viewer, ids).await?,
    |row| crate::domain::ids::digest(&row.identity().parts()));
loader!(ReceiptByNodeKey => Receipt,
    |reader, ids| reader.store.receipts_by_node_key(&reader.viewer, ids).await?,
    |row| crate::domain::ids::digest(&row.parts()));
loader!(CandidateByNodeKey => Candidate,
    |reader, ids| reader.store.candidates_by_node_key(&reader.viewer, ids).await?,
    |row| crate::domain::ids::digest(&row.parts()));
loader!(SyncStateByNodeKey => SyncState,
    |reader, ids| reader.store.sync_states_by_node_key(&reader.viewer, ids).await?,
    |row| crate::domain::ids::digest(&[&row.connector_name, &row.owner_did]));
loader!(WinnerOf => Winner, |reader, ids| reader.store.winners(&reader.viewer, ids).await?, |row| row.document_id.clone());
loader!(TrimOf => EntityTrim, |reader, ids| reader.store.trims(&reader.viewer, ids).await?, |row| row.document_id.clone());
loader!(RepairOf => ObservationRepair, |reader, ids| reader.store.repairs(&reader.viewer, ids).await?, |row| row.document_id.clone());

impl Loader<IsCandidate> for Reader {
    type Value = ();
    type Error = Failure;

    async fn load(&self, keys: &[IsCandidate]) -> Result<HashMap<IsCandidate, ()>, Failure> {
        let ids: Vec<String> = keys.iter().map(|key| key.0.clone()).collect();
        Ok(self
            .store
            .sweep_candidates_among(&self.viewer, &ids)
            .await?
            .into_iter()
            .map(|id| (IsCandidate(id), ()))
            .collect())
    }
}

impl Loader<WatchesOf> for Reader {
    type Value = Arc<Vec<Watch>>;
    type Error = Failure;

    async fn load(&self, keys: &[WatchesOf]) -> Result<HashMap<WatchesOf, Arc<Vec<Watch>>>, Failure> {
        let ids: Vec<String> = keys.iter().map(|key| key.0.clone()).collect();
        let mut found: HashMap<WatchesOf, Vec<Watch>> = HashMap::new();
        for watch in self.store.watches_of_documents(&self.viewer, &ids).await? {
            found.entry(WatchesOf(watch.document_id.clone())).or_default().push(watch);
        }
        Ok(found.into_iter().map(|(key, watches)| (key, Arc::new(watches))).collect())
    }
}

impl Loader<NewestOf> for Reader {
    type Value = Arc<Operation>;
    type Error = Failure;

    async fn load(&self, keys: &[NewestOf]) -> Result<HashMap<NewestOf, Arc<Operation>>, Failure> {
        let ids: Vec<String> = keys.iter().map(|key| key.0.clone()).collect();
        let newest = self.store.newest_operations(&self.viewer, &ids).await?;
        Ok(keys.iter().cloned().zip(newest).filter_map(|(key, row)| Some((key, Arc::new(row?)))).collect())
    }
}

impl Loader<WriteFactsOf> for Reader {
    type Value = Arc<WriteFacts>;
    type Error = Failure;

    async fn load(&self, keys: &[WriteFactsOf]) -> Result<HashMap<WriteFactsOf, Arc<WriteFacts>>, Failure> {
        let ids: Vec<String> = keys.iter().map(|key| key.0.clone()).collect();
        let facts = self.store.write_facts(&self.viewer, &ids).await?;
        Ok(keys.iter().cloned().zip(facts.into_iter().map(Arc::new)).collect())
    }
}

/// The same page of the operations of a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct OperationsOf {
    pub document_id: String,
    pub slice: Slice,
}

/// The same page of the candidates of a receipt.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct CandidatesOf {
    pub receipt: [String; 4],
    pub slice: Slice,
}

/// How many candidates of a receipt are in each state.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct ProgressOf(pub [String; 4]);

impl Loader<CandidatesOf> for Reader {
    type Value = Page<Arc<Candidate>>;
    type Error = Failure;

    async fn load(&self, keys: &[CandidatesOf]) -> Result<HashMap<CandidatesOf, Page<Arc<Candidate>>>, Failure> {
        let mut loaded = HashMap::new();
        for (slice, keys) in grouped(keys, |key| key.slice.clone()) {
            let receipts: Vec<[String; 4]> = keys.iter().map(|key| key.receipt.clone()).collect();
            let pages = self.store.candidates_of(&receipts, &slice).await?;
            loaded.extend(keys.into_iter().cloned().zip(pages.into_iter().map(Page::shared)));
        }
        Ok(loaded)
    }
}

impl Loader<ProgressOf> for Reader {
    type Value = Arc<Vec<(SweepCandidateState, i64)>>;
    type Error = Failure;

    async fn load(&self, keys: &[ProgressOf]) -> Result<HashMap<ProgressOf, Self::Value>, Failure> {
        let receipts: Vec<[String; 4]> = keys.iter().map(|key| key.0.clone()).collect();
        let counts = self.store.sweep_progress(&receipts).await?;
        Ok(keys.iter().cloned().zip(counts.into_iter().map(Arc::new)).collect())
    }
}

/// The same page of the changes of an entity or a document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct TimelineOf {
    pub of: ChangesOf,
    pub id: String,
    pub slice: Slice,
}

impl Loader<OperationsOf> for Reader {
    type Value = Page<Arc<Operation>>;
    type Error = Failure;

    async fn load(&self, keys: &[OperationsOf]) -> Result<HashMap<OperationsOf, Page<Arc<Operation>>>, Failure> {
        let mut loaded = HashMap::new();
        for (slice, keys) in grouped(keys, |key| key.slice.clone()) {
            let ids: Vec<String> = keys.iter().map(|key| key.document_id.clone()).collect();
            let pages = self.store.operations_of_documents(&self.viewer, &ids, &slice).await?;
            loaded.extend(keys.into_iter().cloned().zip(pages.into_iter().map(Page::shared)));
        }
        Ok(loaded)
    }
}

impl Loader<TimelineOf> for Reader {
    type Value = Page<Arc<Change>>;
    type Error = Failure;

    async fn load(&self, keys: &[TimelineOf]) -> Result<HashMap<TimelineOf, Page<Arc<Change>>>, Failure> {
        let through = self.feed.settled_through().await?;
        let mut loaded = HashMap::new();
        for ((of, slice), keys) in grouped(keys, |key| (key.of, key.slice.clone())) {
            let ids: Vec<String> = keys.iter().map(|key| key.id.clone()).collect();
            let pages = self.store.changes_of(&self.viewer, of, &ids, through, &slice).await?;
            loaded.extend(keys.into_iter().cloned().zip(pages.into_iter().map(Page::shared)));
        }
        Ok(loaded)
    }
}

/// The keys by what they have in common.
fn grouped<K, G: std::hash::Hash + Eq>(keys: &[K], by: impl Fn(&K) -> G) -> HashMap<G, Vec<&K>> {
    let mut groups: HashMap<G, Vec<&K>> = HashMap::new();
    for key in keys {
        groups.entry(by(key)).or_default().push(key);
    }
    groups
}
