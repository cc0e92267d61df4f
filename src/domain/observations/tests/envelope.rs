//! The form, the header and the signature of a copy.

use base64::engine::general_purpose::URL_SAFE;

use super::*;

/// Case J01.
#[test]
fn only_the_algorithm_and_the_key_of_the_issuer_count() {
    for (signer, other) in [(alice(), bob()), (bob(), alice())] {
        let claims = signer.claims("", "");
        let unsigned = |header: &str, signature: &[u8]| format!("{}.{}.{}", b64(header), b64(&claims), b64(signature));
        // Refused though the signature is right, and all the more without one.
        for alg in [
            r#""alg":"none","#,
            r#""alg":"None","#,
            r#""alg":"HS256","#,
            &format!(r#""alg":"{}","#, other.alg()),
            &format!(r#""alg":"{}","#, signer.alg().to_lowercase()),
            &format!(r#""alg":["{}"],"#, signer.alg()),
            r#""alg":"","#,
            r#""alg":null,"#,
            "",
        ] {
            let header = format!(r#"{{{alg}"typ":"JWT"}}"#);
            refused(&signer.copy(&header, &claims), "alg must be");
            refused(&unsigned(&header, &[]), "alg must be");
            refused(&other.copy(&header, &claims), "alg must be");
            let mac = hmac(&signer.public(), format!("{}.{}", b64(&header), b64(&claims)).as_bytes());
            refused(&unsigned(&header, &mac), "alg must be");
        }
        // The algorithm is the key's, the signature is nobody's, a MAC or another's.
        let mac = hmac(&signer.public(), format!("{}.{}", b64(signer.header()), b64(&claims)).as_bytes());
        for signature in [vec![], vec![0; 64], mac.to_vec(), [mac, mac].concat()] {
            refused(&unsigned(&signer.header(), &signature), "signature is not");
        }
        refused(&other.copy(&signer.header(), &claims), "signature is not");
        // A key of the sender's own, and what changes the meaning of the bytes: refused in the sender's hand and in the
        // issuer's.
        for member in [
            r#""jwk":{"kty":"OKP","crv":"Ed25519","x":"AA"}"#,
            r#""jku":"https://keys.example""#,
            r#""x5u":"https://keys.example""#,
            r#""x5c":[]"#,
            r#""x5t":"AA""#,
            r#""x5t#S256":"AA""#,
            r#""crit":["exp"],"exp":1"#,
            r#""crit":["x-unknown"],"x-unknown":true"#,
            r#""crit":[]"#,
            r#""b64":false"#,
            r#""b64":true"#,
        ] {
            let header = format!(r#"{{"alg":"{}","typ":"JWT",{member}}}"#, signer.alg());
            let name = member.split('"').nth(1).unwrap();
            refused(&signer.copy(&header, &claims), &format!("must not have {name}"));
            refused(&other.copy(&header, &claims), &format!("must not have {name}"));
        }
        let header = format!(r#"{{"alg":"{}","typ":"JWT","kid":"k","cty":"json","x":[1]}}"#, signer.alg());
        assert!(verify(&signer.copy(&header, &claims), NOW).is_ok(), "what asks for nothing is ignored");
        for typ in [r#""typ":"jwt""#, r#""typ":"JOSE""#, r#""typ":["JWT"]"#, r#""kid":"JWT""#] {
            let header = format!(r#"{{"alg":"{}",{typ}}}"#, signer.alg());
            refused(&signer.copy(&header, &claims), "typ must be JWT");
        }
        for iss in ["", "null", "\"did:web:example\"", "\"did:key:z\""] {
            refused(&signer.with("iss", iss), "iss must be");
        }
    }
}

#[test]
fn names_are_unique_in_both_parts_at_every_depth() {
    let signer = alice();
    let claims = signer.claims("", "");
    for header in [
        r#"{"alg":"none","alg":"EdDSA","typ":"JWT"}"#,
        r#"{"alg":"EdDSA","typ":"JWT","\u0074yp":"JWT"}"#,
        r#"{"alg":"EdDSA","typ":"JWT","x":[{"y":1,"y":1}]}"#,
        r#"["EdDSA"]"#,
    ] {
        refused(&signer.copy(header, &claims), "the header must be a JSON object");
    }
    for (name, value) in [
        ("x", r#"1,"owner":"another""#),
        ("x", r#"1,"\u006fwner":"another""#),
        ("x", r#"1,"x":1"#),
        ("meta", r#"{"version":"1760000001000-0000-a","version":"1760000001000-0000-n1"}"#),
        ("x", r#"[[{"y":{"z":1,"z":1}}]]"#),
        ("x", "[1,]"),
    ] {
        refused(&signer.with(name, value), "the payload must be a JSON object");
    }
    refused(&signer.copy(&signer.header(), "[]"), "the payload must be a JSON object");
    refused(&signer.copy(&signer.header(), &format!("{claims}{claims}")), "the payload must be a JSON object");
}

#[test]
fn bytes_have_one_text() {
    let signer = alice();
    let (header, claims) = (signer.header(), signer.claims("x", "1"));
    assert_eq!((header.len() % 3, claims.len() % 3), (0, 1), "so that padding and stray bits can be tried");
    let header = format!("{header} "); // one byte more: two characters of padding
    let good = signer.copy(&header, &claims);
    assert!(verify(&good, NOW).is_ok());
    let (body, signature) = good.rsplit_once('.').unwrap();
    let padded = |text: &str| URL_SAFE.encode(text);
    let stray = |text: String| {
        let (head, last) = text.split_at(text.len() - 1);
        assert!(matches!(last, "A" | "Q" | "g" | "w"));
        format!("{head}{}", char::from(last.as_bytes()[0] + 1))
    };
    let unpadded = "must be unpadded base64url";
    refused(&signer.copy_of(&padded(&header), &b64(&claims)), unpadded);
    refused(&signer.copy_of(&b64(&header), &padded(&claims)), unpadded);
    refused(&format!("{good}=="), unpadded);
    refused(&signer.copy_of(&stray(b64(&header)), &b64(&claims)), unpadded);
    refused(&signer.copy_of(&b64(&header), &stray(b64(&claims))), unpadded);
    refused(&format!("{body}.{}", stray(signature.to_owned())), unpadded);
    refused(&format!("{good}\n"), unpadded);
    refused(&format!(" {good}"), unpadded);
    let signature = signature.replacen(|c: char| c.is_ascii_alphanumeric(), "+", 1);
    refused(&format!("{body}.{signature}"), unpadded);
    let parts = "three parts";
    for bad in [String::new(), "a".to_owned(), body.to_owned(), format!("{good}."), format!(".{good}")] {
        refused(&bad, parts);
    }
    refused("..", "the header must be");
    refused("ä.ö.ü", unpadded);
}

#[test]
fn every_change_and_every_cut_is_refused_without_a_panic() {
    for signer in [alice(), bob()] {
        let good = signer.good();
        for place in 0..good.len() {
            assert!(verify(&good[..place], NOW).is_err());
            let old = good.as_bytes()[place];
            for new in [b'A', b'B', b'.', b'"', 0] {
                let mut bytes = good.clone().into_bytes();
                bytes[place] = new;
                let changed = String::from_utf8(bytes).unwrap();
                assert!(new == old || verify(&changed, NOW).is_err(), "{changed}");
            }
        }
    }
}

#[test]
fn a_copy_is_at_most_16_kib() {
    let signer = alice();
    let (size, bare) = (JWT_BYTES - 36 - 86 - 2, signer.claims("x", "\"\"").len());
    let filled = |more: usize| signer.with("x", &format!("\"{}\"", "x".repeat(size / 4 * 3 - bare + more)));
    assert_eq!(filled(0).len(), JWT_BYTES);
    assert!(verify(&filled(0), NOW).is_ok());
    refused(&filled(1), "at most 16384 bytes");
    refused(&signer.with("x", &"[".repeat(10_000)), "the payload must be a JSON object");
}

/// HMAC-SHA-256, for a key shorter than a block.
fn hmac(key: &[u8], bytes: &[u8]) -> [u8; 32] {
    let pad = |with: u8| {
        let mut block = [with; 64];
        block.iter_mut().zip(key).for_each(|(byte, key)| *byte ^= key);
        block
    };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(bytes).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().into()
}
