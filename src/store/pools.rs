//! Opening a database: pools, their settings, and migrations.
//!
//! `SQLite`: WAL, `synchronous = FULL` (an acknowledged claim survives a power cut), one writer's connection and several
//! read-only ones. PostgreSQL: one pool for everything.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgListener, PgPool, PgPoolOptions};
use sqlx::sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous};

use super::engine::{Connection, Engine};
use super::error::{Error, Result};
use crate::entropy::fresh_key;
use crate::metrics::Connections;

static SQLITE: Migrator = sqlx::migrate!("migrations/sqlite");
static POSTGRES: Migrator = sqlx::migrate!("migrations/postgres");

/// How long `SQLite` waits for another process's write before the act is answered as busy.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);
/// How long a reader waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);
/// Prepared statements kept per connection: the fixed ones and the common shapes of lists.
const STATEMENT_CACHE: usize = 512;
/// Connections that read at the same time, per server.
const READERS: u32 = 8;

/// The connections of one database.
#[derive(Debug)]
pub(super) enum Pools {
    Sqlite { writer: SqlitePool, readers: SqlitePool },
    Postgres(PgPool),
}

/// A database address that can be opened.
#[derive(Debug, Clone)]
pub enum DatabaseUrl {
    /// `sqlite://path`: an embedded file.
    Sqlite(PathBuf),
    /// `postgres://…`: a server, whose address is kept as given.
    Postgres(Box<PgConnectOptions>),
}

impl std::str::FromStr for DatabaseUrl {
    type Err = String;

    fn from_str(url: &str) -> std::result::Result<Self, String> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            if path.is_empty() || path.contains(['?', '\0']) || path.contains(":memory:") {
                return Err("sqlite:// must be followed by a file's path, without parameters".to_owned());
            }
            return Ok(Self::Sqlite(PathBuf::from(path)));
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            // The driver's message may repeat the address with its password: it is not passed on.
            let options =
                PgConnectOptions::from_str(url).map_err(|_| "is not a valid postgres:// address".to_owned())?;
            return Ok(Self::Postgres(Box::new(options)));
        }
        Err("must be sqlite://path or postgres://user@host:port/database".to_owned())
    }
}

impl Pools {
    pub(super) async fn open(url: &DatabaseUrl) -> Result<Self> {
        match url {
            DatabaseUrl::Sqlite(path) => open_sqlite(path).await,
            DatabaseUrl::Postgres(options) => open_postgres(options).await,
        }
    }

    pub(super) const fn engine(&self) -> Engine {
        match self {
            Self::Sqlite { .. } => Engine::Sqlite,
            Self::Postgres(_) => Engine::Postgres,
        }
    }

    pub(super) async fn reader(&self, statements: &Arc<AtomicU64>) -> Result<Connection> {
        match self {
            Self::Sqlite { readers, .. } => Ok(Connection::sqlite(readers.acquire().await?, Arc::clone(statements))),
            Self::Postgres(pool) => Ok(Connection::postgres(pool.acquire().await?, Arc::clone(statements))),
        }
    }

    pub(super) async fn writer(&self, statements: &Arc<AtomicU64>) -> Result<Connection> {
        match self {
            Self::Sqlite { writer, .. } => Ok(Connection::sqlite(writer.acquire().await?, Arc::clone(statements))),
            Self::Postgres(pool) => Ok(Connection::postgres(pool.acquire().await?, Arc::clone(statements))),
        }
    }

    pub(super) fn connections(&self) -> Vec<Connections> {
        let of = |pool, size: u32, idle: usize, limit: u32| {
            let (size, idle) = (i64::from(size), i64::try_from(idle).unwrap_or(i64::MAX));
            Connections { pool, used: (size - idle).max(0), idle, limit: limit.into() }
        };
        match self {
            Self::Sqlite { writer, readers } => [("writer", writer), ("readers", readers)]
                .map(|(name, pool)| of(name, pool.size(), pool.num_idle(), pool.options().get_max_connections()))
                .into(),
            Self::Postgres(pool) => {
                vec![of("all", pool.size(), pool.num_idle(), pool.options().get_max_connections())]
            }
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite { writer, readers } => {
                readers.close().await;
                writer.close().await;
            }
            Self::Postgres(pool) => pool.close().await,
        }
    }

    pub(super) async fn wakeups(&self) -> Result<Option<Wakeups>> {
        let Self::Postgres(pool) = self else { return Ok(None) };
        let mut listener = PgListener::connect_with(pool).await?;
        listener.listen(WAKEUPS).await?;
        Ok(Some(Wakeups(listener)))
    }
}

