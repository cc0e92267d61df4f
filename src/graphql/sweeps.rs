//! Sweeps as clients see them: receipts, candidates, checkpoints and their lists.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::Services;
use super::errors::Result;
use super::loaders::{CandidatesOf, ProgressOf, ReceiptByNodeKey, load};
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::{DateTime, Json};
use crate::domain::bounds::{self, BadInput};
use crate::domain::ids::{NodeId, digest};
use crate::domain::sweeps::{self as domain, Partition, SweepCandidateState};
use crate::domain::viewer::Viewer;
use crate::domain::words::EntityKind;
use crate::store::{self, KeyPart, Keyed as _, Page};

type Checked<T> = std::result::Result<T, BadInput>;

/// The receipt of one relist of a partition.
#[derive(Debug, Clone)]
pub(super) struct SweepReceipt(pub Arc<domain::Receipt>);

impl From<domain::Receipt> for SweepReceipt {
    fn from(row: domain::Receipt) -> Self {
        Self(Arc::new(row))
    }
}

/// The receipt of one relist of a partition.
#[Object]
impl SweepReceipt {
    /// Opaque and lasting.
    pub(super) async fn id(&self) -> ID {
        ID(NodeId::of_key(EntityKind::SweepReceipt, &self.0.parts()).encode())
    }

    /// The DID whose data was listed.
    async fn owner_did(&self) -> &str {
        &self.0.owner_did
    }

    /// The connector that listed.
    async fn connector_name(&self) -> &str {
        &self.0.connector_name
    }

    /// The part of the provider that was listed.
    async fn partition(&self) -> &str {
        &self.0.partition
    }

    /// The connector's own name for this relist.
    async fn provenance(&self) -> &str {
        &self.0.provenance
    }

    /// Its place among the partition's relists.
    async fn sequence(&self) -> i64 {
        self.0.sequence
    }

    /// The kind of document that was listed.
    async fn model_id(&self) -> &str {
        &self.0.model_id
    }

    /// What was listed, in the connector's own form.
    async fn scope(&self) -> async_graphql::Result<Json> {
        Json::stored(&self.0.scope)
    }

    /// What the relist showed and so is kept, in the connector's own form.
    async fn keep(&self) -> async_graphql::Result<Json> {
        Json::stored(&self.0.keep)
    }

    /// The hybrid logical clock of the fetch.
    async fn source_fetch_hlc(&self) -> &str {
        &self.0.source_fetch_hlc
    }

    /// What documents had to be like to be candidates, in the connector's own form.
    async fn predicate(&self) -> async_graphql::Result<Option<Json>> {
        self.0.predicate.as_deref().map(Json::stored).transpose()
    }

    /// What kind of relist it was, in the connector's own words.
    async fn kind(&self) -> &str {
        &self.0.kind
    }

    /// Whether the relist came to its end.
    async fn complete(&self) -> bool {
        self.0.complete != 0
    }

    /// When it was recorded.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When it was committed; null before.
    async fn committed_at(&self) -> Option<DateTime> {
        self.0.committed_at.map(DateTime)
    }

    /// The documents that it did not show, longest untouched first.
    async fn candidates(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<SweepCandidateConnection> {
        let args = PageArgs { first, after, last, before };
        let slice = args.slice(ctx, decode_candidate).map_err(super::errors::Failure::from)?;
        let receipt = self.0.parts().map(str::to_owned);
        let page = load(ctx, CandidatesOf { receipt, slice }).await?.unwrap_or_default();
        Ok(candidates(page))
    }

    /// How many of its candidates are in each state that any is in.
    async fn progress(&self, ctx: &Context<'_>) -> async_graphql::Result<Vec<SweepCandidateCount>> {
        let found = load(ctx, ProgressOf(self.0.parts().map(str::to_owned))).await?.unwrap_or_default();
        Ok(found.iter().map(|(state, count)| SweepCandidateCount { state: *state, count: *count }).collect())
    }
}

/// How many candidates are in one state.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct SweepCandidateCount {
    /// The state.
    state: SweepCandidateState,
    /// How many.
    count: i64,
}

/// A document that a relist did not show.
#[derive(Debug, Clone)]
pub(super) struct SweepCandidate(pub Arc<domain::Candidate>);

impl From<domain::Candidate> for SweepCandidate {
    fn from(row: domain::Candidate) -> Self {
        Self(Arc::new(row))
    }
}

/// A document that a relist did not show.
#[Object]
impl SweepCandidate {
    /// Opaque and lasting.
    pub(super) async fn id(&self) -> ID {
        ID(NodeId::of_key(EntityKind::SweepCandidate, &self.0.parts()).encode())
    }

    /// The relist that did not show it.
    async fn receipt(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<SweepReceipt>> {
        let [owner, connector, partition, provenance, _] = self.0.parts();
        let key = digest(&[owner, connector, partition, provenance]);
        Ok(load(ctx, ReceiptByNodeKey(key)).await?.map(SweepReceipt))
    }

    /// The document.
    async fn document_id(&self) -> &str {
        &self.0.document_id
    }

    /// The provider's name for it.
    async fn source_id(&self) -> &str {
        &self.0.source_id
    }

    /// The kind of document.
    async fn model_id(&self) -> &str {
        &self.0.model_id
    }

    /// Where it stands.
    async fn state(&self) -> SweepCandidateState {
        self.0.state
    }

    /// How often somebody looked.
    async fn attempts(&self) -> i32 {
        self.0.attempts
    }

    /// How often writing it to the local store failed; the fifth time refuses it.
    async fn apply_failures(&self) -> i32 {
        self.0.apply_failures
    }

    /// What went wrong last.
    async fn last_error(&self) -> Option<&str> {
        self.0.last_error.as_deref()
    }

    /// When to look again; null: at once.
    async fn next_attempt_at(&self) -> Option<DateTime> {
        (self.0.next_attempt_at != 0).then_some(DateTime(self.0.next_attempt_at))
    }

    /// When something was said of it last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }
}

/// How far the sweeps of a partition are done.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct SweepCheckpoint {
    /// The DID whose data is swept.
    owner_did: String,
    /// The connector that sweeps.
    connector_name: String,
    /// The part of the provider.
    partition: String,
    /// The relist that was committed last, in the order of their sequences.
    provenance: String,
    /// Its sequence.
    sequence: i64,
    /// When it moved last.
    updated_at: DateTime,
}

