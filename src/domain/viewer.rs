//! Who is asking, what that lets them see, and what they may do.
//!
//! Every read, list, loader, event and stream takes a `Viewer`; so does every act, through its transaction. ACCESS.md has
//! what follows from these few questions for each field.

use sha2::{Digest as _, Sha256};

/// What a DID may do beside its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Roles {
    /// Drives every operation and watch, and lists everything that is due.
    pub service: bool,
    /// May what services may; collects, sweeps documents and prunes beside.
    pub operator: bool,
}

impl Roles {
    /// Every role: open access.
    pub const ALL: Self = Self { service: true, operator: true };
    /// No role.
    pub const NONE: Self = Self { service: false, operator: false };
}

/// The one on whose behalf something is read or done.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Viewer {
    did: Option<String>,
    roles: Roles,
}

/// What a viewer may not do. Told before anything was written; says nothing of what is there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub struct Forbidden {
    /// The input field by which it is, as the schema spells it.
    pub field: String,
    /// Whose right it is.
    pub problem: &'static str,
}

impl Forbidden {
    /// A refusal that names the field and whose right it is.
    #[must_use]
    pub fn new(field: &str, problem: &'static str) -> Self {
        Self { field: field.to_owned(), problem }
    }

    /// The same refusal of an input inside another.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        Self { field: format!("{path}.{}", self.field), ..self }
    }
}

impl Viewer {
    /// Open access: nobody in particular, who may do all. For one's own machine.
    #[must_use]
    pub const fn open() -> Self {
        Self { did: None, roles: Roles::ALL }
    }

    /// A DID without any role: what it owns or called is all there is.
    #[must_use]
    pub fn of(did: &str) -> Self {
        Self::with_roles(did, Roles::NONE)
    }

    /// A DID with its roles.
    #[must_use]
    pub fn with_roles(did: &str, roles: Roles) -> Self {
        Self { did: Some(did.to_owned()), roles }
    }

    /// The DID, where the viewer has one.
    #[must_use]
    pub fn did(&self) -> Option<&str> {
        self.did.as_deref()
    }

    /// The roles.
    #[must_use]
    pub const fn roles(&self) -> Roles {
        self.roles
    }

    /// The DID to which lists and loaders are confined: their caller or owner must be it. `None` sees all.
    #[must_use]
    pub fn confined_to(&self) -> Option<&str> {
        if self.roles == Roles::NONE { self.did.as_deref() } else { None }
    }

    /// Whoever sees the same as this viewer: one for all who see everything.
    #[must_use]
    pub fn sight(&self) -> Self {
        self.confined_to().map_or_else(Self::open, Self::of)
    }

    /// Whether something with this owner and caller exists for the viewer.
    #[must_use]
    pub fn sees(&self, owner_did: Option<&str>, caller_did: Option<&str>) -> bool {
        self.confined_to().is_none_or(|did| owner_did == Some(did) || caller_did == Some(did))
    }

    /// Whether the viewer may act in the name of this DID.
    #[must_use]
    pub fn acts_for(&self, did: &str) -> bool {
        self.confined_to().is_none_or(|own| own == did)
    }

    /// Makes sure that something may be made that is this owner's.
    ///
    /// # Errors
    /// `Forbidden` for anybody but the owner and services.
    pub fn must_own(&self, field: &str, owner_did: &str) -> Result<(), Forbidden> {
        if self.acts_for(owner_did) {
            return Ok(());
        }
        Err(Forbidden::new(field, "is another DID: only services act for other owners"))
    }

    /// Makes sure that an operation may be driven that this DID called.
    ///
    /// # Errors
    /// `Forbidden` for anybody but the caller and services.
    pub fn must_drive(&self, caller_did: &str) -> Result<(), Forbidden> {
        if self.acts_for(caller_did) {
            return Ok(());
        }
        Err(Forbidden::new("id", "is an operation that its caller and services drive"))
    }

    /// Makes sure that the viewer has the role.
    ///
    /// # Errors
    /// `Forbidden` for anybody but operators.
    pub fn must_operate(&self, field: &str) -> Result<(), Forbidden> {
        if self.roles.operator { Ok(()) } else { Err(Forbidden::new(field, "is for operators")) }
    }

    /// Makes sure that grants of this owner may be given and taken.
    ///
    /// # Errors
    /// `Forbidden` for anybody but the owner and operators.
    pub fn must_grant(&self, owner_did: &str) -> Result<(), Forbidden> {
        if self.roles.operator || self.did() == Some(owner_did) {
            return Ok(());
        }
        Err(Forbidden::new("ownerDid", "is another DID: only operators give and take others' grants"))
    }
}

/// How a DID is named in the list of those who saw a change: as long as any other, and without a character that means
/// anything to a pattern.
#[must_use]
pub fn seer(did: &str) -> String {
    let mut half = [0; 16];
    half.copy_from_slice(&Sha256::digest(did)[..16]);
    uuid::Uuid::from_bytes(half).simple().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roles_see_all_and_a_plain_did_its_own() {
        let service = Viewer::with_roles("did:s", Roles { service: true, operator: false });
        for viewer in [Viewer::open(), service.clone()] {
            assert!(viewer.sees(Some("did:o"), None) && viewer.acts_for("did:o") && viewer.confined_to().is_none());
        }
        let plain = Viewer::of("did:o");
        assert!(plain.sees(Some("did:o"), None) && plain.sees(Some("did:x"), Some("did:o")));
        assert!(!plain.sees(Some("did:x"), None) && !plain.sees(None, None) && !plain.acts_for("did:x"));
        assert!(service.must_operate("x").is_err() && service.must_grant("did:o").is_err());
        assert!(plain.must_grant("did:o").is_ok() && plain.must_operate("x").is_err());
        assert_eq!((service.sight(), plain.sight()), (Viewer::open(), plain));
    }

    #[test]
    fn a_seer_is_hexadecimal_and_of_one_length() {
        for did in ["", "did:o", "%_'"] {
            let seer = seer(did);
            assert!(seer.len() == 32 && seer.bytes().all(|byte| byte.is_ascii_hexdigit()), "{seer}");
        }
        assert_ne!(seer("a"), seer("b"));
    }
}
