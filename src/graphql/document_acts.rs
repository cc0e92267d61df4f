//! The documents' mutations: retention, trims, repairs and observations.

use std::sync::Arc;

use async_graphql::{Context, InputObject, Object, SimpleObject};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::Services;
use super::documents::{Document, EntityTrim, ObservationRepair};
use super::errors::Failure;
use super::observations::{ObservationDecision, checked_copy};
use super::operation_acts::{now, perform};
use super::operations::Operation;
use super::scalars::{DateTime, Json};
use crate::domain::bounds::{self, BadInput};
use crate::domain::documents as domain;
use crate::domain::observations::copies::ObservationRecordOutcome;
use crate::domain::viewer::Viewer;
use crate::domain::words::SweepDocumentOutcome;
use crate::store::acts::{self, SweptDocument};

type Checked<T> = Result<T, BadInput>;

/// How many rows were removed.
#[derive(Debug, SimpleObject)]
pub(super) struct DeletePayload {
    /// How many.
    deleted: i32,
}

impl DeletePayload {
    pub(super) fn of(count: usize) -> Self {
        Self { deleted: i32::try_from(count).unwrap_or(i32::MAX) }
    }
}

/// Removes finished operations that nobody needs any more.
#[derive(Debug, InputObject)]
pub(super) struct CollectFinishedInput {
    /// Those that were changed last before this time.
    before: DateTime,
    /// How many at most, 1 to 1,000.
    limit: i32,
}

/// How many operations were removed.
#[derive(Debug, SimpleObject)]
pub(super) struct CollectFinishedPayload {
    /// How many.
    deleted: i32,
}

/// Removes everything that is known of a document.
#[derive(Debug, InputObject)]
pub(super) struct SweepDocumentInput {
    /// The document.
    document_id: String,
}

/// What came of sweeping a document.
#[derive(Debug, SimpleObject)]
pub(super) struct SweepDocumentPayload {
    /// What came of it.
    outcome: SweepDocumentOutcome,
    /// The document as it is now.
    document: Document,
    /// Its operations that are not settled, with `UNFINISHED_OPERATION`.
    unfinished: Vec<Operation>,
    /// How many operations were removed.
    operations_removed: i32,
}

/// What names a document.
#[derive(Debug, InputObject)]
pub(super) struct DocumentKeyInput {
    /// The document.
    document_id: String,
}

/// Says which fields were left out of a document's copy at the provider.
#[derive(Debug, InputObject)]
pub(super) struct EntityTrimInput {
    /// The document.
    document_id: String,
    /// The DID whose data it is.
    owner_did: String,
    /// The connector that left them out.
    connector_name: String,
    /// Which fields, in the connector's own form; at most 256 KiB.
    trimmed_fields: Json,
}

/// The trim that stands.
#[derive(Debug, SimpleObject)]
pub(super) struct EntityTrimPayload {
    /// The trim.
    trim: EntityTrim,
}

/// Puts the repair that a document waits for.
#[derive(Debug, InputObject)]
pub(super) struct ObservationRepairInput {
    /// The document.
    document_id: String,
    /// The DID whose data it is.
    owner: String,
    /// The hybrid logical clock of the fetch that asked for it.
    fetch_hlc: String,
    /// The hybrid logical clock of the decision.
    decision_hlc: String,
    /// Whether the document is to be there.
    present: bool,
    /// The digest of what it is to show.
    value_digest: Option<String>,
}

/// The repair that stands.
#[derive(Debug, SimpleObject)]
pub(super) struct ObservationRepairPayload {
    /// The repair.
    repair: ObservationRepair,
}

/// Puts a copy of a signed claim.
#[derive(Debug, InputObject)]
pub(super) struct ObservationRecordInput {
    /// Whose observation it is, as the claim says.
    owner: String,
    /// What was observed, as the claim says.
    id: String,
    /// The claim: a compact JWS, `EdDSA` or ES256, at most 16 KiB, whose issuer is the owner or a configured service.
    op_jwt: String,
    /// What was observed, base64url, at most 256 KiB decoded; its digest is in the claim.
    payload: Option<String>,
}

/// What came of putting a copy.
#[derive(Debug, SimpleObject)]
pub(super) struct ObservationRecordPayload {
    /// What came of it.
    outcome: ObservationRecordOutcome,
    /// What counts now; null with INVALID, and when nothing is kept.
    decision: Option<ObservationDecision>,
    /// Why the copy is refused, with INVALID.
    reason: Option<String>,
}

/// Removes a signer's copies of a claim when another's remain.
#[derive(Debug, InputObject)]
pub(super) struct PruneObservationInput {
    /// Whose observation it is.
    owner: String,
    /// What was observed.
    id: String,
    /// The `did:key` whose copies are to go.
    signer: String,
}

impl EntityTrimInput {
    fn checked(self, now: i64) -> Checked<acts::SetEntityTrim> {
        bounds::key("documentId", &self.document_id)?;
        bounds::key("ownerDid", &self.owner_did)?;
        bounds::key("connectorName", &self.connector_name)?;
        Ok(acts::SetEntityTrim(domain::EntityTrim {
            document_id: self.document_id,
            owner_did: self.owner_did,
            connector_name: self.connector_name,
            trimmed_fields: bounds::json("trimmedFields", &self.trimmed_fields.0)?,
            updated_at: now,
        }))
    }
}

