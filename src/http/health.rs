//! Whether the process lives, and whether it can do its work: for supervisors and load balancers.

use std::time::Duration;

use axum::extract::State;
use axum::http::StatusCode;

use super::Door;

/// A server that cannot tell within this time whether it is ready is not.
const READY_TIME: Duration = Duration::from_secs(5);

/// GET /healthz: answers as long as the process runs.
pub async fn alive() -> &'static str {
    "alive\n"
}

/// GET /readyz: whether requests can be served now, and if not, why.
pub async fn ready(State(door): State<Door>) -> (StatusCode, String) {
    if door.shutdown.is_cancelled() {
        return (StatusCode::SERVICE_UNAVAILABLE, "stopping\n".to_owned());
    }
    match tokio::time::timeout(READY_TIME, door.app.ready()).await {
        Ok(Ok(())) => (StatusCode::OK, "ready\n".to_owned()),
        Ok(Err(reason)) => (StatusCode::SERVICE_UNAVAILABLE, format!("{reason}\n")),
        Err(_) => (StatusCode::SERVICE_UNAVAILABLE, "the database does not answer\n".to_owned()),
    }
}
