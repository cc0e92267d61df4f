//! Times: ms since the epoch inside, RFC 3339 with ms and a `Z` outside.

use chrono::{DateTime, SecondsFormat, Utc};

use super::bounds::{BadInput, LAST_MS};

/// The RFC 3339 text of a time, in UTC with ms. A stored time outside of years 1970 to 9999 shows as the nearest.
#[must_use]
pub fn rfc3339(ms: i64) -> String {
    DateTime::<Utc>::from_timestamp_millis(ms.clamp(0, LAST_MS))
        .map_or_else(String::new, |at| at.to_rfc3339_opts(SecondsFormat::Millis, true))
}

/// Reads an RFC 3339 text of any offset; what is finer than a ms is cut off.
///
/// # Errors
/// `BadInput` for any other text, and for a time before 1970 or after 9999.
pub fn parse(field: &str, text: &str) -> Result<i64, BadInput> {
    // The library also takes a space for the T and a second 60, which is none in ms since the epoch.
    let plain = text.as_bytes().get(10) == Some(&b'T') && text.get(17..19) != Some("60");
    let at = DateTime::parse_from_rfc3339(text)
        .ok()
        .filter(|_| plain)
        .ok_or_else(|| BadInput::new(field, "must be an RFC 3339 time like 2030-01-31T12:00:00.000Z"))?;
    let ms = at.timestamp_millis();
    if (0..=LAST_MS).contains(&ms) {
        return Ok(ms);
    }
    Err(BadInput::new(field, "must be a time from 1970-01-01T00:00:00.000Z to 9999-12-31T23:59:59.999Z"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_survive_the_round_trip_and_are_bounded() {
        for ms in [0, 1, 1_700_000_000_123, LAST_MS] {
            assert_eq!(parse("t", &rfc3339(ms)), Ok(ms));
        }
        assert_eq!(parse("t", "1970-01-01T01:00:00+01:00"), Ok(0));
        for bad in [
            "",
            "1969-12-31T23:59:59.999Z",
            "2030-01-31",
            "1700000000000",
            "2030-02-30T00:00:00Z",
            "2030-01-31 12:00:00Z",
            "2030-01-31T12:00:60Z",
        ] {
            assert!(parse("t", bad).is_err(), "{bad}");
        }
    }
}
