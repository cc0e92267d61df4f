//! GraphQL over WebSocket: the graphql-transport-ws protocol.
//!
//! ```text
//! open ── connection_init ──▶ acknowledged ── subscribe, complete, ping, pong ──▶ …
//!   │ 10 s: 4408                 │ stop: requests are answered, subscriptions end
//!   └───────────── stop ─────────┴──▶ closing (our close frame, then the peer's) ──▶ closed
//! ```
//! One task owns a socket: it reads when nothing is to be written and writes when nothing is to be read, so what waits
//! for a slow client waits in its operations, not here; a client that does not read in time is let go. Never runs
//! anything before the acknowledgement.

mod message;
mod operations;

use std::future::Future;
use std::pin::Pin;

use async_graphql_value::ConstValue;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::extract::{FromRequestParts as _, Request};
use axum::http::StatusCode;
use axum::response::Response;
use futures_util::SinkExt as _;
use tokio::time::{Interval, MissedTickBehavior, Sleep, interval, sleep, timeout};

use self::message::{Farewell, Incoming, Outgoing, PROTOCOL, read, write};
use async_graphql_axum::GraphQLProtocol;

use self::operations::{Event, News, Operations};
use super::accept::Media;
use super::answer::Answer;
use super::auth::{Ended, bearer, token_of};
use super::caller::Caller;
use super::graphql::{TOO_OFTEN, written};
use super::patience::Allowance;
use super::refusal::{Code, bad_input, error};
use super::{Door, ask, limits};
use crate::domain::viewer::Viewer;

/// Answers an upgrade request.
pub async fn upgrade(door: Door, caller: Caller, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    if !door.allowed.origin(&parts.headers) {
        let answer = Answer::refused(error(Code::Forbidden, "Pages of this origin may not open a socket."));
        return written(Media::Json, StatusCode::FORBIDDEN, &answer);
    }
    let upgrade = match WebSocketUpgrade::from_request_parts(&mut parts, &()).await {
        Ok(upgrade) => upgrade,
        Err(rejection) => {
            return written(Media::Json, rejection.status(), &Answer::refused(bad_input(rejection.body_text())));
        }
    };
    // The library's extractor also knows the protocol that came before ours: its clients are told which one they speak.
    let refused = match GraphQLProtocol::from_request_parts(&mut parts, &()).await {
        Ok(_) => Farewell::OLDER_SUBPROTOCOL,
        Err(_) => Farewell::SUBPROTOCOL,
    };
    let token = bearer(&parts.headers).map(str::to_owned);
    // Whoever is not let in yet makes us hold little.
    let allowance = parts.extensions.remove::<Allowance>();
    if let Some(allowance) = &allowance {
        allowance.hold_to(limits::INIT_BYTES);
    }
    // Taken now, so that stopping waits for this socket even while it is opening.
    let open = (door.sockets.token(), door.app.store.metrics().socket());
    upgrade
        .protocols([PROTOCOL])
        .read_buffer_size(limits::SOCKET_READ_BYTES)
        .write_buffer_size(limits::SOCKET_WRITE_BYTES)
        .max_message_size(limits::BODY_BYTES)
        .max_frame_size(limits::BODY_BYTES)
        .on_upgrade(move |socket| async move {
            Session::new(door, caller, socket, token, allowance).run(refused).await;
            drop(open);
        })
}

/// How a socket ends.
enum End {
    /// We say why.
    Farewell(Farewell),
    /// There is nobody to say it to.
    Gone,
}

impl From<Farewell> for End {
    fn from(farewell: Farewell) -> Self {
        Self::Farewell(farewell)
    }
}

struct Session {
    door: Door,
    caller: Caller,
    socket: WebSocket,
    /// Who is on the other side; none until the connection is acknowledged.
    viewer: Option<Viewer>,
    /// The token that came with the upgrade, for a client that brings none in its `connection_init`.
    token: Option<String>,
    /// What it may send until the connection is acknowledged.
    allowance: Option<Allowance>,
    /// What ends its right to be here, if anything does.
    end_of_pass: Option<Pin<Box<dyn Future<Output = Ended> + Send>>>,
    operations: Operations,
    pings: Interval,
    /// When patience ends: with a `connection_init` at first, with a sign of life after each ping.
    patience: Option<Pin<Box<Sleep>>>,
}

impl Session {
    fn new(door: Door, caller: Caller, socket: WebSocket, token: Option<String>, allowance: Option<Allowance>) -> Self {
        let mut pings = interval(limits::PING_EVERY);
        pings.set_missed_tick_behavior(MissedTickBehavior::Delay);
        pings.reset();
        let patience = Some(Box::pin(sleep(limits::INIT_TIME)));
        let operations = Operations::default();
        Self { door, caller, socket, viewer: None, token, allowance, end_of_pass: None, operations, pings, patience }
    }

