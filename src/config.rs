//! Settings: the only reader of flags and environment.

use std::net::SocketAddr;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};
use tracing_subscriber::EnvFilter;

use crate::domain::observations::did_key::DidKey;
use crate::http::{DocumentList, Host, Origin};
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
    /// In which form.
    #[arg(
        long,
        env = "WRITEWATCH_LOG_FORMAT",
        help = "Form of the log: text for people, json for machines (one object a line)",
        default_value = "text",
        global = true
    )]
    pub log_format: LogFormat,
    /// What to do; `serve` when left out.
    #[command(subcommand)]
    pub command: Option<Command>,
    /// The settings of `serve` when no subcommand is named.
    #[command(flatten)]
    pub config: Config,
}

/// The form of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
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
    /// Print a token to sign in with, for trying out; its DID goes to standard error
    Token(TokenArgs),
}

/// What `writewatch token` is told.
#[derive(Debug, Clone, Args)]
pub struct TokenArgs {
    /// The file of the key that signs, a JWK; made, and readable by its owner alone, when it is not there
    #[arg(long, value_name = "PATH")]
    pub key_file: PathBuf,
    /// Whom the token is for: the server's --audience
    #[arg(long, env = "WRITEWATCH_AUDIENCE", value_name = "NAME", value_parser = audience)]
    pub audience: String,
    /// Hours for which it is good
    #[arg(long, default_value = "1", value_parser = clap::value_parser!(u32).range(1..=24))]
    pub hours: u32,
}

/// How clients sign in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Auth {
    /// Nobody does: whoever reaches the port may do all
    Open,
    /// By a token that the key of a did:key has signed
    Did,
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
    /// How clients sign in.
    #[arg(long, help = "How clients sign in", env = "WRITEWATCH_AUTH", default_value = "open", value_name = "HOW")]
    pub auth: Auth,
    /// Whom tokens have to be for, with --auth did: this server's URL, or a name for it
    #[arg(long, env = "WRITEWATCH_AUDIENCE", value_name = "NAME", value_parser = audience)]
    pub audience: Option<String>,
    /// JSON file of the DIDs with roles and of those that are revoked, read again when it changes, with --auth did
    #[arg(long, env = "WRITEWATCH_ACCESS_FILE", value_name = "PATH")]
    pub access_file: Option<PathBuf>,
    /// The names by which this server may be called.
    #[arg(
        long = "allow-host",
        help = "Name by which clients may call this server beside localhost, like books.example; may be given several times; \
        any name will do when it listens beyond this machine and none is given",
        env = "WRITEWATCH_ALLOW_HOST",
        value_delimiter = ',',
        value_name = "HOST"
    )]
    pub allowed_hosts: Vec<Host>,
    /// Requests a second that each caller may send; as many as it likes when left out
    #[arg(long, env = "WRITEWATCH_RATE_LIMIT", value_name = "PER_SECOND")]
    pub rate_limit: Option<NonZeroU32>,
    /// Requests that a caller may send at once under a rate limit; twice the limit when left out
    #[arg(long, env = "WRITEWATCH_RATE_BURST", value_name = "REQUESTS", requires = "rate_limit")]
    pub rate_burst: Option<NonZeroU32>,
    /// The only documents that run.
    #[arg(
        long,
        help = "File with the only documents that run: a JSON object from SHA-256 to text",
        env = "WRITEWATCH_PERSISTED_DOCUMENTS",
        value_name = "FILE",
        value_parser = |path: &str| DocumentList::read(path)
    )]
    pub persisted_documents: Option<DocumentList>,
    /// The DIDs of connector workers, which may sign observations for any owner.
    #[arg(
        long = "service-did",
        help = "DID of a connector worker, which may act for any owner and sign observations; may be given several times",
        env = "WRITEWATCH_SERVICE_DIDS",
        value_delimiter = ',',
        value_name = "DID",
        value_parser = |did: &str| DidKey::parse(did).map(|_| did.to_owned()).map_err(|_| "it must be a did:key of an Ed25519 or a P-256 key")
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
    /// How many requests a caller may send at once under a rate limit.
    #[must_use]
    pub fn burst(&self) -> u32 {
        let twice = self.rate_limit.map_or(0, |limit| limit.get().saturating_mul(2));
        self.rate_burst.map_or(twice, NonZeroU32::get)
    }

    /// Checks what no single setting can say.
    ///
    /// # Errors
    /// The setting and what it accepts.
    pub fn check(&self) -> Result<(), String> {
        let audience = "--audience (WRITEWATCH_AUDIENCE)";
        match (self.auth, &self.audience, &self.access_file) {
            (Auth::Did, None, _) => {
                return Err(format!("{audience} is needed with --auth did: whom tokens have to be for"));
            }
            (Auth::Did, Some(_), _) => return Ok(()),
            (Auth::Open, Some(_), _) => return Err(format!("{audience} needs --auth did (WRITEWATCH_AUTH)")),
            (Auth::Open, _, Some(_)) => {
                return Err("--access-file (WRITEWATCH_ACCESS_FILE) needs --auth did (WRITEWATCH_AUTH)".to_owned());
            }
            (Auth::Open, None, None) => {}
        }
        if self.listen.ip().is_loopback() || self.allow_open_access_beyond_loopback {
            return Ok(());
        }
        Err(format!(
            "--listen (WRITEWATCH_LISTEN) is {}, which other machines reach, and everybody may do all: sign in with --auth \
             did, use a loopback address like 127.0.0.1:4000, or accept the risk with --allow-open-access-beyond-loopback",
            self.listen
        ))
    }
}

fn audience(text: &str) -> Result<String, String> {
    if text.trim().is_empty() || text.len() > 512 {
        return Err("an audience is a URL or a name, 1 to 512 bytes long".to_owned());
    }
    Ok(text.to_owned())
}
