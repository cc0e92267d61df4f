//! One linear pass over a document's text before anything parses it.
//!
//! The parser recurses once per bracket and would overflow its stack, which ends the process; so brackets, tokens and
//! bytes are bounded here, by a scan that understands strings, block strings and comments exactly as the parser does.
//! A string that does not end is refused, because the parser would read an unended block string as an empty one and go
//! on into what this scan took for text. Never allocates, never looks at names.

#[cfg(test)]
mod tests;

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
