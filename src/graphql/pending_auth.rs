//! Pending authorisations: as clients see them, their list and their mutations. The code verifier leaves once.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object, SimpleObject};

use super::Services;
use super::document_acts::DeletePayload;
use super::errors::{Failure, Result};
use super::operation_acts::{now, perform};
use super::operation_input::due;
use super::pages::{PageArgs, connection, decode_cursor, encode_cursor};
use super::scalars::DateTime;
use crate::domain::bounds::{self, BadInput};
use crate::domain::pending_auth::{self as domain, PendingAuthOutcome, Secret};
use crate::domain::viewer::Viewer;
use crate::store::KeyPart;
use crate::store::acts::{self, PendingAuthActed};

type Checked<T> = std::result::Result<T, BadInput>;

/// An authorisation at a provider that is waited for. Its code verifier is never shown here.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct PendingAuth {
    /// What names it: the state that comes back with the authorisation.
    state: String,
    /// The provider that is asked.
    provider: String,
    /// The DID whose data the authorisation is for.
    owner_did: String,
    /// The DID that the owner's secrets can be wrapped for.
    owner_wrappable_did: Option<String>,
    /// The DID that the controller's secrets can be wrapped for.
    controller_wrappable_did: Option<String>,
    /// Where the provider sends the browser back to.
    redirect_url: String,
    /// What is asked for.
    scopes: Vec<String>,
    /// Whether it adds to what was authorised before.
    incremental: bool,
    /// When it was made.
    created_at: DateTime,
    /// Until when it is good; at that very moment it still is.
    expires_at: DateTime,
}

impl From<domain::PendingAuth> for PendingAuth {
    fn from(row: domain::PendingAuth) -> Self {
        // The secret is gone from the table by now: a list that somebody wrote otherwise must not keep it from its owner.
        let scopes = serde_json::from_str(&row.scopes).unwrap_or_else(|_| vec![row.scopes.clone()]);
        Self {
            state: row.state,
            provider: row.provider,
            owner_did: row.owner_did,
            owner_wrappable_did: row.owner_wrappable_did,
            controller_wrappable_did: row.controller_wrappable_did,
            redirect_url: row.redirect_url,
            scopes,
            incremental: row.is_incremental != 0,
            created_at: DateTime(row.created_at),
            expires_at: DateTime(row.expires_at),
        }
    }
}

connection!(PendingAuthConnection, PendingAuthEdge, PendingAuth, "pending authorisations");

const LIST: &str = "pendingAuths";

/// The list of pending authorisations.
pub(super) async fn list(
    ctx: &Context<'_>,
    (owner_did, provider): (Option<String>, Option<String>),
    args: PageArgs,
) -> Result<PendingAuthConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(LIST, "it", field, cursor))?;
    bounds::optional_key("ownerDid", owner_did.as_deref())?;
    bounds::optional_key("provider", provider.as_deref())?;
    let store = &ctx.data_unchecked::<Services>().store;
    let of = (owner_did.as_deref(), provider.as_deref());
    let page = store.pending_auths(ctx.data_unchecked::<Arc<Viewer>>(), of, &slice).await?;
    Ok(PendingAuthConnection::new(page, |row| {
        let key = vec![KeyPart::Int(row.created_at), KeyPart::Text(row.state.clone())];
        (encode_cursor(LIST, key), PendingAuth::from(row))
    }))
}

/// Waits for an authorisation.
#[derive(InputObject)]
pub(super) struct CreatePendingAuthInput {
    /// What names it: fresh and random.
    state: String,
    /// The secret that proves whose authorisation it is. It is shown once, to who consumes it.
    code_verifier: String,
    /// The provider that is asked.
    provider: String,
    /// The DID whose data the authorisation is for.
    owner_did: String,
    /// The DID that the owner's secrets can be wrapped for.
    owner_wrappable_did: Option<String>,
    /// The DID that the controller's secrets can be wrapped for.
    controller_wrappable_did: Option<String>,
    /// Where the provider sends the browser back to, 1 to 2,048 bytes.
    redirect_url: String,
    /// What is asked for, at most 500.
    scopes: Vec<String>,
    /// Whether it adds to what was authorised before.
    incremental: bool,
    /// Until when it is good, at most 366 days ahead.
    expires_at: DateTime,
}

