//! What a copy says, and which of two counts.

use super::*;

/// Case J05.
#[test]
fn only_a_canonical_stamp_that_is_not_ahead_passes() {
    let signer = alice();
    let with = |hlc: &str| signer.with("meta", &format!(r#"{{"version":"{hlc}"}}"#));
    for good in [
        NOW_HLC,
        "1760000001000-0000-other",
        "1760000001000-ffff-n1",
        "1760000301000-ffff-n1",
        "1728464001000-0000-n1",
        "0000000000000-0000-0",
        &format!("1760000001000-0000-{}", "z".repeat(64)),
    ] {
        assert_eq!(verify(&with(good), NOW).map(|claim| claim.hlc).as_deref(), Ok(good));
    }
    for ahead in ["1760000301001-0000-n1", "1760086401000-0000-n1", "9999999999999-0000-n1", "9999999999999-ffff-z"] {
        refused(&with(ahead), "at most 5 minutes ahead");
        assert!(read_stored(&with(ahead)).is_ok(), "a clock that was set back takes no stored copy away");
        assert!(verify(&with(ahead), i64::MAX).is_ok());
    }
    for bad in [
        "",
        "1760000001000-000A-n1",
        "1760000001000-0000-N1",
        "1760000001000-0-n1",
        "1760000001000-00000-n1",
        "760000001000-0000-n1",
        "01760000001000-0000-n1",
        "1760000001000-0000-",
        "1760000001000-0000-n_1",
        "1760000001000-0000-é",
        " 1760000001000-0000-n1",
        "+760000001000-0000-n1",
        &format!("1760000001000-0000-{}", "z".repeat(65)),
    ] {
        refused(&with(bad), "canonical HLC");
        assert!(read_stored(&with(bad)).is_err(), "{bad}");
    }
    for meta in ["", "null", "[]", "\"1760000001000-0000-n1\""] {
        refused(&signer.with("meta", meta), "meta must be an object");
    }
    for meta in ["{}", r#"{"version":1760000001000}"#, r#"{"version":null}"#] {
        refused(&signer.with("meta", meta), "meta.version must be a text");
    }
}

#[test]
fn the_higher_stamp_wins_then_the_smaller_digest() {
    let claim = |hlc: &str, claim_digest: &str| {
        let claim = verify(&alice().good(), NOW).unwrap();
        Claim { hlc: hlc.to_owned(), claim_digest: claim_digest.to_owned(), ..claim }
    };
    // From the loser to the winner.
    let ranked = [
        claim("1760000000000-0000-z", "A"),
        claim("1760000000001-0000-a", "A"),
        claim("1760000000001-0000-ab", "A"),
        claim("1760000000001-0000-b", "a"),
        claim("1760000000001-0000-b", "Z"),
        claim("1760000000001-0000-b", "A"),
        claim("1760000000001-0000-b", "-"),
        claim("1760000000001-000a-0", "_"),
        claim("1760000000001-ffff-0", "_"),
        claim("1760000000002-0000-0", "_"),
    ];
    for (place, left) in ranked.iter().enumerate() {
        for (other, right) in ranked.iter().enumerate() {
            assert_eq!(order(left, right), place.cmp(&other), "{left:?} {right:?}");
        }
    }
}

#[test]
fn claims_are_whole_and_bounded() {
    let signer = alice();
    for kind in ["", "null", "\"connector.Observation\"", "\"connector.observation \""] {
        refused(&signer.with("type", kind), "type must be");
    }
    for name in ["owner", "id"] {
        for bad in ["", "null", "7", "[\"a\"]"] {
            refused(&signer.with(name, bad), &format!("{name} must be a text"));
        }
        refused(&signer.with(name, "\"\""), &format!("{name} must be 1 to 512 bytes"));
        refused(&signer.with(name, &format!("\"{}\"", "é".repeat(257))), &format!("{name} must be 1 to 512 bytes"));
        refused(&signer.with(name, "\"a\\u0000\""), &format!("{name} must not contain U+0000"));
        assert!(verify(&signer.with(name, &format!("\"{}\"", "é".repeat(256))), NOW).is_ok());
    }
    let digest = payload_digest(b"{}");
    assert_eq!((digest.as_str(), digest.len()), ("RBNvo1WzZ4oRRq0W9-hknpT7T8If536DEMBg9hyq_4o", 43));
    let claim = verify(&signer.with("payload", &format!("\"{digest}\"")), NOW).unwrap();
    assert_eq!(claim.payload_digest, Some(digest.clone()));
    let stray = format!("{}p", &digest[..42]); // the same 32 bytes, a stray bit
    let standard = digest.replace('_', "/").replace('-', "+");
    for bad in [
        String::new(),
        "\"\"".to_owned(),
        "{}".to_owned(),
        "0".to_owned(),
        format!("\"{digest}=\""),
        format!("\"{stray}\""),
        format!("\"{standard}\""),
        format!("\"{}\"", b64([7; 31])),
        format!("\"{}\"", b64([7; 33])),
    ] {
        refused(&signer.with("payload", &bad), "payload must be null or");
    }
}

#[test]
fn a_copy_is_put_only_while_it_holds() {
    let signer = bob();
    for (name, value) in [
        ("exp", "1760000001.001"),
        ("exp", "1760000002"),
        ("exp", "1.760000002e9"),
        ("nbf", "1760000001"),
        ("nbf", "0"),
        ("nbf", "-1"),
        ("iat", "9999999999"),
        ("iat", "null"),
        ("aud", "[\"did:web:elsewhere\"]"),
    ] {
        let claim = verify(&signer.with(name, value), NOW).unwrap();
        assert_eq!(
            claim.claim_digest,
            verify(&signer.good(), NOW).unwrap().claim_digest,
            "{name}: no part of the claim"
        );
    }
    for (name, value, reason) in [
        ("exp", "1760000001", "exp has passed"),
        ("exp", "1760000000.999", "exp has passed"),
        ("exp", "0", "exp has passed"),
        ("exp", "-1e300", "exp has passed"),
        ("nbf", "1760000001.001", "nbf has not come"),
        ("nbf", "1e300", "nbf has not come"),
        ("exp", "null", "exp must be a number"),
        ("exp", "\"1760000002\"", "exp must be a number"),
        ("nbf", "false", "nbf must be a number"),
        ("nbf", "[]", "nbf must be a number"),
    ] {
        let jwt = signer.with(name, value);
        refused(&jwt, reason);
        assert!(read_stored(&jwt).is_ok(), "a stored copy stays");
    }
    let other = verify(&signer.with("sub", "\"x\""), NOW).unwrap();
    assert_ne!(other.claim_digest, verify(&signer.good(), NOW).unwrap().claim_digest, "any other member is part of it");
}

#[test]
fn one_claim_has_one_digest_whoever_signs_it_and_however_it_is_written() {
    let (alice, bob) = (alice(), bob());
    let by_alice = verify(&alice.with("owner", "\"o\""), NOW).unwrap();
    let by_bob = verify(&bob.with("owner", "\"o\""), NOW).unwrap();
    let claims = format!(
        r#" {{"meta": {{"version": "{NOW_HLC}"}}, "payload": null, "id": "doc\u002d1", "owner": "\u006f", "iat": 1,
            "type": "connector.observation", "iss": "{}"}} "#,
        alice.did()
    );
    let rewritten = verify(&alice.copy(&alice.header(), &claims), NOW).unwrap();
    assert_eq!(by_alice.claim_digest, by_bob.claim_digest);
    assert_eq!(by_alice.claim_digest, rewritten.claim_digest);
    assert_ne!(by_alice.op_hash, rewritten.op_hash);
    let canonical = format!(
        r#"{{"id":"doc-1","meta":{{"version":"{NOW_HLC}"}},"owner":"o","payload":null,"type":"connector.observation"}}"#
    );
    assert_eq!(by_alice.claim_digest, payload_digest(canonical.as_bytes()));
    let inside = |iss: &str| verify(&alice.with("x", &format!(r#"{{"iss":"{iss}"}}"#)), NOW).unwrap().claim_digest;
    assert_ne!(inside("a"), inside("b"), "only the outermost names are the envelope's");
}
