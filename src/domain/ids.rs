//! Opaque names for the outside: node ids.
//!
//! An operation's id carries its random node key. Every other entity's id is a digest of its primary key, so that it
//! is the same on every server and says nothing about the row. Ids are typed, and a malformed one is told from an
//! unknown one: the first is the client's mistake, the second is nothing.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::bounds::BadInput;
use super::words::EntityKind;

const DIGEST_BYTES: usize = 24;

/// A decoded node id.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct NodeId {
    /// What it names.
    pub kind: EntityKind,
    /// The node key of an operation, or the digest text of any other entity's primary key.
    pub key: String,
}

impl NodeId {
    /// The id of the operation with this node key.
    #[must_use]
    pub fn operation(node_key: &str) -> Self {
        Self { kind: EntityKind::Operation, key: node_key.to_owned() }
    }

    /// The id of the entity with this primary key.
    #[must_use]
    pub fn of_key(kind: EntityKind, primary_key: &[&str]) -> Self {
        Self { kind, key: digest(primary_key) }
    }

    /// The text that clients see.
    #[must_use]
    pub fn encode(&self) -> String {
        let prefix = prefix(self.kind);
        match self.kind {
            EntityKind::Operation => format!("{prefix}{}", URL_SAFE_NO_PAD.encode(&self.key)),
            _ => format!("{prefix}{}", self.key),
        }
    }

    /// Reads what a client sent.
    ///
    /// # Errors
    /// `BadInput` for anything that no server ever gave out.
    pub fn decode(field: &str, text: &str) -> Result<Self, BadInput> {
        let malformed = || BadInput::new(field, "is not a node id of this server");
        let (kind, rest) = EntityKind::ALL
            .iter()
            .find_map(|kind| text.strip_prefix(prefix(*kind)).map(|rest| (*kind, rest)))
            .ok_or_else(malformed)?;
        if rest.len() > 1_024 {
            return Err(malformed());
        }
        let bytes = URL_SAFE_NO_PAD.decode(rest).map_err(|_| malformed())?;
        let key = if kind == EntityKind::Operation {
            String::from_utf8(bytes).ok().filter(|key| !key.is_empty() && !key.contains('\0')).ok_or_else(malformed)?
        } else if bytes.len() == DIGEST_BYTES {
            rest.to_owned()
        } else {
            return Err(malformed());
        };
        Ok(Self { kind, key })
    }

    /// Reads an id that must name one kind of entity.
    ///
    /// # Errors
    /// `BadInput` for a malformed id and for one of another kind.
    pub fn decode_as(kind: EntityKind, field: &str, text: &str) -> Result<String, BadInput> {
        let id = Self::decode(field, text)?;
        if id.kind != kind {
            return Err(BadInput::new(field, format!("must name a {}", kind.as_str().replace('_', " "))));
        }
        Ok(id.key)
    }
}

/// The digest that stands for a primary key.
#[must_use]
pub fn digest(parts: &[&str]) -> String {
    URL_SAFE_NO_PAD.encode(&hash(parts)[..DIGEST_BYTES])
}

/// The hash of the parts of a key: each with its length before it, so that no two keys meet.
#[must_use]
pub fn hash(parts: &[&str]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part.as_bytes());
    }
    hash.finalize().into()
}

const fn prefix(kind: EntityKind) -> &'static str {
    match kind {
        EntityKind::Operation => "op_",
        EntityKind::Watch => "wa_",
        EntityKind::Document => "do_",
        EntityKind::SweepReceipt => "sr_",
        EntityKind::SweepCandidate => "sc_",
        EntityKind::SweepCheckpoint => "sp_",
        EntityKind::SyncState => "sy_",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_survive_the_round_trip_and_nothing_else_is_taken() {
        let watch = NodeId::of_key(EntityKind::Watch, &["a", "bc"]);
        for id in [NodeId::operation("k/é 1"), watch.clone()] {
            assert_eq!(NodeId::decode("id", &id.encode()), Ok(id));
        }
        let padded = format!("{}=", NodeId::operation("k").encode());
        for bad in ["", "op_", "op_*", "wa_AAAA", "zz_AAAA", "op_AA", padded.as_str()] {
            assert!(NodeId::decode("id", bad).is_err(), "{bad}");
        }
        assert!(NodeId::decode_as(EntityKind::Operation, "id", &watch.encode()).is_err());
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(digest(&["a", "bc"]), digest(&["ab", "c"]));
    }
}
