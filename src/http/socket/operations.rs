//! The operations that run on a socket, each under its client's id.
//!
//! Queries and mutations run in tasks of their own, so that a client that does not read holds up nothing they hold; a
//! subscription is a stream that is only asked for its next event when the last one has been written. So a socket holds
//! at most one event per operation that the client has not taken.

use std::collections::HashMap;
use std::future::ready;
use std::sync::Arc;

use async_graphql::ServerError;
use async_graphql::parser::types::OperationType;
use futures_util::FutureExt as _;
use futures_util::stream::{self, AbortHandle, Abortable, BoxStream, SelectAll, StreamExt as _};
use serde_json::value::RawValue;
use tokio_util::task::AbortOnDropHandle;
use tracing::Instrument as _;

use crate::domain::viewer::Viewer;
use crate::http::answer::Answer;
use crate::http::caller::{Caller, Named};
use crate::http::document::Prepared;
use crate::http::follow::json;
use crate::http::refusal::{Code, error};
use crate::http::{Door, limits};

/// Something an operation has to say.
#[derive(Debug)]
pub struct Event {
    /// Which operation.
    pub id: String,
    /// What it says.
    pub news: News,
}

/// What an operation says.
#[derive(Debug)]
pub enum News {
    /// An answer; more may come.
    Next(Arc<RawValue>),
    /// It was refused, or an event of it could not be given: the end.
    Error(Vec<ServerError>),
    /// The end.
    Complete,
}

struct Running {
    abort: AbortHandle,
    /// A query or mutation, which ends by itself.
    is_request: bool,
}

/// The running operations of one socket.
#[derive(Default)]
pub struct Operations {
    running: HashMap<String, Running>,
    events: SelectAll<Abortable<BoxStream<'static, Event>>>,
}

impl Operations {
    /// Whether an operation runs under this id.
    pub fn has(&self, id: &str) -> bool {
        self.running.contains_key(id)
    }

    /// Whether as many run as may.
    pub fn is_full(&self) -> bool {
        self.running.len() >= limits::SOCKET_OPERATIONS
    }

    /// Whether any query or mutation still runs.
    pub fn has_requests(&self) -> bool {
        self.running.values().any(|running| running.is_request)
    }

    /// Starts an operation.
    pub fn start(&mut self, id: String, prepared: Prepared, door: &Door, viewer: Viewer, caller: &Caller) {
        let is_request = prepared.kind != OperationType::Subscription;
        let events = if is_request {
            request(&id, prepared, door, viewer, caller)
        } else {
            follow(&id, prepared, door, viewer, caller)
        };
        let (abort, registration) = AbortHandle::new_pair();
        self.events.push(Abortable::new(events, registration));
        self.running.insert(id, Running { abort, is_request });
    }

    /// Ends an operation, on the client's word: it says nothing more.
    pub fn end(&mut self, id: &str) {
        if let Some(running) = self.running.remove(id) {
            running.abort.abort();
        }
    }

    /// Ends the subscriptions: which they were.
    pub fn end_subscriptions(&mut self) -> Vec<String> {
        let ended = self.running.extract_if(|_, running| !running.is_request);
        ended.inspect(|(_, running)| running.abort.abort()).map(|(id, _)| id).collect()
    }

    /// The next event of any of them; pending while there is none.
    pub async fn next(&mut self) -> Event {
        match self.events.next().await {
            Some(event) => self.noted(event),
            None => std::future::pending().await,
        }
    }

    /// The next event, if one is there already.
    pub fn ready(&mut self) -> Option<Event> {
        let event = self.events.next().now_or_never()??;
        Some(self.noted(event))
    }

    fn noted(&mut self, event: Event) -> Event {
        if !matches!(event.news, News::Next(_)) {
            self.running.remove(&event.id);
        }
        event
    }
}

/// A query or mutation: one answer and the end, or a refusal. A mutation runs to its end whoever still listens.
fn request(id: &str, prepared: Prepared, door: &Door, viewer: Viewer, caller: &Caller) -> BoxStream<'static, Event> {
    let (id, door, is_query) = (id.to_owned(), door.clone(), prepared.kind == OperationType::Query);
    let (span, caller) = (Named::of(&prepared).span(&caller.request_id, Some(&id)), caller.clone());
    let answer = async move {
        match door.run(prepared, viewer, &caller).await {
            Answer::Refused { errors } => Err(errors),
            executed @ Answer::Executed { .. } => json(&executed),
        }
    };
    let task = tokio::spawn(answer.instrument(span));
    let answer = async move {
        let joined = if is_query { AbortOnDropHandle::new(task).await } else { task.await };
        joined.unwrap_or_else(|_| Err(vec![error(Code::Internal, "Internal error.")]))
    };
    let events = answer.map(move |answer| match answer {
        Ok(answer) => {
            vec![Event { id: id.clone(), news: News::Next(answer) }, Event { id, news: News::Complete }]
        }
        Err(errors) => vec![Event { id, news: News::Error(errors) }],
    });
    stream::once(events).flat_map(stream::iter).boxed()
}

/// A subscription: its events until it ends.
fn follow(id: &str, prepared: Prepared, door: &Door, viewer: Viewer, caller: &Caller) -> BoxStream<'static, Event> {
    let id: Arc<str> = id.into();
    let given = door.follow(prepared, viewer, &caller.request_id, Some(Arc::clone(&id)));
    let given = given.map(Some).chain(stream::once(ready(None)));
    let news = given.scan(false, |failed, given| {
        ready(match given {
            Some(Ok(told)) => Some(News::Next(told.answer)),
            Some(Err(errors)) => {
                *failed = true;
                Some(News::Error(errors))
            }
            // An error was the end.
            None => (!*failed).then_some(News::Complete),
        })
    });
    news.map(move |news| Event { id: id.to_string(), news }).boxed()
}
