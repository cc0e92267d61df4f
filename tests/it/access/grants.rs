//! Grants.

/// The mutations whose rows are here.
pub const ACTS: [&str; 2] = ["grantAccess", "revokeAccess"];
