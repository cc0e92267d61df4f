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
use super::limits;
use super::refusal::{CODE, Code, error, set_code};

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
