//! Accepting connections, and letting go of them.
//!
//! States: accepting → stopping (no new connections, running requests are answered, sockets say 1012) → stopped, at the
//! latest when the shutdown time is over. Never waits for a stream or a client without a bound.

use std::io;
use std::time::Duration;

use axum::Router;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::caller::Peer;
use super::patience::{Allowance, Patient};
use super::{Door, limits, routes};
use crate::app::App;

/// After a failed accept (out of file descriptors, mostly): time for some to be closed.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Serves until `shutdown` is cancelled, then lets go within the shutdown time.
///
/// # Errors
/// When the schema's own description cannot be read back.
pub async fn serve(listener: TcpListener, app: App, shutdown: CancellationToken) -> io::Result<()> {
    let door = Door::new(app, shutdown.clone()).map_err(io::Error::other)?;
    let sockets = door.sockets.clone();
    let farewells = async {
        sockets.close();
        sockets.wait().await;
    };
    connections(listener, routes(door), shutdown, farewells).await;
    Ok(())
}

/// Serves connections until `shutdown` is cancelled, then lets go of them and waits for `farewells`, within the shutdown time.
pub(super) async fn connections(
    listener: TcpListener,
    routes: Router,
    shutdown: CancellationToken,
    farewells: impl Future<Output = ()>,
) {
    let service = TowerToHyperService::new(routes);
    // HTTP/1.1 and nothing else: the builder that tells versions apart serves HTTP/2 with upgrades on, whatever it was told,
    // under none of our limits, and waits for ever for a first byte.
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits::HEADER_TIME).max_buf_size(limits::HEADER_BYTES);
    let open = TaskTracker::new();

    while let Some((stream, peer)) = accept(&listener, &shutdown).await {
        let service = service.clone();
        let allowance = Allowance::without_end();
        let stream = TokioIo::new(Patient::new(stream, limits::WRITE_TIME, allowance.clone()));
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(allowance.clone());
            service.call(request)
        });
        let connection = http.serve_connection(stream, service).with_upgrades();
        let shutdown = shutdown.clone();
        open.spawn(async move {
            let mut connection = std::pin::pin!(connection);
            let ended = tokio::select! {
                ended = connection.as_mut() => ended,
                () = shutdown.cancelled() => {
                    connection.as_mut().graceful_shutdown();
                    connection.await
                }
            };
            if let Err(cause) = ended {
                tracing::debug!(%cause, "a connection ended early");
            }
        });
    }

    drop(listener);
    open.close();
    if tokio::time::timeout(limits::SHUTDOWN_TIME, async { tokio::join!(open.wait(), farewells) }).await.is_err() {
        tracing::warn!("some clients did not let go in time");
    }
}

/// The next connection; none when it is time to stop.
async fn accept(listener: &TcpListener, shutdown: &CancellationToken) -> Option<(TcpStream, Peer)> {
    loop {
        let accepted = shutdown.run_until_cancelled(listener.accept()).await?;
        match accepted {
            Ok((stream, address)) => {
                // Answers are written whole: waiting to fill a packet would only delay them.
                if let Err(cause) = stream.set_nodelay(true) {
                    tracing::debug!(%cause, "a connection was gone at once");
                    continue;
                }
                return Some((stream, Peer(address.ip().to_canonical())));
            }
            Err(cause) => {
                tracing::warn!(%cause, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}