impl ObservationRepairInput {
    fn checked(self, now: i64) -> Checked<acts::PutObservationRepair> {
        bounds::key("documentId", &self.document_id)?;
        bounds::key("owner", &self.owner)?;
        bounds::hlc("fetchHlc", &self.fetch_hlc, now)?;
        bounds::hlc("decisionHlc", &self.decision_hlc, now)?;
        bounds::optional_key("valueDigest", self.value_digest.as_deref())?;
        Ok(acts::PutObservationRepair(domain::ObservationRepair {
            document_id: self.document_id,
            owner: self.owner,
            fetch_hlc: self.fetch_hlc,
            decision_hlc: self.decision_hlc,
            present: self.present.into(),
            value_digest: self.value_digest,
            written_at: now,
            write_order: 0,
        }))
    }
}

fn document_id(input: DocumentKeyInput) -> Result<String, Failure> {
    bounds::key("documentId", &input.document_id)?;
    Ok(input.document_id)
}

/// The acts on documents.
#[derive(Default)]
pub struct DocumentActs;

/// The acts on documents.
#[Object]
impl DocumentActs {
    /// Removes finished operations, the longest untouched first, as far as no document's write state needs them. A replay of
    /// their claims is still known.
    async fn collect_finished_operations(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "Up to when, and how many.")] input: CollectFinishedInput,
    ) -> async_graphql::Result<CollectFinishedPayload> {
        bounds::batch("limit", input.limit).map_err(Failure::from)?;
        let deleted = perform(ctx, acts::CollectFinished { before: input.before.0, limit: input.limit }).await?;
        Ok(CollectFinishedPayload { deleted: DeletePayload::of(deleted).deleted })
    }

    /// Removes everything that is known of a document, unless a write of it is not settled.
    async fn sweep_document(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document.")] input: SweepDocumentInput,
    ) -> async_graphql::Result<SweepDocumentPayload> {
        bounds::key("documentId", &input.document_id).map_err(Failure::from)?;
        let document = Document(input.document_id.clone());
        let SweptDocument { outcome, unfinished, operations_removed } =
            perform(ctx, acts::SweepDocument(input.document_id)).await?;
        Ok(SweepDocumentPayload {
            outcome,
            document,
            unfinished: unfinished.into_iter().map(Operation::from).collect(),
            operations_removed: DeletePayload::of(operations_removed).deleted,
        })
    }

    /// Says which fields were left out of a document's copy at the provider.
    async fn set_entity_trim(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document and the fields.")] input: EntityTrimInput,
    ) -> async_graphql::Result<EntityTrimPayload> {
        let row = perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(EntityTrimPayload { trim: EntityTrim::of(&row)? })
    }

    /// Says that nothing is left out of a document's copy any more.
    async fn clear_entity_trim(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document.")] input: DocumentKeyInput,
    ) -> async_graphql::Result<DeletePayload> {
        Ok(DeletePayload::of(perform(ctx, acts::ClearEntityTrim(document_id(input)?)).await?))
    }

    /// Puts a copy of a signed claim about what was seen at a provider.
    async fn put_observation_record(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The claim and its payload.")] input: ObservationRecordInput,
    ) -> async_graphql::Result<ObservationRecordPayload> {
        let ObservationRecordInput { owner, id, op_jwt, payload } = input;
        bounds::key("owner", &owner).map_err(Failure::from)?;
        bounds::key("id", &id).map_err(Failure::from)?;
        let payload = payload.map(|text| {
            URL_SAFE_NO_PAD
                .decode(text)
                .ok()
                .filter(|bytes| bytes.len() <= bounds::JSON_BYTES)
                .ok_or_else(|| BadInput::new("payload", format!("must be at most {} bytes", bounds::JSON_BYTES)))
        });
        let payload = payload.transpose().map_err(Failure::from)?;
        ctx.data_unchecked::<Arc<Viewer>>().must_own("owner", &owner).map_err(Failure::from)?;
        let services = ctx.data_unchecked::<Services>().access.service_dids();
        match checked_copy((&owner, &id), op_jwt, payload, &services, now(ctx)) {
            Err(reason) => Ok(ObservationRecordPayload {
                outcome: ObservationRecordOutcome::Invalid,
                decision: None,
                reason: Some(reason),
            }),
            Ok(copy) => {
                let (outcome, decision) = perform(ctx, acts::PutObservationRecord { copy, services }).await?;
                let decision = decision.map(ObservationDecision::from);
                Ok(ObservationRecordPayload { outcome, decision, reason: None })
            }
        }
    }

    /// Removes a signer's copies of the claim that counts, when another signer's copy remains.
    async fn prune_observation_record(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The claim and the signer.")] input: PruneObservationInput,
    ) -> async_graphql::Result<DeletePayload> {
        bounds::key("owner", &input.owner).map_err(Failure::from)?;
        bounds::key("id", &input.id).map_err(Failure::from)?;
        bounds::key("signer", &input.signer).map_err(Failure::from)?;
        let PruneObservationInput { owner, id, signer } = input;
        let services = ctx.data_unchecked::<Services>().access.service_dids();
        let act = acts::PruneObservationRecord { owner, id, signer, services };
        Ok(DeletePayload::of(perform(ctx, act).await?))
    }

    /// Puts the repair that a document waits for.
    async fn put_observation_repair(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document and what it is to show.")] input: ObservationRepairInput,
    ) -> async_graphql::Result<ObservationRepairPayload> {
        let row = perform(ctx, input.checked(now(ctx)).map_err(Failure::from)?).await?;
        Ok(ObservationRepairPayload { repair: ObservationRepair::from(&row) })
    }

    /// Says that a document waits for no repair any more.
    async fn clear_observation_repair(
        &self,
        ctx: &Context<'_>,
        #[graphql(desc = "The document.")] input: DocumentKeyInput,
    ) -> async_graphql::Result<DeletePayload> {
        Ok(DeletePayload::of(perform(ctx, acts::ClearObservationRepair(document_id(input)?)).await?))
    }
}
