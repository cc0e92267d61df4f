//! The only reader of randomness.

use sha2::{Digest as _, Sha256};

/// A fresh, unguessable key: node keys and incarnations.
#[must_use]
pub fn fresh_key() -> String {
    fresh().simple().to_string()
}

/// 32 fresh, unguessable bytes: what a signing key is made from. Three draws hold more than they need.
#[must_use]
pub fn fresh_secret() -> [u8; 32] {
    let draws = [fresh(), fresh(), fresh()];
    draws.iter().fold(Sha256::new(), |hash, draw| hash.chain_update(draw.as_bytes())).finalize().into()
}

/// What makes equal things differ.
#[must_use]
pub fn salt() -> u32 {
    fresh().as_fields().0
}

#[expect(clippy::disallowed_methods, reason = "this file is the one that draws randomness")]
fn fresh() -> uuid::Uuid {
    uuid::Uuid::new_v4()
}
