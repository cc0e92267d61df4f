//! The JSON of requests, counted before any of it is built.
//!
//! A list of empty lists takes fifty times its own length in memory, and its time; so values are bounded by a scan that
//! allocates nothing. Says what is wrong in words of its own: never what the JSON library says.

use async_graphql_value::ConstValue;

use super::limits;

/// Reads a JSON text; `what` begins the sentence that says what is wrong with it.
///
/// # Errors
/// When it is not JSON, or has more values than a request may.
pub fn read(text: &[u8], what: &str) -> Result<ConstValue, String> {
    if values(text) > limits::JSON_VALUES {
        return Err(format!("{what} holds more than {} JSON values.", limits::JSON_VALUES));
    }
    serde_json::from_slice(text)
        .map_err(|error| format!("{what} is not JSON: see line {}, column {}.", error.line(), error.column()))
}

/// How many values a text has, if it is JSON: one after each opening bracket and each comma, and one more.
fn values(text: &[u8]) -> usize {
    let (mut count, mut in_string, mut escaped) = (1, false, false);
    for &byte in text {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b',' | b'[' | b'{' if !in_string => count += 1,
            _ => {}
        }
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_and_what_stands_in_strings_is_not() {
        assert_eq!(values(br#"{"a":[1,2,{}],"b":"[,{\",[{"}"#), 7);
        assert_eq!(values(b"7"), 1);
    }

    #[test]
    fn as_many_values_as_allowed_are_read_and_one_more_is_not() {
        let list = |count: usize| format!("[{}0]", "0,".repeat(count - 2));
        assert!(read(list(limits::JSON_VALUES).as_bytes(), "The body").is_ok());
        let refusal = read(list(limits::JSON_VALUES + 1).as_bytes(), "The body").unwrap_err();
        assert_eq!(refusal, "The body holds more than 100000 JSON values.");
    }
}
