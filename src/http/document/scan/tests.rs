//! Tests of the scan of a document.

use super::*;

fn nested(open: &str, close: &str, depth: usize) -> String {
    format!("{{ f(a: {}{}) }}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn lists_and_objects_1600_deep_are_refused_before_parsing() {
    assert_eq!(scan(&nested("[", "]", 1_600)), Err(Unreadable::TooDeep));
    assert_eq!(scan(&nested("{a:", "}", 1_600)), Err(Unreadable::TooDeep));
    assert_eq!(scan(&"{a".repeat(1_600)), Err(Unreadable::TooDeep));
}

#[test]
fn as_deep_as_allowed_passes_and_parses() {
    let text = nested("[", "]", limits::OPEN_BRACKETS - 2);
    assert_eq!(scan(&text), Ok(()));
    assert!(async_graphql::parser::parse_query(text).is_ok());
}

#[test]
fn brackets_in_strings_and_comments_do_not_count() {
    let brackets = "[".repeat(200);
    assert_eq!(scan(&format!(r#"{{ f(a: "{brackets}") }}"#)), Ok(()));
    assert_eq!(scan(&format!(r#"{{ f(a: """{brackets} \""" " ""  """) }}"#)), Ok(()));
    assert_eq!(scan(&format!("{{ f # {brackets}\n }}")), Ok(()));
    assert_eq!(scan(&format!(r#"{{ f(a: "\"{brackets}\\") }}"#)), Ok(()));
}

#[test]
fn a_string_cannot_hide_brackets_from_the_scan() {
    let brackets = "[".repeat(200);
    for text in [
        format!(r#"{{ f(a: ["" {brackets}]) }}"#),
        format!(r#"{{ f(a: "\\" b: {brackets}) }}"#),
        format!("{{ f # comment\r{brackets} }}"),
    ] {
        assert_eq!(scan(&text), Err(Unreadable::TooDeep), "{text}");
    }
    // The parser would take the unended block string for an empty string and a second string, and read on.
    assert_eq!(scan(&format!(r#"{{ f(a: [""" " {brackets}]) }}"#)), Err(Unreadable::UnendedString));
    assert_eq!(scan("{ f(a: \"x\n\") }"), Err(Unreadable::UnendedString));
    assert_eq!(scan("{ f(a: \"x\\"), Err(Unreadable::UnendedString));
}

#[test]
fn too_many_tokens_or_bytes_are_refused() {
    assert_eq!(scan(&format!("{{ {} }}", "a ".repeat(5_000))), Err(Unreadable::TooManyTokens));
    assert_eq!(scan(&format!("{{ {} }}", "a ".repeat(4_998))), Ok(()));
    assert_eq!(scan(&"@x".repeat(10_000)), Err(Unreadable::TooManyTokens));
    assert_eq!(scan(&" ".repeat(limits::DOCUMENT_BYTES + 1)), Err(Unreadable::TooLong));
}
