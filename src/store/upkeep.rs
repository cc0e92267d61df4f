//! Upkeep's own tables: whose turn it is, and what was done.

use super::Store;
use super::engine::{Engine, args, statements};
use super::error::Result;
use super::row::row;
use super::tx::Tx;

/// How long a server that does the upkeep keeps others from it after its last batch (10 s): a dead one is replaced then.
const HELD_MS: i64 = 10_000;

/// What a task of upkeep did last.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of UpkeepStatus, where they are described")]
pub struct UpkeepTask {
    pub task: String,
    pub last_run_at: i64,
    /// JSON.
    pub last_result: String,
}

row!(UpkeepTask from "upkeep_task" { task, last_run_at, last_result });

statements! {
    FREE: "", "SELECT count(*) FROM upkeep_lease WHERE holder = $1 OR held_until < $2";
    /// Differs because only on PostgreSQL another server may be at it: then it is not our turn, and nobody waits.
    FREE_NOW for Postgres: "", "SELECT singleton::bigint FROM upkeep_lease WHERE holder = $1 OR held_until < $2 FOR UPDATE SKIP LOCKED";
    TAKE: "", "UPDATE upkeep_lease SET holder = $1, held_until = $2 WHERE holder = $1 OR held_until < $3";
    TASKS: UpkeepTask::COLUMNS, "SELECT {columns} FROM upkeep_task ORDER BY task";
    PUT_TASK: UpkeepTask::COLUMNS,
        "INSERT INTO upkeep_task ({columns}) VALUES ($1, $2, $3) ON CONFLICT (task) DO UPDATE \
        SET last_run_at = excluded.last_run_at, last_result = excluded.last_result";
    /// Differs because only PostgreSQL has several servers: each names itself on its connections.
    SERVERS for Postgres: "", "SELECT count(DISTINCT application_name) FROM pg_stat_activity \
        WHERE datname = current_database() AND application_name LIKE 'writewatch %'";
}

/// Whether it looks like this server's turn.
pub(super) async fn is_free(tx: &mut Tx, holder: &str, now: i64) -> Result<bool> {
    Ok(tx.first::<(i64,)>(&FREE, args![holder, now]).await?.is_some_and(|(count,)| count > 0))
}

/// Takes the turn, for this batch and a while after; false when it is another server's.
pub(super) async fn take(tx: &mut Tx, holder: &str) -> Result<bool> {
    let now = tx.now();
    if tx.engine() == Engine::Postgres && tx.first::<(i64,)>(&FREE_NOW, args![holder, now]).await?.is_none() {
        return Ok(false);
    }
    Ok(tx.write(&TAKE, args![holder, now + HELD_MS, now]).await? == 1)
}

/// Notes what a task did.
pub(super) async fn note(tx: &mut Tx, task: &str, removed: usize) -> Result<()> {
    let result = serde_json::json!({ "removed": removed }).to_string();
    tx.write(&PUT_TASK, args![task, tx.now(), result]).await.map(|_| ())
}

impl Store {
    /// What each task of upkeep did last.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn upkeep_tasks(&self) -> Result<Vec<UpkeepTask>> {
        self.read().await?.all(&TASKS, args![]).await
    }

    /// How many servers work on this database.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn servers(&self) -> Result<i64> {
        if self.engine() == Engine::Sqlite {
            return Ok(1);
        }
        Ok(self.read().await?.first::<(i64,)>(&SERVERS, args![]).await?.map_or(1, |(count,)| count))
    }
}
