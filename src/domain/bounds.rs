//! The bounds of every input, in one place: what is outside them is refused by name before anything is written.
//!
//! The same on both databases: PostgreSQL cannot store U+0000 and has 32-bit counts, `SQLite` could take either.

/// An input outside its bounds. Nothing was written.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} {problem}")]
pub struct BadInput {
    /// The input field, as the schema spells it.
    pub field: String,
    /// What it has to be.
    pub problem: String,
}

impl BadInput {
    /// A refusal that names the field and its bound.
    pub fn new(field: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { field: field.into(), problem: problem.into() }
    }

    /// The same refusal of an input inside another.
    #[must_use]
    pub fn at(self, path: &str) -> Self {
        Self { field: format!("{path}.{}", self.field), ..self }
    }
}

/// Bytes of an ordinary key: ids, DIDs, names, tokens, digests.
pub const KEY_BYTES: usize = 512;
/// Bytes of a target: where at the provider the write goes.
pub const TARGET_BYTES: usize = 2_048;
/// Bytes of a JSON value as it is stored (256 KiB).
pub const JSON_BYTES: usize = 256 * 1_024;
/// Bytes of an error message.
pub const MESSAGE_BYTES: usize = 4_096;
/// Characters of a note.
pub const NOTE_CHARS: usize = 1_000;
/// Ids in one list.
pub const LIST_IDS: usize = 500;
/// The latest time there is: the last millisecond of the year 9999.
pub const LAST_MS: i64 = 253_402_300_799_999;
/// How far ahead something may be made due (366 days).
pub const DUE_AHEAD_MS: i64 = 366 * 24 * 3_600 * 1_000;
/// The shortest lease or watch claim (1 s).
pub const LEASE_MIN_MS: i32 = 1_000;
/// The longest lease or watch claim (1 h).
pub const LEASE_MAX_MS: i32 = 3_600_000;
/// The most verification attempts a watch may be given.
pub const MAX_ATTEMPTS: i32 = 100;

fn text(field: &str, value: &str, most: usize) -> Result<(), BadInput> {
    if value.is_empty() || value.len() > most {
        return Err(BadInput::new(field, format!("must be 1 to {most} bytes long, got {}", value.len())));
    }
    no_nul(field, value)
}

fn no_nul(field: &str, value: &str) -> Result<(), BadInput> {
    if value.contains('\0') {
        return Err(BadInput::new(field, "must not contain U+0000"));
    }
    Ok(())
}

/// A key: 1 to 512 bytes, no U+0000.
///
/// # Errors
/// `BadInput` when it is not.
pub fn key(field: &str, value: &str) -> Result<(), BadInput> {
    text(field, value, KEY_BYTES)
}

/// An optional key.
///
/// # Errors
/// `BadInput` when it is there and out of bounds.
pub fn optional_key(field: &str, value: Option<&str>) -> Result<(), BadInput> {
    value.map_or(Ok(()), |value| key(field, value))
}

/// A target: 1 to 2,048 bytes, no U+0000.
///
/// # Errors
/// `BadInput` when it is not.
pub fn target(field: &str, value: &str) -> Result<(), BadInput> {
    text(field, value, TARGET_BYTES)
}

/// A list of ids or names: at most 500, each a key.
///
/// # Errors
/// `BadInput` for a longer list, or for one of its items.
pub fn ids(field: &str, values: &[String]) -> Result<(), BadInput> {
    length(field, values.len())?;
    values.iter().try_for_each(|value| key(field, value))
}

/// The length of a list: at most 500.
///
/// # Errors
/// `BadInput` for a longer list.
pub fn length(field: &str, count: usize) -> Result<(), BadInput> {
    if count > LIST_IDS {
        return Err(BadInput::new(field, format!("must have at most {LIST_IDS} items, got {count}")));
    }
    Ok(())
}

/// A note: at most 1,000 characters, no U+0000.
///
/// # Errors
/// `BadInput` when it is longer.
pub fn note(field: &str, value: Option<&str>) -> Result<(), BadInput> {
    let Some(value) = value else { return Ok(()) };
    let count = value.chars().count();
    if count > NOTE_CHARS {
        return Err(BadInput::new(field, format!("must be at most {NOTE_CHARS} characters long, got {count}")));
    }
    no_nul(field, value)
}

/// What went wrong, in words: at most 4,096 bytes, no U+0000.
///
/// # Errors
/// `BadInput` when it is longer.
pub fn message(field: &str, value: Option<&str>) -> Result<(), BadInput> {
    let Some(value) = value else { return Ok(()) };
    if value.len() > MESSAGE_BYTES {
        return Err(BadInput::new(field, format!("must be at most {MESSAGE_BYTES} bytes long, got {}", value.len())));
    }
    no_nul(field, value)
}

/// JSON as it is stored: its text, at most 256 KiB, without U+0000 in any of its strings.
///
/// # Errors
/// `BadInput` when it is longer or holds U+0000.
pub fn json(field: &str, value: &serde_json::Value) -> Result<String, BadInput> {
    if has_nul(value) {
        return Err(BadInput::new(field, "must not contain U+0000"));
    }
    let text = value.to_string();
    if text.len() > JSON_BYTES {
        return Err(BadInput::new(field, format!("must be at most {JSON_BYTES} bytes of JSON, got {}", text.len())));
    }
    Ok(text)
}

fn has_nul(value: &serde_json::Value) -> bool {
    match value {
        serde_json::Value::String(text) => text.contains('\0'),
        serde_json::Value::Array(items) => items.iter().any(has_nul),
        serde_json::Value::Object(members) => {
            members.iter().any(|(name, member)| name.contains('\0') || has_nul(member))
        }
        _ => false,
    }
}

