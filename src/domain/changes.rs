//! A change event: what one transition did to one entity, as it was at that moment.
//!
//! Events carry all that the feed's filters ask for, so that whether a subscription gets an event depends on the event
//! alone: a replay from the log and the live feed give the same ones. Never a token, marker, verifier or payload.

use serde_json::{Map, Value};

use super::operations::Operation;
use super::sweeps::{Candidate, Checkpoint, Receipt, SweepCandidateState};
use super::sync::{SyncState, SyncStatus};
use super::viewer::{Viewer, seer};
use super::watches::Watch;
use super::words::{DeferReason, EntityKind, OperationState, WatchStatus};

/// One row of the change log.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the columns are described on the GraphQL type")]
pub struct Change {
    pub sequence: i64,
    pub at: i64,
    pub entity: EntityKind,
    /// The encoded node id.
    pub entity_id: String,
    pub transition: String,
    pub from_state: Option<String>,
    pub to_state: Option<String>,
    pub document_id: Option<String>,
    pub owner_did: Option<String>,
    pub caller_did: Option<String>,
    pub connector_name: Option<String>,
    pub actor_did: Option<String>,
    /// Of what is said of a document itself: who saw an operation or watch of it, as `seer` names them.
    pub seen_by: Option<String>,
    pub facts: Value,
}

/// A change that is not in the log yet: the transaction gives it its time, the log its number.
#[derive(Debug, Clone, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of Change")]
pub struct NewChange {
    pub entity: EntityKind,
    pub entity_id: String,
    pub transition: &'static str,
    pub from_state: Option<String>,
    pub to_state: Option<String>,
    pub document_id: Option<String>,
    pub owner_did: Option<String>,
    pub caller_did: Option<String>,
    pub connector_name: Option<String>,
    pub facts: Map<String, Value>,
}

/// The fact that names the document which the entity was of before.
const LEFT: &str = "leftDocumentId";

/// The document that was left for another.
fn left(before: Option<&str>, after: Option<&str>) -> Option<String> {
    before.filter(|before| after != Some(before)).map(str::to_owned)
}

impl Change {
    /// The document that the entity was of until this change.
    #[must_use]
    pub fn left_document_id(&self) -> Option<&str> {
        self.facts.get(LEFT).and_then(Value::as_str)
    }

    /// Whether it exists for the viewer.
    #[must_use]
    pub fn is_seen_by(&self, viewer: &Viewer) -> bool {
        match (viewer.confined_to(), &self.seen_by) {
            (None, _) => true,
            (Some(did), Some(seers)) => seers.contains(&seer(did)),
            (Some(_), None) => viewer.sees(self.owner_did.as_deref(), self.caller_did.as_deref()),
        }
    }
}

impl NewChange {
    /// What a transition did to an operation; `before` is the row it found, none when it made it.
    #[must_use]
    pub fn operation(transition: &'static str, before: Option<&Operation>, after: &Operation) -> Self {
        let mut facts = Map::new();
        facts.insert("operationId".into(), after.operation_id.clone().into());
        facts.insert("model".into(), after.model.clone().into());
        facts.insert("op".into(), word(after.op.as_str()));
        facts.insert("attempts".into(), after.attempts.into());
        facts.insert("version".into(), after.version.into());
        facts.insert("sendState".into(), word(after.send_state().as_str()));
        put(&mut facts, LEFT, left(before.and_then(|row| row.document_id.as_deref()), after.document_id.as_deref()));
        put(&mut facts, "lastKind", after.last_kind.clone());
        put(&mut facts, "httpStatus", after.last_http_status);
        put(&mut facts, "nextAttemptAt", after.next_attempt_at.map(super::time::rfc3339));
        put(&mut facts, "deferReason", after.defer_reason.map(|reason| word(reason.as_str())));
        put(&mut facts, "leaseExpiresAt", after.lease_expires_at.map(super::time::rfc3339));
        Self {
            entity: EntityKind::Operation,
            entity_id: super::ids::NodeId::operation(&after.node_key).encode(),
            transition,
            from_state: before.map(|row| row.state.as_str().to_owned()),
            to_state: Some(after.state.as_str().to_owned()),
            document_id: after.document_id.clone(),
            owner_did: Some(after.owner_did.clone()),
            caller_did: Some(after.caller_did.clone()),
            connector_name: Some(after.connector_name.clone()),
            facts,
        }
    }

