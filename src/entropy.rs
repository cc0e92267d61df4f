//! The only reader of randomness.

/// A fresh, unguessable key: node keys and incarnations.
#[must_use]
#[expect(clippy::disallowed_methods, reason = "this file is the one that draws randomness")]
pub fn fresh_key() -> String {
    uuid::Uuid::new_v4().simple().to_string()
}
