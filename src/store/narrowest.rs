//! By which of its conditions a list is read: by the one that the fewest rows meet.
//!
//! A planner without statistics, or without an idea of which conditions go together, reads a million rows to find ten. So the
//! rows of each condition are counted first, in its index and no further than it matters, and the others are asked of each
//! row that is found, so that no index could be taken for them instead.

use std::fmt::Write as _;

use super::engine::Connection;
use super::error::Result;
use super::list::{Keyset, List};
use super::select::Select;

/// Rows that are sorted for a list, or looked at in vain. Where more meet each condition, the list is walked in its order.
pub(super) const FEW: i64 = 30_000;
/// Counted first: most often one of the conditions has no more.
const FEWER: i64 = 1_000;
/// Lists that one is put together from at most: they are planned anew each time.
const ARMS: usize = 32;

const UPDATED: &str = "updated_at";

/// A condition that an index knows.
#[derive(Debug, Clone)]
enum Condition<'a> {
    /// The column holds one of these values. Of each value, indexes have the rows in the order of these columns.
    Among(&'static str, Vec<&'a str>, &'static [&'static str]),
    /// The same beside another column's value, which its indexes begin with: they know what is not to be found, which one of each
    /// column does not.
    Beside((&'static str, &'a str), &'static str, Vec<&'a str>, &'static [&'static str]),
    /// The owner or the caller is this DID.
    Concerns(&'a str),
    /// Changed from this time on, and before that one.
    Updated(Option<i64>, Option<i64>),
}

/// The conditions of a list. Of two that many rows meet, the first counts as the one that fewer do.
#[derive(Debug)]
pub(super) struct Conditions<'a> {
    table: &'static str,
    all: Vec<Condition<'a>>,
}

/// How a list is read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Way {
    /// The place of the condition that an index finds the rows by; without one they are walked in the list's order.
    by: Option<usize>,
    keyset: Keyset,
    /// Whether that index has them by their last change too, for a list of some time.
    ranged: bool,
}

impl Way {
    /// By something else than these conditions, and in this order.
    pub(super) const fn other(keyset: Keyset) -> Self {
        Self { by: None, keyset, ranged: false }
    }
}

impl<'a> Condition<'a> {
    /// Whether an index has its rows in the order of this column.
    fn is_ordered_by(&self, column: &str) -> bool {
        match self {
            Self::Among(_, values, orders) | Self::Beside(_, _, values, orders) => {
                values.len() <= ARMS && orders.contains(&column)
            }
            Self::Concerns(_) => true,
            Self::Updated(..) => column == UPDATED,
        }
    }

    /// The column and the values of which a list of its rows is put together.
    fn one_of(&self) -> Option<(&'static str, &[&'a str])> {
        match self {
            Self::Among(column, values, _) | Self::Beside(_, column, values, _) => {
                (2..=ARMS).contains(&values.len()).then_some((column, values))
            }
            Self::Concerns(_) | Self::Updated(..) => None,
        }
    }

    /// Adds it; `but` what a list of it is put together by.
    fn apply(&self, select: &mut Select, but: bool) {
        let among = |select: &mut Select, column: &str, values: &[&str]| match values {
            _ if but && self.one_of().is_some() => {}
            [value] => select.equals(column, Some(*value)),
            values => select.among(column, Some(values)),
        };
        match self {
            Self::Among(column, values, _) => among(select, column, values),
            Self::Beside((first, value), column, values, _) => {
                select.equals(first, Some(*value));
                among(select, column, values);
            }
            Self::Concerns(_) if but => {}
            Self::Concerns(did) => select.concerns(Some(did)),
            Self::Updated(since, before) => {
                select.compares(UPDATED, ">=", *since);
                select.compares(UPDATED, "<", *before);
            }
        }
    }
}

/// The connector that is asked for, or those that rows of the model are by, each found by a step in the index by both; none where no
/// model is asked for, or too many are found for a list to be put together from.
pub(super) async fn connectors_of(
    connection: &mut Connection,
    table: &str,
    model: Option<&str>,
    connector: Option<&str>,
) -> Result<Option<Vec<String>>> {
    let Some(model) = model else { return Ok(None) };
    if let Some(connector) = connector {
        return Ok(Some(vec![connector.to_owned()]));
    }
    let mut select = Select::default();
    let model = select.arg(model);
    let next = format!("SELECT min(connector_name) FROM {table} WHERE model = {model}");
    let _ = write!(
        select.text,
        "WITH RECURSIVE connector(name) AS (SELECT ({next}) UNION ALL \
        SELECT ({next} AND connector_name > connector.name) FROM connector WHERE name IS NOT NULL) \
        SELECT name FROM connector WHERE name IS NOT NULL LIMIT {}",
        ARMS + 1
    );
    let found: Vec<(String,)> = select.all(connection, 1).await?;
    Ok((found.len() <= ARMS).then(|| found.into_iter().map(|(name,)| name).collect()))
}

impl<'a> Conditions<'a> {
    /// None yet.
    pub(super) const fn of(table: &'static str) -> Self {
        Self { table, all: vec![] }
    }