    /// What a transition did to a watch; `after` is none when it was removed.
    #[must_use]
    pub fn watch(transition: &'static str, before: Option<&Watch>, after: Option<&Watch>) -> Option<Self> {
        let row = after.or(before)?;
        let mut facts = Map::new();
        facts.insert("model".into(), row.model.clone().into());
        facts.insert("accountKey".into(), row.account_key.clone().into());
        facts.insert("sourceId".into(), row.source_id.clone().into());
        facts.insert("attempts".into(), row.verification_attempts.into());
        facts.insert("generation".into(), row.repair_generation.into());
        facts.insert("version".into(), row.version.into());
        let documents = before.zip(after).map(|(before, after)| [before, after].map(|row| row.document_id.as_str()));
        put(&mut facts, LEFT, documents.and_then(|[before, after]| left(Some(before), Some(after))));
        put(&mut facts, "observedWinnerDigest", row.observed_winner_digest.clone());
        put(&mut facts, "verifiedStateDigest", row.verified_state_digest.clone());
        put(&mut facts, "nextAttemptAt", row.next_attempt_at.map(super::time::rfc3339));
        put(&mut facts, "claimedUntil", row.claimed_until.map(super::time::rfc3339));
        put(&mut facts, "deferReason", row.defer_reason.map(|reason| word(reason.as_str())));
        Some(Self {
            entity: EntityKind::Watch,
            entity_id: super::ids::NodeId::of_key(EntityKind::Watch, &row.identity().parts()).encode(),
            transition,
            from_state: before.map(|row| row.verification_status.as_str().to_owned()),
            to_state: after.map(|row| row.verification_status.as_str().to_owned()),
            document_id: Some(row.document_id.clone()),
            owner_did: Some(row.owner_did.clone()),
            caller_did: None,
            connector_name: Some(row.connector_name.clone()),
            facts,
        })
    }

    /// What removed an operation.
    #[must_use]
    pub fn operation_removed(transition: &'static str, row: &Operation) -> Self {
        Self { to_state: None, ..Self::operation(transition, Some(row), row) }
    }

    /// What a transition did to the receipt of a relist.
    #[must_use]
    pub fn receipt(transition: &'static str, row: &Receipt) -> Self {
        Self::of(transition, &super::ids::NodeId::of_key(EntityKind::SweepReceipt, &row.parts()))
            .of_owner(&row.owner_did, Some(&row.connector_name))
            .with("partition", Some(row.partition.clone()))
            .with("provenance", Some(row.provenance.clone()))
    }

    /// What a transition did to a candidate: the row as it is now, or was when it was removed, and the states that it left and
    /// entered.
    #[must_use]
    pub fn candidate(transition: &'static str, row: &Candidate, [from, to]: [Option<SweepCandidateState>; 2]) -> Self {
        Self::of(transition, &super::ids::NodeId::of_key(EntityKind::SweepCandidate, &row.parts()))
            .moved(from.map(SweepCandidateState::as_str), to.map(SweepCandidateState::as_str))
            .of_document(&row.document_id)
            .of_owner(&row.owner_did, Some(&row.connector_name))
            .with("partition", Some(row.partition.clone()))
            .with("provenance", Some(row.provenance.clone()))
            .with("attempts", Some(row.attempts))
            .with("applyFailures", Some(row.apply_failures))
            .with("lastError", row.last_error.clone())
    }

    /// A partition's checkpoint moved to a receipt.
    #[must_use]
    pub fn checkpoint(row: &Checkpoint) -> Self {
        let key = [row.owner_did.as_str(), &row.connector_name, &row.partition];
        Self::of("advance", &super::ids::NodeId::of_key(EntityKind::SweepCheckpoint, &key))
            .of_owner(&row.owner_did, Some(&row.connector_name))
            .with("partition", Some(row.partition.clone()))
            .with("provenance", Some(row.provenance.clone()))
            .with("sequence", Some(row.receipt_sequence))
    }

    /// What a transition did to a sync state: as `candidate`.
    #[must_use]
    pub fn sync_state(transition: &'static str, row: &SyncState, [from, to]: [Option<SyncStatus>; 2]) -> Self {
        let key = [row.connector_name.as_str(), &row.owner_did];
        Self::of(transition, &super::ids::NodeId::of_key(EntityKind::SyncState, &key))
            .moved(from.map(SyncStatus::as_str), to.map(SyncStatus::as_str))
            .of_owner(&row.owner_did, Some(&row.connector_name))
            .with("version", Some(row.version))
            .with("entityCount", Some(row.entity_count))
            .with("error", row.error.clone())
    }

    fn of(transition: &'static str, id: &super::ids::NodeId) -> Self {
        Self {
            entity: id.kind,
            entity_id: id.encode(),
            transition,
            from_state: None,
            to_state: None,
            document_id: None,
            owner_did: None,
            caller_did: None,
            connector_name: None,
            facts: Map::new(),
        }
    }

    /// Says whose it is, and by which connector.
    #[must_use]
    pub fn of_owner(mut self, owner_did: &str, connector_name: Option<&str>) -> Self {
        self.owner_did = Some(owner_did.to_owned());
        self.connector_name = connector_name.map(str::to_owned);
        self
    }

