//! The change log: appended to last thing in every transaction, read by the feed, by lists and by timelines.
//!
//! Its numbers are given out before the commit. On `SQLite` there is one writer, so the numbers are the order of the
//! commits. On PostgreSQL a lower number may become visible later, for as long as a transaction runs that took the lock of
//! the log's writers before the head was read: `is_settled` waits for those, and for no other transaction of the cluster.

use serde_json::Value;

use super::Store;
use super::engine::{Connection, Engine, args, statements};
use super::error::{Error, Result};
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::pools::WAKEUPS;
use super::row::{Columns, FromRow, Row};
use super::rows::insert_many;
use super::select::Select;
use super::tx::{Gathered, Tx};
use crate::domain::changes::{Change, ChangeFilter};
use crate::domain::viewer::{Viewer, seer};

const TABLE: &str = "change_event";
const WRITTEN: &str = "at, entity, entity_id, transition, from_state, to_state, document_id, owner_did, caller_did, \
    connector_name, actor_did, seen_by, facts";
const READ: &str = "sequence, at, entity, entity_id, transition, from_state, to_state, document_id, owner_did, \
    caller_did, connector_name, actor_did, seen_by, facts";

/// The transactions that hold the log's writers' lock.
macro_rules! writers {
    () => {
        "SELECT coalesce(string_agg(virtualtransaction, ','), '') FROM pg_locks WHERE locktype = 'relation' \
        AND relation = 'change_event'::regclass AND mode = 'RowExclusiveLock' AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    };
}

/// The last number that retention removed.
macro_rules! trimmed {
    () => {
        "SELECT trimmed_through FROM change_feed"
    };
}

statements! {
    FEED: "", "SELECT feed_id, trimmed_through FROM change_feed";
    /// The last number, also when retention has removed its row.
    HEAD: "", concat!("SELECT coalesce(max(sequence), (", trimmed!(), ")), '' FROM change_event");
    /// Differs because only PostgreSQL has writers beside each other: the number, with the transactions that still hold the
    /// lock that every writer of the log takes before its number. They are asked for after the snapshot is taken: one that
    /// is not among them by then is in the next one. The snapshot's own bounds would not do: it does not know of a transaction
    /// that began last and numbered first.
    HEAD_AND_WRITERS for Postgres: "", concat!("SELECT coalesce(max(sequence), (", trimmed!(), ")), (", writers!(), ") FROM change_event");
    /// Differs as above: those that hold it now.
    WRITERS for Postgres: "", writers!();
    AFTER: READ, "SELECT {columns} FROM change_event WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3";
    OLDEST: "", "SELECT sequence, at FROM change_event WHERE sequence <= $1 ORDER BY sequence LIMIT $2";
    FIRST_AFTER: "", "SELECT at FROM change_event WHERE sequence > $1 ORDER BY sequence LIMIT 1";
    TRIM: "", "DELETE FROM change_event WHERE sequence <= $1";
    TRIMMED: "", "UPDATE change_feed SET trimmed_through = $1 WHERE trimmed_through < $1";
    /// Differs because only PostgreSQL has other servers to wake; once a batch, it carries nothing.
    WAKE for Postgres: "", "SELECT 1::bigint FROM (SELECT pg_notify($1, '')) AS woken";
}

impl FromRow for Change {
    fn from_row(row: &Row) -> Result<Self> {
        let mut columns = Columns::new(row, TABLE);
        Ok(Self {
            sequence: columns.take("sequence")?,
            at: columns.take("at")?,
            entity: columns.take("entity")?,
            entity_id: columns.take("entity_id")?,
            transition: columns.take("transition")?,
            from_state: columns.take("from_state")?,
            to_state: columns.take("to_state")?,
            document_id: columns.take("document_id")?,
            owner_did: columns.take("owner_did")?,
            caller_did: columns.take("caller_did")?,
            connector_name: columns.take("connector_name")?,
            actor_did: columns.take("actor_did")?,
            seen_by: columns.take("seen_by")?,
            facts: {
                let text: String = columns.take("facts")?;
                serde_json::from_str(&text).map_err(|error| Error::Corrupt {
                    table: TABLE,
                    column: "facts",
                    source: error.into(),
                })?
            },
        })
    }
}

impl Keyed for Change {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        vec![KeyPart::Int(self.sequence)]
    }
}

const KEYSET: Keyset = Keyset { columns: &["sequence"], descending: false };

/// Appends the changes of a transaction, in order.
pub(super) async fn append(connection: &mut Connection, changes: Vec<Gathered>) -> Result<()> {
    if changes.is_empty() {
        return Ok(());
    }
    let rows = changes.into_iter().map(|Gathered { at, actor_did, change, seen_by }| {
        args![
            at,
            change.entity,
            change.entity_id,
            change.transition,
            change.from_state,
            change.to_state,
            change.document_id,
            change.owner_did,
            change.caller_did,
            change.connector_name,
            actor_did,
            seen_by,
            Value::Object(change.facts).to_string(),
        ]
    });
    let head = format!("INSERT INTO {TABLE} ({WRITTEN})");
    insert_many::<(i64,)>(connection, (&head, ""), rows.collect()).await?;
    if connection.engine() == Engine::Postgres {
        connection.all::<(i64,)>(&WAKE, args![WAKEUPS]).await?;
    }
    Ok(())
}

