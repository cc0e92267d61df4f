//! The envelope of a write, and what is remembered of it once its operation is gone.

use super::words::{OperationOp, OperationState};

/// What a claim says about the write: the part that a replay has to repeat to the letter.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of the operation")]
pub struct Envelope {
    pub owner_did: String,
    pub connector_name: String,
    pub model: String,
    pub op: OperationOp,
    pub account_key: String,
    pub target: String,
    pub source_id: Option<String>,
    pub deterministic_event_id: String,
    pub payload_hash: String,
}

impl Envelope {
    /// The digest that stands for the envelope once the row is gone.
    #[must_use]
    pub fn digest(&self) -> String {
        let source = self.source_id.as_deref();
        let told = if source.is_some() { "source" } else { "no source" };
        super::ids::digest(&[
            &self.owner_did,
            &self.connector_name,
            &self.model,
            self.op.as_str(),
            &self.account_key,
            &self.target,
            told,
            source.unwrap_or_default(),
            &self.deterministic_event_id,
            &self.payload_hash,
        ])
    }
}

/// What is remembered of an operation that was collected.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are named after the operation's")]
pub struct Tombstone {
    pub caller_did: String,
    pub operation_id: String,
    pub node_key: String,
    pub envelope_digest: String,
    pub state: OperationState,
    pub document_id: Option<String>,
    pub settled_at: i64,
    pub expires_at: i64,
    pub reissued_from: Option<String>,
}
