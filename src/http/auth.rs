//! Signing in: a bearer token in the Authorization header or in a socket's `connection_init`, and what ends its right.
//!
//! ```text
//! token ─ signed, for us ─ holds now ─ not revoked ─▶ Pass: viewer ─ its time, the access file ─▶ Ended
//! ```
//! Whoever is refused hears one neutral sentence; why, is in the log at debug level, and the token never. A token in a URL is
//! not looked for. With open access everybody gets a pass that never ends.

use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use async_graphql::ServerError;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, UPGRADE, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode};
use axum::middleware::Next;
use axum::response::Response;

use super::Door;
use super::accept::{Media, negotiate};
use super::answer::Answer;
use super::caller::Caller;
use super::graphql::{forget, too_often, written};
use super::refusal::{Code, error};
use crate::access::{Access, Standing};
use crate::domain::viewer::{Roles, Viewer};
use crate::store::Store;

/// How long is slept at once for a token's end: the clock that decides is not the one that sleeps.
const LONGEST_SLEEP_MS: i64 = 60_000;

/// The one sentence of every refusal.
const REFUSED: &str = "The token was not accepted.";

/// Who was let in.
#[derive(Debug, Clone)]
pub struct Pass {
    /// On whose behalf requests run.
    pub viewer: Viewer,
    /// With a token: until when it holds, in ms since the epoch.
    until: Option<i64>,
}

/// Why somebody's right has ended, or was never there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// There is no token that holds.
    Unauthenticated,
    /// Its DID has other roles now: whoever comes again gets these.
    RolesChanged,
}

impl Ended {
    /// What a client is told.
    #[must_use]
    pub fn error(self) -> ServerError {
        match self {
            Self::Unauthenticated => error(Code::Unauthenticated, REFUSED),
            Self::RolesChanged => error(Code::Forbidden, "The roles of this DID have changed: sign in again."),
        }
    }
}

impl Door {
    /// Lets in whoever comes with this token.
    ///
    /// # Errors
    /// `Unauthenticated` for whatever reason.
    pub fn let_in(&self, token: Option<&str>) -> Result<Pass, Ended> {
        let access = &self.app.access;
        let Some(audience) = access.audience() else { return Ok(Pass { viewer: Viewer::open(), until: None }) };
        let refused = |cause: &str| {
            tracing::debug!(cause, "nobody is let in");
            Ended::Unauthenticated
        };
        let token = token.ok_or_else(|| refused("there is no bearer token"))?;
        let token = access.open(token, audience).map_err(|invalid| refused(&invalid.0))?;
        let until = token.holds(self.app.store.now_ms()).map_err(|invalid| refused(&invalid.0))?;
        match access.standing(&token.did) {
            Standing::Revoked => Err(refused("its DID is revoked")),
            Standing::Has(roles) => Ok(Pass { viewer: Viewer::with_roles(&token.did, roles), until: Some(until) }),
        }
    }

    /// Makes sure that a pass holds still: whoever sends slowly may have lost it.
    ///
    /// # Errors
    /// Why it has ended.
    pub fn still_holds(&self, pass: &Pass) -> Result<(), Ended> {
        let (Some(until), Some(did)) = (pass.until, pass.viewer.did()) else { return Ok(()) };
        match self.app.access.standing(did) {
            Standing::Has(now) if now != pass.viewer.roles() => Err(Ended::RolesChanged),
            Standing::Has(_) if until > self.app.store.now_ms() => Ok(()),
            Standing::Has(_) | Standing::Revoked => Err(Ended::Unauthenticated),
        }
    }

    /// Resolves when the pass has ended; none for one that never does.
    pub fn end_of(&self, pass: &Pass) -> Option<Pin<Box<dyn Future<Output = Ended> + Send>>> {
        let until = pass.until?;
        let did = pass.viewer.did()?.to_owned();
        Some(Box::pin(ended(self.app.access.clone(), self.app.store.clone(), did, pass.viewer.roles(), until)))
    }
}