    /// Serves the socket; `refused` is what a client hears that does not speak our protocol.
    async fn run(mut self, refused: Farewell) {
        let ended = if self.socket.protocol().is_some() { self.serve().await } else { Err(End::Farewell(refused)) };
        // Whatever still runs for this socket ends before the farewells are waited for.
        self.operations = Operations::default();
        if let Err(End::Farewell(farewell)) = ended {
            Box::pin(self.close(farewell)).await;
        }
    }

    async fn serve(&mut self) -> Result<(), End> {
        let shutdown = self.door.shutdown.clone();
        loop {
            tokio::select! {
                // What is awaited seldom is boxed: an idle socket keeps no room for it.
                () = shutdown.cancelled() => {
                    Box::pin(self.drain()).await?;
                    return Err(Farewell::RESTART.into());
                }
                received = self.socket.recv() => match received {
                    Some(Ok(message)) => Box::pin(self.receive(message)).await?,
                    Some(Err(_)) => return Err(Farewell::INVALID.into()),
                    None => return Err(End::Gone),
                },
                event = self.operations.next() => Box::pin(self.deliver(event)).await?,
                _ = self.pings.tick(), if self.viewer.is_some() => Box::pin(self.ping()).await?,
                ended = resolved(&mut self.end_of_pass) => {
                    Box::pin(self.tell_off(ended)).await?;
                    return Err(Farewell::FORBIDDEN.into());
                }
                () = resolved(&mut self.patience) => {
                    let init = self.viewer.is_none();
                    return Err(if init { Farewell::INIT_TIMEOUT } else { Farewell::SILENT }.into());
                }
            }
        }
    }

    async fn receive(&mut self, message: Message) -> Result<(), End> {
        if self.viewer.is_some() {
            // Whatever comes is a sign of life.
            self.patience = None;
        }
        match message {
            Message::Text(text) => match read(&text) {
                Some(incoming) => self.hear(incoming).await,
                None => Err(Farewell::INVALID.into()),
            },
            Message::Binary(_) => Err(Farewell::INVALID.into()),
            // The library answers pings by itself.
            Message::Ping(_) | Message::Pong(_) => Ok(()),
            Message::Close(_) => {
                // It has an answer to the close ready, which still has to be written.
                self.send([]).await?;
                Err(End::Gone)
            }
        }
    }

    async fn hear(&mut self, incoming: Incoming) -> Result<(), End> {
        match (incoming, &self.viewer) {
            (Incoming::ConnectionInit(payload), None) => {
                let token = self.token.take();
                let pass = self.door.let_in(token_in(&payload, token.as_deref())).map_err(|_| Farewell::FORBIDDEN)?;
                self.end_of_pass = self.door.end_of(&pass);
                self.viewer = Some(pass.viewer);
                if let Some(allowance) = self.allowance.take() {
                    allowance.lift();
                }
                self.patience = None;
                self.pings.reset();
                self.say(&Outgoing::ConnectionAck).await
            }
            (Incoming::ConnectionInit(_), Some(_)) => Err(Farewell::TOO_MANY_INITS.into()),
            (Incoming::Ping(payload), _) => {
                let payload = Some(&payload).filter(|payload| **payload != async_graphql::Value::Null);
                self.say(&Outgoing::Pong { payload }).await
            }
            (Incoming::Pong, _) => Ok(()),
            (Incoming::Subscribe(..), None) => Err(Farewell::UNAUTHORIZED.into()),
            (Incoming::Subscribe(id, _), Some(_)) if self.operations.has(&id) => Err(Farewell::duplicate(&id).into()),
            (Incoming::Subscribe(id, payload), Some(viewer)) => {
                let viewer = viewer.clone();
                self.subscribe(id, payload, viewer).await
            }
            (Incoming::Complete(id), _) => {
                self.operations.end(&id);
                Ok(())
            }
        }
    }

    async fn subscribe(&mut self, id: String, payload: async_graphql::Value, viewer: Viewer) -> Result<(), End> {
        let prepared = if self.operations.is_full() {
            let message = format!("At most {} operations run on one socket.", limits::SOCKET_OPERATIONS);
            Err(vec![error(Code::Busy, message)])
        } else if self.door.count(&viewer, &self.caller).is_err() {
            Err(vec![error(Code::Busy, TOO_OFTEN)])
        } else {
            ask::from_value(payload)
                .map_err(|message| vec![bad_input(message)])
                .and_then(|asked| self.door.prepare(asked, None))
        };
        match prepared {
            Ok(prepared) => {
                self.operations.start(id, prepared, &self.door, viewer, &self.caller);
                Ok(())
            }
            Err(errors) => self.say(&Outgoing::Error { id: &id, payload: &errors }).await,
        }
    }

