//! The door: how the schema is reached from outside.
//!
//! ```text
//! serve ── routes ─┬─ graphql  POST and GET ──┐
//!                  │     └─ socket  upgrades ─┼─ ask ─ document ─ the schema ─ answer
//!                  ├─ health, assets          │
//!                  └─ origin  who may knock ──┘
//! metrics, behind an address of its own
//! ```
//! Transports differ in their frames and status codes only: what a client may ask is decided in `document`, what it is
//! given in `answer`, alike for all of them. Nothing here knows what an operation or a watch is.

mod accept;
mod answer;
mod ask;
mod assets;
mod document;
mod follow;
mod graphql;
mod health;
mod json;
mod limits;
mod metrics;
mod origin;
mod refusal;
mod serve;
mod socket;

use std::sync::Arc;

use async_graphql::parser::types::OperationType;
use async_graphql::{ServerError, parser};
use axum::Router;
use axum::extract::Request;
use axum::middleware;
use axum::routing::get;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use tower_http::compression::CompressionLayer;
use tower_http::trace::TraceLayer;

use self::answer::Answer;
use self::document::types::Types;
use self::document::{Ask, Prepared, prepare};
use self::follow::Askings;
pub use self::metrics::serve as serve_metrics;
use self::origin::Allowed;
pub use self::origin::Origin;
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
        let allowed = Arc::new(Allowed::new(app.config.listen, &app.config.allowed_origins));
        let (askings, sockets) = (Askings::default(), TaskTracker::new());
        Ok(Self { app, types, allowed, askings, shutdown, sockets })
    }

    /// Checks what a client asks, and counts what is refused.
    fn prepare(&self, ask: Ask) -> Result<Prepared, Vec<ServerError>> {
        prepare(ask, &self.types).inspect_err(|_| self.app.store.metrics().asked("none").result = "refused")
    }

    /// Runs a query or mutation.
    async fn run(&self, prepared: Prepared, viewer: Viewer) -> Answer {
        let kind = if prepared.kind == OperationType::Mutation { "mutation" } else { "query" };
        let mut asked = self.app.store.metrics().asked(kind);
        let (request, plan) = prepared.into_request();
        let answer = Answer::finish(schema::execute(&self.app, request, viewer).await, &plan);
        asked.result = match &answer {
            Answer::Refused { .. } => "refused",
            Answer::Executed { errors, .. } if errors.is_empty() => "answered",
            Answer::Executed { .. } => "failed",
        };
        answer
    }
}

fn routes(door: Door) -> Router {
    let graphql = get(graphql::get).post(graphql::post).fallback(graphql::other_method);
    Router::new()
        .route("/graphql", graphql)
        .route("/healthz", get(health::alive))
        .route("/readyz", get(health::ready))
        .fallback_service(get(assets::serve).layer(CompressionLayer::new()).with_state(door.clone()))
        .layer(middleware::from_fn_with_state(door.clone(), origin::guard))
        .layer(TraceLayer::new_for_http().make_span_with(span))
        .with_state(door)
}

/// What the log says of a request: the path without its query string, which may carry what is not for logs.
fn span(request: &Request) -> tracing::Span {
    tracing::debug_span!("request", method = %request.method(), path = request.uri().path())
}
