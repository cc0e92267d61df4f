//! The two scalars of our own.

use async_graphql::{InputValueError, InputValueResult, Scalar, ScalarType, Value};

use crate::domain::time;

/// A time, in ms since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DateTime(pub(super) i64);

/// A time: RFC 3339, UTC, with milliseconds, like `2030-01-31T12:00:00.000Z`. As an input any offset is taken, from year
/// 1970 to 9999; what is finer than a millisecond is cut off.
#[Scalar(name = "DateTime")]
impl ScalarType for DateTime {
    fn parse(value: Value) -> InputValueResult<Self> {
        let Value::String(text) = value else { return Err(InputValueError::expected_type(value)) };
        time::parse("DateTime", &text).map(Self).map_err(InputValueError::custom)
    }

    fn is_valid(value: &Value) -> bool {
        matches!(value, Value::String(text) if time::parse("DateTime", text).is_ok())
    }

    fn to_value(&self) -> Value {
        Value::String(time::rfc3339(self.0))
    }
}

/// A JSON value, as it is stored and shown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Json(pub(super) serde_json::Value);

/// Any JSON value.
#[Scalar(name = "JSON")]
impl ScalarType for Json {
    fn parse(value: Value) -> InputValueResult<Self> {
        Ok(Self(value.into_json()?))
    }

    fn to_value(&self) -> Value {
        Value::from_json(self.0.clone()).unwrap_or_default()
    }
}

impl Json {
    /// Stored JSON text; none for SQL NULL.
    pub(super) fn stored(text: &str) -> async_graphql::Result<Self> {
        serde_json::from_str(text).map(Self).map_err(|error| {
            tracing::error!(%error, "stored JSON cannot be read");
            async_graphql::Error::new("internal error")
        })
    }
}
