//! The door: how the schema is reached from outside.
//!
//! ```text
//! serve ── routes ─┬─ auth ─ graphql  POST and GET ─┐
//! (patience)       │           ├─ sse     as events ─┼─ ask ─ persisted ─ document ─ the schema ─ answer
//!                  │           └─ socket  upgrades ──┘
//!                  ├─ health, assets
//!                  └─ caller, origin, cors, rate: who calls, from where, how often
//! metrics, behind an address of its own
//! ```
//! Transports differ in their frames and status codes only: what a client may ask is decided in `document`, what it is
//! given in `answer`, alike for all of them. Nothing here knows what an operation or a watch is.

mod accept;
mod answer;
mod ask;
mod assets;
mod auth;
mod caller;
mod cors;
mod document;
mod follow;
mod graphql;
mod health;
mod json;
mod limits;
mod metrics;
mod origin;
mod patience;
mod persisted;
mod rate;
mod refusal;
mod serve;
mod socket;
mod sse;

use std::sync::Arc;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use async_graphql::{ServerError, parser};
use axum::Router;
use axum::middleware;
use axum::routing::get;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::compression::CompressionLayer;

use self::answer::{Answer, guarded};
use self::ask::Asked;
use self::caller::Caller;
use self::document::types::Types;
use self::document::{Ask, ByEvents, Prepared};
use self::follow::Askings;
pub use self::metrics::serve as serve_metrics;
use self::origin::Allowed;
pub use self::origin::{Host, Origin};
pub use self::persisted::DocumentList;
use self::persisted::Documents;
use self::rate::Rate;
pub use self::serve::serve;
use crate::app::App;
use crate::domain::viewer::Viewer;
use crate::graphql as schema;

/// What every handler of the door shares.
#[derive(Clone)]
struct Door {
    app: App,
    types: Arc<Types>,
    allowed: Arc<Allowed>,
    documents: Arc<Documents>,
    /// None when callers may ask as often as they like.
    rate: Option<Arc<Rate>>,
    /// What is followed.
    askings: Askings,
    /// Cancelled when the server is to stop.
    shutdown: CancellationToken,
    /// The sockets that are open, so that stopping can wait for their farewells.
    sockets: TaskTracker,
}

impl Door {
    fn new(app: App, shutdown: CancellationToken) -> Result<Self, parser::Error> {
        let types = Arc::new(Types::read(&app.schema.sdl())?);
        let config = &app.config;
        let allowed = Allowed::new(config.listen, &config.allowed_origins, &config.allowed_hosts).into();
        let documents = Documents::new(config.persisted_documents.clone()).into();
        let rate = config.rate_limit.map(|per_second| Rate::new(per_second.get(), config.burst()).into());
        let (askings, sockets) = (Askings::default(), TaskTracker::new());
        Ok(Self { app, types, allowed, documents, rate, askings, shutdown, sockets })
    }

    /// Counts a request of this caller; an error says how long to wait before the next try.
    fn count(&self, viewer: &Viewer, caller: &Caller) -> Result<(), Duration> {
        self.rate.as_ref().map_or(Ok(()), |rate| rate.count(viewer, caller))
    }

    /// Finds the document that a request means, and checks all that can be checked before it runs; counts what is refused.
    fn prepare(&self, asked: Asked, by_events: Option<ByEvents>) -> Result<Prepared, Vec<ServerError>> {
        self.prepared(asked, by_events).inspect_err(|_| self.app.store.metrics().asked("none").result = "refused")
    }

    fn prepared(&self, asked: Asked, by_events: Option<ByEvents>) -> Result<Prepared, Vec<ServerError>> {
        let Asked { query, hash, operation_name, variables } = asked;
        let sent_with_hash = hash.filter(|_| query.is_some());
        let query = self.documents.text(query, hash).map_err(|error| vec![error])?;
        let kept = sent_with_hash.map(|hash| (hash, query.clone()));
        let prepared = document::prepare(Ask { query, operation_name, variables, by_events }, &self.types)?;
        if let Some((hash, query)) = kept {
            self.documents.remember(hash, &query);
        }
        Ok(prepared)
    }

    /// Runs a query or mutation, within the time that a request has.
    async fn run(&self, prepared: Prepared, viewer: Viewer, caller: &Caller) -> Answer {
        let kind = if prepared.kind == OperationType::Mutation { "mutation" } else { "query" };
        let mut asked = self.app.store.metrics().asked(kind);
        let (request, plan) = prepared.into_request();
        let answer = async { Answer::finish(schema::execute(&self.app, request, viewer).await, &plan) };
        let answer = guarded(answer).await.signed(&caller.request_id);
        asked.result = match &answer {
            Answer::Refused { .. } => "refused",
            Answer::Executed { errors, .. } if errors.is_empty() => "answered",
            Answer::Executed { .. } => "failed",
        };
        answer
    }
}

fn routes(door: Door) -> Router {
    let graphql = get(graphql::get).post(graphql::post).head(graphql::other_method).fallback(graphql::other_method);
    let graphql = graphql
        .layer(middleware::from_fn_with_state(door.clone(), auth::guard))
        .layer(middleware::from_fn_with_state(door.clone(), cors::share));
    Router::new()
        .route("/graphql", graphql)
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback_service(get(assets::serve).layer(CompressionLayer::new()).with_state(door.clone()))
        .layer(middleware::from_fn_with_state(door.clone(), origin::guard))
        .layer(middleware::from_fn(caller::introduce))
        .with_state(door)
}
