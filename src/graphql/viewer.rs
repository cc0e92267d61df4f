//! Who is asking.

use async_graphql::{Enum, SimpleObject};

use crate::domain::viewer::Viewer as Asking;

/// What a viewer may do beside their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Enum)]
pub(super) enum ViewerRole {
    /// Drives every operation and watch, and lists everything that is due.
    Service,
    /// Sees everything, collects, sweeps and prunes.
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
        let all = viewer.confined_to().is_none();
        let roles = if all { vec![ViewerRole::Service, ViewerRole::Operator] } else { vec![] };
        Self { did: viewer.did().map(str::to_owned), roles }
    }
}
