//! The errors that the door itself gives: a code that clients rely on and a sentence for people.
//!
//! Owns the codes of refusals made before or around execution; resolvers bring their own. Never carries what a library
//! or the database said.

use async_graphql::{ErrorExtensionValues, Pos, ServerError};

/// The extension under which every error carries its code.
pub const CODE: &str = "code";

/// The extension that names the request, in an error that only the log explains.
pub const REQUEST_ID: &str = "requestId";

/// Why the door refuses. The words are part of the API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// The request is not one: its text, its document, its variables, or their size.
    BadInput,
    /// There is no token that is accepted.
    Unauthenticated,
    /// The page that asks, or the name it asks under, is not one we serve.
    Forbidden,
    /// As much as we take on is already under way, or asked too often.
    Busy,
    /// No document is known by this hash: send its text with it.
    PersistedQueryNotFound,
    /// It took longer than a request may.
    Timeout,
    /// Something here is broken; what, is in the log.
    Internal,
}

impl Code {
    /// The word in `extensions.code`.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::BadInput => "BAD_INPUT",
            Self::Unauthenticated => "UNAUTHENTICATED",
            Self::Forbidden => "FORBIDDEN",
            Self::Busy => "BUSY",
            Self::PersistedQueryNotFound => "PERSISTED_QUERY_NOT_FOUND",
            Self::Timeout => "TIMEOUT",
            Self::Internal => "INTERNAL",
        }
    }
}

/// An error with its code.
#[must_use]
pub fn error(code: Code, message: impl Into<String>) -> ServerError {
    let mut error = ServerError::new(message, None);
    set_code(&mut error, code);
    error
}

/// A `BAD_INPUT` that points into the document.
#[must_use]
pub fn bad_input_at(pos: Pos, message: impl Into<String>) -> ServerError {
    let mut error = ServerError::new(message, Some(pos));
    set_code(&mut error, Code::BadInput);
    error
}

/// A `BAD_INPUT` about the request as a whole.
#[must_use]
pub fn bad_input(message: impl Into<String>) -> ServerError {
    error(Code::BadInput, message)
}

/// Gives an error its code.
pub fn set_code(error: &mut ServerError, code: Code) {
    error.extensions.get_or_insert_with(ErrorExtensionValues::default).set(CODE, code.word());
}
