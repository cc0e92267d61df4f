//! Errors as clients see them: a message and a code, and nothing of what is inside.

use async_graphql::ErrorExtensions as _;

use crate::domain::bounds::BadInput;
use crate::domain::viewer::Forbidden;
use crate::store::Error;

/// What a resolver answers.
pub(super) type Result<T> = std::result::Result<T, Failure>;

/// A failure on its way to the client.
#[derive(Debug, Clone)]
pub(super) struct Failure(async_graphql::Error);

impl From<Failure> for async_graphql::Error {
    fn from(failure: Failure) -> Self {
        failure.0
    }
}

impl From<BadInput> for Failure {
    fn from(bad: BadInput) -> Self {
        let error = async_graphql::Error::new(bad.to_string());
        Self(error.extend_with(|_, extensions| {
            extensions.set("code", "BAD_INPUT");
            extensions.set("field", bad.field.as_str());
        }))
    }
}

impl From<Forbidden> for Failure {
    fn from(forbidden: Forbidden) -> Self {
        Self(async_graphql::Error::new(forbidden.to_string()).extend_with(|_, extensions| {
            extensions.set("code", "FORBIDDEN");
            extensions.set("field", forbidden.field.as_str());
        }))
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error {
            Error::BadInput(bad) => return bad.into(),
            Error::Forbidden(forbidden) => return forbidden.into(),
            Error::CursorExpired { oldest } => {
                let message =
                    "the cursor is older than the oldest kept change: extensions.oldest is where to go on from";
                return Self(async_graphql::Error::new(message).extend_with(|_, extensions| {
                    extensions.set("code", "CURSOR_EXPIRED");
                    extensions.set("oldest", oldest.as_str());
                }));
            }
            Error::Busy | Error::Stopping => "BUSY",
            Error::Contention | Error::Moved => "CONTENTION",
            Error::UnknownOutcome => "UNKNOWN_OUTCOME",
            // Logged by the write path.
            Error::Failed => return Self(coded("internal error: nothing was written", "INTERNAL")),
            other if other.is_lost() || other.is_locked() => {
                tracing::warn!(error = %other, "the database was not reached");
                return Self(coded("the database is not reached: try again", "BUSY"));
            }
            other => {
                tracing::error!(error = %other, "a request failed");
                return Self(coded("internal error", "INTERNAL"));
            }
        };
        Self(coded(&error.to_string(), code))
    }
}

fn coded(message: &str, code: &str) -> async_graphql::Error {
    async_graphql::Error::new(message).extend_with(|_, extensions| extensions.set("code", code))
}
