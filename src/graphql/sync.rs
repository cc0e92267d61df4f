//! Sync states: as clients see them, their list and their mutations.

use std::sync::Arc;

use async_graphql::{Context, ID, InputObject, Object, SimpleObject};

use super::Services;
use super::document_acts::DeletePayload;
use super::errors::{Failure, Result};
use super::operation_acts::perform;
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::{DateTime, Json};
use crate::domain::bounds::{self, BadInput};
use crate::domain::ids::NodeId;
use crate::domain::sync::{self as domain, Progress, ReadVersion, SyncStateOutcome, SyncStatus};
use crate::domain::time;
use crate::domain::viewer::Viewer;
use crate::domain::words::EntityKind;
use crate::store::KeyPart;
use crate::store::acts::{self, SyncStateWritten};

type Checked<T> = std::result::Result<T, BadInput>;

/// How far a connector has read of one owner's data.
#[derive(Debug, Clone)]
pub(super) struct SyncState(pub Arc<domain::SyncState>);

impl From<domain::SyncState> for SyncState {
    fn from(row: domain::SyncState) -> Self {
        Self(Arc::new(row))
    }
}

/// How far a connector has read of one owner's data.
#[Object]
impl SyncState {
    /// Opaque and lasting.
    pub(super) async fn id(&self) -> ID {
        ID(NodeId::of_key(EntityKind::SyncState, &[&self.0.connector_name, &self.0.owner_did]).encode())
    }

    /// The connector that reads.
    async fn connector_name(&self) -> &str {
        &self.0.connector_name
    }

    /// The DID whose data is read.
    async fn owner_did(&self) -> &str {
        &self.0.owner_did
    }

    /// Where the next read goes on, in the connector's own form.
    async fn checkpoint(&self) -> async_graphql::Result<Option<Json>> {
        self.0.checkpoint.as_deref().map(Json::stored).transpose()
    }

    /// When the last read ended.
    async fn last_synced_at(&self) -> async_graphql::Result<DateTime> {
        time::parse("lastSyncedAt", &self.0.last_synced_at).map(DateTime).map_err(|problem| {
            tracing::error!(%problem, "a stored time cannot be read");
            async_graphql::Error::new("internal error")
        })
    }

    /// How many entities were read.
    async fn entity_count(&self) -> i32 {
        self.0.entity_count
    }

    /// What the connector does now.
    async fn status(&self) -> SyncStatus {
        self.0.status
    }

    /// What went wrong last.
    async fn error(&self) -> Option<&str> {
        self.0.error.as_deref()
    }

    /// How to go on after an error, in the connector's own form.
    async fn recovery(&self) -> async_graphql::Result<Option<Json>> {
        self.0.recovery.as_deref().map(Json::stored).transpose()
    }

    /// Counts its writes: a compare-and-set names the one that it was decided by.
    async fn version(&self) -> i32 {
        self.0.version
    }

    /// Drawn when it was made, so that one made again is not taken for this one.
    async fn incarnation(&self) -> Option<&str> {
        self.0.incarnation.as_deref()
    }
}

connection!(SyncStateConnection, SyncStateEdge, SyncState, "sync states");

const LIST: &str = "syncStates";

/// The list of sync states.
pub(super) async fn list(
    ctx: &Context<'_>,
    connector_name: Option<String>,
    owner_did: Option<String>,
    args: PageArgs,
) -> Result<SyncStateConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(LIST, "tt", field, cursor))?;
    bounds::optional_key("connectorName", connector_name.as_deref())?;
    bounds::optional_key("ownerDid", owner_did.as_deref())?;
    let store = &ctx.data_unchecked::<Services>().store;
    let of = [connector_name.as_deref(), owner_did.as_deref()];
    let page = store.sync_states(ctx.data_unchecked::<Arc<Viewer>>(), of, &slice).await?;
    Ok(SyncStateConnection::new(page, |row| {
        let key = [&row.connector_name, &row.owner_did].map(|part| KeyPart::Text(part.clone()));
        (encode_cursor(LIST, key.to_vec()), SyncState::from(row))
    }))
}

/// What names a sync state.
#[derive(Debug, InputObject)]
pub(super) struct SyncStateKeyInput {
    /// The connector that reads.
    connector_name: String,
    /// The DID whose data is read.
    owner_did: String,
}

/// Sets a sync state, whatever it was.
#[derive(Debug, InputObject)]
pub(super) struct SetSyncStateInput {
    /// The connector that reads.
    connector_name: String,
    /// The DID whose data is read.
    owner_did: String,
    /// Where the next read goes on, at most 256 KiB; null clears it.
    checkpoint: Option<Json>,
    /// When the last read ended.
    last_synced_at: DateTime,
    /// How many entities were read, 0 to 2,147,483,647.
    entity_count: i32,
    /// What the connector does now.
    status: SyncStatus,
    /// What went wrong, in words; at most 4,096 bytes. Null clears it.
    error: Option<String>,
    /// How to go on after an error, at most 256 KiB; null clears it.
    recovery: Option<Json>,
}

