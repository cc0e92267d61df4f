//! Keys and tokens for trying out: a key file, its DID, and tokens that it signs. A server never needs a key of its own.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::{Signer as _, SigningKey};
use serde::{Deserialize, Serialize};

use crate::clock::Clock;
use crate::domain::observations::did_key;
use crate::entropy::fresh_secret;

/// A private key as RFC 8037 writes it.
#[derive(Serialize, Deserialize)]
struct Jwk {
    kty: String,
    crv: String,
    x: String,
    d: String,
}

/// Reads the key of a file, or makes the file with a fresh one, for its owner's eyes alone.
///
/// # Errors
/// What is wrong with the file.
pub fn read_or_make(path: &Path) -> Result<SigningKey, String> {
    let cannot = |what: &str, error: std::io::Error| format!("{} cannot be {what}: {error}", path.display());
    match std::fs::read_to_string(path) {
        Ok(text) => parse(&text)
            .ok_or_else(|| format!("{} is not a JWK of an Ed25519 key with its private part", path.display())),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            let key = SigningKey::from_bytes(&fresh_secret());
            let mut file = create_private(path).map_err(|error| cannot("made", error))?;
            file.write_all(write(&key).as_bytes()).map_err(|error| cannot("written", error))?;
            Ok(key)
        }
        Err(error) => Err(cannot("read", error)),
    }
}

/// The DID of a key.
#[must_use]
pub fn did(key: &SigningKey) -> String {
    did_key::ed25519(&key.verifying_key())
}

/// A token that this key signs, good from now on for some seconds.
#[must_use]
pub fn token(key: &SigningKey, audience: &str, seconds: i64) -> String {
    let now = Clock::Host.now_ms() / 1_000;
    let claims = serde_json::json!({ "iss": did(key), "aud": audience, "iat": now, "exp": now + seconds });
    let part = |value: serde_json::Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(serde_json::json!({ "alg": "EdDSA", "typ": "JWT" })), part(claims));
    let signature = URL_SAFE_NO_PAD.encode(key.sign(signed.as_bytes()).to_bytes());
    format!("{signed}.{signature}")
}

fn parse(text: &str) -> Option<SigningKey> {
    let jwk: Jwk = serde_json::from_str(text).ok()?;
    let bytes = |text: &str| <[u8; 32]>::try_from(URL_SAFE_NO_PAD.decode(text).ok()?).ok();
    let key = SigningKey::from_bytes(&bytes(&jwk.d)?);
    let fits = jwk.kty == "OKP" && jwk.crv == "Ed25519" && bytes(&jwk.x)? == key.verifying_key().to_bytes();
    fits.then_some(key)
}

fn write(key: &SigningKey) -> String {
    let part = |bytes: [u8; 32]| URL_SAFE_NO_PAD.encode(bytes);
    let x = part(key.verifying_key().to_bytes());
    serde_json::json!({ "kty": "OKP", "crv": "Ed25519", "x": x, "d": part(key.to_bytes()) }).to_string() + "\n"
}

fn create_private(path: &Path) -> std::io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}
