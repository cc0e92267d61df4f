//! The kept counts that statistics are read from: of the books, and of the changes over time.
//!
//! Triggers append what each write adds to a count or takes from it, so that writers never wait for each other's counts;
//! counting works the appended rows off, some at a time. The changes need no trigger: they are counted by their number.
//!
//! Each row is counted for every scope that is asked for, so that none is read by adding up others' scopes.

use std::collections::BTreeMap;

use super::engine::{args, statements};
use super::error::Result;
use super::row::row;
use super::rows::insert_many;
use super::tx::Tx;
use super::{Store, acts};
use crate::domain::viewer::Viewer;
use crate::domain::words::{OperationState, WatchStatus};

/// Appended rows, or changes, that one act counts.
const COUNTED: i64 = 1_000;
/// Acts that a reader waits for before it reads: behind a longer backlog the counts are read as they are.
pub(super) const COUNTS_A_READ: usize = 5;

/// The spans by which changes are counted over time, in ms: a minute and an hour.
pub const SPANS_MS: [i64; 2] = [60_000, 3_600_000];

/// The state and the status in which something waits: what is settled keeps its last reason, and waits for nothing.
pub(super) const WAITING: [&str; 2] = [OperationState::Attempted.as_str(), WatchStatus::PendingVerification.as_str()];

/// Whose rows a count is of: nothing for everybody's, or a caller's among the rows of other owners; and an owner's, or
/// nothing for all owners' together.
pub(super) type Scope = (String, String);

/// Every scope that a row belongs to.
fn scopes<'r>(owner: &'r str, caller: &'r str) -> impl Iterator<Item = (&'r str, &'r str)> + Clone {
    let viewers = std::iter::once("").chain((caller != owner && !caller.is_empty()).then_some(caller));
    viewers.flat_map(move |viewer| std::iter::once((viewer, "")).chain((!owner.is_empty()).then_some((viewer, owner))))
}

/// The scopes that make up what a viewer sees of an owner's rows, or of all owners'.
pub(super) fn seen(viewer: &Viewer, owner: Option<&str>) -> Vec<Scope> {
    let scope = |viewer: &str, owner: &str| (viewer.to_owned(), owner.to_owned());
    match (viewer.confined_to(), owner) {
        (None, owner) => vec![scope("", owner.unwrap_or_default())],
        (Some(did), None) => vec![scope("", did), scope(did, "")],
        (Some(did), Some(owner)) if did == owner => vec![scope("", did)],
        (Some(did), Some(owner)) => vec![scope(did, owner)],
    }
}

/// What a write added to a count or took from it.
#[derive(Debug)]
struct Delta {
    book: String,
    owner_did: String,
    caller_did: String,
    connector_name: String,
    word: String,
    defer_reason: Option<String>,
    change: i64,
}

row!(Delta from "book_delta" { book, owner_did, caller_did, connector_name, word, defer_reason, change });

/// What of a change is counted.
#[derive(Debug)]
struct Made {
    sequence: i64,
    at: i64,
    owner_did: Option<String>,
    caller_did: Option<String>,
    connector_name: Option<String>,
    transition: String,
    to_state: Option<String>,
}

row!(Made from "change_event" { sequence, at, owner_did, caller_did, connector_name, transition, to_state });

statements! {
    IS_BEHIND: "", "SELECT count(*) FROM (SELECT 1 FROM book_delta LIMIT 1) AS waiting";
    TAKE: Delta::COLUMNS, "DELETE FROM book_delta WHERE id IN (SELECT id FROM book_delta ORDER BY id LIMIT $1) RETURNING {columns}";
    FORGET: "", "DELETE FROM book_count WHERE count = 0";
    HOW_FAR: "", "SELECT counted_through, (SELECT coalesce(max(sequence), 0) FROM change_event) FROM outcome_counted";
    MADE: Made::COLUMNS, "SELECT {columns} FROM change_event WHERE sequence > $1 AND sequence <= $2 ORDER BY sequence LIMIT $3";
    COUNTED_THROUGH: "", "UPDATE outcome_counted SET counted_through = $1 WHERE counted_through < $1";
    TRIM: "", "DELETE FROM outcome_count WHERE (viewer_did, owner_did, span_ms, starts_at, connector_name, transition, \
        to_state) IN (SELECT viewer_did, owner_did, span_ms, starts_at, connector_name, transition, to_state FROM outcome_count \
        WHERE starts_at < $1 AND starts_at + span_ms <= $1 LIMIT $2)";
}

