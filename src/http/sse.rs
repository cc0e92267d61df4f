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
use axum::http::HeaderName;
use axum::http::header::CACHE_CONTROL;
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, Stream, StreamExt as _};

use super::answer::Answer;
use super::caller::Caller;
use super::document::Prepared;
use super::refusal::{Code, error};
use super::{Door, limits};
use crate::domain::viewer::Viewer;

/// Answers a query, a mutation or a refusal: one event, and the end.
pub fn once(answer: &Answer) -> Response {
    respond(stream::iter([next(None, answer), complete()]))
}

/// Follows a subscription: an event for each of its answers. One that cannot be given is the last, since going on would
/// hide a gap.
pub fn follow(door: &Door, prepared: Prepared, viewer: Viewer, caller: &Caller) -> Response {
    let answers = AssertUnwindSafe(door.follow(prepared, viewer, caller, None)).catch_unwind().boxed();
    let events = stream::unfold(Some(answers), |answers| async {
        let mut answers = answers?;
        match answers.next().await {
            Some(Ok((cursor, answer))) => {
                let broken = matches!(answer, Answer::Refused { .. } | Answer::Executed { data: ConstValue::Null, .. });
                let rest = if broken { stream::empty().boxed() } else { answers };
                Some((next(cursor.as_deref(), &answer), Some(rest)))
            }
            Some(Err(_)) => Some((next(None, &internal()), Some(stream::empty().boxed()))),
            None => Some((complete(), None)),
        }
    });
    let stop = door.shutdown.clone();
    respond(events.take_until(async move { stop.cancelled().await }))
}

fn next(cursor: Option<&str>, answer: &Answer) -> Event {
    let event = |answer: &Answer| {
        let event = Event::default().event("next");
        cursor.into_iter().fold(event, Event::id).json_data(answer)
    };
    let written = event(answer).or_else(|cause| {
        tracing::error!(%cause, "an answer could not be written as JSON");
        event(&internal())
    });
    written.unwrap_or_default()
}

/// With data, though empty: without, a page would not hear of it.
fn complete() -> Event {
    Event::default().event("complete").data("")
}

fn internal() -> Answer {
    Answer::refused(error(Code::Internal, "Internal error."))
}

fn respond(events: impl Stream<Item = Event> + Send + 'static) -> Response {
    let events = Sse::new(events.map(Ok::<_, Infallible>)).keep_alive(KeepAlive::new().interval(limits::KEEP_ALIVE));
    // The second is for proxies, which would gather events before they pass them on.
    let headers = [(CACHE_CONTROL, "no-store"), (HeaderName::from_static("x-accel-buffering"), "no")];
    (headers, events).into_response()
}
