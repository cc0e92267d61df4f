//! Accepting connections, and letting go of them.
//!
//! States: accepting → stopping (no new connections, running requests are answered, sockets say 1012) → stopped, at the
//! latest when the shutdown time is over. Never waits for a stream or a client without a bound.

use std::io;
use std::time::Duration;

use hyper::Request;
use hyper::body::Incoming;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;

use super::caller::Peer;
use super::patience::Patient;
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
    let service = TowerToHyperService::new(routes(door));
    let mut http = auto::Builder::new(TokioExecutor::new()).http1_only();
    http.http1().timer(TokioTimer::new()).header_read_timeout(limits::HEADER_TIME).max_buf_size(limits::HEADER_BYTES);
    let connections = GracefulShutdown::new();

    while let Some((stream, peer)) = accept(&listener, &shutdown).await {
        let service = service.clone();
        let service = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(peer);
            service.call(request)
        });
        let stream = TokioIo::new(Patient::new(stream, limits::WRITE_TIME));
        let connection = http.serve_connection_with_upgrades(stream, service);
        let connection = connections.watch(connection.into_owned());
        tokio::spawn(async move {
            if let Err(cause) = connection.await {
                tracing::debug!(%cause, "a connection ended early");
            }
        });
    }

    drop(listener);
    sockets.close();
    let farewells = async { tokio::join!(connections.shutdown(), sockets.wait()) };
    if tokio::time::timeout(limits::SHUTDOWN_TIME, farewells).await.is_err() {
        tracing::warn!("some clients did not let go in time");
    }
    Ok(())
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