/// The channel on which servers of one database tell each other that there is something to read.
pub(super) const WAKEUPS: &str = "writewatch_changes";

/// Other servers' wake-ups. They carry nothing: what changed is read from the log.
#[derive(Debug)]
pub struct Wakeups(PgListener);

impl Wakeups {
    /// Waits for the next one.
    ///
    /// # Errors
    /// When the connection is lost: some may have been missed.
    pub async fn heard(&mut self) -> Result<()> {
        // `try_recv` tells of a lost connection, where `recv` would hide it.
        match self.0.try_recv().await? {
            Some(_) => Ok(()),
            None => Err(Error::Database(sqlx::Error::PoolClosed)),
        }
    }
}

async fn open_sqlite(path: &Path) -> Result<Pools> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder)
            .map_err(|error| Error::Migration(format!("cannot create {}: {error}", folder.display())))?;
    }
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(STATEMENT_CACHE);
    let pool = || SqlitePoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(false);
    let writer = pool().max_connections(1).connect_with(options.clone()).await?;
    migrate_sqlite(path, &writer).await?;
    // Opened after the migrations: a reader never sees a half-made schema.
    let readers = pool().max_connections(READERS).connect_with(options.read_only(true)).await?;
    Ok(Pools::Sqlite { writer, readers })
}

/// sqlx does not lock `SQLite` while it migrates: a lock file beside the database keeps several servers apart.
async fn migrate_sqlite(path: &Path, writer: &SqlitePool) -> Result<()> {
    let mut lock_path = path.as_os_str().to_owned();
    lock_path.push(".migrate-lock");
    let lock_path = PathBuf::from(lock_path);
    let locked = tokio::task::spawn_blocking(move || {
        let file = std::fs::File::options().create(true).truncate(false).write(true).open(lock_path)?;
        file.lock()?;
        Ok::<_, std::io::Error>(file)
    });
    let lock = locked
        .await
        .map_err(std::io::Error::other)
        .and_then(|locked| locked)
        .map_err(|error| Error::Migration(format!("cannot lock {} to migrate it: {error}", path.display())))?;
    let result = SQLITE.run(writer).await;
    drop(lock);
    result.map_err(|error| explain(error, &SQLITE))
}

async fn open_postgres(options: &PgConnectOptions) -> Result<Pools> {
    // Each server names itself: those that are there are counted by it.
    let name = format!("writewatch {}", fresh_key());
    let options = options.clone().application_name(&name).statement_cache_capacity(STATEMENT_CACHE).options([
        // A row that a stranger holds for long must not hold up everybody's writes.
        ("lock_timeout", "2s"),
        // Nor a server that is frozen or cut off in the middle of a transaction.
        ("idle_in_transaction_session_timeout", "10s"),
        ("tcp_keepalives_idle", "15"),
        ("tcp_keepalives_interval", "5"),
        ("tcp_keepalives_count", "3"),
        ("timezone", "UTC"),
        // Compiling a statement takes longer than any of ours runs.
        ("jit", "off"),
        // Whatever is read has an index: of a plan that is kept for every value, or made before there are statistics, the end to end
        // reading of a table is a wrong guess.
        ("enable_seqscan", "off"),
    ]);
    let pool = PgPoolOptions::new()
        .max_connections(READERS + 2)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await?;
    // sqlx holds an advisory lock meanwhile, so that several servers may start at once.
    POSTGRES.run(&pool).await.map_err(|error| explain(error, &POSTGRES))?;
    Ok(Pools::Postgres(pool))
}

/// Names the migration that stands in the way, and what to do.
fn explain(error: MigrateError, migrations: &Migrator) -> Error {
    let name = |version: i64| {
        migrations.iter().find(|migration| migration.version == version).map_or_else(
            || format!("{version:04}"),
            |found| format!("{version:04}_{}", found.description.replace(' ', "_")),
        )
    };
    Error::Migration(match error {
        MigrateError::VersionMissing(version) => format!(
            "the database has migration {}, which this version of writewatch does not know: run the version that wrote it",
            name(version)
        ),
        MigrateError::VersionMismatch(version) => format!(
            "migration {} is not the one that was applied to this database: its text was changed since",
            name(version)
        ),
        MigrateError::ExecuteMigration(error, version) => format!("migration {} failed: {error}", name(version)),
        MigrateError::Dirty(version) => format!("migration {} was applied only partly", name(version)),
        other => format!("cannot migrate the database: {other}"),
    })
}
