//! Statistics of the books: what the kept counts say, and what is counted as it is asked for.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::counts::{COUNTS_A_READ, Scope, WAITING, seen};
use super::due::unindexed;
use super::error::Result;
use super::list::{COUNTED_MOST, List, Slice};
use super::operations::TABLE as OPERATIONS;
use super::row::row;
use super::select::Select;
use super::stuck::{LONG_MS, StuckReason};
use super::sweeps::CANDIDATES;
use super::{CANDIDATE_ORDER, DUE_OPERATIONS, DueFilter, Store};
use crate::domain::operations::Operation;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch;
use crate::domain::words::{DeferReason, OperationState, WatchStatus};

/// Groups that are told apart, by owner and connector; what is in the others is told together.
const GROUPS: usize = 1_000;

/// Of whom and by what statistics are. `None` does not filter.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of the GraphQL StatisticsFilter, where they are described")]
pub struct StatisticsFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
}

/// A count of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The state, status or reason.
    pub word: String,
    /// The connector; empty where further groups are told together.
    pub connector_name: String,
    /// The owner; empty where further groups, or all owners, are told together.
    pub owner_did: String,
    /// How many.
    pub count: i64,
}

/// A group, or with no owner the whole of a word.
#[derive(Debug)]
struct Group {
    word: String,
    connector_name: String,
    owner_did: Option<String>,
    count: i64,
    /// 1 when it is of what was not counted yet.
    uncounted: i64,
}

row!(Group from "book_count" { word, connector_name, owner_did, count, uncounted });

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of Statistics, where they are described")]
pub struct Due {
    pub operations: i64,
    pub watches: i64,
    pub oldest_due_at: Option<i64>,
}

/// The first of a list, and how many there are.
const COUNT: Slice = Slice { limit: 1, backward: false, after: None, before: None, look_back: false, count: true };

/// How many of a book need a person's eye, by reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of AttentionReason, where they are described")]
pub struct Attention {
    pub dead: i64,
    pub needs_reconcile: i64,
    pub repair_failed: i64,
    pub maybe_sent: i64,
    pub lease_expired_long_ago: i64,
    pub waiting_for_auth: i64,
    pub offline: i64,
    pub overdue: i64,
    pub sweep_refused: i64,
}

/// How many there are in each state or status, by its word.
#[derive(Debug, Default, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of Statistics, where they are described")]
pub struct Totals {
    pub operations: Vec<(String, i64)>,
    pub watches: Vec<(String, i64)>,
}

const BOOKS: [Book; 3] = [Book::Operations, Book::Watches, Book::Deferred];

/// How a part of the books is told apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Book {
    Operations,
    Watches,
    Deferred,
}

impl Book {
    const fn word(self) -> &'static str {
        match self {
            Self::Operations => "operation",
            Self::Watches => "watch",
            Self::Deferred => "deferred",
        }
    }

    /// Whether each owner's groups are told apart.
    const fn by_owner(self) -> bool {
        !matches!(self, Self::Deferred)
    }
}

/// The counts of a scope's viewer.
fn of_viewer(select: &mut Select, (viewer, _): &Scope, book: Book, filter: &StatisticsFilter) {
    select.conditions = 0;
    select.equals("viewer_did", Some(viewer));
    select.equals("book", Some(book.word()));
    select.equals("connector_name", filter.connector_name.as_deref());
}

/// SELECTs what was written and not counted yet, of a scope, group by group.
fn uncounted(select: &mut Select, (viewer, owner): &Scope, book: Book, filter: &StatisticsFilter) {
    select.conditions = 0;
    let word = if book == Book::Deferred { "defer_reason" } else { "word" };
    let _ = write!(
        select.text,
        "SELECT {word} AS word, connector_name, owner_did, CAST(sum(change) AS bigint) AS count, 1 AS uncounted FROM book_delta"
    );
    if book == Book::Deferred {
        select.and("defer_reason IS NOT NULL");
        select.among("word", Some(&WAITING));
    } else {
        select.equals("book", Some(book.word()));
    }
    if !viewer.is_empty() {
        select.equals("caller_did", Some(viewer));
        select.compares("owner_did", "<>", Some(viewer));
    }
    select.equals("owner_did", Some(owner).filter(|owner| !owner.is_empty()));
    select.equals("connector_name", filter.connector_name.as_deref());
    select.grouped(&format!("{word}, connector_name, owner_did"));
}

fn due(filter: &StatisticsFilter) -> DueFilter {
    let StatisticsFilter { owner_did, connector_name } = filter.clone();
    DueFilter { owner_did, connector_name, ..DueFilter::default() }
}

