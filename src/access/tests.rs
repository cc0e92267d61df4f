//! Tests of who is who.

use super::*;

const DID: &str = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

#[test]
fn the_file_lists_dids_and_nothing_else() {
    let listed = parse(&format!(r#"{{"services": ["{DID}"], "revoked": []}}"#)).unwrap();
    assert!(listed.services.contains(DID) && listed.operators.is_empty());
    assert_eq!(parse("{}"), Ok(Listed::default()));
    for (bad, named) in [
        ("", "services"),
        ("[]", "services"),
        (r#"{"operator": []}"#, "operator"),
        (r#"{"operators": "x"}"#, "services"),
        (r#"{"revoked": ["did:key:z6Mki"]}"#, "did:key:z6Mki"),
        (r#"{"services": ["did:web:x.example"]}"#, "services"),
    ] {
        let problem = parse(bad).unwrap_err();
        assert!(problem.contains(named), "{bad}: {problem}");
    }
}
