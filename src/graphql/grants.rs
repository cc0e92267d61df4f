//! Grants as clients see them: which caller may claim for which owner.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object, SimpleObject};

use super::Services;
use super::document_acts::DeletePayload;
use super::errors::Failure;
use super::operation_acts::perform;
use super::scalars::DateTime;
use crate::domain::bounds::{self, BadInput};
use crate::domain::grants as domain;
use crate::domain::viewer::Viewer;
use crate::store::acts;

/// What lets a caller claim operations for an owner.
#[derive(Debug, SimpleObject)]
pub(super) struct AccessGrant {
    /// The DID whose data it is.
    owner_did: String,
    /// The DID that may claim for it.
    caller_did: String,
    /// By which connector; null for every one.
    connector_name: Option<String>,
    /// When it was given.
    created_at: DateTime,
}

impl From<domain::Grant> for AccessGrant {
    fn from(grant: domain::Grant) -> Self {
        let domain::GrantKey { owner_did, caller_did, connector_name } = grant.key;
        Self { owner_did, caller_did, connector_name, created_at: DateTime(grant.created_at) }
    }
}

/// What names a grant.
#[derive(Debug, InputObject)]
pub(super) struct AccessGrantInput {
    /// The DID whose data it is.
    owner_did: String,
    /// The DID that may claim for it.
    caller_did: String,
    /// By which connector; every one when left out. Revoking without a connector takes every grant of the two; revoking one
    /// connector leaves a grant for every one standing.
    connector_name: Option<String>,
}

impl AccessGrantInput {
    fn checked(self) -> Result<domain::GrantKey, BadInput> {
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::key("callerDid", &self.caller_did)?;
        bounds::optional_key("connectorName", self.connector_name.as_deref())?;
        let Self { owner_did, caller_did, connector_name } = self;
        Ok(domain::GrantKey { owner_did, caller_did, connector_name })
    }
}

/// The grant that stands.
#[derive(Debug, SimpleObject)]
pub(super) struct AccessGrantPayload {
    /// The grant.
    grant: AccessGrant,
}

/// What can be read of grants.
#[derive(Default)]
pub struct GrantQuery;

/// What can be read of grants.
#[Object]
impl GrantQuery {
    /// The grants that the viewer gave or holds, for operators all, by owner, caller and connector; the first 1,000.
    async fn access_grants(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Of this owner; of all when left out.")] owner_did: Option<String>,
    ) -> async_graphql::Result<Vec<AccessGrant>> {
        bounds::optional_key("ownerDid", owner_did.as_deref()).map_err(Failure::from)?;
        let store = &ctx.data_unchecked::<Services>().store;
        let viewer = ctx.data_unchecked::<Arc<Viewer>>();
        let found = store.grants(viewer, owner_did.as_deref()).await.map_err(Failure::from)?;
        Ok(found.into_iter().map(AccessGrant::from).collect())
    }
}

/// The acts on grants.
#[derive(Default)]
pub struct GrantActs;

/// The acts on grants.
#[Object]
impl GrantActs {
    /// Lets a caller claim for an owner. By the owner or an operator; a grant that stands stays as it is.
    async fn grant_access(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Who, for whom, and by what.")] input: AccessGrantInput,
    ) -> async_graphql::Result<AccessGrantPayload> {
        let grant = perform(ctx, acts::GrantAccess(input.checked().map_err(Failure::from)?)).await?;
        Ok(AccessGrantPayload { grant: grant.into() })
    }

    /// Takes that back, by the owner or an operator: whatever the caller claims for the owner after the answer is refused. What it
    /// has claimed it still drives.
    async fn revoke_access(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Whose, for whom, and by what.")] input: AccessGrantInput,
    ) -> async_graphql::Result<DeletePayload> {
        let removed = perform(ctx, acts::RevokeAccess(input.checked().map_err(Failure::from)?)).await?;
        Ok(DeletePayload::of(usize::try_from(removed).unwrap_or(usize::MAX)))
    }
}