    /// Adds that a column holds one of these values, if any are asked for; `orders` are those that its indexes go on with.
    pub(super) fn among(
        &mut self,
        column: &'static str,
        values: Option<impl IntoIterator<Item = &'a str>>,
        orders: &'static [&'static str],
    ) {
        if let Some(values) = values {
            let mut values: Vec<&str> = values.into_iter().collect();
            values.sort_unstable();
            values.dedup();
            self.all.push(Condition::Among(column, values, orders));
        }
    }

    /// Adds that a row is of a model, if one is asked for; by which connectors, as `connectors_of` says: most have models of their own.
    pub(super) fn of_model(
        &mut self,
        model: Option<&'a str>,
        connectors: Option<&'a [String]>,
        orders: &'static [&'static str],
    ) {
        if let Some(model) = model {
            self.all.push(match connectors {
                Some(found) => {
                    let found = found.iter().map(String::as_str).collect();
                    Condition::Beside(("model", model), "connector_name", found, orders)
                }
                None => Condition::Among("model", vec![model], &[]),
            });
        }
    }

    /// Adds that a row is of an owner, if one is asked for, by this connector, if one is.
    pub(super) fn of_owner(
        &mut self,
        owner: Option<&'a str>,
        connector: Option<&'a str>,
        orders: &'static [&'static str],
    ) {
        match (owner, connector) {
            (Some(owner), Some(one)) => {
                self.all.push(Condition::Beside(("owner_did", owner), "connector_name", vec![one], orders));
            }
            (owner, _) => self.among("owner_did", owner.map(|one| [one]), orders),
        }
    }

    /// Adds that the owner or the caller is this DID, if one is asked for.
    pub(super) fn concerns(&mut self, did: Option<&'a str>) {
        self.all.extend(did.map(Condition::Concerns));
    }

    /// Adds when a row was changed, if it matters.
    pub(super) fn updated(&mut self, since: Option<i64>, before: Option<i64>) {
        if since.is_some() || before.is_some() {
            self.all.push(Condition::Updated(since, before));
        }
    }

    fn by(&self, way: &Way) -> Option<&Condition<'a>> {
        way.by.and_then(|place| self.all.get(place))
    }

    /// How to read them in an order; `sorted` is the same one of an expression, for rows that no index has in it.
    pub(super) async fn way(&self, connection: &mut Connection, keyset: Keyset, sorted: Keyset) -> Result<Way> {
        let order = keyset.columns.first().copied().unwrap_or_default();
        let by = self.all.iter().position(|condition| condition.is_ordered_by(order));
        let walk = Way { by, keyset, ranged: order == UPDATED && by.is_some() };
        // There is nothing to choose.
        if self.all.len() == by.iter().len() {
            return Ok(walk);
        }
        for most in [FEWER, FEW] {
            let counts = self.count(connection, most).await?;
            let least = (0..).zip(&self.all).zip(counts).min_by_key(|(_, count)| *count);
            if let Some(((place, condition), count)) = least
                && count < most
            {
                let ranged = condition.is_ordered_by(UPDATED) && self.time().is_some();
                let in_order = condition.is_ordered_by(order) && (order == UPDATED || !ranged);
                return Ok(Way { by: Some(place), keyset: if in_order { keyset } else { sorted }, ranged });
            }
        }
        match self.all.as_slice() {
            // Whether the times or the order find more in vain, the database knows best.
            [Condition::Updated(..)] => Ok(Way { by: Some(0), ..walk }),
            _ => Ok(walk),
        }
    }

    /// The times that are asked for, and their place.
    fn time(&self) -> Option<(usize, &Condition<'a>)> {
        self.all.iter().enumerate().find(|(_, condition)| matches!(condition, Condition::Updated(..)))
    }

    /// How many rows meet each of them, as far as `most`; of the time that is asked for, where an index has that too.
    async fn count(&self, connection: &mut Connection, most: i64) -> Result<Vec<i64>> {
        let mut counts = vec![0; self.all.len()];
        let mut select = Select::default();
        for (place, condition) in self.all.iter().enumerate() {
            let columns: &[&str] =
                if matches!(condition, Condition::Concerns(_)) { &["owner_did", "caller_did"] } else { &[""] };
            for column in columns {
                let joint = if select.text.is_empty() { "" } else { " UNION ALL " };
                let _ = write!(select.text, "{joint}SELECT (SELECT count(*) FROM (SELECT 1 FROM {}", self.table);
                select.conditions = 0;
                if let Condition::Concerns(did) = condition {
                    select.equals(column, Some(*did));
                } else {
                    condition.apply(&mut select, false);
                }
                if let Some((other, time)) = self.time()
                    && other != place
                    && condition.is_ordered_by(UPDATED)
                {
                    time.apply(&mut select, false);
                }
                let _ = write!(select.text, " LIMIT {most}) AS counted), {place}");
            }
        }
        for (count, place) in select.all::<(i64, i64)>(connection, 1).await? {
            if let Some(slot) = usize::try_from(place).ok().and_then(|place| counts.get_mut(place)) {
                *slot += count;
            }
        }
        Ok(counts)
    }

    /// Adds what the rows of `list` have to meet.
    pub(super) fn apply(&self, select: &mut Select, way: &Way) {
        let (indexed, others): (Vec<_>, Vec<_>) = (0..).zip(&self.all).partition(|(place, condition)| {
            way.by == Some(*place) || (way.ranged && matches!(condition, Condition::Updated(..)))
        });
        for (place, condition) in indexed {
            condition.apply(select, way.by == Some(place));
        }
        select.unindexed(|select| others.iter().for_each(|(_, condition)| condition.apply(select, false)));
    }

    /// The list that is read so; its filter has to `apply` them.
    pub(super) fn list<'l>(
        &'l self,
        way: &Way,
        columns: &'static str,
        filter: &'l (dyn Fn(&mut Select) + Sync),
    ) -> List<'l> {
        let list = List::of(self.table, columns, way.keyset, filter);
        match self.by(way) {
            Some(Condition::Concerns(did)) => list.concerning([*did]),
            Some(by) => List { one_of: by.one_of().map(|(column, values)| (column, values.to_vec())), ..list },
            None => list,
        }
    }
}
