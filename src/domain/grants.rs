//! Grants: an owner lets a caller claim for it.

/// What names a grant.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of AccessGrantInput, where they are described")]
pub struct GrantKey {
    pub owner_did: String,
    pub caller_did: String,
    /// None: every connector.
    pub connector_name: Option<String>,
}

/// A grant that stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of AccessGrant, where they are described")]
pub struct Grant {
    pub key: GrantKey,
    pub created_at: i64,
}