impl Store {
    /// How many operations are in each state, by connector and owner: up to 1,000 groups, and the rest of each state together.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn count_operations(&self, viewer: &Viewer, filter: &StatisticsFilter) -> Result<Vec<Counted>> {
        self.groups(viewer, filter, Book::Operations).await
    }

    /// How many watches are in each status, by connector and owner: up to 1,000 groups, and the rest of each status together.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn count_watches(&self, viewer: &Viewer, filter: &StatisticsFilter) -> Result<Vec<Counted>> {
        self.groups(viewer, filter, Book::Watches).await
    }

    /// How many operations and watches wait for each reason, by connector: up to 1,000 groups, and the rest of each reason
    /// together.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn count_deferred(&self, viewer: &Viewer, filter: &StatisticsFilter) -> Result<Vec<Counted>> {
        self.groups(viewer, filter, Book::Deferred).await
    }

    async fn groups(&self, viewer: &Viewer, filter: &StatisticsFilter, book: Book) -> Result<Vec<Counted>> {
        let _turn = self.shared.statistics.acquire().await;
        self.count_books(COUNTS_A_READ).await?;
        // One statement, so that groups and totals are of one moment.
        let mut union = Select::default();
        for scope in &seen(viewer, filter.owner_did.as_deref()) {
            union.text.push_str(if union.text.is_empty() { "" } else { " UNION ALL " });
            let _ = write!(
                union.text,
                "SELECT {} FROM (SELECT word, connector_name, owner_did, count, 0 AS uncounted FROM book_count",
                Group::COLUMNS
            );
            of_viewer(&mut union, scope, book, filter);
            if book.by_owner() && scope.1.is_empty() {
                union.and("owner_did > ''");
            } else {
                union.equals("owner_did", Some(&scope.1));
            }
            // As the index has them.
            let order =
                if filter.connector_name.is_some() { "owner_did, word" } else { "owner_did, connector_name, word" };
            let _ = write!(
                union.text,
                " ORDER BY {order} LIMIT {GROUPS}) AS groups UNION ALL \
                SELECT word, '', NULL, CAST(sum(count) AS bigint), 0 FROM book_count"
            );
            of_viewer(&mut union, scope, book, filter);
            union.equals("owner_did", Some(&scope.1));
            union.grouped("word");
            union.text.push_str(" UNION ALL ");
            uncounted(&mut union, scope, book, filter);
        }
        let mut rest: BTreeMap<String, i64> = BTreeMap::new();
        let mut groups: BTreeMap<[String; 3], i64> = BTreeMap::new();
        let mut rows: Vec<Group> = union.all(&mut self.read().await?, 1).await?;
        // Those that were not counted yet come last: by then it is known which groups are told apart.
        rows.sort_by_key(|row| row.uncounted);
        let apart = rows.iter().filter(|row| row.uncounted == 0 && row.owner_did.is_some()).count();
        for row in rows {
            let Some(owner_did) = row.owner_did else {
                *rest.entry(row.word).or_default() += row.count;
                continue;
            };
            let owner_did = if book.by_owner() { owner_did } else { String::new() };
            let group = [row.word, row.connector_name, owner_did];
            if row.uncounted == 0 {
                *rest.entry(group[0].clone()).or_default() -= row.count;
            } else if apart >= GROUPS && !groups.contains_key(&group) {
                *rest.entry(group[0].clone()).or_default() += row.count;
                continue;
            }
            *groups.entry(group).or_default() += row.count;
        }
        let connector = filter.connector_name.clone().unwrap_or_default();
        for (word, count) in rest {
            *groups.entry([word, connector.clone(), String::new()]).or_default() += count;
        }
        groups.retain(|_, count| *count != 0);
        let mut groups: Vec<Counted> = groups
            .into_iter()
            .map(|([word, connector_name, owner_did], count)| Counted { word, connector_name, owner_did, count })
            .collect();
        groups.sort_by_key(|group| std::cmp::Reverse(group.count));
        Ok(groups)
    }

    /// How many operations are in each state, and watches in each status.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn count_totals(&self, viewer: &Viewer, filter: &StatisticsFilter) -> Result<Totals> {
        let _turn = self.shared.statistics.acquire().await;
        let mut totals = Totals::default();
        for ((book, word), count) in self.totals(viewer, filter).await? {
            match book {
                _ if count == 0 => {}
                Book::Operations => totals.operations.push((word, count)),
                Book::Watches => totals.watches.push((word, count)),
                Book::Deferred => {}
            }
        }
        Ok(totals)
    }

    async fn totals(&self, viewer: &Viewer, filter: &StatisticsFilter) -> Result<BTreeMap<(Book, String), i64>> {
        self.count_books(COUNTS_A_READ).await?;
        let mut totals = BTreeMap::new();
        for scope in &seen(viewer, filter.owner_did.as_deref()) {
            // One statement, so that what is counted meanwhile is in one part of it.
            let mut union = Select::default();
            for book in BOOKS {
                let joint = if union.text.is_empty() { "" } else { " UNION ALL " };
                let _ = write!(
                    union.text,
                    "{joint}SELECT '{}' AS book, word, CAST(sum(count) AS bigint) AS count FROM book_count",
                    book.word()
                );
                of_viewer(&mut union, scope, book, filter);
                union.equals("owner_did", Some(&scope.1));
                union.grouped("word");
                let _ = write!(union.text, " UNION ALL SELECT '{}', word, count FROM (", book.word());
                uncounted(&mut union, scope, book, filter);
                union.text.push_str(") AS uncounted");
            }
            for (name, word, count) in union.all::<(String, String, i64)>(&mut self.read().await?, 1).await? {
                let book = BOOKS.into_iter().find(|book| book.word() == name);
                *totals.entry((book.unwrap_or(Book::Deferred), word)).or_default() += count;
            }
        }
        Ok(totals)
    }

    /// How many need a person's eye, by reason. Those that are looked for as it is asked are counted to 10,000.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn count_attention(&self, viewer: &Viewer, filter: &StatisticsFilter, now: i64) -> Result<Attention> {
        let _turn = self.shared.statistics.acquire().await;
        let totals = self.totals(viewer, filter).await?;
        let total = |book: Book, word: &str| totals.get(&(book, word.to_owned())).copied().unwrap_or_default();
        let overdue = DueFilter { overdue_ms: LONG_MS, ..due(filter) };
        Ok(Attention {
            dead: total(Book::Operations, OperationState::Dead.as_str()),
            needs_reconcile: total(Book::Operations, OperationState::ReconcileOnly.as_str()),
            repair_failed: total(Book::Watches, WatchStatus::RepairFailed.as_str()),
            maybe_sent: self.count_stuck(viewer, filter, StuckReason::MaybeSent, now, COUNTED_MOST).await?,
            lease_expired_long_ago: self
                .count_stuck(viewer, filter, StuckReason::LeaseExpiredLongAgo, now, COUNTED_MOST)
                .await?,
            waiting_for_auth: total(Book::Deferred, DeferReason::Auth.as_str()),
            offline: total(Book::Deferred, DeferReason::Offline.as_str()),
            overdue: (self.due_operations(viewer, &overdue, now, &COUNT).await?.counted()
                + self.due_watches(viewer, &overdue, now, &COUNT).await?.counted())
            .min(COUNTED_MOST),
            sweep_refused: self.count_refused(viewer, filter).await?,
        })
    }

    /// How many operations are stuck so at `now`, as far as `most`.
    pub(super) async fn count_stuck(
        &self,
        viewer: &Viewer,
        of: &StatisticsFilter,
        stuck: StuckReason,
        now: i64,
        most: i64,
    ) -> Result<i64> {
        let filter = |select: &mut Select| {
            stuck.apply(select, now);
            unindexed(select, viewer, [&of.owner_did, &of.connector_name]);
        };
        let list = List::of(OPERATIONS, "", DUE_OPERATIONS, &filter);
        list.count_by(&mut self.read().await?, "lease_expires_at", most).await
    }

    async fn count_refused(&self, viewer: &Viewer, of: &StatisticsFilter) -> Result<i64> {
        let filter = |select: &mut Select| {
            select.and("state = 'refused'");
            select.equals("owner_did", viewer.confined_to());
            select.equals("owner_did", of.owner_did.as_deref());
            select.equals("connector_name", of.connector_name.as_deref());
        };
        let list = List::of(CANDIDATES, "", CANDIDATE_ORDER, &filter);
        list.count(&mut self.read().await?, COUNTED_MOST).await
    }

    /// How many operations and watches are due and nobody works on, each counted to 10,000, and since when the first is.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn count_due(&self, viewer: &Viewer, filter: &StatisticsFilter, now: i64) -> Result<Due> {
        let operations = self.due_operations(viewer, &due(filter), now, &COUNT).await?;
        let watches = self.due_watches(viewer, &due(filter), now, &COUNT).await?;
        let oldest =
            [operations.rows.first().and_then(Operation::due_at), watches.rows.first().and_then(Watch::due_at)];
        Ok(Due {
            operations: operations.counted(),
            watches: watches.counted(),
            oldest_due_at: oldest.into_iter().flatten().min(),
        })
    }
}
