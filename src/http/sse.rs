//! GraphQL over server-sent events: the "distinct connections mode" of the graphql-sse protocol.
//!
//! ```text
//! accepted ── next (id: cursor) ──▶ … ── complete ──▶ closed
//!     │ comments while nothing happens     │ stop: ends without complete, so that the client comes back
//! ```
//! One stream an operation. What refuses a document comes as a `next` with its errors, since a page sees no more of a
//! response that is not 200 than that it failed. The next answer is asked for when the last one was taken; a client that
//! takes none is let go (`patience`).

use std::convert::Infallible;
use std::panic::AssertUnwindSafe;

use async_graphql_value::ConstValue;
use axum::body::{Body, Bytes};
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, BoxStream, StreamExt as _};
use tokio::time::timeout;

use super::answer::Answer;
use super::caller::Caller;
use super::document::Prepared;
use super::refusal::{Code, error};
use super::{Door, limits};
use crate::domain::viewer::Viewer;

/// With data, though empty: without, a page would not hear of it.
const COMPLETE: Bytes = Bytes::from_static(b"event: complete\ndata: \n\n");
/// A comment: tells both ends, and proxies between them, that the other is there.
const ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// Answers a query, a mutation or a refusal: one event, and the end.
pub fn once(answer: &Answer) -> Response {
    respond(Body::from([next(None, answer), COMPLETE].concat()))
}

/// Follows a subscription: an event for each of its answers.
pub fn follow(door: &Door, prepared: Prepared, viewer: Viewer, caller: &Caller) -> Response {
    let answers = AssertUnwindSafe(door.follow(prepared, viewer, caller, None)).catch_unwind();
    let caller = caller.clone();
    let answers = answers.map(move |answer| answer.unwrap_or_else(|_| (None, internal().signed(&caller))));
    let events = stream::unfold(Following::Answers(answers.boxed()), Following::event);
    let stop = door.shutdown.clone();
    let events = events.take_until(async move { stop.cancelled().await });
    respond(Body::from_stream(events.map(Ok::<_, Infallible>)))
}

/// Where a stream is.
enum Following {
    Answers(BoxStream<'static, (Option<String>, Answer)>),
    /// Its last answer was told.
    Told,
    Ended,
}

impl Following {
    /// The next event. An answer that cannot be given is the last, since going on would hide a gap.
    async fn event(self) -> Option<(Bytes, Self)> {
        let mut answers = match self {
            Self::Answers(answers) => answers,
            Self::Told => return Some((COMPLETE, Self::Ended)),
            Self::Ended => return None,
        };
        match timeout(limits::KEEP_ALIVE, answers.next()).await {
            Err(_) => Some((ALIVE, Self::Answers(answers))),
            Ok(None) => Some((COMPLETE, Self::Ended)),
            Ok(Some((cursor, answer))) => {
                let broken = matches!(answer, Answer::Refused { .. } | Answer::Executed { data: ConstValue::Null, .. });
                let rest = if broken { Self::Told } else { Self::Answers(answers) };
                Some((next(cursor.as_deref(), &answer), rest))
            }
        }
    }
}

/// An event with an answer: JSON of one line, and a cursor without any.
fn next(cursor: Option<&str>, answer: &Answer) -> Bytes {
    let written = serde_json::to_string(answer).or_else(|cause| {
        tracing::error!(%cause, "an answer could not be written as JSON");
        serde_json::to_string(&internal())
    });
    let id = cursor.map(|cursor| format!("id: {cursor}\n")).unwrap_or_default();
    format!("event: next\n{id}data: {}\n\n", written.unwrap_or_default()).into()
}

fn internal() -> Answer {
    Answer::refused(error(Code::Internal, "Internal error."))
}

fn respond(events: Body) -> Response {
    let headers = [
        (CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (CACHE_CONTROL, "no-store"),
        // For proxies, which would gather events before they pass them on.
        (HeaderName::from_static("x-accel-buffering"), "no"),
    ];
    (headers, events).into_response()
}
