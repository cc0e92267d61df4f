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
use std::future::pending;

use axum::body::{Body, Bytes};
use axum::http::HeaderName;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream::{self, StreamExt as _};
use serde_json::value::RawValue;
use tokio::time::timeout;

use super::answer::Answer;
use super::auth::Pass;
use super::caller::Caller;
use super::document::Prepared;
use super::follow::{Told, json};
use super::{Door, limits};

/// With data, though empty: without, a page would not hear of it.
const COMPLETE: Bytes = Bytes::from_static(b"event: complete\ndata: \n\n");
/// A comment: tells both ends, and proxies between them, that the other is there.
const ALIVE: Bytes = Bytes::from_static(b":\n\n");

/// Answers a query, a mutation or a refusal: one event, and the end.
pub fn once(answer: &Answer) -> Response {
    respond(Body::from([whole(answer), COMPLETE].concat()))
}

/// Follows a subscription: an event for each of its answers. One that cannot be given is the last, and so is the word that the
/// right to be told has ended.
pub fn follow(door: &Door, prepared: Prepared, pass: Pass, caller: &Caller) -> Response {
    let end_of_pass = door.end_of(&pass).unwrap_or_else(|| Box::pin(pending()));
    let given = door.follow(prepared, pass.viewer, &caller.request_id, None).boxed();
    let events = stream::unfold(Some((given, end_of_pass)), async |following| {
        let (mut given, mut end_of_pass) = following?;
        let next_given = async {
            tokio::select! {
                biased;
                // Nothing comes after it.
                ended = &mut end_of_pass => Err(ended),
                next = timeout(limits::KEEP_ALIVE, given.next()) => Ok(next),
            }
        };
        match next_given.await {
            Err(ended) => {
                given = stream::empty().boxed();
                end_of_pass = Box::pin(pending());
                Some((whole(&Answer::refused(ended.error())), Some((given, end_of_pass))))
            }
            Ok(Err(_)) => Some((ALIVE, Some((given, end_of_pass)))),
            Ok(Ok(None)) => Some((COMPLETE, None)),
            Ok(Ok(Some(Ok(Told { answer, cursor })))) => {
                Some((next(cursor.as_deref(), answer.get()), Some((given, end_of_pass))))
            }
            // The stream's last.
            Ok(Ok(Some(Err(errors)))) => Some((whole(&errors.into()), Some((given, end_of_pass)))),
        }
    });
    let stop = door.shutdown.clone();
    let events = events.take_until(async move { stop.cancelled().await });
    respond(Body::from_stream(events.map(Ok::<_, Infallible>)))
}

/// An event with an answer that has no cursor.
fn whole(answer: &Answer) -> Bytes {
    let written = json(answer).or_else(|errors| json(&errors.into()));
    next(None, written.as_deref().map_or("", RawValue::get))
}

/// An event with an answer: JSON of one line, and a cursor without any.
fn next(cursor: Option<&str>, answer: &str) -> Bytes {
    let id = cursor.map(|cursor| format!("id: {cursor}\n")).unwrap_or_default();
    format!("event: next\n{id}data: {answer}\n\n").into()
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
