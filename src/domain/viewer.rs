//! Who is asking, and what that lets them see.
//!
//! Every read, list, loader, event and stream takes a `Viewer`. Until access control exists there is one kind, which
//! may do all; the rules of who sees what are asked of it from the start, so that they only have to be filled in here.

/// The one on whose behalf something is read or done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Viewer {
    did: Option<String>,
}

impl Viewer {
    /// Open access: nobody in particular, who may do all. For one's own machine.
    #[must_use]
    pub const fn open() -> Self {
        Self { did: None }
    }

    /// A DID without any role: what it owns or called is all there is.
    #[must_use]
    pub fn of(did: &str) -> Self {
        Self { did: Some(did.to_owned()) }
    }

    /// The DID, where the viewer has one.
    #[must_use]
    pub fn did(&self) -> Option<&str> {
        self.did.as_deref()
    }

    /// The DID to which lists and loaders are confined: their caller or owner must be it. `None` sees all.
    #[must_use]
    pub fn confined_to(&self) -> Option<&str> {
        self.did.as_deref()
    }

    /// Whether something with this owner and caller exists for the viewer.
    #[must_use]
    pub fn sees(&self, owner_did: Option<&str>, caller_did: Option<&str>) -> bool {
        self.confined_to().is_none_or(|did| owner_did == Some(did) || caller_did == Some(did))
    }
}
