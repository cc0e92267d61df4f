//! GraphQL over HTTP: POST and GET /graphql.
//!
//! By the draft and, where they differ, by the `graphql-http` audit suite: a request that cannot be read is 400 (415, 413,
//! 406, 405) in either media type; one that is read but refused is 400 in `application/graphql-response+json` and 200
//! in `application/json`. Mutations come by POST only, and only as `application/json`, which no page of another origin
//! can send without asking first. Upgrades go on to `socket`.

use std::collections::HashMap;

use async_graphql::parser::types::OperationType;
use axum::body::Body;
use axum::extract::{Query, Request, State};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, UPGRADE};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{IntoResponse as _, Response};
use futures_util::StreamExt as _;

use super::accept::{Media, negotiate};
use super::answer::{Answer, guarded};
use super::ask;
use super::document::Ask;
use super::refusal::{CODE, Code, bad_input, error};
use super::{Door, limits, socket};
use crate::domain::viewer::Viewer;

/// Why a request is refused before GraphQL: a status and a sentence.
struct Unfit(StatusCode, String);

/// POST /graphql
pub async fn post(State(door): State<Door>, request: Request) -> Response {
    let Some(media) = negotiate(request.headers()) else { return not_acceptable() };
    let read = tokio::time::timeout(limits::REQUEST_TIME, read_body(request)).await;
    let slow = || Unfit(StatusCode::REQUEST_TIMEOUT, "The body took too long to arrive.".to_owned());
    match read.unwrap_or_else(|_| Err(slow())) {
        Ok(ask) => answer(&door, media, ask, false).await,
        Err(unfit) => refuse(media, unfit),
    }
}

/// GET /graphql: a query in the URL, or an upgrade to a WebSocket.
pub async fn get(State(door): State<Door>, request: Request) -> Response {
    if request.headers().contains_key(UPGRADE) {
        return socket::upgrade(door, request).await;
    }
    let Some(media) = negotiate(request.headers()) else { return not_acceptable() };
    let pairs = Query::<HashMap<String, String>>::try_from_uri(request.uri());
    let read =
        pairs.map_err(|_| "The query string is not readable.".to_owned()).and_then(|Query(pairs)| ask::from_url(pairs));
    match read {
        Ok(ask) => answer(&door, media, ask, true).await,
        Err(message) => refuse(media, Unfit(StatusCode::BAD_REQUEST, message)),
    }
}

/// Any other method.
pub async fn other_method(request: Request) -> Response {
    let media = negotiate(request.headers()).unwrap_or(Media::Json);
    let message = "GraphQL is served by GET and POST.".to_owned();
    allowing("GET, POST", refuse(media, Unfit(StatusCode::METHOD_NOT_ALLOWED, message)))
}

async fn answer(door: &Door, media: Media, ask: Ask, by_get: bool) -> Response {
    let prepared = match door.prepare(ask) {
        Ok(prepared) => prepared,
        Err(errors) => return respond(media, &errors.into()),
    };
    match prepared.kind {
        OperationType::Mutation if by_get => {
            let message = "A mutation is sent by POST.".to_owned();
            allowing("POST", refuse(media, Unfit(StatusCode::METHOD_NOT_ALLOWED, message)))
        }
        OperationType::Subscription => {
            let message = "A subscription needs a WebSocket (graphql-transport-ws).".to_owned();
            refuse(media, Unfit(StatusCode::BAD_REQUEST, message))
        }
        OperationType::Query | OperationType::Mutation => {
            respond(media, &guarded(door.run(prepared, Viewer::open())).await)
        }
    }
}

async fn read_body(request: Request) -> Result<Ask, Unfit> {
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
    let status = match answer {
        Answer::Executed { .. } => StatusCode::OK,
        Answer::Refused { errors } => refused_status(media, errors.first()),
    };
    written(media, status, answer)
}

fn refused_status(media: Media, first: Option<&async_graphql::ServerError>) -> StatusCode {
    let code = first.and_then(|error| error.extensions.as_ref()?.get(CODE).cloned());
    let is = |wanted: Code| code == Some(async_graphql::Value::from(wanted.word()));
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

fn not_acceptable() -> Response {
    let message = "Answers come as application/graphql-response+json or application/json.".to_owned();
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
