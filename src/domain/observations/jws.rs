//! The envelope of a copy: a compact JWS of three parts, whose key is the one that its issuer's `did:key` spells.
//!
//! The header never chooses: its `alg` has to be the one that the issuer's key demands, and every member by which a
//! sender brings a key of its own (`jwk`, `jku`, `x5…`) or changes what the bytes mean (`crit`, `b64`) is refused. Other
//! members, `kid` among them, are ignored as RFC 7515 has it: they are signed, and nothing here follows them.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::did_key::DidKey;
use super::json::{Json, Members};
use super::{Invalid, JWT_BYTES, needed, text};

/// Header members that make a copy refused, whatever they say.
const REFUSED: [&str; 8] = ["crit", "b64", "jwk", "jku", "x5u", "x5c", "x5t", "x5t#S256"];

/// Opens a copy: its claims, signed by the key of their issuer.
///
/// # Errors
/// `Invalid` for another form, another algorithm, another key or a signature that does not fit.
pub fn open(op_jwt: &str) -> Result<Members, Invalid> {
    if op_jwt.len() > JWT_BYTES {
        return Err(Invalid(format!("must be at most {JWT_BYTES} bytes long")));
    }
    let parts: Vec<&str> = op_jwt.split('.').collect();
    let [header, payload, signature] = parts[..] else {
        return Err(Invalid::new("must be three parts with dots between"));
    };
    let signed = &op_jwt[..=header.len() + payload.len()];
    let header = object("header", header)?;
    let claims = object("payload", payload)?;
    let signature = bytes("signature", signature)?;
    if text(&header, "typ") != Some("JWT") {
        return Err(Invalid::new("the header's typ must be JWT"));
    }
    if let Some(name) = REFUSED.iter().find(|name| header.contains_key(**name)) {
        return Err(Invalid(format!("the header must not have {name}")));
    }
    let key = DidKey::parse(&needed(&claims, "iss")?)?;
    if text(&header, "alg") != Some(key.alg()) {
        return Err(Invalid(format!("the header's alg must be {}, as the issuer's key is", key.alg())));
    }
    if !key.verifies(signed.as_bytes(), &signature) {
        return Err(Invalid::new("the signature is not the issuer's"));
    }
    Ok(claims)
}

/// The engine is strict: it takes neither padding nor stray trailing bits, so that bytes have one text only.
fn bytes(part: &str, text: &str) -> Result<Vec<u8>, Invalid> {
    URL_SAFE_NO_PAD.decode(text).map_err(|_| Invalid(format!("the {part} must be unpadded base64url")))
}

fn object(part: &str, text: &str) -> Result<Members, Invalid> {
    match Json::parse(&bytes(part, text)?) {
        Some(Json::Object(members)) => Ok(members),
        _ => Err(Invalid(format!("the {part} must be a JSON object whose names are unique"))),
    }
}
