//! The issuer's key, read from its `did:key` and from nowhere else: Ed25519 or P-256.
//!
//! A key has one text only, since signers are told apart by it: base58btc, the point compressed, its coordinate reduced.

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

#[cfg(test)]
mod tests {
    use super::*;

    fn did(codec: [u8; 2], key: &[u8]) -> String {
        format!("did:key:z{}", bs58::encode([&codec[..], key].concat()).into_string())
    }

    fn ed25519() -> [u8; 32] {
        ed25519_dalek::SigningKey::from_bytes(&[7; 32]).verifying_key().to_bytes()
    }

    fn p256(compressed: bool) -> Vec<u8> {
        let key = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
        key.verifying_key().to_sec1_point(compressed).as_bytes().to_vec()
    }

    /// The first two are examples of the did:key specification.
    #[test]
    fn keys_of_the_two_kinds_are_read() {
        for (did, alg) in [
            ("did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp", "EdDSA"),
            ("did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169", "ES256"),
            (&did([0xed, 0x01], &ed25519()), "EdDSA"),
            (&did([0x80, 0x24], &p256(true)), "ES256"),
        ] {
            assert_eq!(DidKey::parse(did).map(|key| key.alg()), Ok(alg), "{did}");
        }
    }

    #[test]
    fn anything_else_is_no_issuer() {
        let ed25519 = ed25519();
        let p256 = p256(true);
        let good = did([0xed, 0x01], &ed25519);
        let compact = [&[0x05], &p256[1..]].concat();
        assert!(p256::ecdsa::VerifyingKey::from_sec1_bytes(&compact).is_ok(), "SEC 1 would take it");
        for bad in [
            String::new(),
            "did:key:".to_owned(),
            "did:key:z".to_owned(),
            "did:key:z1".to_owned(),
            good.replace("did:key:z", "did:key:"),
            good.replace("did:key:z", "did:key:m"),
            good.replace("did:key:z", "did:key:z1"),
            good.replace("did:key:", "DID:key:"),
            good.replace("did:key:z", "did:web:z"),
            good.replace("did:key:z6", "did:key:z0"),
            format!("{good}#{}", &good[8..]),
            format!("{good} "),
            format!("{good}1"),
            good[..good.len() - 1].to_owned(),
            did([0xed, 0x01], &ed25519[..31]),
            did([0xed, 0x01], &[&ed25519[..], &[0]].concat()),
            did([0xed, 0x01], &[2; 32]),
            did([0xed, 0x01], &p256),
            did([0xec, 0x01], &ed25519),
            did([0x80, 0x24], &ed25519),
            did([0x80, 0x25], &p256),
            did([0x81, 0x24], &p256),
            did([0xed, 0x02], &ed25519),
            did([0x80, 0x24], &p256[..32]),
            did([0x80, 0x24], &[&p256[..], &[0]].concat()),
            did([0x80, 0x24], &self::p256(false)),
            did([0x80, 0x24], &compact),
            did([0x80, 0x24], &[0]),
            did([0x80, 0x24], &[&[0x02][..], &[0xff; 32]].concat()),
            format!("did:key:z{}", "2".repeat(16_000)),
        ] {
            assert!(DidKey::parse(&bad).is_err(), "{bad:.80}");
        }
    }

    #[test]
    fn an_ed25519_key_has_one_text() {
        let key = |low, middle, high| {
            let mut key = [0xff; 32];
            (key[0], key[15], key[31]) = (low, middle, high);
            key
        };
        let mut seconds = 0;
        for (low, high) in (0xed..=0xff).flat_map(|low| [(low, 0x7f), (low, 0xff)]) {
            let key = key(low, 0xff, high);
            seconds += usize::from(ed25519_dalek::VerifyingKey::from_bytes(&key).is_ok());
            assert!(DidKey::parse(&did([0xed, 0x01], &key)).is_err());
        }
        assert!(seconds > 0, "decoding would take some of them");
        for highest in [key(0xec, 0xff, 0x7f), key(0xec, 0xff, 0xff), key(0xff, 0xfe, 0x7f), key(0xff, 0xff, 0x7e)] {
            assert!(is_reduced(&highest));
        }
    }

    /// Under the point of order one, R = identity and s = 0 verify over any bytes.
    #[test]
    fn a_key_for_which_signatures_fit_anything_verifies_nothing() {
        let mut identity = [0; 32];
        identity[0] = 1;
        let signature = [&identity[..], &[0; 32]].concat();
        let loose = ed25519_dalek::VerifyingKey::from_bytes(&identity).unwrap();
        let parsed = ed25519_dalek::Signature::from_slice(&signature).unwrap();
        assert!(ed25519_dalek::Verifier::verify(&loose, b"anything", &parsed).is_ok());
        let key = DidKey::parse(&did([0xed, 0x01], &identity)).unwrap();
        assert!(!key.verifies(b"anything", &signature));
    }

    #[test]
    fn an_ed25519_signature_has_one_form() {
        use ed25519_dalek::Signer as _;
        const ORDER: [u8; 32] = [
            0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0,
            0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
        ];
        let signer = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
        let key = DidKey::parse(&did([0xed, 0x01], &ed25519())).unwrap();
        let mut signature = signer.sign(b"said").to_bytes();
        assert!(key.verifies(b"said", &signature));
        let mut carry = 0;
        for (byte, add) in signature[32..].iter_mut().zip(ORDER) {
            let sum = u16::from(*byte) + u16::from(add) + carry;
            (*byte, carry) = ((sum & 0xff) as u8, sum >> 8);
        }
        assert!(!key.verifies(b"said", &signature), "s plus the order of the group");
    }

    #[test]
    fn an_es256_signature_is_64_bytes_with_either_s() {
        use p256::ecdsa::signature::Signer as _;
        let signer = p256::ecdsa::SigningKey::from_slice(&[7; 32]).unwrap();
        let key = DidKey::parse(&did([0x80, 0x24], &p256(true))).unwrap();
        let signature: p256::ecdsa::Signature = signer.sign(b"said");
        let (r, s) = (signature.r(), signature.s());
        let other = p256::ecdsa::Signature::from_scalars(*r.as_ref(), -*s.as_ref()).unwrap();
        for good in [signature, other] {
            assert!(key.verifies(b"said", &good.to_bytes()));
            assert!(!key.verifies(b"Said", &good.to_bytes()));
            assert!(!key.verifies(b"said", good.to_der().as_bytes()));
            assert!(!key.verifies(b"said", &good.to_bytes()[..63]));
            assert!(!key.verifies(b"said", &[&good.to_bytes()[..], &[0]].concat()));
        }
        for zero in [vec![], vec![0; 64], [&[0; 32][..], &s.to_bytes()[..]].concat()] {
            assert!(!key.verifies(b"said", &zero));
        }
    }
}
