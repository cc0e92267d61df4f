//! The command: settings, wiring, and one of the subcommands.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use clap::Parser as _;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use writewatch::access::Access;
use writewatch::app::App;
use writewatch::config::{Cli, Command, Config, LogFormat, TokenArgs};
use writewatch::store::{DatabaseUrl, Store};
use writewatch::{graphql, http, keys, upkeep};

/// What a bad setting ends with, as clap's own do.
const BAD_SETTING: u8 = 2;

/// What a server ends with that did not stop in order.
const STOPPED_HARD: i32 = 70;
/// From the signal to stop to the end, whatever is still open: the door lets go in less, then the database.
const STOP_TIME: std::time::Duration = std::time::Duration::from_secs(15);

/// Sockets live for long among requests that come and go: this one leaves few holes between them.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    let cli = Cli::parse();
    log(&cli.log, cli.log_format);
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
        Command::Token(token) => make_token(&token),
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
    let access = Access::read(&config)?;
    let store = open(&config.database.database_url).await?;
    let (listener, address) = listen("--listen (WRITEWATCH_LISTEN)", config.listen).await?;
    let metrics = match config.metrics_listen {
        Some(address) => Some(listen("--metrics-listen (WRITEWATCH_METRICS_LISTEN)", address).await?),
        None => None,
    };
    let loops = CancellationToken::new();
    let app = App::start(config, access, store.clone(), loops.clone()).await.map_err(|error| error.to_string())?;
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

fn make_token(TokenArgs { key_file, audience, hours }: &TokenArgs) -> Result<(), String> {
    let key = keys::read_or_make(key_file).map_err(|problem| format!("--key-file: {problem}"))?;
    mention(&format!("the DID of this key is {}", keys::did(&key)));
    tell(&keys::token(&key, audience, i64::from(*hours) * 3_600))
}

async fn open(url: &DatabaseUrl) -> Result<Store, String> {
    Store::open(url, None)
        .await
        .map_err(|error| format!("--database-url (WRITEWATCH_DATABASE_URL): cannot open the database: {error}"))
}

/// The first signal asks for a graceful stop. The second ends it hard, and so does a stop that takes too long: what was
/// acknowledged is kept either way.
async fn stop_on_signal(stop: CancellationToken) {
    let mut signals = Signals::new();
    signals.next().await;
    stop.cancel();
    let asked_again = tokio::time::timeout(STOP_TIME, signals.next()).await.is_ok();
    complain(if asked_again {
        "asked to stop again: ending at once"
    } else {
        "stopping took too long: ending at once"
    });
    std::process::exit(STOPPED_HARD);
}

/// The signals that ask to stop.
struct Signals {
    #[cfg(unix)]
    terminate: Option<tokio::signal::unix::Signal>,
}

impl Signals {
    fn new() -> Self {
        Self {
            #[cfg(unix)]
            terminate: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok(),
        }
    }

    async fn next(&mut self) {
        let interrupt = tokio::signal::ctrl_c();
        #[cfg(unix)]
        if let Some(terminate) = &mut self.terminate {
            tokio::select! {
                _ = interrupt => {}
                _ = terminate.recv() => {}
            }
            return;
        }
        drop(interrupt.await);
    }
}

fn log(what: &str, format: LogFormat) {
    let log = tracing_subscriber::fmt().with_env_filter(what).with_writer(std::io::stderr);
    match format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
    }
}

/// Results go to standard output; a closed pipe is a failure like any other.
fn tell(line: &str) -> Result<(), String> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}")
        .and_then(|()| out.flush())
        .map_err(|error| format!("cannot write to standard output: {error}"))
}

fn complain(problem: &str) {
    mention(&format!("error: {problem}"));
}

fn mention(line: &str) {
    // Nowhere is left to say that standard error is closed.
    let _ = writeln!(std::io::stderr().lock(), "{line}");
}
