//! Statistics of the changes over time, from the log itself or, where that is long, from the kept counts of it.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::Store;
use super::counts::{COUNTS_A_READ, SPANS_MS, seen};
use super::engine::Sql;
use super::error::Result;
use super::row::row;
use super::select::Select;
use super::statistics::StatisticsFilter;
use crate::domain::viewer::Viewer;

/// Changes that are counted one by one; in more, whole minutes or hours are.
const ONE_BY_ONE: i64 = 5_000;
/// Spans that are read at most before longer ones are taken: a day and an hour's minutes.
const SPANS: i64 = 1_500;

/// How many changes there were in a part of a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// Which part, from 0.
    pub part: i64,
    /// What was done.
    pub transition: String,
    /// Where it led; empty for none.
    pub to_state: String,
    /// How often.
    pub count: i64,
}

row!(Outcome from "change_event" { part, transition, to_state, count });

/// A time in equal parts.
#[derive(Debug, Clone, Copy)]
pub struct OverTime {
    /// The first instant of it, in ms since the epoch.
    pub from: i64,
    /// The first instant after it.
    pub to: i64,
    /// How many parts.
    pub parts: i64,
    /// The last change that every reader can have seen.
    pub settled_through: i64,
}

/// Begins with the part of a time that an instant is in.
fn part_of(select: &mut Select, instant: &str, OverTime { from, to, parts, .. }: &OverTime) {
    let [from, parts, length] = [*from, *parts, to - from].map(|value| select.arg(value));
    let instant = instant.replace("{from}", &from);
    let _ = write!(select.text, "SELECT CAST(({instant} - {from}) * {parts} / {length} AS bigint) AS part");
}

/// The time of a change, as the index over it has it.
const AT: &str = "at";
/// The same for few changes that are found by their number: an expression has no index, which a planner could take instead.
const AT_OF_FEW: &str = "(at + 0)";

/// SELECTs the changes themselves.
fn one_by_one(select: &mut Select, at: &str, viewer: &Viewer, filter: &StatisticsFilter, time: &OverTime) {
    part_of(select, at, time);
    select.text.push_str(", transition, coalesce(to_state, '') AS outcome, count(*) AS count FROM change_event");
    select.conditions = 0;
    select.compares(at, ">=", Some(time.from));
    select.compares(at, "<", Some(time.to));
    select.compares("sequence", "<=", Some(time.settled_through));
    select.concerns(viewer.confined_to());
    select.equals("owner_did", filter.owner_did.as_deref());
    select.equals("connector_name", filter.connector_name.as_deref());
}

impl Store {
    /// How many changes were made from one time up to another, in equal parts of it, by what was done and where it led. Where
    /// there are more than 5,000 in that time, whole minutes are counted by when they begin, or whole hours in more than a day.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn outcomes(&self, viewer: &Viewer, filter: &StatisticsFilter, time: &OverTime) -> Result<Vec<Outcome>> {
        let OverTime { from, to, settled_through, .. } = *time;
        let _turn = self.shared.statistics.acquire().await;
        let mut made = Select::new("1", "change_event");
        made.compares("at", ">=", Some(from));
        made.compares("at", "<", Some(to));
        let text = format!("SELECT count(*) FROM ({} LIMIT {}) AS made", made.text, ONE_BY_ONE + 1);
        let found = self.read().await?.first::<(i64,)>(Sql::Shaped(&text), made.into_args()).await?;
        if found.is_none_or(|(count,)| count <= ONE_BY_ONE) {
            let mut select = Select::default();
            one_by_one(&mut select, AT, viewer, filter, time);
            select.grouped("1, 2, 3");
            return select.all(&mut self.read().await?, 1).await;
        }
        self.count_outcomes(settled_through, COUNTS_A_READ).await?;
        let span = SPANS_MS.into_iter().find(|span| (to - from) / span <= SPANS).unwrap_or(SPANS_MS[1]);
        // One statement, so that what is counted meanwhile is in one part of it.
        let mut union = Select::default();
        for (seen_by, owner) in seen(viewer, filter.owner_did.as_deref()) {
            // A span that began before the time does belongs to its first part.
            part_of(&mut union, "CASE WHEN starts_at < {from} THEN {from} ELSE starts_at END", time);
            union
                .text
                .push_str(", transition, to_state AS outcome, CAST(sum(count) AS bigint) AS count FROM outcome_count");
            union.conditions = 0;
            union.equals("viewer_did", Some(&seen_by));
            union.equals("owner_did", Some(&owner));
            union.equals("span_ms", Some(span));
            union.compares("starts_at", ">", Some(from - span));
            union.compares("starts_at", "<", Some(to));
            union.equals("connector_name", filter.connector_name.as_deref());
            union.grouped("1, 2, 3");
            union.text.push_str(" UNION ALL ");
        }
        one_by_one(&mut union, AT_OF_FEW, viewer, filter, time);
        union.and("sequence > (SELECT counted_through FROM outcome_counted)");
        union.grouped("1, 2, 3");
        let mut sums: BTreeMap<(i64, String, String), i64> = BTreeMap::new();
        for Outcome { part, transition, to_state, count } in union.all(&mut self.read().await?, 1).await? {
            *sums.entry((part, transition, to_state)).or_default() += count;
        }
        let outcomes =
            sums.into_iter().map(|((part, transition, to_state), count)| Outcome { part, transition, to_state, count });
        Ok(outcomes.collect())
    }
}