impl From<domain::Checkpoint> for SweepCheckpoint {
    fn from(row: domain::Checkpoint) -> Self {
        Self {
            owner_did: row.owner_did,
            connector_name: row.connector_name,
            partition: row.partition,
            provenance: row.provenance,
            sequence: row.receipt_sequence,
            updated_at: DateTime(row.updated_at),
        }
    }
}

connection!(SweepReceiptConnection, SweepReceiptEdge, SweepReceipt, "receipts of relists");
connection!(SweepCandidateConnection, SweepCandidateEdge, SweepCandidate, "sweep candidates");

/// What names a partition.
#[derive(Debug, InputObject)]
pub(super) struct SweepPartitionInput {
    /// The DID whose data is swept.
    owner_did: String,
    /// The connector that sweeps.
    connector_name: String,
    /// The part of the provider.
    partition: String,
}

impl SweepPartitionInput {
    pub(super) fn checked(self) -> Checked<Partition> {
        checked_partition(self.owner_did, self.connector_name, self.partition)
    }
}

pub(super) fn checked_partition(owner_did: String, connector_name: String, partition: String) -> Checked<Partition> {
    bounds::key("ownerDid", &owner_did)?;
    bounds::key("connectorName", &connector_name)?;
    bounds::key("partition", &partition)?;
    Ok(Partition { owner_did, connector_name, partition })
}

/// Which receipts. A field that is left out or null does not filter.
#[derive(Debug, Default, InputObject)]
pub(super) struct SweepReceiptFilter {
    /// Of this owner.
    owner_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
    /// Of this partition.
    partition: Option<String>,
    /// Committed, or not yet.
    committed: Option<bool>,
}

/// Which candidates. A field that is left out or null does not filter, an empty list matches nothing.
#[derive(Debug, Default, InputObject)]
pub(super) struct SweepCandidateFilter {
    /// Of this owner.
    owner_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
    /// Of this partition.
    partition: Option<String>,
    /// Of this relist.
    provenance: Option<String>,
    /// In one of these states.
    states: Option<Vec<SweepCandidateState>>,
    /// Not resolved, and due at this time.
    due_at: Option<DateTime>,
}

const RECEIPTS: &str = "sweepReceipts";
const CANDIDATES: &str = "sweepCandidates";

fn decode_candidate(field: &str, cursor: &str) -> Checked<Vec<KeyPart>> {
    decode_cursor(CANDIDATES, "ittttt", field, cursor)
}

/// A page of candidates, as clients see it.
fn candidates(page: Page<Arc<domain::Candidate>>) -> SweepCandidateConnection {
    SweepCandidateConnection::new(page, |row| {
        (encode_cursor(CANDIDATES, row.key(&store::CANDIDATE_ORDER)), SweepCandidate(row))
    })
}

/// The list of receipts.
pub(super) async fn list_receipts(
    ctx: &Context<'_>,
    filter: SweepReceiptFilter,
    args: PageArgs,
) -> Result<SweepReceiptConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(RECEIPTS, "tttit", field, cursor))?;
    bounds::optional_key("filter.ownerDid", filter.owner_did.as_deref())?;
    bounds::optional_key("filter.connectorName", filter.connector_name.as_deref())?;
    bounds::optional_key("filter.partition", filter.partition.as_deref())?;
    let SweepReceiptFilter { owner_did, connector_name, partition, committed } = filter;
    let filter = store::ReceiptFilter { owner_did, connector_name, partition, committed };
    let store = &ctx.data_unchecked::<Services>().store;
    let page = store.receipts(ctx.data_unchecked::<Arc<Viewer>>(), &filter, &slice).await?;
    Ok(SweepReceiptConnection::new(page, |row| {
        (encode_cursor(RECEIPTS, row.key(&store::RECEIPT_ORDER)), SweepReceipt::from(row))
    }))
}

/// The list of candidates.
pub(super) async fn list_candidates(
    ctx: &Context<'_>,
    filter: SweepCandidateFilter,
    args: PageArgs,
) -> Result<SweepCandidateConnection> {
    let slice = args.slice(ctx, decode_candidate)?;
    bounds::optional_key("filter.ownerDid", filter.owner_did.as_deref())?;
    bounds::optional_key("filter.connectorName", filter.connector_name.as_deref())?;
    bounds::optional_key("filter.partition", filter.partition.as_deref())?;
    bounds::optional_key("filter.provenance", filter.provenance.as_deref())?;
    bounds::length("filter.states", filter.states.as_ref().map_or(0, Vec::len))?;
    let SweepCandidateFilter { owner_did, connector_name, partition, provenance, states, due_at } = filter;
    let due_at = due_at.map(|at| at.0);
    let filter = store::CandidateFilter { owner_did, connector_name, partition, provenance, states, due_at };
    let store = &ctx.data_unchecked::<Services>().store;
    let page = store.candidates(ctx.data_unchecked::<Arc<Viewer>>(), &filter, &slice).await?;
    Ok(candidates(page.shared()))
}
