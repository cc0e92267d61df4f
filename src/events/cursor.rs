//! A place in the log, as clients hold it: opaque, and good for the log that it came from alone.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::domain::bounds::BadInput;

/// The place after one change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cursor {
    pub(super) feed_id: Arc<str>,
    pub(super) sequence: i64,
}

impl Cursor {
    /// The number of the change.
    ///
    /// # Errors
    /// `BadInput` for anything that this log never gave out.
    pub(super) fn decode(field: &str, text: &str, feed_id: &str) -> Result<i64, BadInput> {
        let malformed = || BadInput::new(field, "is not a change cursor of this server");
        if text.len() > 100 {
            return Err(malformed());
        }
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| malformed())?;
        let text = std::str::from_utf8(&bytes).map_err(|_| malformed())?;
        let (of, number) = text.split_once(':').ok_or_else(malformed)?;
        if of != feed_id {
            return Err(malformed());
        }
        let plain = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        if plain { number.parse().map_err(|_| malformed()) } else { Err(malformed()) }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&URL_SAFE_NO_PAD.encode(format!("{}:{}", self.feed_id, self.sequence)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_good_for_its_own_log_alone() {
        let cursor = Cursor { feed_id: "abc".into(), sequence: 7 }.to_string();
        assert_eq!(Cursor::decode("after", &cursor, "abc"), Ok(7));
        assert!(Cursor::decode("after", &cursor, "abd").is_err());
        for bad in ["", "7", "YWJjOi03", "YWJjOis3", &"A".repeat(101)] {
            assert!(Cursor::decode("after", bad, "abc").is_err(), "{bad}");
        }
    }
}
