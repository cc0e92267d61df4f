//! The watch as clients see it, its lists and filters.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object};

use super::Services;
use super::changes::{ChangeConnection, timeline};
use super::documents::Document;
use super::errors::Result;
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::DateTime;
use crate::domain::bounds::{self, BadInput};
use crate::domain::changes::ChangeFilter;
use crate::domain::ids::NodeId;
use crate::domain::viewer::Viewer;
use crate::domain::watches as domain;
use crate::domain::words::{DeferReason, EntityKind, WatchStatus};
use crate::store::{self, ChangesOf, KeyPart};

/// The check that the provider shows what the local store says of one document.
#[derive(Debug, Clone)]
pub(super) struct Watch(pub Arc<domain::Watch>);

impl From<domain::Watch> for Watch {
    fn from(row: domain::Watch) -> Self {
        Self(Arc::new(row))
    }
}

impl Watch {
    fn node_id(&self) -> NodeId {
        NodeId::of_key(EntityKind::Watch, &self.0.identity().parts())
    }
}

/// The check that the provider shows what the local store says of one document.
#[Object]
impl Watch {
    /// Opaque and lasting: names the watch in every later mutation.
    pub(super) async fn id(&self) -> ID {
        ID(self.node_id().encode())
    }

    /// The DID whose data is watched.
    async fn owner_did(&self) -> &str {
        &self.0.owner_did
    }

    /// The connector that reads the provider.
    async fn connector_name(&self) -> &str {
        &self.0.connector_name
    }

    /// The kind of document.
    async fn model(&self) -> &str {
        &self.0.model
    }

    /// The account at the provider.
    async fn account_key(&self) -> &str {
        &self.0.account_key
    }

    /// The provider's name for the document.
    async fn source_id(&self) -> &str {
        &self.0.source_id
    }

    /// The document that is watched.
    async fn document_id(&self) -> &str {
        &self.0.document_id
    }

    /// The document that is watched.
    async fn document(&self) -> Document {
        Document(self.0.document_id.clone())
    }

    /// The digest that the provider was last seen to show while it was the winner.
    async fn verified_state_digest(&self) -> Option<&str> {
        self.0.verified_state_digest.as_deref()
    }

    /// The winner against which this generation was opened or settled.
    async fn observed_winner_digest(&self) -> Option<&str> {
        self.0.observed_winner_digest.as_deref()
    }

    /// Where it stands.
    async fn status(&self) -> WatchStatus {
        self.0.verification_status
    }

    /// Attempts of this generation that found something else than the winner.
    async fn attempts(&self) -> i32 {
        self.0.verification_attempts
    }

    /// Counts the runs of attempts; every act names the one that it was begun for.
    async fn generation(&self) -> i32 {
        self.0.repair_generation
    }

    /// When the provider is to be read next; null when the watch is settled.
    async fn next_attempt_at(&self) -> Option<DateTime> {
        self.0.next_attempt_at.map(DateTime)
    }

    /// Until when an attempt is somebody's; what has passed may be taken by another.
    async fn claimed_until(&self) -> Option<DateTime> {
        self.0.claimed_until.map(DateTime)
    }

    /// What it waits for.
    async fn defer_reason(&self) -> Option<DeferReason> {
        self.0.defer_reason
    }

    /// Counts its transitions.
    async fn version(&self) -> i32 {
        self.0.version
    }

    /// When it was armed first.
    async fn created_at(&self) -> DateTime {
        DateTime(self.0.created_at)
    }

    /// When a transition took effect on it last.
    async fn updated_at(&self) -> DateTime {
        DateTime(self.0.updated_at)
    }

    /// What happened to it, oldest first.
    async fn changes(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "How many from the front, 0 to 100; 50 when neither this nor last is given.")] first: Option<
            i32,
        >,
        #[graphql(desc = "Only rows after this cursor.")] after: Option<String>,
        #[graphql(desc = "How many from the back, 0 to 100.")] last: Option<i32>,
        #[graphql(desc = "Only rows before this cursor.")] before: Option<String>,
    ) -> async_graphql::Result<ChangeConnection> {
        let args = PageArgs { first, after, last, before };
        Ok(timeline(ctx, ChangesOf::Entity, self.node_id().encode(), args).await?)
    }
}