impl CreatePendingAuthInput {
    fn checked(self, now: i64) -> Checked<acts::CreatePendingAuth> {
        bounds::key("state", &self.state)?;
        bounds::key("codeVerifier", &self.code_verifier)?;
        bounds::key("provider", &self.provider)?;
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::optional_key("ownerWrappableDid", self.owner_wrappable_did.as_deref())?;
        bounds::optional_key("controllerWrappableDid", self.controller_wrappable_did.as_deref())?;
        bounds::target("redirectUrl", &self.redirect_url)?;
        bounds::ids("scopes", &self.scopes)?;
        due("expiresAt", Some(self.expires_at), now)?;
        Ok(acts::CreatePendingAuth {
            pending: domain::PendingAuth {
                state: self.state,
                provider: self.provider,
                owner_did: self.owner_did,
                owner_wrappable_did: self.owner_wrappable_did,
                controller_wrappable_did: self.controller_wrappable_did,
                created_at: now,
                redirect_url: self.redirect_url,
                scopes: serde_json::json!(self.scopes).to_string(),
                is_incremental: self.incremental.into(),
                expires_at: self.expires_at.0,
            },
            code_verifier: Secret(self.code_verifier),
        })
    }
}

/// Takes an authorisation out.
#[derive(Debug, InputObject)]
pub(super) struct ConsumePendingAuthInput {
    /// What names it.
    state: String,
}

/// Removes authorisations that are too old.
#[derive(Debug, InputObject)]
pub(super) struct DeleteExpiredInput {
    /// Those that expired before this time; before now when left out. Not later than now.
    before: Option<DateTime>,
    /// How many at most, 1 to 1,000.
    #[graphql(default = 1000)]
    limit: i32,
}

impl DeleteExpiredInput {
    fn checked(&self, now: i64) -> Checked<acts::DeleteExpiredPendingAuth> {
        if self.before.is_some_and(|before| before.0 > now) {
            return Err(BadInput::new("before", "must not be later than now"));
        }
        bounds::batch("limit", self.limit)?;
        Ok(acts::DeleteExpiredPendingAuth { before: self.before.map(|before| before.0), limit: self.limit })
    }
}

/// What came of an act on a pending authorisation.
#[derive(SimpleObject)]
pub(super) struct PendingAuthPayload {
    /// What came of it.
    outcome: PendingAuthOutcome,
    /// The authorisation that was made, found or taken out.
    pending_auth: Option<PendingAuth>,
    /// The secret, with CONSUMED alone: nobody gets it a second time.
    code_verifier: Option<String>,
}

impl From<PendingAuthActed> for PendingAuthPayload {
    fn from(acted: PendingAuthActed) -> Self {
        Self {
            outcome: acted.outcome,
            pending_auth: acted.pending.map(PendingAuth::from),
            code_verifier: acted.code_verifier.map(|secret| secret.0),
        }
    }
}

/// The acts on pending authorisations.
#[derive(Default)]
pub struct PendingAuthActs;

/// The acts on pending authorisations.
#[Object]
impl PendingAuthActs {
    /// Waits for an authorisation. One that is there under the same state is left as it is.
    async fn create_pending_auth(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The authorisation and its secret.")] input: CreatePendingAuthInput,
    ) -> async_graphql::Result<PendingAuthPayload> {
        Ok(perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?.into())
    }

    /// Takes an authorisation out, with its secret: of all who try, one gets it.
    async fn consume_pending_auth(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "What names it.")] input: ConsumePendingAuthInput,
    ) -> async_graphql::Result<PendingAuthPayload> {
        bounds::key("state", &input.state).map_err(Failure::from)?;
        Ok(perform(ctx, acts::ConsumePendingAuth(input.state)).await?.into())
    }

    /// Removes authorisations that are too old, the oldest first.
    async fn delete_expired_pending_auth(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Up to when, and how many.")] input: DeleteExpiredInput,
    ) -> async_graphql::Result<DeletePayload> {
        let deleted = perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(DeletePayload::of(usize::try_from(deleted).unwrap_or(usize::MAX)))
    }
}
