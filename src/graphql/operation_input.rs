//! What the operations' mutations take: checked here once, so that nobody inside checks again.

use async_graphql::{ID, InputObject, MaybeUndefined};

use super::scalars::{DateTime, Json};
use crate::domain::bounds::{self, BadInput};
use crate::domain::envelope::Envelope;
use crate::domain::ids::NodeId;
use crate::domain::operations::{CONTESTED, Finalize, Record};
use crate::domain::words::{DeferReason, EntityKind, OperationOp, OperationState};
use crate::store::acts;

type Checked<T> = Result<T, BadInput>;

pub(super) fn operation_key(id: &ID) -> Checked<String> {
    NodeId::decode_as(EntityKind::Operation, "id", id)
}

/// A marker of a sender's own: the one that stands for a contest is not anybody's.
fn marker(field: &str, value: &str) -> Checked<()> {
    bounds::key(field, value)?;
    if value == CONTESTED {
        return Err(BadInput::new(field, "must not be the marker that stands for a contest"));
    }
    Ok(())
}

/// Claims a key for one write. The envelope is everything from ownerDid to payloadHash: a replay has to repeat it.
#[derive(Debug, InputObject)]
pub(super) struct ClaimOperationInput {
    /// The DID that claims; the viewer when left out.
    caller_did: Option<String>,
    /// The caller's own name for the operation: with callerDid the idempotency key. 1 to 512 bytes.
    operation_id: String,
    /// The DID whose data is written.
    owner_did: String,
    /// The connector that writes.
    connector_name: String,
    /// The kind of document.
    model: String,
    /// What the write does to the provider's copy.
    op: OperationOp,
    /// The account at the provider.
    account_key: String,
    /// Where at the provider the write goes, 1 to 2,048 bytes.
    target: String,
    /// The provider's name for the document, where it is known.
    source_id: Option<String>,
    /// The name that the written event has at every try.
    deterministic_event_id: String,
    /// The digest of what is written.
    payload_hash: String,
    /// What is needed to write it again, at most 256 KiB. Kept from the first claim, not compared.
    reissue_intent: Option<Json>,
    /// The provider's version of its copy.
    provider_etag: Option<String>,
    /// The document that is written, where it is known.
    document_id: Option<String>,
    /// The token of the lease that comes with the operation: fresh and random.
    lease_token: String,
    /// How long the lease lasts, 1,000 to 3,600,000 ms.
    lease_ms: i32,
}

impl ClaimOperationInput {
    pub(super) fn checked(self, viewer_did: Option<&str>) -> Checked<acts::Claim> {
        let caller_did = self.caller_did.or_else(|| viewer_did.map(str::to_owned)).ok_or_else(|| {
            BadInput::new("callerDid", "must be given: with open access there is no viewer to take it from")
        })?;
        bounds::key("callerDid", &caller_did)?;
        bounds::key("operationId", &self.operation_id)?;
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::key("connectorName", &self.connector_name)?;
        bounds::key("model", &self.model)?;
        bounds::key("accountKey", &self.account_key)?;
        bounds::target("target", &self.target)?;
        bounds::optional_key("sourceId", self.source_id.as_deref())?;
        bounds::key("deterministicEventId", &self.deterministic_event_id)?;
        bounds::key("payloadHash", &self.payload_hash)?;
        bounds::optional_key("providerEtag", self.provider_etag.as_deref())?;
        bounds::optional_key("documentId", self.document_id.as_deref())?;
        bounds::key("leaseToken", &self.lease_token)?;
        bounds::lease_ms("leaseMs", self.lease_ms)?;
        let intent = self.reissue_intent.map_or(serde_json::Value::Null, |intent| intent.0);
        Ok(acts::Claim {
            caller_did,
            operation_id: self.operation_id,
            envelope: Envelope {
                owner_did: self.owner_did,
                connector_name: self.connector_name,
                model: self.model,
                op: self.op,
                account_key: self.account_key,
                target: self.target,
                source_id: self.source_id,
                deterministic_event_id: self.deterministic_event_id,
                payload_hash: self.payload_hash,
            },
            reissue_intent: bounds::json("reissueIntent", &intent)?,
            provider_etag: self.provider_etag,
            document_id: self.document_id,
            lease_token: self.lease_token,
            lease_ms: self.lease_ms,
        })
    }
}

/// Takes or extends a lease.
#[derive(Debug, InputObject)]
pub(super) struct LeaseInput {
    /// The operation.
    id: ID,
    /// The token that holds it afterwards: fresh and random for each acquisition.
    lease_token: String,
    /// How long it lasts from now, 1,000 to 3,600,000 ms.
    lease_ms: i32,
}

impl LeaseInput {
    fn check(&self) -> Checked<String> {
        bounds::key("leaseToken", &self.lease_token)?;
        bounds::lease_ms("leaseMs", self.lease_ms)?;
        operation_key(&self.id)
    }

    pub(super) fn acquire(self) -> Checked<acts::AcquireLease> {
        Ok(acts::AcquireLease { node_key: self.check()?, lease_token: self.lease_token, lease_ms: self.lease_ms })
    }

