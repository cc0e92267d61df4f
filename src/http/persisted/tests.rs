//! Tests of persisted documents.

use super::*;

fn code(refused: Result<String, ServerError>) -> String {
    let extensions = refused.unwrap_err().extensions.unwrap();
    extensions.get("code").unwrap().to_string()
}

#[test]
fn a_document_is_known_by_its_hash_once_it_was_sent_with_it() {
    let documents = Documents::new(None);
    let (text, hash) = ("{ a }".to_owned(), DocumentHash::of("{ a }"));
    assert_eq!(code(documents.text(None, Some(hash))), "\"PERSISTED_QUERY_NOT_FOUND\"");
    assert_eq!(code(documents.text(Some("{ b }".to_owned()), Some(hash))), "\"BAD_INPUT\"");
    assert_eq!(documents.text(Some(text.clone()), Some(hash)).unwrap(), text);
    documents.remember(hash, &text);
    assert_eq!(documents.text(None, Some(hash)).unwrap(), text);
    assert_eq!(code(documents.text(None, None)), "\"BAD_INPUT\"");
}

#[test]
fn a_hash_is_its_64_digits() {
    let digits = "ab".repeat(32);
    assert!(digits.parse::<DocumentHash>().is_ok() && digits.to_uppercase().parse::<DocumentHash>().is_ok());
    for wrong in ["", "ab", &"g".repeat(64), &"+1".repeat(32), &"é".repeat(32), &"ab".repeat(33)] {
        assert!(wrong.parse::<DocumentHash>().is_err(), "{wrong}");
    }
}