async fn ended(access: Access, store: Store, did: String, roles: Roles, until: i64) -> Ended {
    let mut changes = access.changes();
    loop {
        match access.standing(&did) {
            Standing::Revoked => return Ended::Unauthenticated,
            Standing::Has(now) if now != roles => return Ended::RolesChanged,
            Standing::Has(_) => {}
        }
        let left = until - store.now_ms();
        if left <= 0 {
            return Ended::Unauthenticated;
        }
        let left = Duration::from_millis(left.min(LONGEST_SLEEP_MS).unsigned_abs());
        tokio::select! {
            () = tokio::time::sleep(left) => {}
            () = changes.next() => {}
        }
    }
}

/// The token of an Authorization header; none when there are several headers, or one of another scheme.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    token_of(value.to_str().ok()?)
}

/// The token in the value of an Authorization header.
pub fn token_of(value: &str) -> Option<&str> {
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim_start_matches(' '))
}

/// Lets a request to the API in, with its pass, before anything of it is read. An upgrade signs in by its first message.
pub async fn guard(State(door): State<Door>, mut request: Request, next: Next) -> Response {
    let opens_a_socket = *request.method() == Method::GET && asks_for_a_socket(request.headers());
    if opens_a_socket || !matches!(*request.method(), Method::GET | Method::POST) {
        return next.run(request).await;
    }
    let (counted, pass) = admit(&door, &request);
    let media = media_of(request.headers());
    match (counted, pass) {
        (Err(wait), _) => too_often(media, wait),
        (Ok(()), Ok(pass)) => {
            request.extensions_mut().insert(pass);
            next.run(request).await
        }
        (Ok(()), Err(ended)) => {
            // A client that is still sending would not see our answer.
            forget(request.into_body()).await;
            refused(media, ended)
        }
    }
}

/// Lets in whoever sent a request. Whoever tries tokens is counted by where it comes from: one that we do not know, before its
/// signature is looked at.
fn admit(door: &Door, request: &Request) -> (Result<(), Duration>, Result<Pass, Ended>) {
    let token = bearer(request.headers());
    let access = &door.app.access;
    let count = || request.extensions().get::<Caller>().map_or(Ok(()), |caller| door.count(&Viewer::open(), caller));
    let known = access.audience().is_none() || token.is_some_and(|token| door.rate.is_some() && access.knows(token));
    let counted = if known { Ok(()) } else { count() };
    if counted.is_err() {
        return (counted, Err(Ended::Unauthenticated));
    }
    let pass = door.let_in(token);
    (if known && pass.is_err() { count() } else { counted }, pass)
}

/// Whether a request opens a socket: clients of HTTP/2 offer their upgrade with any request, which is answered as it is.
pub fn asks_for_a_socket(headers: &HeaderMap) -> bool {
    headers.get(UPGRADE).is_some_and(|offer| offer.as_bytes().eq_ignore_ascii_case(b"websocket"))
}

/// How a refusal is written.
fn media_of(headers: &HeaderMap) -> Media {
    negotiate(headers).map_or(Media::Json, |accepted| accepted.media)
}

/// The response to somebody without a pass, or with one that has ended.
pub fn refused(media: Media, ended: Ended) -> Response {
    let mut response = written(media, StatusCode::UNAUTHORIZED, &Answer::refused(ended.error()));
    response.headers_mut().insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_comes_in_one_header_of_one_scheme() {
        let headers = |values: &[&'static str]| -> HeaderMap {
            values.iter().map(|value| (AUTHORIZATION, HeaderValue::from_static(value))).collect()
        };
        assert_eq!(bearer(&headers(&["Bearer a.b.c"])), Some("a.b.c"));
        assert_eq!(bearer(&headers(&["bearer  a.b.c"])), Some("a.b.c"));
        for none in [&[][..], &["Basic a"], &["Bearer"], &["a.b.c"], &["Bearer a", "Bearer a"]] {
            assert_eq!(bearer(&headers(none)), None, "{none:?}");
        }
    }
}
