//! Copies that must not pass, each wrong in one way only and, where it can be, signed rightly: so that only the check
//! which it is there for can refuse it. And copies by other tools, which must.

mod claims;
mod envelope;

use ed25519_dalek::Signer as _;

use super::*;

const NOW: i64 = 1_760_000_001_000;
const NOW_HLC: &str = "1760000001000-0000-n1";

enum Signer {
    Ed25519(ed25519_dalek::SigningKey),
    P256(p256::ecdsa::SigningKey),
}

fn alice() -> Signer {
    Signer::Ed25519(ed25519_dalek::SigningKey::from_bytes(&[1; 32]))
}

fn bob() -> Signer {
    Signer::P256(p256::ecdsa::SigningKey::from_slice(&[2; 32]).unwrap())
}

impl Signer {
    fn public(&self) -> Vec<u8> {
        match self {
            Self::Ed25519(key) => key.verifying_key().to_bytes().to_vec(),
            Self::P256(key) => key.verifying_key().to_sec1_point(true).as_bytes().to_vec(),
        }
    }

    fn did(&self) -> String {
        let codec: [u8; 2] = if matches!(self, Self::Ed25519(_)) { [0xed, 0x01] } else { [0x80, 0x24] };
        format!("did:key:z{}", bs58::encode([&codec[..], &self.public()].concat()).into_string())
    }

    fn alg(&self) -> &'static str {
        if matches!(self, Self::Ed25519(_)) { "EdDSA" } else { "ES256" }
    }

    fn sign(&self, bytes: &[u8]) -> Vec<u8> {
        match self {
            Self::Ed25519(key) => key.sign(bytes).to_bytes().to_vec(),
            Self::P256(key) => {
                let signature: p256::ecdsa::Signature = key.sign(bytes);
                signature.to_bytes().to_vec()
            }
        }
    }

    fn header(&self) -> String {
        format!(r#"{{"alg":"{}","typ":"JWT"}}"#, self.alg())
    }

    /// Good claims, with one member replaced or added (raw JSON), or taken away (nothing).
    fn claims(&self, name: &str, value: &str) -> String {
        let (did, meta) = (format!("\"{}\"", self.did()), format!(r#"{{"version":"{NOW_HLC}"}}"#));
        let mut members = vec![
            ("iss", did.as_str()),
            ("type", "\"connector.observation\""),
            ("owner", did.as_str()),
            ("id", "\"doc-1\""),
            ("payload", "null"),
            ("meta", &meta),
        ];
        members.retain(|member| member.0 != name);
        if !value.is_empty() {
            members.push((name, value));
        }
        let members: Vec<_> = members.iter().map(|(name, value)| format!("\"{name}\":{value}")).collect();
        format!("{{{}}}", members.join(","))
    }

    fn copy(&self, header: &str, claims: &str) -> String {
        self.copy_of(&b64(header), &b64(claims))
    }

    fn copy_of(&self, header: &str, claims: &str) -> String {
        let signed = format!("{header}.{claims}");
        format!("{signed}.{}", b64(self.sign(signed.as_bytes())))
    }

    fn good(&self) -> String {
        self.copy(&self.header(), &self.claims("", ""))
    }

    fn with(&self, name: &str, value: &str) -> String {
        self.copy(&self.header(), &self.claims(name, value))
    }
}

fn b64(bytes: impl AsRef<[u8]>) -> String {
    URL_SAFE_NO_PAD.encode(bytes)
}

#[track_caller]
fn refused(jwt: &str, reason: &str) {
    match verify(jwt, NOW) {
        Ok(_) => panic!("taken, not refused for {reason:?}: {jwt:.400}"),
        Err(Invalid(got)) => assert!(got.contains(reason), "refused for {got:?}, not {reason:?}"),
    }
}

#[test]
fn good_copies_of_both_kinds_are_taken() {
    for signer in [alice(), bob()] {
        let jwt = signer.good();
        let claim = verify(&jwt, NOW).unwrap();
        assert_eq!((claim.signer.as_str(), claim.owner.as_str()), (&*signer.did(), &*signer.did()));
        assert_eq!((claim.id.as_str(), claim.hlc.as_str(), &claim.payload_digest), ("doc-1", NOW_HLC, &None));
        assert_eq!(claim.op_hash, payload_digest(jwt.as_bytes()));
        assert_eq!(read_stored(&jwt), Ok(claim));
    }
}

/// Made by the clients' own tools, see `make-observations.mjs`.
#[test]
fn copies_by_other_tools_read_as_their_makers_meant_them() {
    let records: Vec<serde_json::Value> = serde_json::from_str(include_str!(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/fixtures/observations/observations.json"
    )))
    .unwrap();
    let (mut signers, mut high, mut expired) = (std::collections::BTreeSet::new(), 0, 0);
    for record in &records {
        let field = |name: &str| record[name].as_str().map(str::to_owned);
        let needed = |name: &str| field(name).unwrap();
        let jwt = needed("jwt");
        let expected = Claim {
            owner: needed("owner"),
            id: needed("id"),
            signer: needed("signer"),
            hlc: needed("hlc"),
            payload_digest: field("payload").map(|text| payload_digest(&URL_SAFE_NO_PAD.decode(text).unwrap())),
            claim_digest: needed("claimDigest"),
            op_hash: needed("opHash"),
        };
        assert_eq!(expected.payload_digest, field("payloadDigest"));
        assert_eq!(read_stored(&jwt).as_ref(), Ok(&expected), "{}", record["name"]);
        if record["expired"] == true {
            refused(&jwt, "exp has passed");
            expired += 1;
        } else {
            assert_eq!(verify(&jwt, NOW), Ok(expected), "{}", record["name"]);
        }
        signers.insert((needed("alg"), needed("signer")));
        if needed("alg") == "ES256" {
            let bytes = URL_SAFE_NO_PAD.decode(jwt.rsplit_once('.').unwrap().1).unwrap();
            let signature = p256::ecdsa::Signature::from_slice(&bytes).unwrap();
            high += usize::from(signature.normalize_s() != signature);
        }
    }
    let of = |alg: &str| signers.iter().filter(|signer| signer.0 == alg).count();
    assert!(of("EdDSA") >= 2 && of("ES256") >= 2 && high >= 1 && expired >= 2, "the file shows all that it is for");
}
