//! Changes as clients see them: the list, the timelines, the filter.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object};

use super::Services;
use super::errors::Result;
use super::loaders::{TimelineOf, load};
use super::node::{Node, node};
use super::pages::{PageArgs, connection};
use super::scalars::{DateTime, Json};
use crate::domain::bounds::{self, BadInput};
use crate::domain::changes as domain;
use crate::domain::viewer::Viewer;
use crate::domain::words::EntityKind;
use crate::events::Feed;
use crate::store::{ChangesOf, KeyPart, Page};

/// What one transition did to one entity, as it was at that moment. Never a secret.
#[derive(Debug, Clone)]
pub(super) struct Change {
    pub change: Arc<domain::Change>,
    pub cursor: String,
}

impl Change {
    pub(super) fn new(feed: &Feed, change: Arc<domain::Change>) -> Self {
        let cursor = feed.cursor(change.sequence);
        Self { change, cursor }
    }
}

/// What one transition did to one entity, as it was at that moment. Never a secret.
#[Object]
impl Change {
    /// Its place in the log: pass it as `after` to go on from here, in a list or in any subscription.
    async fn cursor(&self) -> &str {
        &self.cursor
    }

    /// When it happened.
    async fn at(&self) -> DateTime {
        DateTime(self.change.at)
    }

    /// What was done. To an operation: claim, reissue, `acquire_lease`, `release_lease`, `mark_send_started`, record, defer, finalize,
    /// `resume_offline`, `resume_auth`, collect, sweep. To a watch: arm, `claim_attempt`, defer, `record_verification`,
    /// `resume_offline`, `resume_auth`, remove. To a document: `record_winner`, `remove_winner`, `set_trim`, `clear_trim`,
    /// `put_repair`, `clear_repair`, `put_observation`, `prune_observation`, `remove_observations`. To a sweep's receipt, candidate
    /// or checkpoint: `record_receipt`, `add_candidate`, `record_outcome`, apply, `record_apply_failure`, commit, remove. To a sync
    /// state: set, advance, remove.
    async fn transition(&self) -> &str {
        &self.change.transition
    }

    /// What it was done to.
    async fn entity(&self) -> EntityKind {
        self.change.entity
    }

    /// The entity as it is now; null when it is gone, and for a document, which is no node.
    async fn node(&self, ctx: &Context<'_>) -> async_graphql::Result<Option<Node>> {
        Ok(node(ctx, "node", &self.change.entity_id).await?)
    }

    /// The state that it was in; null when it was made.
    async fn from_state(&self) -> Option<String> {
        self.change.from_state.as_ref().map(|state| state.to_ascii_uppercase())
    }

    /// The state that it was in afterwards; null when it was removed.
    async fn to_state(&self) -> Option<String> {
        self.change.to_state.as_ref().map(|state| state.to_ascii_uppercase())
    }

    /// The document that it concerns.
    async fn document_id(&self) -> Option<&str> {
        self.change.document_id.as_deref()
    }

    /// The owner of the entity.
    async fn owner_did(&self) -> Option<&str> {
        self.change.owner_did.as_deref()
    }

    /// The caller of the operation.
    async fn caller_did(&self) -> Option<&str> {
        self.change.caller_did.as_deref()
    }

    /// The connector of the entity.
    async fn connector_name(&self) -> Option<&str> {
        self.change.connector_name.as_deref()
    }

    /// Who did it; null with open access.
    async fn actor_did(&self) -> Option<&str> {
        self.change.actor_did.as_deref()
    }

    /// More about it, as it was then: attempts, generation, digests, HTTP status, the note that came with the act.
    async fn facts(&self) -> Json {
        Json(self.change.facts.clone())
    }
}

connection!(ChangeConnection, ChangeEdge, Change, "changes");

/// Which changes. A field that is left out or null does not filter, an empty list matches nothing.
#[derive(Debug, Default, InputObject)]
pub(super) struct ChangeFilter {
    /// Of these kinds of entities.
    entities: Option<Vec<EntityKind>>,
    /// Of these documents, at most 500.
    document_ids: Option<Vec<String>>,
    /// Of this owner.
    owner_did: Option<String>,
    /// Of operations that this DID claimed.
    caller_did: Option<String>,
    /// Of this connector.
    connector_name: Option<String>,
    /// By these transitions, at most 500.
    transitions: Option<Vec<String>>,
}

impl ChangeFilter {
    pub(super) fn checked(self) -> std::result::Result<domain::ChangeFilter, BadInput> {
        if let Some(ids) = &self.document_ids {
            bounds::ids("filter.documentIds", ids)?;
        }
        if let Some(transitions) = &self.transitions {
            bounds::ids("filter.transitions", transitions)?;
        }
        bounds::length("filter.entities", self.entities.as_ref().map_or(0, Vec::len))?;
        bounds::optional_key("filter.ownerDid", self.owner_did.as_deref())?;
        bounds::optional_key("filter.callerDid", self.caller_did.as_deref())?;
        bounds::optional_key("filter.connectorName", self.connector_name.as_deref())?;
        Ok(domain::ChangeFilter {
            entities: self.entities,
            document_ids: self.document_ids,
            owner_did: self.owner_did,
            caller_did: self.caller_did,
            connector_name: self.connector_name,
            transitions: self.transitions,
            ..domain::ChangeFilter::default()
        })
    }
}

fn connect(feed: &Feed, page: Page<Arc<domain::Change>>) -> ChangeConnection {
    ChangeConnection::new(page, |row| {
        let change = Change::new(feed, row);
        (change.cursor.clone(), change)
    })
}

/// The cursors of a page's bounds are read by the feed: they have to be of its log, and not too old.
async fn read_cursors(feed: &Feed, args: &PageArgs) -> Result<(Option<i64>, Option<i64>)> {
    let after = match &args.after {
        Some(cursor) => Some(feed.resume("after", cursor).await?),
        None => None,
    };
    let before = match &args.before {
        Some(cursor) => Some(feed.resume("before", cursor).await?),
        None => None,
    };
    Ok((after, before))
}

async fn slice(ctx: &Context<'_>, feed: &Feed, args: PageArgs) -> Result<crate::store::Slice> {
    let (after, before) = read_cursors(feed, &args).await?;
    Ok(args.slice(ctx, |field, _| {
        let number = if field == "after" { after } else { before };
        Ok(number.map(KeyPart::Int).into_iter().collect())
    })?)
}

/// The list of changes.
pub(super) async fn list(ctx: &Context<'_>, filter: ChangeFilter, args: PageArgs) -> Result<ChangeConnection> {
    let Services { store, feed, .. } = ctx.data_unchecked::<Services>();
    let filter = filter.checked()?;
    let slice = slice(ctx, feed, args).await?;
    let through = feed.settled_through().await?;
    let page = store.changes(ctx.data_unchecked::<Arc<Viewer>>(), &filter, through, &slice).await?;
    Ok(connect(feed, page.shared()))
}

/// The changes of one entity or document, fetched with those of the other rows of its list.
pub(super) async fn timeline(ctx: &Context<'_>, of: ChangesOf, id: String, args: PageArgs) -> Result<ChangeConnection> {
    let feed = &ctx.data_unchecked::<Services>().feed;
    let slice = slice(ctx, feed, args).await?;
    let page = load(ctx, TimelineOf { of, id, slice }).await?.unwrap_or_default();
    Ok(connect(feed, page))
}
