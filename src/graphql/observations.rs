//! Observations as clients see them: what is decided, the repairs that wait.

use std::sync::Arc;

use async_graphql::{Context, InputObject, SimpleObject};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Services;
use super::documents::ObservationRepair;
use super::errors::Result;
use super::pages::{PageArgs, connection};
use crate::domain::bounds;
use crate::domain::observations::copies::{Copy, Decision};
use crate::domain::observations::{payload_digest, verify};
use crate::domain::viewer::Viewer;
use crate::store::KeyPart;

/// What is known of one owner and id: the signed claim that counts.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct ObservationDecision {
    /// Whose observation it is.
    owner: String,
    /// What was observed.
    id: String,
    /// The claim's version, a hybrid logical clock text: the highest counts.
    hlc: String,
    /// The base64url SHA-256 of the claim: of equal versions the smallest counts.
    claim_digest: String,
    /// The base64url SHA-256 of the payload; null where the claim says that there is none.
    payload_digest: Option<String>,
    /// The payload, base64url, where a copy came with it.
    payload: Option<String>,
    /// The `did:key`s that signed it, in order.
    signers: Vec<String>,
}

impl From<Decision> for ObservationDecision {
    fn from(decision: Decision) -> Self {
        Self {
            owner: decision.owner,
            id: decision.id,
            hlc: decision.hlc,
            claim_digest: decision.claim_digest,
            payload_digest: decision.payload_digest,
            payload: decision.payload.map(|bytes| URL_SAFE_NO_PAD.encode(bytes)),
            signers: decision.signers,
        }
    }
}

/// What names an observation.
#[derive(Debug, InputObject)]
pub(super) struct ObservationKeyInput {
    /// Whose observation it is.
    owner: String,
    /// What was observed.
    id: String,
}

connection!(ObservationRepairConnection, ObservationRepairEdge, ObservationRepair, "repairs");

/// Verifies a copy that is being put; otherwise why it is refused.
pub(super) fn checked_copy(
    (owner, id): (&str, &str),
    op_jwt: String,
    payload: Option<Vec<u8>>,
    service_dids: &[String],
    now: i64,
) -> std::result::Result<Copy, String> {
    let claim = verify(&op_jwt, now).map_err(|invalid| invalid.to_string())?;
    if claim.owner != owner || claim.id != id {
        return Err("the claim is about another owner or id".to_owned());
    }
    if !claim.is_signed_by_one_of(service_dids) {
        return Err("the issuer is neither the owner nor a configured service".to_owned());
    }
    if let Some(bytes) = &payload
        && Some(payload_digest(bytes)) != claim.payload_digest
    {
        return Err("the payload is not the one that the claim names".to_owned());
    }
    Ok(Copy { claim, op_jwt, payload })
}

/// What is decided of each key, in order.
pub(super) async fn decisions(
    ctx: &Context<'_>,
    keys: Vec<ObservationKeyInput>,
) -> Result<Vec<Option<ObservationDecision>>> {
    bounds::length("keys", keys.len())?;
    for ObservationKeyInput { owner, id } in &keys {
        bounds::key("owner", owner)?;
        bounds::key("id", id)?;
    }
    let keys: Vec<(String, String)> = keys.into_iter().map(|key| (key.owner, key.id)).collect();
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let Services { store, access, .. } = ctx.data_unchecked::<Services>();
    let found = store.observation_decisions(&keys, &access.service_dids()).await?;
    let seen = |decision: &Decision| viewer.sees(Some(&decision.owner), None);
    Ok(found.into_iter().map(|decision| decision.filter(seen).map(ObservationDecision::from)).collect())
}

impl ObservationKeyInput {
    pub(super) const fn of(owner: String, id: String) -> Self {
        Self { owner, id }
    }
}

/// The list of repairs in the order in which they were written.
pub(super) async fn repairs_written(ctx: &Context<'_>, args: PageArgs) -> Result<ObservationRepairConnection> {
    let Services { store, feed, .. } = ctx.data_unchecked::<Services>();
    // The number counts everybody's repairs.
    let slice = args.slice(ctx, |field, cursor| Ok(vec![KeyPart::Int(feed.read_repair_cursor(field, cursor)?)]))?;
    let page = store.repairs_written(ctx.data_unchecked::<Arc<Viewer>>(), &slice).await?;
    Ok(ObservationRepairConnection::new(page, |row| {
        (feed.repair_cursor(row.write_order), ObservationRepair::from(&row))
    }))
}
