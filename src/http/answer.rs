//! From what the schema answers to what a client is given, the same on every transport.
//!
//! Tells a refused request (no data) from an executed one, gives every error a code, keeps what is internal out of error
//! texts, and puts the data into the shape that was asked for. Knows no media type and no frame.

mod shape;
#[cfg(test)]
mod tests;

use std::panic::AssertUnwindSafe;

use async_graphql::{PathSegment, Response, ServerError};
use async_graphql_value::ConstValue;
use futures_util::FutureExt as _;
use serde::Serialize;

use super::document::plan::Plan;
use super::document::resume::CURSOR_KEY;
use super::limits;
use super::refusal::{CODE, Code, REQUEST_ID, error, set_code};

/// What a client is given.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub enum Answer {
    /// The request was refused: nothing ran, and there is no data.
    Refused {
        /// Why.
        errors: Vec<ServerError>,
    },
    /// The operation ran.
    Executed {
        /// What it gave; null when a field that cannot be null failed.
        data: ConstValue,
        /// What failed.
        #[serde(skip_serializing_if = "Vec::is_empty")]
        errors: Vec<ServerError>,
    },
}

impl Answer {
    /// A refusal for one reason.
    #[must_use]
    pub fn refused(error: ServerError) -> Self {
        Self::Refused { errors: vec![error] }
    }

    /// Finishes what the schema answered.
    #[must_use]
    pub fn finish(response: Response, plan: &Plan) -> Self {
        let Response { data, mut errors, .. } = response;
        // Only what fails before execution has no path: parsing, validation, and the choice of the operation.
        let refused =
            data == ConstValue::Null && !errors.is_empty() && errors.iter().all(|error| error.path.is_empty());
        if refused {
            errors.truncate(limits::ERRORS);
            for error in &mut errors {
                if !has_code(error) {
                    set_code(error, Code::BadInput);
                }
            }
            return Self::Refused { errors };
        }
        let data = shape::shape(data, &mut errors, plan);
        errors.truncate(limits::ERRORS);
        errors.iter_mut().for_each(settle);
        Self::Executed { data, errors }
    }
}

impl Answer {
    /// Names the request in errors that are ours, so that they can be found in the log.
    #[must_use]
    pub fn signed(mut self, request_id: &str) -> Self {
        let (Self::Refused { errors } | Self::Executed { errors, .. }) = &mut self;
        for error in errors.iter_mut().filter(|error| has_this_code(error, Code::Internal)) {
            error.extensions.get_or_insert_default().set(REQUEST_ID, request_id);
        }
        self
    }

    /// What failed.
    #[must_use]
    pub fn into_errors(self) -> Vec<ServerError> {
        let (Self::Refused { errors } | Self::Executed { errors, .. }) = self;
        errors
    }
}

/// Takes the cursor out of an answer to which one was asked for (`document::resume`).
pub fn take_cursor(response: &mut Response) -> Option<String> {
    let ConstValue::Object(root) = &mut response.data else { return None };
    let (_, ConstValue::Object(answer)) = root.first_mut()? else { return None };
    match answer.swap_remove(CURSOR_KEY)? {
        ConstValue::String(cursor) => Some(cursor),
        _ => None,
    }
}

impl From<Vec<ServerError>> for Answer {
    fn from(errors: Vec<ServerError>) -> Self {
        Self::Refused { errors }
    }
}

/// Awaits an answer within the time a request has, and turns a panic on the way into an error.
pub async fn guarded(answer: impl Future<Output = Answer>) -> Answer {
    match tokio::time::timeout(limits::REQUEST_TIME, AssertUnwindSafe(answer).catch_unwind()).await {
        Ok(Ok(answer)) => answer,
        // The panic hook has logged it.
        Ok(Err(_)) => Answer::refused(error(Code::Internal, "Internal error.")),
        Err(_) => Answer::refused(error(Code::Timeout, "The request took too long; what it wrote may have been kept.")),
    }
}

/// Whether an error has this code.
pub fn has_this_code(error: &ServerError, code: Code) -> bool {
    let given = error.extensions.as_ref().and_then(|extensions| extensions.get(CODE));
    matches!(given, Some(ConstValue::String(word)) if word == code.word())
}

fn has_code(error: &ServerError) -> bool {
    error.extensions.as_ref().is_some_and(|extensions| extensions.get(CODE).is_some())
}

/// Gives an error of execution its code. One that no resolver gave a code is the client's when an argument did not
/// parse; anything else is ours, and its text stays here.
fn settle(error: &mut ServerError) {
    if has_code(error) {
        return;
    }
    let of_an_argument = ["Failed to parse \"", "Expected input type \""];
    if of_an_argument.iter().any(|start| error.message.starts_with(start)) {
        set_code(error, Code::BadInput);
        return;
    }
    tracing::error!(message = %error.message, path = ?Path(&error.path), "a field failed");
    "Internal error.".clone_into(&mut error.message);
    set_code(error, Code::Internal);
}

/// A path as one writes it.
struct Path<'a>(&'a [PathSegment]);

impl std::fmt::Debug for Path<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (index, segment) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(".")?;
            }
            match segment {
                PathSegment::Field(name) => f.write_str(name)?,
                PathSegment::Index(index) => write!(f, "{index}")?,
            }
        }
        Ok(())
    }
}