const ADD_TO_BOOKS: (&str, &str) = (
    "INSERT INTO book_count (viewer_did, book, owner_did, connector_name, word, count)",
    " ON CONFLICT (viewer_did, book, owner_did, connector_name, word) DO UPDATE SET count = book_count.count + excluded.count",
);
const ADD_TO_OUTCOMES: (&str, &str) = (
    "INSERT INTO outcome_count (viewer_did, owner_did, span_ms, starts_at, connector_name, transition, to_state, count)",
    " ON CONFLICT (viewer_did, owner_did, span_ms, starts_at, connector_name, transition, to_state) \
    DO UPDATE SET count = outcome_count.count + excluded.count",
);

/// Counts what was written first of the books' appended rows; how many there were.
pub(super) async fn count_books(tx: &mut Tx) -> Result<usize> {
    let deltas: Vec<Delta> = tx.write_returning(&TAKE, args![COUNTED]).await?;
    let mut sums: BTreeMap<[&str; 5], i64> = BTreeMap::new();
    for delta in &deltas {
        let Delta { book, owner_did, caller_did, connector_name, word, defer_reason, change } = delta;
        for (viewer, owner) in scopes(owner_did, caller_did) {
            *sums.entry([viewer, book, owner, connector_name, word]).or_default() += change;
            if let Some(reason) = defer_reason.as_ref().filter(|_| WAITING.contains(&word.as_str())) {
                *sums.entry([viewer, "deferred", owner, connector_name, reason]).or_default() += change;
            }
        }
    }
    sums.retain(|_, sum| *sum != 0);
    let rows = sums
        .into_iter()
        .map(|([viewer, book, owner, connector, word], sum)| args![viewer, book, owner, connector, word, sum]);
    insert_many::<(i64,)>(tx.writing(), ADD_TO_BOOKS, rows.collect()).await?;
    tx.write(&FORGET, args![]).await?;
    Ok(deltas.len())
}

/// Counts changes after those that were counted, up to a settled number; how many there were.
pub(super) async fn count_outcomes(tx: &mut Tx, settled_through: i64) -> Result<usize> {
    let Some((counted_through, _)) = tx.first::<(i64, i64)>(&HOW_FAR, args![]).await? else { return Ok(0) };
    let made: Vec<Made> = tx.all(&MADE, args![counted_through, settled_through, COUNTED]).await?;
    let Some(last) = made.last() else { return Ok(0) };
    let mut sums: BTreeMap<(&str, &str, i64, i64, [&str; 3]), i64> = BTreeMap::new();
    for change in &made {
        let Made { at, owner_did, caller_did, connector_name, transition, to_state, .. } = change;
        let [owner, caller, connector, state] =
            [owner_did, caller_did, connector_name, to_state].map(|text| text.as_deref().unwrap_or_default());
        for (viewer, owner) in scopes(owner, caller) {
            for span in SPANS_MS {
                let starts_at = at - at.rem_euclid(span);
                *sums.entry((viewer, owner, span, starts_at, [connector, transition, state])).or_default() += 1;
            }
        }
    }
    let rows = sums.into_iter().map(|((viewer, owner, span, starts_at, [connector, transition, state]), sum)| {
        args![viewer, owner, span, starts_at, connector, transition, state, sum]
    });
    insert_many::<(i64,)>(tx.writing(), ADD_TO_OUTCOMES, rows.collect()).await?;
    tx.write(&COUNTED_THROUGH, args![last.sequence]).await?;
    Ok(made.len())
}

/// Removes counts of changes from before a time, as the changes themselves are removed; how many rows.
pub(super) async fn trim(tx: &mut Tx, before: i64, limit: i32) -> Result<u64> {
    tx.write(&TRIM, args![before, limit]).await
}

impl Store {
    /// Counts what was written to the books before the call, some acts' worth at most; whether all of it is counted.
    ///
    /// # Errors
    /// As `perform`.
    pub async fn count_books(&self, acts_most: usize) -> Result<bool> {
        for _ in 0..acts_most {
            let behind = self.read().await?.first::<(i64,)>(&IS_BEHIND, args![]).await?;
            if behind.is_none_or(|(count,)| count == 0) {
                return Ok(true);
            }
            self.perform(&std::sync::Arc::new(Viewer::open()), acts::CountBooks).await?;
        }
        Ok(false)
    }

    /// Counts the changes up to a settled number, some acts' worth at most; whether all of them are counted.
    ///
    /// # Errors
    /// As `perform`.
    pub async fn count_outcomes(&self, settled_through: i64, acts_most: usize) -> Result<bool> {
        for _ in 0..acts_most {
            let how_far = self.read().await?.first::<(i64, i64)>(&HOW_FAR, args![]).await?;
            if how_far.is_none_or(|(counted, head)| counted >= head.min(settled_through)) {
                return Ok(true);
            }
            self.perform(&std::sync::Arc::new(Viewer::open()), acts::CountOutcomes { settled_through }).await?;
        }
        Ok(false)
    }
}
