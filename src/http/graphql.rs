//! GraphQL over HTTP: POST and GET /graphql, answered whole or as events (`sse`).
//!
//! By the draft and, where they differ, by the `graphql-http` audit suite: a request that cannot be read is 400 (415, 413,
//! 406, 405) in either media type; one that is read but refused is 400 in `application/graphql-response+json` and 200
//! in `application/json`. Mutations come by POST only, and only as `application/json`, which no page of another origin
//! can send without asking first. Upgrades go on to `socket`.

use std::collections::HashMap;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use axum::Extension;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, HeaderName, RETRY_AFTER};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use super::accept::{Accepted, Media, negotiate};
use super::answer::{Answer, has_this_code};
use super::ask::{self, Asked};
use super::auth::{Pass, refused};
use super::caller::{Caller, Named};
use super::document::ByEvents;
use super::refusal::{Code, bad_input, error};
use super::{Door, limits, socket, sse};
use crate::domain::viewer::Viewer;

/// What a caller hears that asks more often than it may.
pub const TOO_OFTEN: &str = "You ask more often than this server lets you; wait a moment.";

/// Where a client says which event it got last.
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");

/// Why a request is refused before GraphQL: a status and a sentence.
struct Unfit(StatusCode, String);

/// How a request came, and how its answer may go back.
struct Exchange {
    door: Door,
    caller: Caller,
    pass: Pass,
    accepted: Accepted,
    by_get: bool,
    /// Whether a page that may not follow what goes on here has sent it.
    foreign: bool,
    last_event_id: Option<String>,
}

impl Exchange {
    /// Takes a request up.
    ///
    /// # Errors
    /// The response for one that is not.
    fn begin(door: Door, pass: Pass, caller: Caller, request: &Request) -> Result<Self, Box<Response>> {
        let headers = request.headers();
        let accepted = negotiate(headers).ok_or_else(|| Box::new(not_acceptable()))?;
        door.count(&pass.viewer, &caller).map_err(|wait| Box::new(too_often(accepted.media, wait)))?;
        let by_get = request.method() == Method::GET;
        let foreign = !door.allowed.origin(headers);
        let last_event_id = headers.get(LAST_EVENT_ID).map(|id| String::from_utf8_lossy(id.as_bytes()).into_owned());
        let last_event_id = last_event_id.filter(|id| !id.is_empty());
        Ok(Self { door, caller, pass, accepted, by_get, foreign, last_event_id })
    }

    async fn answer(self, asked: Asked) -> Response {
        let Accepted { media, events } = self.accepted;
        let by_events = events.then_some(ByEvents { last_event_id: self.last_event_id });
        let prepared = match self.door.prepare(asked, by_events) {
            Ok(prepared) => prepared,
            Err(errors) => return respond(media, &errors.into()),
        };
        Named::of(&prepared).record();
        match prepared.kind {
            OperationType::Mutation if self.by_get => {
                let message = "A mutation is sent by POST.".to_owned();
                allowing("POST", refuse(media, Unfit(StatusCode::METHOD_NOT_ALLOWED, message)))
            }
            OperationType::Subscription if !events => {
                let message =
                    "A subscription needs \"accept: text/event-stream\", or a WebSocket (graphql-transport-ws).";
                refuse(media, Unfit(StatusCode::BAD_REQUEST, message.to_owned()))
            }
            OperationType::Subscription if self.foreign => {
                let answer = Answer::refused(error(Code::Forbidden, "Pages of this origin may not open a stream."));
                written(Media::Json, StatusCode::FORBIDDEN, &answer)
            }
            OperationType::Subscription => sse::follow(&self.door, prepared, self.pass, &self.caller),
            OperationType::Query | OperationType::Mutation => {
                respond(media, &self.door.run(prepared, self.pass.viewer, &self.caller).await)
            }
        }
    }
}

/// POST /graphql
pub async fn post(
    State(door): State<Door>,
    Extension(pass): Extension<Pass>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    let exchange = match Exchange::begin(door, pass, caller, &request) {
        Ok(exchange) => exchange,
        Err(refused) => return *refused,
    };
    let read = tokio::time::timeout(limits::REQUEST_TIME, read_body(request)).await;
    let slow = || Unfit(StatusCode::REQUEST_TIMEOUT, "The body took too long to arrive.".to_owned());
    match read.unwrap_or_else(|_| Err(slow())) {
        Ok(asked) => match exchange.door.still_holds(&exchange.pass) {
            Ok(()) => exchange.answer(asked).await,
            Err(ended) => refused(exchange.accepted.media, ended),
        },
        Err(unfit) => refuse(exchange.accepted.media, unfit),
    }
}

