//! Tests of who is who.

use super::*;

const DID: &str = "did:key:z6MkiTBz1ymuepAQ4HEHYSF1H8quG5GLVVQR3djdX3mDooWp";

#[test]
fn the_file_lists_dids_and_nothing_else() {
    let Found { listed, slip } = parse(&format!(r#"{{"services": ["{DID}"], "revoked": []}}"#)).unwrap();
    assert!(listed.services.contains(DID) && listed.operators.is_empty() && slip.is_none());
    assert_eq!(parse("{}"), Ok(Found { listed: Listed::default(), slip: None }));
    for (bad, named) in [
        ("", "services"),
        ("[]", "services"),
        (r#"{"operator": []}"#, "operator"),
        (r#"{"operators": "x"}"#, "services"),
        (r#"{"revoked": ["did:x"], "revoked": []}"#, "revoked"),
    ] {
        let problem = parse(bad).unwrap_err();
        assert!(problem.contains(named), "{bad}: {problem}");
    }
}

#[test]
fn an_entry_that_names_nobody_is_told_and_takes_nothing_from_the_others() {
    for (list, slip) in [("revoked", "did:key:z6Mki"), ("services", "did:web:x.example"), ("operators", "")] {
        let found = parse(&format!(r#"{{"{list}": ["{slip}", "{DID}"]}}"#)).unwrap();
        let Listed { services, operators, revoked } = found.listed;
        assert!([services, operators, revoked].iter().any(|list| list.contains(DID)), "{list}");
        let told = found.slip.unwrap();
        assert!(told.contains(list) && told.contains(slip), "{told}");
    }
}
