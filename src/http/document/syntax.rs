//! Parsing, with errors that a person can read.
//!
//! The parser's own message prints the rules of its grammar; ours says where and at what it stopped.

use async_graphql::ServerError;
use async_graphql::parser::types::ExecutableDocument;
use async_graphql::parser::{Error, Pos, parse_query};

use crate::http::refusal::{bad_input, bad_input_at};

/// Parses a document that the scan has passed.
///
/// # Errors
/// When it is not a GraphQL document.
pub fn parse(text: &str) -> Result<ExecutableDocument, ServerError> {
    parse_query(text).map_err(|error| match error {
        Error::Syntax { start, .. } => bad_input_at(start, format!("Syntax error: {}.", found(text, start))),
        Error::RecursionLimitExceeded => bad_input("The document nests too deep."),
        other => match other.positions().next() {
            Some(pos) => bad_input_at(pos, format!("Syntax error: {other}.")),
            None => bad_input(format!("Syntax error: {other}.")),
        },
    })
}

/// What stands at a position: a word, a sign, or the end.
fn found(text: &str, pos: Pos) -> String {
    let rest: String = text
        .split('\n')
        .nth(pos.line.saturating_sub(1))
        .map(|line| line.chars().skip(pos.column.saturating_sub(1)).take(40).collect())
        .unwrap_or_default();
    let rest = rest.trim_start();
    let word: String = rest.chars().take_while(|&letter| letter.is_alphanumeric() || letter == '_').collect();
    match (word.is_empty(), rest.chars().next()) {
        (false, _) => format!("did not expect \"{word}\""),
        (true, Some(sign)) if !sign.is_control() => format!("did not expect \"{sign}\""),
        _ => "did not expect the end of the line or of the document".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(text: &str) -> (String, Vec<Pos>) {
        let error = parse(text).unwrap_err();
        (error.message, error.locations)
    }

    #[test]
    fn a_syntax_error_says_where_and_at_what() {
        assert_eq!(refusal("{ a(b: ) }").0, "Syntax error: did not expect \")\".");
        assert_eq!(
            refusal("{ a }\nquary B { a }"),
            ("Syntax error: did not expect \"quary\".".to_owned(), vec![Pos { line: 2, column: 1 }],)
        );
        assert_eq!(refusal("{").0, "Syntax error: did not expect the end of the line or of the document.");
        assert_eq!(refusal("").0, "Syntax error: did not expect the end of the line or of the document.");
    }

    #[test]
    fn no_grammar_rule_is_named() {
        for text in ["{", "{ a(b: \"\\q\") }", "query ($x: ) { a }", "é", "{ a @ }", "query A { a } query A { a }"] {
            let (message, _) = refusal(text);
            assert!(!message.contains("-->") && !message.contains("_definition"), "{message}");
        }
    }
}
