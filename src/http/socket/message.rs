//! The messages of graphql-transport-ws, and the codes a socket is closed with.
//!
//! Owns their form on the wire. A message of any other form ends the socket with 4400, as the protocol says.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use async_graphql::ServerError;
use async_graphql_value::ConstValue;
use axum::extract::ws::{CloseFrame, Message};
use serde::Serialize;
use serde_json::value::RawValue;

use crate::http::{json, limits};

/// The subprotocol we speak.
pub const PROTOCOL: &str = "graphql-transport-ws";

/// What a client says.
#[derive(Debug, PartialEq)]
pub enum Incoming {
    /// The first message, with what its client has to say of itself.
    ConnectionInit(ConstValue),
    /// Are you there?
    Ping(ConstValue),
    /// Yes.
    Pong,
    /// Run this, and answer under this id.
    Subscribe(String, ConstValue),
    /// No more of this id.
    Complete(String),
}

/// What we say.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Outgoing<'a> {
    /// Welcome.
    ConnectionAck,
    /// Are you there?
    Ping,
    /// Yes.
    Pong {
        /// What the ping carried.
        #[serde(skip_serializing_if = "Option::is_none")]
        payload: Option<&'a ConstValue>,
    },
    /// An answer.
    Next {
        /// To which operation.
        id: &'a str,
        /// The answer.
        payload: &'a RawValue,
    },
    /// A refusal: the last of its operation.
    Error {
        /// Of which operation.
        id: &'a str,
        /// Why.
        payload: &'a [ServerError],
    },
    /// There is no more of this operation.
    Complete {
        /// Which.
        id: &'a str,
    },
}

/// Why we close a socket.
#[derive(Debug, PartialEq, Eq)]
pub struct Farewell {
    /// The close code.
    pub code: u16,
    /// A sentence, cut to what a close frame holds.
    pub reason: Cow<'static, str>,
}

impl Farewell {
    /// No sign of life after a ping.
    pub const SILENT: Self = Self::new(1001, "No sign of life after a ping");
    /// The server stops.
    pub const RESTART: Self = Self::new(1012, "Service Restart");
    /// A message of no known form.
    pub const INVALID: Self = Self::new(4400, "Invalid message received");
    /// An operation before the connection was acknowledged.
    pub const UNAUTHORIZED: Self = Self::new(4401, "Unauthorized");
    /// A token that is not accepted, or no more.
    pub const FORBIDDEN: Self = Self::new(4403, "Forbidden");
    /// A client that asked for another subprotocol, or for none.
    pub const SUBPROTOCOL: Self = Self::new(4406, "Subprotocol not acceptable");
    /// A client of the protocol that came before ours.
    pub const OLDER_SUBPROTOCOL: Self =
        Self::new(4406, "graphql-ws is the older protocol: graphql-transport-ws is spoken here");
    /// No `connection_init` in time.
    pub const INIT_TIMEOUT: Self = Self::new(4408, "Connection initialisation timeout");
    /// A second `connection_init`.
    pub const TOO_MANY_INITS: Self = Self::new(4429, "Too many initialisation requests");

    const fn new(code: u16, reason: &'static str) -> Self {
        Self { code, reason: Cow::Borrowed(reason) }
    }

    /// An id that is in use.
    pub fn duplicate(id: &str) -> Self {
        Self { code: 4409, reason: Cow::Owned(format!("Subscriber for {id} already exists")) }
    }
}

impl From<Farewell> for Message {
    fn from(farewell: Farewell) -> Self {
        let end = farewell.reason.floor_char_boundary(limits::CLOSE_REASON_BYTES);
        Self::Close(Some(CloseFrame { code: farewell.code, reason: farewell.reason[..end].into() }))
    }
}

/// Reads a text message; none when it is not one of the protocol's.
pub fn read(text: &str) -> Option<Incoming> {
    let ConstValue::Object(mut fields) = json::read(text.as_bytes(), "The message").ok()? else { return None };
    let mut take = |key| fields.swap_remove(key).unwrap_or_default();
    let (kind, id, payload) = (take("type"), take("id"), take("payload"));
    let ConstValue::String(kind) = kind else { return None };
    let id = || match id {
        ConstValue::String(id) if !id.is_empty() && id.len() <= limits::SOCKET_ID_BYTES => Some(id),
        _ => None,
    };
    let is_map = matches!(payload, ConstValue::Object(_));
    let is_map_or_none = is_map || payload == ConstValue::Null;
    match kind.as_str() {
        "connection_init" if is_map_or_none => Some(Incoming::ConnectionInit(payload)),
        "ping" if is_map_or_none => Some(Incoming::Ping(payload)),
        "pong" if is_map_or_none => Some(Incoming::Pong),
        "subscribe" if is_map => Some(Incoming::Subscribe(id()?, payload)),
        "complete" => Some(Incoming::Complete(id()?)),
        _ => None,
    }
}

/// Writes a message; none when it cannot be JSON, which the log then says.
pub fn write(outgoing: &Outgoing<'_>) -> Option<Message> {
    serde_json::to_string(outgoing)
        .map(|text| Message::Text(text.into()))
        .inspect_err(|cause| tracing::error!(%cause, "a message could not be written as JSON"))
        .ok()
}
