//! Observation records: copies of signed claims about what was seen at a provider, and which of two claims counts.
//!
//! A copy is a compact JWS. It is taken only when its issuer's own key signed it (`jws`, `did_key`), and its digest is
//! that of its canonical JSON (`json`). Whether the issuer may speak for the owner is the caller's question, and so is
//! what is stored: nothing here reads a clock or keeps anything.
//!
//! ```text
//! op_jwt ─ jws::open ─▶ claims ─ exp, nbf ─ type, owner, id, payload, meta.version ─▶ Claim
//! ```

pub mod copies;
pub mod did_key;
pub(super) mod json;
pub(super) mod jws;
#[cfg(test)]
mod tests;

use std::cmp::Ordering;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::bounds::{self, BadInput};
use json::{Json, Members};

/// Bytes of a copy (16 KiB).
pub const JWT_BYTES: usize = 16 * 1_024;
/// The type of every claim.
pub const TYPE: &str = "connector.observation";
/// What differs between copies of one claim, and is no part of its digest.
const ENVELOPE: [&str; 5] = ["iss", "iat", "exp", "nbf", "aud"];

/// A signed claim that was verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whose observation it is.
    pub owner: String,
    /// What was observed.
    pub id: String,
    /// The `did:key` of the issuer, whose key signed it.
    pub signer: String,
    /// Its version: a canonical HLC text.
    pub hlc: String,
    /// The base64url SHA-256 of the payload, or none where the claim says that there is none.
    pub payload_digest: Option<String>,
    /// The base64url SHA-256 of the claim's canonical JSON, without what differs between copies.
    pub claim_digest: String,
    /// The base64url SHA-256 of the JWS text.
    pub op_hash: String,
}

impl Claim {
    /// Whether its issuer may speak for its owner: the owner itself, or one of these services.
    #[must_use]
    pub fn is_signed_by_one_of(&self, services: &[String]) -> bool {
        self.signer == self.owner || services.contains(&self.signer)
    }
}

/// Why a copy is refused, in words for the client. They never repeat what it sent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Invalid(pub String);

impl Invalid {
    fn new(reason: &str) -> Self {
        Self(reason.to_owned())
    }
}

impl From<BadInput> for Invalid {
    fn from(bad: BadInput) -> Self {
        Self(bad.to_string())
    }
}

/// Verifies a copy that is being put: its form, its signature, its claims, and that they hold at `now_ms`.
///
/// # Errors
/// `Invalid` for anything else than a claim that its own issuer signed and that holds now.
pub fn verify(op_jwt: &str, now_ms: i64) -> Result<Claim, Invalid> {
    let claims = jws::open(op_jwt)?;
    in_time(&claims, now_ms)?;
    claim(op_jwt, claims, now_ms)
}

/// Reads a copy that was stored: as `verify`, but one that has expired still counts, and the clock is not asked.
///
/// # Errors
/// `Invalid` for anything that `verify` takes at no time at all.
pub fn read_stored(op_jwt: &str) -> Result<Claim, Invalid> {
    claim(op_jwt, jws::open(op_jwt)?, bounds::LAST_MS)
}

/// The base64url SHA-256 of the bytes of a payload.
#[must_use]
pub fn payload_digest(bytes: &[u8]) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(bytes))
}

/// Compares two claims on the same owner and id: the greater one wins. That is the one of the higher version, as text,
/// and among equal versions the one of the smaller claim digest. Equal are only copies of one claim.
#[must_use]
pub fn order(left: &Claim, right: &Claim) -> Ordering {
    left.hlc.cmp(&right.hlc).then_with(|| right.claim_digest.cmp(&left.claim_digest))
}

fn claim(op_jwt: &str, mut claims: Members, now_ms: i64) -> Result<Claim, Invalid> {
    if text(&claims, "type") != Some(TYPE) {
        return Err(Invalid(format!("type must be {TYPE}")));
    }
    let signer = needed(&claims, "iss")?;
    let owner = needed(&claims, "owner")?;
    bounds::key("owner", &owner)?;
    let id = needed(&claims, "id")?;
    bounds::key("id", &id)?;
    let payload_digest = match claims.get("payload") {
        Some(Json::Null) => None,
        Some(Json::Text(digest)) if is_digest(digest) => Some(digest.clone()),
        _ => return Err(Invalid::new("payload must be null or a base64url SHA-256")),
    };
    let Some(Json::Object(meta)) = claims.get("meta") else { return Err(Invalid::new("meta must be an object")) };
    let hlc = text(meta, "version").ok_or_else(|| Invalid::new("meta.version must be a text"))?.to_owned();
    bounds::hlc("meta.version", &hlc, now_ms.min(bounds::LAST_MS))?;
    claims.retain(|name, _| !ENVELOPE.contains(&name.as_str()));
    let claim_digest = URL_SAFE_NO_PAD.encode(Sha256::digest(Json::Object(claims).canonical()));
    let op_hash = URL_SAFE_NO_PAD.encode(Sha256::digest(op_jwt));
    Ok(Claim { owner, id, signer, hlc, payload_digest, claim_digest, op_hash })
}

/// RFC 7519: a token is good from `nbf` on and before `exp`, both in seconds. No leeway, and `null` is no number.
#[expect(clippy::cast_precision_loss, reason = "milliseconds are exact in a double for another 280,000 years")]
fn in_time(claims: &Members, now_ms: i64) -> Result<(), Invalid> {
    let now = now_ms as f64;
    if date_ms(claims, "exp")?.is_some_and(|exp| now >= exp) {
        return Err(Invalid::new("exp has passed"));
    }
    if date_ms(claims, "nbf")?.is_some_and(|nbf| now < nbf) {
        return Err(Invalid::new("nbf has not come yet"));
    }
    Ok(())
}

pub(super) fn date_ms(claims: &Members, name: &str) -> Result<Option<f64>, Invalid> {
    match claims.get(name) {
        None => Ok(None),
        Some(Json::Number(seconds)) => Ok(Some(seconds * 1_000.0)),
        Some(_) => Err(Invalid(format!("{name} must be a number of seconds"))),
    }
}

/// Whether a text is a SHA-256 as this module writes it; the engine takes neither padding nor stray trailing bits.
fn is_digest(text: &str) -> bool {
    URL_SAFE_NO_PAD.decode(text).is_ok_and(|bytes| bytes.len() == 32)
}

pub(super) fn text<'a>(members: &'a Members, name: &str) -> Option<&'a str> {
    match members.get(name) {
        Some(Json::Text(text)) => Some(text),
        _ => None,
    }
}

pub(super) fn needed(members: &Members, name: &str) -> Result<String, Invalid> {
    text(members, name).map(str::to_owned).ok_or_else(|| Invalid(format!("{name} must be a text")))
}
