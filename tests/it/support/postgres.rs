//! PostgreSQL for the tests: fresh databases on the one cluster that `make test` starts, and clusters of a test's own
//! (stopped and removed when dropped). scripts/postgres.sh alone knows how a cluster is made.

use super::faketime::SteppedClock;
use sqlx::{Connection, PgConnection};
use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::Path,
    process::{Command, Stdio},
    thread,
};
use tempfile::TempDir;

/// The cluster that `make test` starts, as the URL of its maintenance database.
#[expect(clippy::disallowed_methods, reason = "the cluster is handed to the tests by the environment")]
pub fn main_cluster_url() -> String {
    std::env::var("WRITEWATCH_TEST_POSTGRES").expect(
        "WRITEWATCH_TEST_POSTGRES names no PostgreSQL cluster: run `make test`, or start one by hand with \
         `export WRITEWATCH_TEST_POSTGRES=$(scripts/postgres.sh start /tmp/writewatch-postgres)`",
    )
}

/// An empty database on the main cluster, under a name of its own.
pub async fn fresh_database() -> TestDatabase {
    TestDatabase::create(&main_cluster_url()).await
}

/// An empty database, removed when dropped, whoever is still connected to it.
pub struct TestDatabase {
    cluster_url: String,
    name: String,
}

impl TestDatabase {
    async fn create(cluster_url: &str) -> Self {
        #[expect(clippy::disallowed_methods, reason = "a database's name need only differ from every other")]
        let name = format!("test_{}", uuid::Uuid::new_v4().simple());
        execute(cluster_url, format!("CREATE DATABASE {name}")).await.expect("a fresh database");
        Self { cluster_url: cluster_url.to_owned(), name }
    }

    pub fn url(&self) -> String {
        let (server, _maintenance_database) = self.cluster_url.rsplit_once('/').expect("a URL with a database");
        format!("{server}/{}", self.name)
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let (cluster_url, name) = (self.cluster_url.clone(), self.name.clone());
        // Drop cannot await, and blocking inside the test's own runtime would panic: a thread with a runtime can do both.
        let removal = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            // Best effort: the cluster goes away with the test run anyway.
            runtime.map(|runtime| runtime.block_on(execute(&cluster_url, format!("DROP DATABASE {name} WITH (FORCE)"))))
        });
        let _ = removal.join();
    }
}

async fn execute(cluster_url: &str, statement: String) -> sqlx::Result<()> {
    let mut connection = PgConnection::connect(cluster_url).await?;
    sqlx::raw_sql(sqlx::AssertSqlSafe(statement)).execute(&mut connection).await?;
    connection.close().await
}

/// A cluster of one test alone, for tests that set the database's clock or restart it.
pub struct Cluster {
    dir: TempDir,
    url: String,
}

impl Cluster {
    pub fn start() -> Self {
        Self::start_with(&[])
    }

    /// The database's clock is the given one; so `now()` steps when the test steps it.
    pub fn start_under(clock: &SteppedClock) -> Self {
        // Only the database itself may live by the clock, not the shell that starts it.
        let clock: Vec<String> =
            clock.environment().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        Self::start_with(&clock)
    }

    fn start_with(environment: &[String]) -> Self {
        let dir = tempfile::tempdir().expect("a folder for the cluster");
        let_everyone_enter(dir.path());
        let mut start = script("start", dir.path());
        let output = start.args(environment).stderr(Stdio::inherit()).output().expect("scripts/postgres.sh");
        assert!(output.status.success(), "scripts/postgres.sh start failed: {}", output.status);
        let url = String::from_utf8(output.stdout).expect("a URL").trim().to_owned();
        Self { dir, url }
    }

    /// Ends it as a crash would, and starts it again on what it had written.
    pub fn restart(&self) {
        let status = script("restart", self.dir.path()).status().expect("scripts/postgres.sh");
        assert!(status.success(), "scripts/postgres.sh restart failed: {status}");
    }

    pub async fn fresh_database(&self) -> TestDatabase {
        TestDatabase::create(&self.url).await
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // Best effort: scripts/test.sh stops what is left at the end of the run.
        let _ = script("stop", self.dir.path()).status();
    }
}

fn script(act: &str, dir: &Path) -> Command {
    let mut command = Command::new(concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres.sh"));
    command.arg(act).arg(dir);
    command
}

/// Temporary folders are private to their user, but a cluster started by root runs as `postgres`.
pub fn let_everyone_enter(dir: &Path) {
    fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).expect("a folder's permissions");
}
