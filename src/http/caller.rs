//! Who calls, as far as the transport knows, and how the log speaks of it.
//!
//! Every request has an id: its sender's own, where that is one, else a fresh one. It stands in the response, in each log line
//! that is written on the request's behalf, and in an answer that tells of an internal error, so that the three can be
//! brought together. Owns the spans; they name operations, never what was sent with them.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use async_graphql::Name;
use async_graphql::parser::types::OperationType;
use axum::extract::Request;
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use futures_util::Stream;
use tracing::field::Empty;
use tracing::{Instrument as _, Span};

use super::document::Prepared;
use super::limits;
use crate::entropy;

/// The header that carries a request's id, both ways.
pub const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");
/// Characters of a path or an operation's name that the log shows.
const SHOWN_CHARS: usize = 100;

/// The address that a connection comes from.
#[derive(Debug, Clone, Copy)]
pub struct Peer(pub IpAddr);

/// The one who calls. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The id of the request; of the one that opened the socket, for what comes through a socket.
    pub request_id: Arc<str>,
    /// Where it comes from: a proxy, when there is one between.
    pub peer: IpAddr,
}

/// Gives a request its id and its span, and its response the id.
pub async fn introduce(mut request: Request, next: Next) -> Response {
    let request_id = sent_id(request.headers()).unwrap_or_else(|| entropy::fresh_key().into());
    let header = HeaderValue::from_str(&request_id);
    let path = request.uri().path();
    let path = &path[..path.floor_char_boundary(SHOWN_CHARS)];
    // As loud as an error, so that what is logged at any level bears the id.
    let span = tracing::error_span!("request", id = %request_id, method = %request.method(), path, operation = Empty, kind = Empty);
    let peer = request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(address)| *address);
    request.extensions_mut().insert(Caller { request_id, peer });
    let answered = async {
        let response = next.run(request).await;
        tracing::debug!(status = response.status().as_u16(), "answered");
        response
    };
    let mut response = answered.instrument(span).await;
    if let Ok(header) = header {
        response.headers_mut().insert(REQUEST_ID, header);
    }
    response
}

/// The id that came with a request, if it is short and visible.
fn sent_id(headers: &HeaderMap) -> Option<Arc<str>> {
    let id = headers.get(REQUEST_ID)?.to_str().ok()?;
    let fits = (1..=limits::REQUEST_ID_CHARS).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_graphic());
    fits.then(|| id.into())
}

/// An operation, as the log names it.
#[derive(Debug, Clone)]
pub struct Named {
    name: Option<Name>,
    kind: OperationType,
}

impl Named {
    /// The operation of a request.
    #[must_use]
    pub fn of(prepared: &Prepared) -> Self {
        Self { name: prepared.name.clone(), kind: prepared.kind }
    }

    fn name(&self) -> &str {
        let name = self.name.as_ref().map_or("", Name::as_str);
        &name[..name.floor_char_boundary(SHOWN_CHARS)]
    }

    /// Names it in the span of the request that brought it.
    pub fn record(&self) {
        Span::current().record("operation", self.name()).record("kind", tracing::field::display(self.kind));
    }

    /// A span of its own, for what outlives a request or comes through a socket. `id` is the client's.
    #[must_use]
    pub fn span(&self, request_id: &str, id: Option<&str>) -> Span {
        let operation_id = id.map(tracing::field::debug);
        let (name, kind) = (self.name(), self.kind);
        tracing::error_span!("operation", request = request_id, id = operation_id, operation = name, %kind)
    }
}

/// A stream that is polled inside a span. The span is made for each poll: one that is idle holds none.
pub struct Traced<S, F> {
    stream: S,
    span: F,
}

/// Polls a stream inside the spans that `span` makes.
pub const fn traced<S, F: Fn() -> Span>(stream: S, span: F) -> Traced<S, F> {
    Traced { stream, span }
}

impl<S: Stream + Unpin, F: Fn() -> Span + Unpin> Stream for Traced<S, F> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let _inside = (self.span)().entered();
        Pin::new(&mut self.stream).poll_next(context)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_the_senders_is_kept_when_it_is_short_and_visible() {
        let of = |id: &[u8]| sent_id(&[(REQUEST_ID, HeaderValue::from_bytes(id).unwrap())].into_iter().collect());
        assert_eq!(of(b"a-1/b_2:{}").as_deref(), Some("a-1/b_2:{}"));
        assert!(of(&[b'x'; 128]).is_some());
        for wrong in [b"".as_slice(), &[b'x'; 129], b"a b", b"a\tb", "\u{e9}".as_bytes()] {
            assert_eq!(of(wrong), None, "{wrong:?}");
        }
        assert_eq!(sent_id(&HeaderMap::new()), None);
    }
}
