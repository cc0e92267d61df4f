//! The metrics, for the person on call: `GET /metrics` on an address of its own, which is off unless it is given.
//!
//! Never on the port that clients reach. A scrape asks the database nothing: what has to be looked for there is looked for now
//! and then by `upkeep::look`, however many scrape.

use axum::Router;
use axum::extract::State;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::serve::connections;
use crate::app::App;
use crate::metrics::Now;
use crate::store::QUEUED_ACTS;

/// Prometheus' text format.
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Serves the metrics until `shutdown` is cancelled.
pub async fn serve(listener: TcpListener, app: App, shutdown: CancellationToken) {
    let routes = Router::new().route("/metrics", get(metrics)).with_state(app);
    connections(listener, routes, shutdown, std::future::ready(())).await;
}

/// GET /metrics
async fn metrics(State(app): State<App>) -> Response {
    let now = Now { queue: [app.store.queue_depth(), QUEUED_ACTS], feed_position: app.feed.position() };
    let text = app.store.metrics().text(now, &app.store.connections());
    ([(CONTENT_TYPE, TEXT), (CACHE_CONTROL, "no-store")], text).into_response()
}
