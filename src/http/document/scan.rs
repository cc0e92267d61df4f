//! One linear pass over a document's text before anything parses it.
//!
//! The parser recurses once per bracket and would overflow its stack, which ends the process; so brackets, tokens and
//! bytes are bounded here, by a scan that understands strings, block strings and comments exactly as the parser does.
//! A string that does not end is refused, because the parser would read an unended block string as an empty one and go
//! on into what this scan took for text. Never allocates, never looks at names.

use crate::http::limits;

/// Why a text is not even parsed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unreadable {
    /// More bytes than a document may have.
    TooLong,
    /// More tokens than a document may have.
    TooManyTokens,
    /// Brackets nested deeper than the parser can take.
    TooDeep,
    /// A string or block string that does not end.
    UnendedString,
}

impl Unreadable {
    /// A sentence for people.
    #[must_use]
    pub fn message(self) -> String {
        match self {
            Self::TooLong => format!("The document is longer than {} bytes.", limits::DOCUMENT_BYTES),
            Self::TooManyTokens => format!("The document has more than {} tokens.", limits::DOCUMENT_TOKENS),
            Self::TooDeep => format!("The document nests brackets more than {} deep.", limits::OPEN_BRACKETS),
            Self::UnendedString => "Syntax error: a string does not end.".to_owned(),
        }
    }
}

/// Passes a text that is safe to parse.
///
/// # Errors
/// When it is too long, too deep, has too many tokens or an unended string.
pub fn scan(text: &str) -> Result<(), Unreadable> {
    if text.len() > limits::DOCUMENT_BYTES {
        return Err(Unreadable::TooLong);
    }
    let bytes = text.as_bytes();
    let (mut at, mut tokens, mut open) = (0, 0_usize, 0_usize);
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b',' => {
                at += 1;
                continue;
            }
            b'#' => {
                at = line_end(bytes, at);
                continue;
            }
            b'"' => string_end(bytes, at).ok_or(Unreadable::UnendedString)?,
            b'{' | b'[' | b'(' => {
                open += 1;
                if open > limits::OPEN_BRACKETS {
                    return Err(Unreadable::TooDeep);
                }
                at + 1
            }
            b'}' | b']' | b')' => {
                open = open.saturating_sub(1);
                at + 1
            }
            b'.' if bytes[at..].starts_with(b"...") => at + 3,
            _ if is_word(byte) => word_end(bytes, at),
            _ => at + 1,
        };
        tokens += 1;
        if tokens > limits::DOCUMENT_TOKENS {
            return Err(Unreadable::TooManyTokens);
        }
        at = end;
    }
    Ok(())
}

/// Names, keywords and numbers: whatever runs on without a break counts once.
const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn word_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&byte| !is_word(byte)).map_or(bytes.len(), |length| from + length)
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|&byte| matches!(byte, b'\n' | b'\r')).map_or(bytes.len(), |length| from + length)
}

/// The position after the string that opens at `from`, if it ends.
fn string_end(bytes: &[u8], from: usize) -> Option<usize> {
    if bytes[from..].starts_with(br#"""""#) {
        block_string_end(bytes, from + 3)
    } else {
        line_string_end(bytes, from + 1)
    }
}

fn block_string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let rest = bytes.get(at..)?;
        if rest.starts_with(br#"""""#) {
            return Some(at + 3);
        }
        if rest.is_empty() {
            return None;
        }
        at += if rest.starts_with(br#"\""""#) { 4 } else { 1 };
    }
}

fn line_string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            b'\n' | b'\r' => return None,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
}

#[cfg(test)]
mod tests {
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
}
