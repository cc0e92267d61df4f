//! The command: settings, wiring, and one of the subcommands.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Parser as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use writewatch::app::App;
use writewatch::config::{Cli, Command, Config};
use writewatch::store::{DatabaseUrl, Store};
use writewatch::{graphql, http, upkeep};

/// What a bad setting ends with, as clap's own do.
const BAD_SETTING: u8 = 2;

/// Sockets live for long among requests that come and go: this one leaves few holes between them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    log(&cli.log);
    let result = match cli.command.unwrap_or(Command::Serve(cli.config)) {
        Command::Serve(config) => {
            if let Err(problem) = config.check() {
                complain(&problem);
                return ExitCode::from(BAD_SETTING);
            }
            serve(config).await
        }
        Command::Migrate(database) => migrate(&database.database_url).await,
        Command::Schema => tell(graphql::sdl().trim_end()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            complain(&problem);
            ExitCode::FAILURE
        }
    }
}

async fn serve(config: Config) -> Result<(), String> {
    let stop = CancellationToken::new();
    let store = open(&config.database.database_url).await?;
    let (listener, address) = listen("--listen (WRITEWATCH_LISTEN)", config.listen).await?;
    let metrics = match config.metrics_listen {
        Some(address) => Some(listen("--metrics-listen (WRITEWATCH_METRICS_LISTEN)", address).await?),
        None => None,
    };
    let loops = CancellationToken::new();
    let app = App::start(config, store.clone(), loops.clone()).await.map_err(|error| error.to_string())?;
    tokio::spawn(upkeep::run(app.clone(), loops.clone()));
    tokio::spawn(upkeep::keep_books(app.clone(), loops.clone()));
    tokio::spawn(stop_on_signal(stop.clone()));
    if let Some((listener, address)) = metrics {
        tokio::spawn(upkeep::look(app.clone(), loops.clone()));
        tokio::spawn(http::serve_metrics(listener, app.clone(), loops.clone()));
        tell(&format!("writewatch metrics on http://{address}/metrics"))?;
    }
    tell(&format!("writewatch listening on http://{address}"))?;
    let served = http::serve(listener, app, stop).await;
    loops.cancel();
    store.close().await;
    served.map_err(|error| format!("the server failed: {error}"))
}

async fn listen(setting: &str, address: SocketAddr) -> Result<(TcpListener, SocketAddr), String> {
    let listener =
        TcpListener::bind(address).await.map_err(|error| format!("{setting}: cannot listen on {address}: {error}"))?;
    let address = listener.local_addr().map_err(|error| error.to_string())?;
    Ok((listener, address))
}

async fn migrate(url: &DatabaseUrl) -> Result<(), String> {
    open(url).await?.close().await;
    tell("the schema is up to date")
}

async fn open(url: &DatabaseUrl) -> Result<Store, String> {
    Store::open(url, None)
        .await
        .map_err(|error| format!("--database-url (WRITEWATCH_DATABASE_URL): cannot open the database: {error}"))
}

/// The first signal asks for a graceful stop.
async fn stop_on_signal(stop: CancellationToken) {
    let interrupt = tokio::signal::ctrl_c();
    #[cfg(unix)]
    {
        match tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()) {
            Ok(mut terminate) => {
                tokio::select! {
                    _ = interrupt => {}
                    _ = terminate.recv() => {}
                }
            }
            Err(_) => drop(interrupt.await),
        }
    }
    #[cfg(not(unix))]
    drop(interrupt.await);
    stop.cancel();
}

fn log(what: &str) {
    tracing_subscriber::fmt().with_env_filter(what).with_writer(std::io::stderr).init();
}

/// Results go to standard output; a closed pipe is a failure like any other.
fn tell(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))
}

fn complain(problem: &str) {
    // Nowhere is left to say that standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "error: {problem}");
}
