//! Who is asking.

use async_graphql::{Enum, SimpleObject};

use crate::domain::viewer::{Roles, Viewer as Asking};

/// What a viewer may do beside their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum ViewerRole {
    /// Drives every operation and watch, and lists everything that is due.
    Service,
    /// May what services may; collects, sweeps documents and prunes beside.
    Operator,
}

/// The one who asks.
#[derive(Debug, SimpleObject)]
pub(super) struct Viewer {
    /// Their DID; null with open access, where nobody signs in.
    did: Option<String>,
    /// Their roles; with open access everybody has all of them.
    roles: Vec<ViewerRole>,
}

impl From<&Asking> for Viewer {
    fn from(viewer: &Asking) -> Self {
        let Roles { service, operator } = viewer.roles();
        let roles = [(service, ViewerRole::Service), (operator, ViewerRole::Operator)];
        let roles = roles.into_iter().filter_map(|(has, role)| has.then_some(role)).collect();
        Self { did: viewer.did().map(str::to_owned), roles }
    }
}
