//! Pages of other origins: which of them may read answers, by the protocol in which browsers ask (CORS).
//!
//! Only configured origins are told anything, each by its own name, and never that cookies or passwords may come along.
//! Ours in place of tower-http's layer, which takes every OPTIONS for such a question and answers it to anybody.

use axum::extract::{Request, State};
use axum::http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_METHOD, ORIGIN, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};

use super::Door;

/// What such a page may send and read.
const ALLOWED: [(HeaderName, &str); 3] = [
    (ACCESS_CONTROL_ALLOW_METHODS, "GET, POST"),
    (ACCESS_CONTROL_ALLOW_HEADERS, "accept, authorization, content-type, last-event-id, x-request-id"),
    (ACCESS_CONTROL_MAX_AGE, "3600"),
];
const READABLE: &str = "retry-after, x-request-id";

/// Answers the questions browsers ask beforehand, and marks answers that a page may read.
pub async fn share(State(door): State<Door>, request: Request, next: Next) -> Response {
    let origin = request.headers().get(ORIGIN).filter(|origin| door.allowed.shares_with(origin)).cloned();
    let asks = request.method() == Method::OPTIONS && request.headers().contains_key(ACCESS_CONTROL_REQUEST_METHOD);
    let mut response = match &origin {
        Some(_) if asks => (StatusCode::NO_CONTENT, allowed().collect::<HeaderMap>()).into_response(),
        _ => next.run(request).await,
    };
    // For others too: what is kept of one answer is not for another origin.
    response.headers_mut().append(VARY, HeaderValue::from_static("Origin"));
    if let Some(origin) = origin {
        response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
        response.headers_mut().insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(READABLE));
    }
    response
}

fn allowed() -> impl Iterator<Item = (HeaderName, HeaderValue)> {
    ALLOWED.into_iter().map(|(name, value)| (name, HeaderValue::from_static(value)))
}