fn range(field: &str, value: i32, least: i32, most: i32) -> Result<(), BadInput> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(BadInput::new(field, format!("must be {least} to {most}, got {value}")))
}

/// How long a lease or a watch claim is asked for: 1,000 ms to 3,600,000 ms.
///
/// # Errors
/// `BadInput` when it is shorter or longer.
pub fn lease_ms(field: &str, value: i32) -> Result<(), BadInput> {
    range(field, value, LEASE_MIN_MS, LEASE_MAX_MS)
}

/// How many verification attempts a watch is given: 1 to 100.
///
/// # Errors
/// `BadInput` when it is none or more.
pub fn max_attempts(field: &str, value: i32) -> Result<(), BadInput> {
    range(field, value, 1, MAX_ATTEMPTS)
}

/// A count (a version, a generation): 0 to 2,147,483,647.
///
/// # Errors
/// `BadInput` when it is negative.
pub fn count(field: &str, value: i32) -> Result<(), BadInput> {
    range(field, value, 0, i32::MAX)
}

/// How many rows one batch of retention may remove: 1 to 1,000.
///
/// # Errors
/// `BadInput` when it is none or more.
pub fn batch(field: &str, value: i32) -> Result<(), BadInput> {
    range(field, value, 1, 1_000)
}

/// An HTTP status as providers answer it: 0 (no answer) to 999.
///
/// # Errors
/// `BadInput` when it is not.
pub fn http_status(field: &str, value: Option<i32>) -> Result<(), BadInput> {
    value.map_or(Ok(()), |value| range(field, value, 0, 999))
}

/// A due time in ms: at most 366 days after `now`. A time that has passed means at once.
///
/// # Errors
/// `BadInput` when it is later.
pub fn due(field: &str, at: i64, now: i64) -> Result<(), BadInput> {
    if at > now + DUE_AHEAD_MS {
        return Err(BadInput::new(field, "must be at most 366 days ahead"));
    }
    Ok(())
}

/// A counter one higher, for as long as it fits its column.
///
/// # Errors
/// `BadInput` at 2,147,483,647: the act is refused, nothing wraps.
pub fn one_more(field: &str, value: i32) -> Result<i32, BadInput> {
    value.checked_add(1).ok_or_else(|| BadInput::new(field, format!("has reached its bound of {}", i32::MAX)))
}

/// The version of a winner: a canonical hybrid logical clock text, `{ms:013}-{counter:04x}-{node}`, which compares as text.
///
/// # Errors
/// `BadInput` for any other form, and for a time more than 5 minutes ahead of `now`.
pub fn hlc(field: &str, value: &str, now: i64) -> Result<(), BadInput> {
    const AHEAD_MS: i64 = 5 * 60 * 1_000;
    let bytes = value.as_bytes();
    let shaped = (20..=83).contains(&bytes.len())
        && bytes.is_ascii()
        && bytes[13] == b'-'
        && bytes[18] == b'-'
        && bytes[..13].iter().all(u8::is_ascii_digit)
        && bytes[14..18].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        && bytes[19..].iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'z'));
    let ms = if shaped { value[..13].parse::<i64>().ok() } else { None };
    match ms {
        None => Err(BadInput::new(field, "must be a canonical HLC text like 1700000000000-0000-node1")),
        Some(ms) if ms > now + AHEAD_MS => Err(BadInput::new(field, "must be at most 5 minutes ahead of the server")),
        Some(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_bounded_in_bytes_not_characters() {
        assert!(key("k", &"ä".repeat(256)).is_ok());
        assert!(key("k", &"ä".repeat(257)).is_err());
        assert!(key("k", "").is_err());
        assert!(key("k", "a\0b").is_err());
        assert!(target("t", &"x".repeat(2_048)).is_ok());
        assert!(target("t", &"x".repeat(2_049)).is_err());
    }

    #[test]
    fn json_is_bounded_as_stored_and_holds_no_nul_at_any_depth() {
        assert_eq!(json("j", &serde_json::json!(null)).as_deref(), Ok("null"));
        assert!(json("j", &serde_json::json!("x".repeat(JSON_BYTES - 2))).is_ok());
        assert!(json("j", &serde_json::json!("x".repeat(JSON_BYTES - 1))).is_err());
        assert!(json("j", &serde_json::json!({"a": [{"b\0": 1}]})).is_err());
    }

    #[test]
    fn only_the_canonical_hlc_text_passes() {
        let now = 1_700_000_000_000;
        for good in ["1700000000000-0000-a", "1700000300000-ffff-z9", "0000000000000-0000-node1"] {
            assert!(hlc("v", good, now).is_ok(), "{good}");
        }
        for bad in [
            "1700000300001-0000-a",
            "1700000000000-FFFF-a",
            "1700000000000-0000-A",
            "170000000000-0000-a",
            "1700000000000-0000-",
            "1700000000000_0000-a",
            "+700000000000-0000-a",
            "1700000000000-0000-ä",
        ] {
            assert!(hlc("v", bad, now).is_err(), "{bad}");
        }
        let long = format!("1700000000000-0000-{}", "a".repeat(64));
        assert!(hlc("v", &long, now).is_ok());
        assert!(hlc("v", &(long + "a"), now).is_err());
    }

    #[test]
    fn counters_refuse_to_wrap() {
        assert_eq!(one_more("attempts", i32::MAX - 1), Ok(i32::MAX));
        assert!(one_more("attempts", i32::MAX).is_err());
    }
}