/// Removes the oldest changes as far as all of them are from before a time; how many.
pub(super) async fn trim(tx: &mut Tx, before: i64, settled_through: i64, limit: i32) -> Result<usize> {
    let oldest: Vec<(i64, i64)> = tx.all(&OLDEST, args![settled_through, limit]).await?;
    let old = oldest.iter().take_while(|(_, at)| *at < before);
    let Some((last, _)) = old.clone().last() else { return Ok(0) };
    tx.write(&TRIM, args![*last]).await?;
    tx.write(&TRIMMED, args![*last]).await?;
    Ok(old.count())
}

/// The log itself: its name, which every cursor carries, and how far it was trimmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedInfo {
    /// Random, made with the database.
    pub feed_id: String,
    /// The last number that retention removed.
    pub trimmed_through: i64,
}

impl FromRow for FeedInfo {
    fn from_row(row: &Row) -> Result<Self> {
        let mut columns = Columns::new(row, "change_feed");
        Ok(Self { feed_id: columns.take("feed_id")?, trimmed_through: columns.take("trimmed_through")? })
    }
}

/// The end of the log as one snapshot saw it.
#[derive(Debug, Clone)]
pub struct Head {
    /// The last visible number.
    pub sequence: i64,
    /// The transactions that may have taken a lower number and not committed it yet.
    writers: String,
}

impl Store {
    /// What the log is called and how far it was trimmed.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn feed_info(&self) -> Result<FeedInfo> {
        let found = self.read().await?.first(&FEED, args![]).await?;
        found.ok_or_else(|| Error::Migration("table change_feed has no row".to_owned()))
    }

    /// The end of the log.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn head(&self) -> Result<Head> {
        let statement = if self.engine() == Engine::Postgres { &HEAD_AND_WRITERS } else { &HEAD };
        let found = self.read().await?.first::<(i64, String)>(statement, args![]).await?;
        let (sequence, writers) = found.unwrap_or_default();
        Ok(Head { sequence, writers })
    }

    /// Whether no lower number than this head's can appear any more.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn is_settled(&self, head: &Head) -> Result<bool> {
        if head.writers.is_empty() {
            return Ok(true);
        }
        let now = self.read().await?.first::<(String,)>(&WRITERS, args![]).await?.unwrap_or_default().0;
        let now: Vec<&str> = now.split(',').collect();
        Ok(head.writers.split(',').all(|writer| !now.contains(&writer)))
    }

    /// When the first change after a number was made, if there is one.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn changed_after(&self, sequence: i64) -> Result<Option<i64>> {
        Ok(self.read().await?.first::<(i64,)>(&FIRST_AFTER, args![sequence]).await?.map(|(at,)| at))
    }

    /// The changes after one number up to another, which must be settled.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn changes_between(&self, after: i64, through: i64, limit: i64) -> Result<Vec<Change>> {
        self.read().await?.all(&AFTER, args![after, through, limit]).await
    }

    /// A page of the changes that match, oldest first, up to a settled number.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn changes(
        &self,
        viewer: &Viewer,
        filter: &ChangeFilter,
        through: i64,
        slice: &Slice,
    ) -> Result<Page<Change>> {
        let filter = |select: &mut Select| {
            confine(select, viewer, filter);
            select.compares("sequence", "<=", Some(through));
        };
        let list = List::of(TABLE, READ, KEYSET, &filter);
        list.page(&mut self.read().await?, slice).await
    }

    /// The same page of the changes of each entity, or of each document.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn changes_of(
        &self,
        viewer: &Viewer,
        owner: ChangesOf,
        ids: &[String],
        through: i64,
        slice: &Slice,
    ) -> Result<Vec<Page<Change>>> {
        let filter = |select: &mut Select| {
            visible(select, viewer);
            select.compares("sequence", "<=", Some(through));
        };
        let list = List::of(TABLE, READ, KEYSET, &filter);
        list.page_each(&mut self.read().await?, owner.column(), ids, slice).await
    }
}

/// Whose changes a timeline shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ChangesOf {
    /// Those of one entity, by its node id.
    Entity,
    /// Those of a document, its operations and its watches.
    Document,
}

impl ChangesOf {
    const fn column(self) -> &'static str {
        match self {
            Self::Entity => "entity_id",
            Self::Document => "document_id",
        }
    }
}

/// The same as `Change::is_seen_by` says of one change.
fn visible(select: &mut Select, viewer: &Viewer) {
    let Some(did) = viewer.confined_to() else { return };
    let (own, seer) = (select.arg(did), select.arg(format!("%{}%", seer(did))));
    select.and(&format!(
        "CASE WHEN seen_by IS NULL THEN (caller_did = {own} OR owner_did = {own}) ELSE seen_by LIKE {seer} END"
    ));
}

/// The conditions of a filter that a list of changes can have; the same as `ChangeFilter::matches` says of one change.
fn confine(select: &mut Select, viewer: &Viewer, filter: &ChangeFilter) {
    visible(select, viewer);
    select.among("entity", filter.entities.as_deref());
    select.equals("entity_id", filter.entity_id.as_deref());
    select.among("document_id", filter.document_ids.as_deref());
    select.equals("owner_did", filter.owner_did.as_deref());
    select.equals("caller_did", filter.caller_did.as_deref());
    select.equals("connector_name", filter.connector_name.as_deref());
    select.among("transition", filter.transitions.as_deref());
}