    pub(super) fn renew(self) -> Checked<acts::RenewLease> {
        Ok(acts::RenewLease { node_key: self.check()?, lease_token: self.lease_token, lease_ms: self.lease_ms })
    }
}

/// Frees a lease.
#[derive(Debug, InputObject)]
pub(super) struct ReleaseLeaseInput {
    /// The operation.
    id: ID,
    /// The token that holds it.
    lease_token: String,
}

impl ReleaseLeaseInput {
    pub(super) fn checked(self) -> Checked<acts::ReleaseLease> {
        bounds::key("leaseToken", &self.lease_token)?;
        Ok(acts::ReleaseLease { node_key: operation_key(&self.id)?, lease_token: self.lease_token })
    }
}

/// Claims the write of an operation again, under a new key.
#[derive(Debug, InputObject)]
pub(super) struct ReissueOperationInput {
    /// The operation.
    id: ID,
    /// The version that was read.
    version: i32,
    /// The caller's own name for the new operation, 1 to 512 bytes.
    operation_id: String,
    /// The token of the lease that comes with it: fresh and random.
    lease_token: String,
    /// How long that lease lasts, 1,000 to 3,600,000 ms.
    lease_ms: i32,
    /// Why, in words; kept with the changes, at most 1,000 characters.
    note: Option<String>,
}

impl ReissueOperationInput {
    pub(super) fn checked(self) -> Checked<acts::ReissueOperation> {
        bounds::count("version", self.version)?;
        bounds::key("operationId", &self.operation_id)?;
        bounds::key("leaseToken", &self.lease_token)?;
        bounds::lease_ms("leaseMs", self.lease_ms)?;
        bounds::note("note", self.note.as_deref())?;
        Ok(acts::ReissueOperation {
            node_key: operation_key(&self.id)?,
            version: self.version,
            operation_id: self.operation_id,
            lease_token: self.lease_token,
            lease_ms: self.lease_ms,
            note: self.note,
        })
    }
}

/// Says that a send is about to start.
#[derive(Debug, InputObject)]
pub(super) struct MarkSendStartedInput {
    /// The operation.
    id: ID,
    /// The token that holds its lease.
    lease_token: String,
    /// The sender's own marker: fresh and random for each attempt.
    marker: String,
}

impl MarkSendStartedInput {
    pub(super) fn checked(self) -> Checked<acts::MarkSendStarted> {
        bounds::key("leaseToken", &self.lease_token)?;
        marker("marker", &self.marker)?;
        Ok(acts::MarkSendStarted {
            node_key: operation_key(&self.id)?,
            lease_token: self.lease_token,
            marker: self.marker,
        })
    }
}

/// Records how an attempt ended, short of success.
#[derive(Debug, InputObject)]
pub(super) struct RecordOperationInput {
    /// The operation.
    id: ID,
    /// The token that holds its lease.
    lease_token: String,
    /// The version that was read.
    version: i32,
    /// The state that was read: `ATTEMPTED` or `RECONCILE_ONLY`.
    #[graphql(default_with = "OperationState::Attempted")]
    from_state: OperationState,
    /// The state that it goes to: `ATTEMPTED`, `RECONCILE_ONLY` or `DEAD`.
    to_state: OperationState,
    /// The connector's word for how the attempt ended.
    kind: Option<String>,
    /// The provider's HTTP status, 0 to 999.
    http_status: Option<i32>,
    /// The provider's version of its copy: left out keeps the stored one, null clears it.
    provider_etag: MaybeUndefined<String>,
    /// When it is due again, at most 366 days ahead; at once when left out.
    next_attempt_at: Option<DateTime>,
    /// What it waits for.
    defer_reason: Option<DeferReason>,
    /// Whether this was an attempt.
    #[graphql(default = true)]
    count_attempt: bool,
    /// Whether to take the last counted attempt back, because nothing was sent; goes before countAttempt.
    #[graphql(default = false)]
    refund_attempt: bool,
    /// The sender's own marker: only an attempt that nobody else may have sent can be taken back.
    send_marker: Option<String>,
    /// Why, in words; kept with the change, at most 1,000 characters.
    note: Option<String>,
}

impl RecordOperationInput {
    pub(super) fn checked(self, now: i64) -> Checked<acts::RecordOperation> {
        bounds::key("leaseToken", &self.lease_token)?;
        bounds::count("version", self.version)?;
        bounds::optional_key("kind", self.kind.as_deref())?;
        bounds::http_status("httpStatus", self.http_status)?;
        bounds::optional_key("providerEtag", self.provider_etag.as_opt_deref().flatten())?;
        due("nextAttemptAt", self.next_attempt_at, now)?;
        if let Some(given) = &self.send_marker {
            marker("sendMarker", given)?;
        }
        bounds::note("note", self.note.as_deref())?;
        let provider_etag = match self.provider_etag {
            MaybeUndefined::Undefined => None,
            MaybeUndefined::Null => Some(None),
            MaybeUndefined::Value(etag) => Some(Some(etag)),
        };
        Ok(acts::RecordOperation {
            node_key: operation_key(&self.id)?,
            record: Record {
                lease_token: self.lease_token,
                version: self.version,
                from_state: self.from_state,
                to_state: self.to_state,
                kind: self.kind,
                http_status: self.http_status,
                provider_etag,
                next_attempt_at: self.next_attempt_at.map(|at| at.0),
                defer_reason: self.defer_reason,
                count_attempt: self.count_attempt,
                refund_attempt: self.refund_attempt,
                send_marker: self.send_marker,
            },
            note: self.note,
        })
    }
}

