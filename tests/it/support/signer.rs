//! Whoever signs in: a key of either kind, its did:key, and tokens by it, good ones and any others.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use ed25519_dalek::Signer as _;
use serde_json::{Value, json};
use writewatch::clock::Clock;
use writewatch::entropy::fresh_secret;

/// The audience of the tests' servers.
pub const AUDIENCE: &str = "https://books.example";

#[derive(Clone)]
pub enum Key {
    Ed25519(ed25519_dalek::SigningKey),
    P256(p256::ecdsa::SigningKey),
}

#[derive(Clone)]
pub struct Person {
    pub did: String,
    pub key: Key,
}

impl Person {
    pub fn fresh() -> Self {
        Self::of(Key::Ed25519(ed25519_dalek::SigningKey::from_bytes(&fresh_secret())))
    }

    pub fn fresh_p256() -> Self {
        Self::of(Key::P256(p256::ecdsa::SigningKey::from_slice(&fresh_secret()).unwrap()))
    }

    fn of(key: Key) -> Self {
        let public = match &key {
            Key::Ed25519(key) => [&[0xed, 0x01], &key.verifying_key().to_bytes()[..]].concat(),
            Key::P256(key) => [&[0x80, 0x24], key.verifying_key().to_sec1_point(true).as_bytes()].concat(),
        };
        Self { did: format!("did:key:z{}", bs58::encode(public).into_string()), key }
    }

    pub fn alg(&self) -> &'static str {
        match self.key {
            Key::Ed25519(_) => "EdDSA",
            Key::P256(_) => "ES256",
        }
    }

    pub fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        match &self.key {
            Key::Ed25519(key) => key.sign(bytes).to_bytes().to_vec(),
            Key::P256(key) => {
                let signature: p256::ecdsa::Signature = p256::ecdsa::signature::Signer::sign(key, bytes);
                signature.to_bytes().to_vec()
            }
        }
    }

    /// A token that is good for the next hour.
    pub fn token(&self) -> String {
        self.token_with(json!({}), json!({}))
    }

    /// A token with other members in its header and among its claims; null takes one out.
    pub fn token_with(&self, header: Value, claims: Value) -> String {
        let now = now_s();
        let good = json!({ "iss": self.did, "aud": AUDIENCE, "iat": now, "exp": now + 3_600 });
        jwt(&merged(json!({ "alg": self.alg(), "typ": "JWT" }), header), &merged(good, claims), |bytes| {
            self.sign(bytes)
        })
    }

    /// A signed claim of this owner about a document.
    pub fn observation(&self, id: &str, hlc: &str) -> String {
        let claims = json!({ "iss": self.did, "type": "connector.observation", "owner": self.did, "id": id,
            "payload": null, "meta": { "version": hlc } });
        jwt(&json!({ "alg": self.alg(), "typ": "JWT" }), &claims, |bytes| self.sign(bytes))
    }
}

pub fn now_s() -> i64 {
    Clock::Host.now_ms() / 1_000
}

/// A compact JWS of any header and claims, with whatever signature.
pub fn jwt(header: &Value, claims: &Value, sign: impl Fn(&[u8]) -> Vec<u8>) -> String {
    let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
    let signed = format!("{}.{}", part(header), part(claims));
    format!("{signed}.{}", URL_SAFE_NO_PAD.encode(sign(signed.as_bytes())))
}

fn merged(mut into: Value, from: Value) -> Value {
    let members = into.as_object_mut().unwrap();
    let Value::Object(from) = from else { panic!("not an object: {from}") };
    members.extend(from);
    members.retain(|_, value| !value.is_null());
    into
}