/// The sync state that was read.
#[derive(Debug, InputObject)]
pub(super) struct SyncStateVersionInput {
    /// Its version.
    version: i32,
    /// Its incarnation; null where it had none.
    incarnation: Option<String>,
}

/// Moves a sync state on, if it is still the one that was read. Its status stays.
#[derive(Debug, InputObject)]
pub(super) struct AdvanceSyncProgressInput {
    /// The connector that reads.
    connector_name: String,
    /// The DID whose data is read.
    owner_did: String,
    /// The sync state that was read; null: there must be none.
    expected: Option<SyncStateVersionInput>,
    /// Where the next read goes on, at most 256 KiB; null clears it.
    checkpoint: Option<Json>,
    /// When the last read ended.
    last_synced_at: DateTime,
    /// How many entities were read, 0 to 2,147,483,647.
    entity_count: i32,
    /// What went wrong, in words; at most 4,096 bytes. Null clears it.
    error: Option<String>,
    /// How to go on after an error, at most 256 KiB; null clears it.
    recovery: Option<Json>,
}

fn checked_json(field: &str, value: Option<Json>) -> Checked<Option<String>> {
    value.map(|value| bounds::json(field, &value.0)).transpose()
}

impl SetSyncStateInput {
    fn checked(self) -> Checked<acts::SetSyncState> {
        let status = self.status;
        let progress = AdvanceSyncProgressInput {
            connector_name: self.connector_name,
            owner_did: self.owner_did,
            expected: None,
            checkpoint: self.checkpoint,
            last_synced_at: self.last_synced_at,
            entity_count: self.entity_count,
            error: self.error,
            recovery: self.recovery,
        };
        Ok(acts::SetSyncState { progress: progress.checked()?.progress, status })
    }
}

impl AdvanceSyncProgressInput {
    fn checked(self) -> Checked<acts::AdvanceSyncProgress> {
        bounds::key("connectorName", &self.connector_name)?;
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::count("entityCount", self.entity_count)?;
        bounds::message("error", self.error.as_deref())?;
        let expected = match self.expected {
            None => None,
            Some(SyncStateVersionInput { version, incarnation }) => {
                bounds::count("expected.version", version)?;
                bounds::optional_key("expected.incarnation", incarnation.as_deref())?;
                Some(ReadVersion { version, incarnation })
            }
        };
        let progress = Progress {
            connector_name: self.connector_name,
            owner_did: self.owner_did,
            checkpoint: checked_json("checkpoint", self.checkpoint)?,
            last_synced_at: time::rfc3339(self.last_synced_at.0),
            entity_count: self.entity_count,
            error: self.error,
            recovery: checked_json("recovery", self.recovery)?,
        };
        Ok(acts::AdvanceSyncProgress { progress, expected })
    }
}

/// What came of writing a sync state.
#[derive(Debug, SimpleObject)]
pub(super) struct SyncStatePayload {
    /// What came of it.
    outcome: SyncStateOutcome,
    /// The sync state as it is now; null when it is gone.
    sync_state: Option<SyncState>,
}

impl From<SyncStateWritten> for SyncStatePayload {
    fn from(written: SyncStateWritten) -> Self {
        Self { outcome: written.outcome, sync_state: written.sync_state.map(SyncState::from) }
    }
}

/// The acts on sync states.
#[derive(Default)]
pub struct SyncActs;

/// The acts on sync states.
#[Object]
impl SyncActs {
    /// Sets a sync state, whatever it was. A compare-and-set that was decided before loses to it.
    async fn set_sync_state(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The sync state.")] input: SetSyncStateInput,
    ) -> async_graphql::Result<SyncStatePayload> {
        Ok(perform(ctx, input.checked().map_err(Failure::from)?).await?.into())
    }

    /// Moves a sync state on, if it is still the one that was read.
    async fn advance_sync_progress(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What was read, and what is to stand instead.")] input: AdvanceSyncProgressInput,
    ) -> async_graphql::Result<SyncStatePayload> {
        Ok(perform(ctx, input.checked().map_err(Failure::from)?).await?.into())
    }

    /// Removes a sync state.
    async fn delete_sync_state(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The sync state.")] input: SyncStateKeyInput,
    ) -> async_graphql::Result<DeletePayload> {
        bounds::key("connectorName", &input.connector_name).map_err(Failure::from)?;
        bounds::key("ownerDid", &input.owner_did).map_err(Failure::from)?;
        let act = acts::DeleteSyncState { connector_name: input.connector_name, owner_did: input.owner_did };
        Ok(DeletePayload::of(perform(ctx, act).await?))
    }
}