/// Moves the next attempt.
#[derive(Debug, InputObject)]
pub(super) struct DeferOperationInput {
    /// The operation.
    id: ID,
    /// The token that holds its lease; not needed while nobody holds a live one.
    lease_token: Option<String>,
    /// When it is due again, at most 366 days ahead.
    next_attempt_at: DateTime,
    /// What it waits for.
    reason: Option<DeferReason>,
    /// Why, in words; kept with the change, at most 1,000 characters.
    note: Option<String>,
}

impl DeferOperationInput {
    pub(super) fn checked(self, now: i64) -> Checked<acts::DeferOperation> {
        bounds::optional_key("leaseToken", self.lease_token.as_deref())?;
        due("nextAttemptAt", Some(self.next_attempt_at), now)?;
        bounds::note("note", self.note.as_deref())?;
        Ok(acts::DeferOperation {
            node_key: operation_key(&self.id)?,
            lease_token: self.lease_token,
            next_attempt_at: self.next_attempt_at.0,
            reason: self.reason,
            note: self.note,
        })
    }
}

/// Settles a write as done, records its winner and arms its watch, all or nothing.
#[derive(Debug, InputObject)]
pub(super) struct FinalizeOperationInput {
    /// The operation.
    id: ID,
    /// The token that holds its lease.
    lease_token: String,
    /// The version that was read.
    version: i32,
    /// The document that was written.
    document_id: String,
    /// What the provider answered, at most 256 KiB.
    result_entity: Option<Json>,
    /// The provider's name for the document: with the operation's owner, connector, model and account the watch's identity.
    source_id: String,
    /// What the local store shows of the document now; recorded as its winner.
    winner_digest: String,
    /// The winner's hybrid logical clock text: one lower than the stored leaves the stored winner alone.
    winner_version: Option<String>,
}

impl FinalizeOperationInput {
    pub(super) fn checked(self, now: i64) -> Checked<acts::FinalizeOperation> {
        bounds::key("leaseToken", &self.lease_token)?;
        bounds::count("version", self.version)?;
        bounds::key("documentId", &self.document_id)?;
        bounds::key("sourceId", &self.source_id)?;
        bounds::key("winnerDigest", &self.winner_digest)?;
        if let Some(version) = &self.winner_version {
            bounds::hlc("winnerVersion", version, now)?;
        }
        let result_entity = self.result_entity.map(|entity| bounds::json("resultEntity", &entity.0)).transpose()?;
        Ok(acts::FinalizeOperation {
            node_key: operation_key(&self.id)?,
            finalize: Finalize { lease_token: self.lease_token, version: self.version, document_id: self.document_id },
            result_entity,
            source_id: self.source_id,
            winner_digest: self.winner_digest,
            winner_version: self.winner_version,
        })
    }
}

/// Makes everything that waits for the network due now.
#[derive(Debug, InputObject)]
pub(super) struct ResumeOfflineInput {
    /// Of this owner; of every owner when left out.
    owner_did: Option<String>,
    /// Of these connectors, at most 500; of every connector when left out, of none when empty.
    connector_names: Option<Vec<String>>,
}

impl ResumeOfflineInput {
    pub(super) fn checked(self) -> Checked<acts::Resume> {
        bounds::optional_key("ownerDid", self.owner_did.as_deref())?;
        bounds::ids("connectorNames", self.connector_names.as_deref().unwrap_or_default())?;
        let Self { owner_did, connector_names } = self;
        Ok(acts::Resume { reason: DeferReason::Offline, owner_did, connector_names })
    }
}

/// Makes everything of one owner that waits for an authorisation due now.
#[derive(Debug, InputObject)]
pub(super) struct ResumeAuthInput {
    /// The owner who authorised.
    owner_did: String,
    /// Of these connectors, at most 500; of none when empty.
    connector_names: Vec<String>,
}

impl ResumeAuthInput {
    pub(super) fn checked(self) -> Checked<acts::Resume> {
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::ids("connectorNames", &self.connector_names)?;
        Ok(acts::Resume {
            reason: DeferReason::Auth,
            owner_did: Some(self.owner_did),
            connector_names: Some(self.connector_names),
        })
    }
}

/// A due time that may be left out.
pub(super) fn due(field: &str, at: Option<DateTime>, now: i64) -> Checked<()> {
    at.map_or(Ok(()), |at| bounds::due(field, at.0, now))
}