connection!(WatchConnection, WatchEdge, Watch, "watches");

/// What names a watch: where at which provider the document's copy lives.
#[derive(Debug, InputObject)]
pub(super) struct WatchIdentityInput {
    /// The DID whose data is watched.
    owner_did: String,
    /// The connector that reads the provider.
    connector_name: String,
    /// The kind of document.
    model: String,
    /// The account at the provider.
    account_key: String,
    /// The provider's name for the document.
    source_id: String,
}

impl WatchIdentityInput {
    pub(super) fn checked(self) -> std::result::Result<domain::WatchIdentity, BadInput> {
        bounds::key("identity.ownerDid", &self.owner_did)?;
        bounds::key("identity.connectorName", &self.connector_name)?;
        bounds::key("identity.model", &self.model)?;
        bounds::key("identity.accountKey", &self.account_key)?;
        bounds::key("identity.sourceId", &self.source_id)?;
        Ok(domain::WatchIdentity {
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            model: self.model,
            account_key: self.account_key,
            source_id: self.source_id,
        })
    }
}

/// Which watches. A field that is left out or null does not filter, an empty list matches nothing.
#[derive(Debug, Default, InputObject)]
pub(super) struct WatchFilter {
    /// With one of these statuses.
    statuses: Option<Vec<WatchStatus>>,
    /// Of one of these documents, at most 500.
    document_ids: Option<Vec<String>>,
    /// Of this owner.
    owner_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
    /// Of this kind of document.
    model: Option<String>,
    /// Waiting for one of these.
    defer_reasons: Option<Vec<DeferReason>>,
}

impl WatchFilter {
    fn check(&self) -> std::result::Result<(), BadInput> {
        if let Some(ids) = &self.document_ids {
            bounds::ids("filter.documentIds", ids)?;
        }
        bounds::length("filter.statuses", self.statuses.as_ref().map_or(0, Vec::len))?;
        bounds::length("filter.deferReasons", self.defer_reasons.as_ref().map_or(0, Vec::len))?;
        bounds::optional_key("filter.ownerDid", self.owner_did.as_deref())?;
        bounds::optional_key("filter.connectorName", self.connector_name.as_deref())?;
        bounds::optional_key("filter.model", self.model.as_deref())
    }

    /// For a list.
    pub(super) fn for_rows(self) -> std::result::Result<store::WatchFilter, BadInput> {
        self.check()?;
        Ok(store::WatchFilter {
            statuses: self.statuses,
            document_ids: self.document_ids,
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            model: self.model,
            defer_reasons: self.defer_reasons,
        })
    }

    /// For a subscription: the same questions, asked of the change.
    pub(super) fn for_changes(self) -> std::result::Result<ChangeFilter, BadInput> {
        self.check()?;
        Ok(ChangeFilter {
            entities: Some(vec![EntityKind::Watch]),
            watch_statuses: self.statuses,
            document_ids: self.document_ids,
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            model: self.model,
            defer_reasons: self.defer_reasons,
            ..ChangeFilter::default()
        })
    }
}

const LIST: &str = "watches";

/// The list of watches.
pub(super) async fn list(ctx: &Context<'_>, filter: WatchFilter, args: PageArgs) -> Result<WatchConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(LIST, "ttttt", field, cursor))?;
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let store = &ctx.data_unchecked::<Services>().store;
    let page = store.watches(viewer, &filter.for_rows()?, &slice).await?;
    Ok(WatchConnection::new(page, |row| {
        let key = row.identity().parts().into_iter().map(|part| KeyPart::Text(part.to_owned())).collect();
        (encode_cursor(LIST, key), Watch::from(row))
    }))
}
