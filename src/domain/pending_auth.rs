//! Pending authorisations: an OAuth hand-off that is waited for, consumed once.

use super::words::words;

words! {
    /// What came of an act on a pending authorisation.
    PendingAuthOutcome {
        /// It is waited for.
        Created = "created",
        /// There is one under this state: it was left as it is.
        Exists = "exists",
        /// It is yours, with its code verifier; nobody else gets it.
        Consumed = "consumed",
        /// It was too old: it is gone.
        Expired = "expired",
        /// There is none, or somebody had it before.
        NotFound = "not_found",
    }
}

/// A text that no log line shows.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub String);

impl std::fmt::Debug for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("[secret]")
    }
}

/// One row of the pending authorisations' table, as the package names its columns, without its code verifier.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the columns are described in SPEC section 1 and on the GraphQL type")]
pub struct PendingAuth {
    pub state: String,
    pub provider: String,
    pub owner_did: String,
    pub owner_wrappable_did: Option<String>,
    pub controller_wrappable_did: Option<String>,
    pub created_at: i64,
    pub redirect_url: String,
    /// A JSON list of texts.
    pub scopes: String,
    pub is_incremental: i32,
    pub expires_at: i64,
}

impl PendingAuth {
    /// Whether it is too old; at the very millisecond of its expiry it is still good.
    #[must_use]
    pub const fn is_expired(&self, now: i64) -> bool {
        self.expires_at < now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Secret("verifier".to_owned())), "[secret]");
    }
}
