//! Who may knock: the names we are called by, and the pages whose scripts may open a socket or a stream.
//!
//! A page of another site can make a browser open one here, or have its own name resolve to this machine; the
//! browser says so in Origin and Host. Programs send no Origin and are not held back by any of this.

#[cfg(test)]
mod tests;

use std::net::SocketAddr;
use std::str::FromStr;

use axum::extract::{Request, State};
use axum::http::header::{HOST, HeaderName, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS};
use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::middleware::Next;
use axum::response::Response;

use super::Door;
use super::accept::Media;
use super::answer::Answer;
use super::graphql::written;
use super::refusal::{Code, error};

/// The names a browser on this machine calls it by.
const LOOPBACK_NAMES: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// A page's origin: scheme, host and port, as in `https://desk.example`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin(Uri);

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let uri = text.parse::<Uri>().ok().filter(|uri| {
            let http = matches!(uri.scheme_str(), Some("http" | "https"));
            http && uri.authority().is_some() && uri.path_and_query().is_none_or(|path| path == "/")
        });
        uri.map(Self)
            .ok_or_else(|| "an origin is a scheme, a host and perhaps a port, as in https://desk.example".to_owned())
    }
}

/// A name that we are called by, as in `books.example`: with any port.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host(String);

impl FromStr for Host {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let name = text.parse::<Authority>().ok().filter(|authority| authority.host() == text && !text.is_empty());
        name.map(|authority| Self(authority.host().to_owned()))
            .ok_or_else(|| "a host is a name or an address without a port, as in books.example".to_owned())
    }
}

/// What Host and Origin may say.
#[derive(Debug)]
pub struct Allowed {
    /// Listening on loopback: then we have no other names but configured ones, and local pages are trusted.
    loopback: bool,
    origins: Vec<Origin>,
    hosts: Vec<Host>,
}

impl Allowed {
    /// By the address we listen on, and the origins and names that were configured.
    #[must_use]
    pub fn new(listen: SocketAddr, origins: &[Origin], hosts: &[Host]) -> Self {
        Self { loopback: listen.ip().is_loopback(), origins: origins.to_vec(), hosts: hosts.to_vec() }
    }

    /// Whether a request for this name is for us.
    fn host(&self, host: Option<&Authority>) -> bool {
        if !self.loopback && self.hosts.is_empty() {
            return true;
        }
        host.is_some_and(|host| {
            let is = |name: &str| name.eq_ignore_ascii_case(host.host());
            self.hosts.iter().any(|Host(name)| is(name))
                // Nobody elsewhere can have these resolve to us.
                || LOOPBACK_NAMES.into_iter().any(is)
                || self.loopback && self.origins.iter().filter_map(|Origin(uri)| uri.host()).any(is)
        })
    }

    /// Whether pages of this origin may read answers, beside our own.
    #[must_use]
    pub fn shares_with(&self, origin: &HeaderValue) -> bool {
        let origin = origin.to_str().ok().and_then(|origin| origin.parse().ok());
        origin.is_some_and(|Origin(origin)| self.is_configured(&origin))
    }

    fn is_configured(&self, origin: &Uri) -> bool {
        let is =
            |Origin(allowed): &Origin| allowed.scheme() == origin.scheme() && allowed.authority() == origin.authority();
        self.origins.iter().any(is)
    }

    /// Whether a script of this origin may open a socket or a stream: our own page, a configured one, or a local one when we are.
    #[must_use]
    pub fn origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(ORIGIN) else { return true };
        let Some(Origin(origin)) = origin.to_str().ok().and_then(|origin| origin.parse().ok()) else { return false };
        let name = origin.authority();
        let same = host(headers).as_ref() == name;
        let local = self.loopback
            && LOOPBACK_NAMES.iter().any(|local| origin.host().is_some_and(|name| local.eq_ignore_ascii_case(name)));
        same || self.is_configured(&origin) || local
    }
}

fn host(headers: &HeaderMap) -> Option<Authority> {
    headers.get(HOST)?.to_str().ok()?.parse().ok()
}

/// Turns away requests under a foreign name, and sets the headers that every response has.
pub async fn guard(State(door): State<Door>, request: Request, next: Next) -> Response {
    let mut response = if door.allowed.host(host(request.headers()).as_ref()) {
        next.run(request).await
    } else {
        let answer = Answer::refused(error(Code::Forbidden, "This server does not go by that name."));
        written(Media::Json, StatusCode::MISDIRECTED_REQUEST, &answer)
    };
    for (name, value) in [
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
