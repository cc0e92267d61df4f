//! Settings: the only reader of flags and environment.

use std::net::SocketAddr;

use clap::{Args, Parser, Subcommand};
use tracing_subscriber::EnvFilter;

use crate::http::Origin;
use crate::store::DatabaseUrl;

/// Keeps the books of a connector's writes to outside providers.
#[derive(Debug, Parser)]
#[command(version, about, args_conflicts_with_subcommands = true)]
pub struct Cli {
    /// What to log, and from which parts.
    #[arg(
        long,
        env = "WRITEWATCH_LOG",
        help = "What to log: error, warn, info, debug or trace, or a list like info,writewatch::http=debug",
        default_value = "info",
        global = true,
        value_parser = |text: &str| text.parse::<EnvFilter>().map(|_| text.to_owned())
    )]
    pub log: String,
    /// What to do; `serve` when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The settings of `serve` when no subcommand is named.
    #[command(flatten)]
    pub config: Config,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Serve page, playground and API (the default)
    Serve(Config),
    /// Bring the database's schema up to date and exit
    Migrate(Database),
    /// Print the GraphQL schema (SDL) and exit
    Schema,
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub struct Database {
    /// The database.
    #[arg(
        long,
        help = "The database: sqlite://path or postgres://user:password@host:port/name",
        env = "WRITEWATCH_DATABASE_URL",
        hide_env_values = true,
        default_value = "sqlite://data/writewatch.db",
        value_parser = |text: &str| text.parse::<DatabaseUrl>()
    )]
    pub database_url: DatabaseUrl,
}

/// The settings of a server.
#[derive(Debug, Clone, Args)]
pub struct Config {
    /// The database.
    #[command(flatten)]
    pub database: Database,
    /// Address and port to listen on; port 0 takes a free one
    #[arg(long, env = "WRITEWATCH_LISTEN", default_value = "127.0.0.1:4000")]
    pub listen: SocketAddr,
    /// Address and port on which metrics are served, for whoever reaches it; none when left out
    #[arg(long, env = "WRITEWATCH_METRICS_LISTEN", value_name = "ADDRESS")]
    pub metrics_listen: Option<SocketAddr>,
    /// Origins of pages that may use this server beside its own.
    #[arg(
        long = "allow-origin",
        help = "Origin of a page that may use this server beside its own, like https://books.example; \
        may be given several times",
        env = "WRITEWATCH_ALLOW_ORIGIN",
        value_delimiter = ',',
        value_name = "ORIGIN"
    )]
    pub allowed_origins: Vec<Origin>,
    /// The DIDs of connector workers, which may sign observations for any owner.
    #[arg(
        long = "service-did",
        help = "DID of a connector worker, which may sign observations for any owner; may be given several times",
        env = "WRITEWATCH_SERVICE_DIDS",
        value_delimiter = ',',
        value_name = "DID"
    )]
    pub service_dids: Vec<String>,
    /// What is removed after which time.
    #[command(flatten)]
    pub upkeep: Upkeep,
    /// Listen beyond this machine although everybody who reaches the port may read and write everything
    #[arg(long, env = "WRITEWATCH_ALLOW_OPEN_ACCESS_BEYOND_LOOPBACK")]
    pub allow_open_access_beyond_loopback: bool,
}

/// What is removed after which time.
#[derive(Debug, Clone, Args)]
pub struct Upkeep {
    /// Seconds between two rounds of upkeep; 0 switches it off on this server
    #[arg(long, env = "WRITEWATCH_UPKEEP_PERIOD_S", default_value = "60", value_name = "SECONDS")]
    pub upkeep_period_s: u32,
    /// Days for which finished operations are kept that no document's write state needs
    #[arg(long, env = "WRITEWATCH_KEEP_FINISHED_DAYS", default_value = "30", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=36_500))]
    pub keep_finished_days: u32,
    /// Days for which a collected operation is remembered: for so long a replay of its claim never writes again
    #[arg(long, env = "WRITEWATCH_KEEP_TOMBSTONES_DAYS", default_value = "365", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub keep_tombstones_days: u32,
    /// Days for which committed receipts of sweeps are kept that the checkpoint has passed
    #[arg(long, env = "WRITEWATCH_KEEP_RECEIPTS_DAYS", default_value = "30", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(0..=36_500))]
    pub keep_receipts_days: u32,
    /// Days for which changes are kept: how far back a cursor may go on
    #[arg(long, env = "WRITEWATCH_KEEP_CHANGES_DAYS", default_value = "30", value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub keep_changes_days: u32,
}

impl Config {
    /// Checks what no single setting can say.
    ///
    /// # Errors
    /// The setting and what it accepts.
    pub fn check(&self) -> Result<(), String> {
        if self.listen.ip().is_loopback() || self.allow_open_access_beyond_loopback {
            return Ok(());
        }
        Err(format!(
            "--listen (WRITEWATCH_LISTEN) is {}, which other machines reach, and there is no access control: use a loopback \
             address like 127.0.0.1:4000, or accept the risk with --allow-open-access-beyond-loopback",
            self.listen
        ))
    }
}
