//! The dashboard: files built by `make web` and embedded in this program.
//!
//! Files under `assets/` carry their content's hash in their names and are kept for ever; everything else is asked for
//! again by its `ETag`. A navigation to a path that is no file gets the page, which knows its own paths. Never reads a path
//! a client gave from the disk of a release, never serves a file whose name begins with a dot.

use std::borrow::Cow;

use axum::extract::Request;
use axum::http::header::{
    ACCEPT, CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, ETAG, IF_NONE_MATCH, X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::response::{Html, IntoResponse as _, Response};
use rust_embed::{EmbeddedFile, RustEmbed};

#[derive(RustEmbed)]
#[folder = "web/dist/"]
struct Files;

/// The page every navigation gets.
const PAGE: &str = "index.html";

/// Nothing from elsewhere, and no script or style that is not a file of ours.
const POLICY: &str =
    "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Where `GraphiQL` lives: its editor writes styles of its own, with images and fonts inside them.
const PLAYGROUND: &str = "playground";
const PLAYGROUND_POLICY: &str = "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; \
    font-src 'self' data:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// What a server says that was built without the page.
const UNBUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>writewatch</title>\
    <h1>writewatch</h1><p>The server runs, and serves GraphQL at <code>/graphql</code>. This build has no page: \
    <code>make web</code> builds it and <code>make run</code> builds and serves everything.</p></html>";

/// Any path that is not the API's.
pub async fn serve(request: Request) -> Response {
    let headers = request.headers();
    let path = request.uri().path().trim_start_matches('/');
    // The root is the page whatever the client says that it accepts; elsewhere only a navigation gets it.
    let wants_page = path.is_empty() || navigates(headers);
    let mut response = match (file(path), wants_page, file(PAGE)) {
        (Some(found), ..) if !path.is_empty() => give(path, found, headers),
        (_, true, Some(page)) => give(PAGE, page, headers),
        (_, true, None) => Html(UNBUILT).into_response(),
        _ => (StatusCode::NOT_FOUND, "There is nothing here.\n").into_response(),
    };
    let policy = if path == PLAYGROUND { PLAYGROUND_POLICY } else { POLICY };
    let headers = response.headers_mut();
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    response
}

fn file(path: &str) -> Option<EmbeddedFile> {
    let hidden = path.split('/').any(|part| part.starts_with('.'));
    if hidden { None } else { Files::get(path) }
}

/// Whether a person went to this address, rather than a script or a style asking for a file.
fn navigates(headers: &HeaderMap) -> bool {
    headers.get(ACCEPT).and_then(|accept| accept.to_str().ok()).is_some_and(|accept| accept.contains("text/html"))
}

fn give(path: &str, found: EmbeddedFile, headers: &HeaderMap) -> Response {
    let hash = found.metadata.sha256_hash();
    // Half of the digest tells two builds apart.
    let etag = format!("\"{:032x}\"", hash.first_chunk().map_or(0, |half| u128::from_be_bytes(*half)));
    let caching = if path.starts_with("assets/") { "public, max-age=31536000, immutable" } else { "no-cache" };
    let known = headers.get(IF_NONE_MATCH).and_then(|tags| tags.to_str().ok()).is_some_and(|tags| tags.contains(&etag));
    let headers = [(ETAG, etag), (CACHE_CONTROL, caching.to_owned()), (CONTENT_TYPE, content_type(&found))];
    if known {
        (StatusCode::NOT_MODIFIED, headers).into_response()
    } else {
        (headers, bytes(found.data)).into_response()
    }
}

fn content_type(found: &EmbeddedFile) -> String {
    let guessed = found.metadata.mimetype();
    if guessed.starts_with("text/") { format!("{guessed}; charset=utf-8") } else { guessed.to_owned() }
}

fn bytes(data: Cow<'static, [u8]>) -> axum::body::Bytes {
    match data {
        Cow::Borrowed(data) => axum::body::Bytes::from_static(data),
        Cow::Owned(data) => data.into(),
    }
}