    fn of_document(mut self, document_id: &str) -> Self {
        self.document_id = Some(document_id.to_owned());
        self
    }

    fn moved(mut self, from: Option<&str>, to: Option<&str>) -> Self {
        self.from_state = from.map(str::to_owned);
        self.to_state = to.map(str::to_owned);
        self
    }

    /// What a transition did to a document itself: its winner, trim or repair.
    #[must_use]
    pub fn document(transition: &'static str, document_id: &str) -> Self {
        Self::of(transition, &super::ids::NodeId::of_key(EntityKind::Document, &[document_id])).of_document(document_id)
    }

    /// What was done to the observations of an owner, which nobody else sees.
    #[must_use]
    pub fn observations(transition: &'static str, owner_did: &str, id: &str) -> Self {
        Self::document(transition, id).of_owner(owner_did, None)
    }

    /// Adds a fact, unless there is none.
    #[must_use]
    pub fn with(mut self, name: &str, value: Option<impl Into<Value>>) -> Self {
        put(&mut self.facts, name, value);
        self
    }
}

fn put(facts: &mut Map<String, Value>, name: &str, value: Option<impl Into<Value>>) {
    if let Some(value) = value {
        facts.insert(name.to_owned(), value.into());
    }
}

/// A word as clients spell it.
fn word(text: &str) -> Value {
    text.to_ascii_uppercase().into()
}

/// Which changes a reader asks for. `None` does not filter, an empty list matches nothing.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of ChangeFilter and of the filters that become one")]
pub struct ChangeFilter {
    pub entities: Option<Vec<EntityKind>>,
    pub entity_id: Option<String>,
    pub document_ids: Option<Vec<String>>,
    /// Documents that the change is of, or whose it was before.
    pub touching: Option<Vec<String>>,
    pub owner_did: Option<String>,
    pub caller_did: Option<String>,
    pub connector_name: Option<String>,
    pub transitions: Option<Vec<String>>,
    /// Caller or owner.
    pub visible_to: Option<String>,
    pub model: Option<String>,
    pub last_kind: Option<String>,
    pub operation_states: Option<Vec<OperationState>>,
    pub watch_statuses: Option<Vec<WatchStatus>>,
    pub defer_reasons: Option<Vec<DeferReason>>,
    pub since: Option<i64>,
    pub before: Option<i64>,
}

impl ChangeFilter {
    /// Whether the viewer's subscription with this filter gets the change.
    #[must_use]
    pub fn matches(&self, viewer: &Viewer, change: &Change) -> bool {
        let fact = |name: &str| change.facts.get(name).and_then(Value::as_str);
        change.is_seen_by(viewer)
            && among(self.entities.as_deref(), Some(&change.entity))
            && same(self.entity_id.as_deref(), Some(&change.entity_id))
            && among(self.document_ids.as_deref(), change.document_id.as_ref())
            && (among(self.touching.as_deref(), change.document_id.as_ref())
                || self
                    .touching
                    .as_ref()
                    .is_some_and(|ids| change.left_document_id().is_some_and(|left| ids.iter().any(|id| id == left))))
            && same(self.owner_did.as_deref(), change.owner_did.as_deref())
            && same(self.caller_did.as_deref(), change.caller_did.as_deref())
            && same(self.connector_name.as_deref(), change.connector_name.as_deref())
            && among(self.transitions.as_deref(), Some(&change.transition))
            && self
                .visible_to
                .as_deref()
                .is_none_or(|did| change.owner_did.as_deref() == Some(did) || change.caller_did.as_deref() == Some(did))
            && same(self.model.as_deref(), fact("model"))
            && same(self.last_kind.as_deref(), fact("lastKind"))
            && word_among(self.operation_states.as_deref(), OperationState::as_str, change.to_state.as_deref())
            && word_among(self.watch_statuses.as_deref(), WatchStatus::as_str, change.to_state.as_deref())
            && word_among(self.defer_reasons.as_deref(), DeferReason::as_str, fact("deferReason"))
            && self.since.is_none_or(|since| change.at >= since)
            && self.before.is_none_or(|before| change.at < before)
    }
}

fn same(wanted: Option<&str>, found: Option<&str>) -> bool {
    wanted.is_none() || wanted == found
}

fn among<T: PartialEq>(wanted: Option<&[T]>, found: Option<&T>) -> bool {
    wanted.is_none_or(|wanted| found.is_some_and(|found| wanted.contains(found)))
}

fn word_among<W: Copy>(wanted: Option<&[W]>, text: fn(W) -> &'static str, found: Option<&str>) -> bool {
    wanted.is_none_or(|wanted| {
        found.is_some_and(|found| wanted.iter().any(|word| text(*word).eq_ignore_ascii_case(found)))
    })
}
