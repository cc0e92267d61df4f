//! Tests of did:keys.

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
        0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
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
