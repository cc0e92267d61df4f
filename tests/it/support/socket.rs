//! A minimal client of the graphql-transport-ws protocol: one socket, one subscription.
//!
//! connect → `connection_init` → `connection_ack` → `subscribe` → `next` … → `complete` | `error` | close frame

use futures_util::{SinkExt, StreamExt};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::{net::TcpStream, time::timeout};
use tokio_tungstenite::{
    MaybeTlsStream, WebSocketStream, connect_async,
    tungstenite::{Message, client::IntoClientRequest, http::HeaderValue},
};

use super::client::Failure;

const ARRIVES_WITHIN: Duration = Duration::from_secs(30);
const SUBSCRIPTION_ID: &str = "1";

/// What the server says about the subscription.
#[derive(Debug, PartialEq)]
pub enum Arrival {
    /// A result: `data`, and `errors` if there are any.
    Next(Value),
    /// The subscription was refused or broke off: the list of errors.
    Error(Value),
    Complete,
    /// The socket ended; without a code the connection was lost.
    Closed {
        code: Option<u16>,
        reason: String,
    },
}

pub struct Subscription {
    socket: WebSocketStream<MaybeTlsStream<TcpStream>>,
}

/// Subscribes at the server at `url` (as `Server::url` gives it). The server may not have begun to listen for changes
/// when this returns: a test that must miss none waits for the first answer or passes a cursor.
pub async fn subscribe(url: &str, query: &str, variables: Value) -> Subscription {
    try_subscribe(url, query, variables).await.unwrap_or_else(|failure| panic!("no subscription at {url}: {failure}"))
}

/// As `subscribe`, for tests in which the server may be gone.
pub async fn try_subscribe(url: &str, query: &str, variables: Value) -> Result<Subscription, Failure> {
    try_subscribe_as(url, Value::Null, query, variables).await
}

/// As `try_subscribe`, with what the client has to say of itself.
pub async fn try_subscribe_as(url: &str, init: Value, query: &str, variables: Value) -> Result<Subscription, Failure> {
    let mut subscription = Subscription { socket: timeout(ARRIVES_WITHIN, connect(url)).await?? };
    subscription.say(json!({ "type": "connection_init", "payload": init })).await?;
    match timeout(ARRIVES_WITHIN, subscription.hear()).await? {
        Ok(ack) => assert_eq!(ack["type"], "connection_ack", "{ack}"),
        Err(closed) => return Err(format!("{closed:?}").into()),
    }
    let payload = json!({ "query": query, "variables": variables });
    subscription.say(json!({ "type": "subscribe", "id": SUBSCRIPTION_ID, "payload": payload })).await?;
    Ok(subscription)
}

impl Subscription {
    /// The next result's `data`; anything else fails the test.
    pub async fn next(&mut self) -> Value {
        match self.arrival().await {
            Arrival::Next(mut payload) if payload.get("errors").is_none() => payload["data"].take(),
            other => panic!("not a result: {other:?}"),
        }
    }

    /// What arrives next, within the deadline of every wait.
    pub async fn arrival(&mut self) -> Arrival {
        let arrival = self.arrival_within(ARRIVES_WITHIN).await;
        arrival.unwrap_or_else(|| panic!("nothing arrived within {ARRIVES_WITHIN:?}"))
    }

    /// What arrives within the given time, or nothing: for tests that nothing more comes.
    pub async fn arrival_within(&mut self, wait: Duration) -> Option<Arrival> {
        timeout(wait, async {
            let mut message = match self.hear().await {
                Ok(message) => message,
                Err(closed) => return closed,
            };
            match message["type"].as_str() {
                Some("next") => Arrival::Next(message["payload"].take()),
                Some("error") => Arrival::Error(message["payload"].take()),
                Some("complete") => Arrival::Complete,
                _ => panic!("not a message about a subscription: {message}"),
            }
        })
        .await
        .ok()
    }

    /// The next message of the protocol; its pings are answered on the way, as the protocol asks.
    async fn hear(&mut self) -> Result<Value, Arrival> {
        loop {
            match self.socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let message: Value = serde_json::from_str(&text).expect("JSON from the server");
                    if message["type"] != "ping" {
                        return Ok(message);
                    }
                    if let Err(lost) = self.say(json!({ "type": "pong" })).await {
                        return Err(Arrival::Closed { code: None, reason: lost.to_string() });
                    }
                }
                Some(Ok(Message::Close(Some(frame)))) => {
                    return Err(Arrival::Closed { code: Some(frame.code.into()), reason: frame.reason.to_string() });
                }
                // tungstenite answers the WebSocket's own pings.
                Some(Ok(Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(other)) => panic!("not a message of the protocol: {other:?}"),
                Some(Err(lost)) => return Err(Arrival::Closed { code: None, reason: lost.to_string() }),
                None => return Err(Arrival::Closed { code: None, reason: String::new() }),
            }
        }
    }

    async fn say(&mut self, message: Value) -> Result<(), Failure> {
        Ok(self.socket.send(Message::text(message.to_string())).await?)
    }
}

async fn connect(url: &str) -> Result<WebSocketStream<MaybeTlsStream<TcpStream>>, Failure> {
    let address = url.strip_prefix("http://").expect("an http URL");
    let mut request = format!("ws://{address}/graphql").into_client_request()?;
    let protocol = HeaderValue::from_static("graphql-transport-ws");
    request.headers_mut().insert("sec-websocket-protocol", protocol);
    let (socket, _response) = connect_async(request).await?;
    Ok(socket)
}