/// GET /graphql: a query in the URL, or an upgrade to a WebSocket.
pub async fn get(
    State(door): State<Door>,
    pass: Option<Extension<Pass>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Response {
    // An upgrade signs in by its first message.
    let Some(Extension(pass)) = pass else {
        return match door.count(&Viewer::open(), &caller) {
            Ok(()) => socket::upgrade(door, caller, request).await,
            Err(wait) => too_often(Media::Json, wait),
        };
    };
    let exchange = match Exchange::begin(door, pass, caller, &request) {
        Ok(exchange) => exchange,
        Err(refused) => return *refused,
    };
    let pairs = Query::<HashMap<String, String>>::try_from_uri(request.uri());
    let read =
        pairs.map_err(|_| "The query string is not readable.".to_owned()).and_then(|Query(pairs)| ask::from_url(pairs));
    match read {
        Ok(asked) => exchange.answer(asked).await,
        Err(message) => refuse(exchange.accepted.media, Unfit(StatusCode::BAD_REQUEST, message)),
    }
}

/// Any other method.
pub async fn other_method(request: Request) -> Response {
    let media = negotiate(request.headers()).map_or(Media::Json, |accepted| accepted.media);
    let message = "GraphQL is served by GET and POST.".to_owned();
    allowing("GET, POST", refuse(media, Unfit(StatusCode::METHOD_NOT_ALLOWED, message)))
}

async fn read_body(request: Request) -> Result<Asked, Unfit> {
    if !is_json(request.headers()) {
        let message = "Send the request as application/json in UTF-8, without content encoding.".to_owned();
        return Err(Unfit(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    let body = collected(request.into_body()).await?;
    ask::from_json(&body).map_err(|message| Unfit(StatusCode::BAD_REQUEST, message))
}

/// The whole body, if it is not too long. The rest of one that is, is read and forgotten within reason: a client that
/// is still sending would not see our answer.
async fn collected(body: Body) -> Result<Vec<u8>, Unfit> {
    let mut chunks = body.into_data_stream();
    let mut whole = Vec::new();
    let mut length = 0;
    while let Some(chunk) = chunks.next().await {
        let chunk = chunk.map_err(|_| Unfit(StatusCode::BAD_REQUEST, "The body did not arrive whole.".to_owned()))?;
        length += chunk.len();
        if length <= limits::BODY_BYTES {
            whole.extend_from_slice(&chunk);
        } else if length > limits::FORGOTTEN_BYTES {
            break;
        }
    }
    if length <= limits::BODY_BYTES {
        return Ok(whole);
    }
    Err(Unfit(StatusCode::PAYLOAD_TOO_LARGE, format!("The body is longer than {} bytes.", limits::BODY_BYTES)))
}

/// Reads a body that is not wanted, within reason.
pub async fn forget(body: Body) {
    let rest = async {
        let mut chunks = body.into_data_stream();
        let mut length = 0;
        while let Some(Ok(chunk)) = chunks.next().await {
            length += chunk.len();
            if length > limits::BODY_BYTES {
                return;
            }
        }
    };
    // Whoever is slower than that has to send it all again.
    let _ = tokio::time::timeout(limits::WRITE_TIME, rest).await;
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut parts = content_type.split(';').map(str::trim);
    let json = parts.next().is_some_and(|media| media.eq_ignore_ascii_case("application/json"));
    let utf8 = parts.filter_map(|part| part.split_once('=')).all(|(name, value)| {
        !name.eq_ignore_ascii_case("charset") || value.trim_matches('"').eq_ignore_ascii_case("utf-8")
    });
    json && utf8 && headers.get(CONTENT_ENCODING).is_none_or(|encoding| encoding == "identity")
}

/// Gives an answer, with the status its media type has for it.
fn respond(media: Media, answer: &Answer) -> Response {
    if media == Media::Events {
        return sse::once(answer);
    }
    let status = match answer {
        Answer::Executed { .. } => StatusCode::OK,
        Answer::Refused { errors } => refused_status(media, errors.first()),
    };
    written(media, status, answer)
}

fn refused_status(media: Media, first: Option<&async_graphql::ServerError>) -> StatusCode {
    let is = |code: Code| first.is_some_and(|error| has_this_code(error, code));
    if is(Code::Timeout) {
        StatusCode::GATEWAY_TIMEOUT
    } else if is(Code::Internal) {
        StatusCode::INTERNAL_SERVER_ERROR
    } else if media == Media::Json {
        StatusCode::OK
    } else {
        StatusCode::BAD_REQUEST
    }
}

fn refuse(media: Media, Unfit(status, message): Unfit) -> Response {
    written(media, status, &Answer::refused(bad_input(message)))
}

/// For one that asks more often than it may: how long to wait, in whole seconds.
pub fn too_often(media: Media, wait: Duration) -> Response {
    let answer = Answer::refused(error(Code::Busy, TOO_OFTEN));
    let mut response = written(media, StatusCode::TOO_MANY_REQUESTS, &answer);
    let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
    response.headers_mut().insert(RETRY_AFTER, seconds.into());
    response
}

fn not_acceptable() -> Response {
    let message =
        "Answers come as application/graphql-response+json, application/json or text/event-stream.".to_owned();
    refuse(Media::Json, Unfit(StatusCode::NOT_ACCEPTABLE, message))
}

fn allowing(methods: &'static str, mut response: Response) -> Response {
    response.headers_mut().insert(ALLOW, HeaderValue::from_static(methods));
    response
}

/// A response with an answer in it.
pub fn written(media: Media, status: StatusCode, answer: &Answer) -> Response {
    let headers = [(CONTENT_TYPE, media.content_type()), (CACHE_CONTROL, "no-store")];
    match serde_json::to_vec(answer) {
        Ok(body) => (status, headers, body).into_response(),
        Err(cause) => {
            tracing::error!(%cause, "an answer could not be written as JSON");
            let answer = Answer::refused(error(Code::Internal, "Internal error."));
            (StatusCode::INTERNAL_SERVER_ERROR, headers, serde_json::to_vec(&answer).unwrap_or_default())
                .into_response()
        }
    }
}
