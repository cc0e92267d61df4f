//! The issuer's key, read from its `did:key` and from nowhere else: Ed25519 or P-256.
//!
//! A key has one text only, since signers are told apart by it: base58btc, the point compressed, its coordinate reduced.

#[cfg(test)]
mod tests;

use p256::ecdsa::signature::Verifier as _;

use super::Invalid;

/// A public key that an issuer is named by.
pub enum DidKey {
    /// Multicodec 0xed.
    Ed25519(ed25519_dalek::VerifyingKey),
    /// Multicodec 0x1200.
    P256(p256::ecdsa::VerifyingKey),
}

impl DidKey {
    /// Reads a `did:key` of one of the two kinds, without a fragment.
    ///
    /// # Errors
    /// `Invalid` for any other DID, and for one whose bytes are no such key.
    pub fn parse(did: &str) -> Result<Self, Invalid> {
        Self::read(did).ok_or_else(|| Invalid::new("iss must be a did:key of an Ed25519 or a P-256 key"))
    }

    /// The buffer is as long as the longest key, so that a long text ends soon.
    fn read(did: &str) -> Option<Self> {
        let mut buffer = [0; 35];
        let length = bs58::decode(did.strip_prefix("did:key:z")?).onto(&mut buffer[..]).ok()?;
        match buffer.get(..length)? {
            [0xed, 0x01, key @ ..] => {
                let key = <&[u8; 32]>::try_from(key).ok().filter(|key| is_reduced(key))?;
                ed25519_dalek::VerifyingKey::from_bytes(key).ok().map(Self::Ed25519)
            }
            // SEC 1 has other forms than the compressed one, and one of them (0x05) is just as long.
            [0x80, 0x24, key @ ..] if matches!(key, [0x02 | 0x03, ..]) => {
                p256::ecdsa::VerifyingKey::from_sec1_bytes(key).ok().map(Self::P256)
            }
            _ => None,
        }
    }

    /// The only algorithm of this key, as a header spells it.
    #[must_use]
    pub const fn alg(&self) -> &'static str {
        match self {
            Self::Ed25519(_) => "EdDSA",
            Self::P256(_) => "ES256",
        }
    }

    /// Whether this key signed these bytes. Ed25519 is strict: keys of small order, for which signatures fit anything,
    /// are refused. ES256 is 64 bytes r, s, where s may be the high one of the two: signers emit either.
    #[must_use]
    pub fn verifies(&self, signed: &[u8], signature: &[u8]) -> bool {
        match self {
            Self::Ed25519(key) => ed25519_dalek::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify_strict(signed, &signature).is_ok()),
            Self::P256(key) => p256::ecdsa::Signature::from_slice(signature)
                .is_ok_and(|signature| key.verify(signed, &signature).is_ok()),
        }
    }
}

/// The `did:key` of an Ed25519 key.
#[must_use]
pub fn ed25519(key: &ed25519_dalek::VerifyingKey) -> String {
    format!("did:key:z{}", bs58::encode([&[0xed, 0x01][..], key.as_bytes()].concat()).into_string())
}

/// Whether the y coordinate is below 2^255 - 19: decoding takes 19 more, as second texts of keys.
fn is_reduced(key: &[u8; 32]) -> bool {
    key[0] < 0xed || key[1..31].iter().any(|byte| *byte != 0xff) || key[31] & 0x7f != 0x7f
}