    /// A ping frame, which every WebSocket library answers by itself, and a ping message, because a page's script sees no
    /// frames and would not notice a server gone silent. Either answer will do.
    async fn ping(&mut self) -> Result<(), End> {
        if self.patience.is_none() {
            self.patience = Some(Box::pin(sleep(limits::PONG_TIME)));
        }
        let ping = std::iter::once(Message::Ping(axum::body::Bytes::new()));
        self.send(ping.chain(write(&Outgoing::Ping))).await
    }

    /// Writes an event and those that are ready behind it at once.
    async fn deliver(&mut self, event: Event) -> Result<(), End> {
        let mut messages = Vec::new();
        let mut bytes = 0;
        let mut next = Some(event);
        while let Some(event) = next {
            let message = message_of(&event);
            bytes += message.as_ref().map_or(0, message_bytes);
            messages.extend(message);
            next = if bytes < limits::SOCKET_WRITE_BYTES { self.operations.ready() } else { None };
        }
        self.send(messages).await
    }

    async fn say(&mut self, outgoing: &Outgoing<'_>) -> Result<(), End> {
        self.send(write(outgoing)).await
    }

    async fn send(&mut self, messages: impl IntoIterator<Item = Message>) -> Result<(), End> {
        let socket = &mut self.socket;
        let sent = timeout(limits::WRITE_TIME, async move {
            for message in messages {
                socket.feed(message).await?;
            }
            socket.flush().await
        });
        match sent.await {
            Ok(Ok(())) => Ok(()),
            // A peer that takes nothing would not take a farewell either.
            Ok(Err(_)) | Err(_) => Err(End::Gone),
        }
    }

    /// Before the farewell of a server that stops: the requests that run are answered.
    async fn drain(&mut self) -> Result<(), End> {
        self.operations.end_subscriptions();
        let answered = timeout(limits::DRAIN_TIME, async {
            while self.operations.has_requests() {
                let event = self.operations.next().await;
                self.deliver(event).await?;
            }
            Ok(())
        });
        answered.await.unwrap_or(Ok(()))
    }

    /// Before the farewell of somebody whose right has ended: each subscription hears why, and the requests that run are answered.
    async fn tell_off(&mut self, ended: Ended) -> Result<(), End> {
        let payload = [ended.error()];
        for id in self.operations.end_subscriptions() {
            self.say(&Outgoing::Error { id: &id, payload: &payload }).await?;
        }
        self.drain().await
    }

    /// Says why, and waits a moment for the peer to have read it: closing on unread bytes would take our last words along.
    async fn close(&mut self, farewell: Farewell) {
        if self.send([farewell.into()]).await.is_err() {
            return;
        }
        let heard = async {
            loop {
                match self.socket.recv().await {
                    Some(Ok(_)) => {}
                    Some(Err(_)) => std::future::pending().await,
                    None => return,
                }
            }
        };
        // Either way it is over: the peer has answered, or has had its time.
        let _ = timeout(limits::CLOSE_TIME, heard).await;
    }
}

fn message_of(Event { id, news }: &Event) -> Option<Message> {
    write(&match news {
        News::Next(payload) => Outgoing::Next { id, payload },
        News::Error(payload) => Outgoing::Error { id, payload },
        News::Complete => Outgoing::Complete { id },
    })
}

fn message_bytes(message: &Message) -> usize {
    if let Message::Text(text) = message { text.len() } else { 0 }
}

/// The token that a `connection_init` brings, or that the upgrade brought.
fn token_in<'a>(payload: &'a ConstValue, upgrade: Option<&'a str>) -> Option<&'a str> {
    let ConstValue::Object(fields) = payload else { return upgrade };
    let mut named =
        fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("authorization")).map(|(_, value)| value);
    match (named.next(), named.next()) {
        (None, _) => upgrade,
        (Some(ConstValue::String(value)), None) => token_of(value),
        _ => None,
    }
}

/// Resolves when what was given does; never while nothing was.
async fn resolved<F: Future + ?Sized>(given: &mut Option<Pin<Box<F>>>) -> F::Output {
    match given {
        Some(given) => given.await,
        None => std::future::pending().await,
    }
}
