//! Lists: pages by keyset, of one list or of many parents' lists at once.

use std::fmt::Write as _;
use std::sync::Arc;

use super::engine::{Arg, Connection};
use super::error::{Error, Result};
use super::parts::{Child, Part};
use super::row::FromRow;
use super::select::Select;

/// Counting stops here.
pub const COUNTED_MOST: i64 = 10_000;
/// Parents whose children one statement fetches.
const KEYS_A_STATEMENT: usize = 128;

/// The columns that order a list and make each row's place unique.
#[derive(Debug, Clone, Copy)]
pub struct Keyset {
    /// Their names, the most significant first.
    pub columns: &'static [&'static str],
    /// Whether the list runs from the highest.
    pub descending: bool,
}

/// Which rows of a list are asked for; the bounds were checked at the border.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Slice {
    /// Rows at most.
    pub limit: usize,
    /// Whether the last ones of the range are meant instead of the first.
    pub backward: bool,
    /// Only rows after this key.
    pub after: Option<Vec<KeyPart>>,
    /// Only rows before this key.
    pub before: Option<Vec<KeyPart>>,
    /// Whether to find out if there are rows on the side that the page comes from.
    pub look_back: bool,
    /// Whether to count the whole list.
    pub count: bool,
}

/// One column of a keyset key.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum KeyPart {
    /// A number.
    Int(i64),
    /// A text.
    Text(String),
}

impl From<KeyPart> for Arg {
    fn from(part: KeyPart) -> Self {
        match part {
            KeyPart::Int(int) => Self::from(int),
            KeyPart::Text(text) => Self::from(text),
        }
    }
}

fn key_args(key: &[KeyPart]) -> Vec<Arg> {
    key.iter().cloned().map(Arg::from).collect()
}

/// A row that knows its place in a list.
pub trait Keyed {
    /// Its key in the list's keyset.
    fn key(&self, keyset: &Keyset) -> Vec<KeyPart>;
}

/// A page of a list, in the list's order.
#[derive(Debug, Clone)]
pub struct Page<T> {
    /// The rows.
    pub rows: Vec<T>,
    /// Whether rows follow the page.
    pub has_next: bool,
    /// Whether rows come before the page.
    pub has_previous: bool,
    /// How many rows the list has, to 10,001, where that was asked for.
    pub total: Option<i64>,
}

impl<T> Default for Page<T> {
    /// A page of a list without rows.
    fn default() -> Self {
        Self { rows: vec![], has_next: false, has_previous: false, total: Some(0) }
    }
}

impl<T> Page<T> {
    /// The same page with rows that many may hold at no cost.
    #[must_use]
    pub fn shared(self) -> Page<Arc<T>> {
        let Self { rows, has_next, has_previous, total } = self;
        Page { rows: rows.into_iter().map(Arc::new).collect(), has_next, has_previous, total }
    }

    /// How many rows the list has, to 10,000, where that was asked for.
    #[must_use]
    pub fn counted(&self) -> i64 {
        self.total.unwrap_or_default().min(COUNTED_MOST)
    }
}

/// Adds a condition on the part at a place.
type Condition<'c> = dyn Fn(&mut Select, usize) + Sync + 'c;

/// A list: its table, its order, and the conditions that confine it.
pub struct List<'a> {
    /// Where its rows are.
    pub table: &'static str,
    /// The columns of a row.
    pub columns: &'static str,
    /// Its order.
    pub keyset: Keyset,
    /// Adds the conditions.
    pub filter: &'a (dyn Fn(&mut Select) + Sync),
    /// Only rows whose owner or caller is each of these DIDs. Every one makes two lists of it, of owners and of other callers,
    /// which are read in order by an index each and put together.
    pub concerning: Vec<&'a str>,
    /// A column, and values of it: each makes a list of its own, which an index has in order where it has not for several.
    pub one_of: Option<(&'static str, Vec<&'a str>)>,
}

impl<'a> List<'a> {
    /// A list that is read as one.
    #[must_use]
    pub const fn of(
        table: &'static str,
        columns: &'static str,
        keyset: Keyset,
        filter: &'a (dyn Fn(&mut Select) + Sync),
    ) -> Self {
        Self { table, columns, keyset, filter, concerning: vec![], one_of: None }
    }

    /// The same of these DIDs.
    #[must_use]
    pub fn concerning(self, dids: impl IntoIterator<Item = &'a str>) -> Self {
        Self { concerning: dids.into_iter().collect(), ..self }
    }

    /// The operators for "after" and "before" in the list's own direction.
    const fn operators(&self) -> (&'static str, &'static str) {
        if self.keyset.descending { ("<", ">") } else { (">", "<") }
    }

    fn slice(&self, select: &mut Select, slice: &Slice) {
        let (after, before) = self.operators();
        if let Some(key) = &slice.after {
            select.bound(&self.keyset, after, &key_args(key));
        }
        if let Some(key) = &slice.before {
            select.bound(&self.keyset, before, &key_args(key));
        }
        // One row more tells whether there are more.
        select.ordered(&self.keyset, self.keyset.descending != slice.backward, slice.limit + 1);
    }

    /// One page.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn page<T: FromRow + Keyed>(&self, connection: &mut Connection, slice: &Slice) -> Result<Page<T>> {
        let pages = self.pages(connection, &[vec![]], slice).await?;
        pages.into_iter().next().ok_or(Error::Guard(self.table, 0))
    }

    /// How many rows it has, as far as `most`.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn count(&self, connection: &mut Connection, most: i64) -> Result<i64> {
        let counts = self.counts(connection, &[vec![]], "", most, None).await?;
        Ok(counts.into_iter().sum::<i64>().min(most))
    }

    /// As `count`, by an index that begins with this column: a planner without statistics would take another, and look at many
    /// rows to find few.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn count_by(&self, connection: &mut Connection, column: &str, most: i64) -> Result<i64> {
        let order = format!(" ORDER BY {column}");
        let counts = self.counts(connection, &[vec![]], &order, most, None).await?;
        Ok(counts.into_iter().sum::<i64>().min(most))
    }

    /// The least number in a column of its rows; none without rows.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn least(&self, connection: &mut Connection, column: &str) -> Result<Option<i64>> {
        let mut union = Select::default();
        for arm in self.arms() {
            let joint = if union.text.is_empty() { "" } else { " UNION ALL " };
            let _ = write!(union.text, "{joint}SELECT * FROM (SELECT {column} FROM {}", self.table);
            self.confine(&mut union, arm, &|_| {});
            let _ = write!(union.text, " ORDER BY {column} LIMIT 1) AS least_{arm}");
        }
        let found: Vec<(i64,)> = union.all(connection, 1).await?;
        Ok(found.into_iter().map(|(least,)| least).min())
    }

    /// The same page for each of several parents, told apart by `column`, in one statement per 128 of them.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn page_each<T: FromRow + Keyed>(
        &self,
        connection: &mut Connection,
        column: &'static str,
        parents: &[String],
        slice: &Slice,
    ) -> Result<Vec<Page<T>>> {
        let mut pages = Vec::with_capacity(parents.len());
        for chunk in parents.chunks(KEYS_A_STATEMENT) {
            let parts: Vec<Part<'_>> = chunk.iter().map(|parent| vec![(column, parent.as_str())]).collect();
            pages.extend(self.pages(connection, &parts, slice).await?);
        }
        Ok(pages)
    }

    /// As `page_each`, for parents that several columns tell apart.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn page_each_key<T: FromRow + Keyed, const N: usize>(
        &self,
        connection: &mut Connection,
        columns: [&'static str; N],
        parents: &[[String; N]],
        slice: &Slice,
    ) -> Result<Vec<Page<T>>> {
        let mut pages = Vec::with_capacity(parents.len());
        for chunk in parents.chunks(KEYS_A_STATEMENT) {
            let values = |key| <[String; N]>::each_ref(key).map(String::as_str);
            let parts: Vec<Part<'_>> = chunk.iter().map(|key| columns.into_iter().zip(values(key)).collect()).collect();
            pages.extend(self.pages(connection, &parts, slice).await?);
        }
        Ok(pages)
    }

    async fn pages<T: FromRow + Keyed>(
        &self,
        connection: &mut Connection,
        parts: &[Part<'_>],
        slice: &Slice,
    ) -> Result<Vec<Page<T>>> {
        let mut pages: Vec<Page<T>> =
            self.rows(connection, parts, slice).await?.into_iter().map(|rows| self.cut(rows, slice)).collect();
        let entered = if slice.backward { &slice.before } else { &slice.after };
        if let (true, Some(entered)) = (slice.look_back, entered) {
            let (after, before) = self.operators();
            let operator = if slice.backward { after } else { before };
            let edges: Vec<Option<Vec<KeyPart>>> = pages
                .iter()
                .map(|page| if slice.backward { page.rows.last() } else { page.rows.first() })
                .map(|row| row.map(|row| row.key(&self.keyset)))
                .collect();
            let behind = |select: &mut Select, place: usize| match &edges[place] {
                Some(key) => select.bound(&self.keyset, operator, &key_args(key)),
                // An empty page: the row of the cursor itself counts.
                None => select.bound(&self.keyset, &format!("{operator}="), &key_args(entered)),
            };
            for (page, count) in pages.iter_mut().zip(self.counts(connection, parts, "", 1, Some(&behind)).await?) {
                let side = if slice.backward { &mut page.has_next } else { &mut page.has_previous };
                *side = count > 0;
            }
        }
        if slice.count {
            let totals = self.counts(connection, parts, "", COUNTED_MOST + 1, None).await?;
            pages.iter_mut().zip(totals).for_each(|(page, total)| page.total = Some(total));
        }
        Ok(pages)
    }

    /// The rows of each part, one more than a page holds.
    async fn rows<T: FromRow + Keyed>(
        &self,
        connection: &mut Connection,
        parts: &[Part<'_>],
        slice: &Slice,
    ) -> Result<Vec<Vec<T>>> {
        let all = self.of_each(connection.engine(), parts, &|select, arm, place, confine| {
            let (columns, table) = (self.columns, self.table);
            let _ = write!(select.text, "SELECT * FROM (SELECT {columns}, {place} AS part FROM {table}");
            self.confine(select, arm, confine);
            self.slice(select, slice);
            select.text.push_str(") AS arm");
        });
        let mut each: Vec<Vec<T>> = parts.iter().map(|_| vec![]).collect();
        for Child(row, place) in all.run::<Child<T>>(connection).await? {
            if let Some(rows) = usize::try_from(place).ok().and_then(|place| each.get_mut(place)) {
                rows.push(row);
            }
        }
        Ok(each)
    }

    /// How many rows each part has, as far as `most`, walked in an order; under one more condition, if there is one for each.
    async fn counts(
        &self,
        connection: &mut Connection,
        parts: &[Part<'_>],
        order: &str,
        most: i64,
        condition: Option<&Condition<'_>>,
    ) -> Result<Vec<i64>> {
        let count = |select: &mut Select, arm: usize, place: &str, confine: &dyn Fn(&mut Select)| {
            let _ = write!(select.text, "SELECT (SELECT count(*) FROM (SELECT 1 FROM {}", self.table);
            self.confine(select, arm, confine);
            let _ = write!(select.text, "{order} LIMIT {most}) AS counted), {place}");
        };
        let all = match condition {
            None => self.of_each(connection.engine(), parts, &count),
            Some(condition) => self.one_by_one(parts, &|select, arm, place, confine| {
                count(select, arm, &place.to_string(), &|select| {
                    confine(select);
                    condition(select, place);
                });
            }),
        };
        let mut counts = vec![0; parts.len()];
        for (count, place) in all.run::<(i64, i64)>(connection).await? {
            if let Some(slot) = usize::try_from(place).ok().and_then(|place| counts.get_mut(place)) {
                *slot += count;
            }
        }
        Ok(counts)
    }

    /// The lists that make up this one: each DID's rows are those of its own, and those that it called for others; each value's
    /// are its own.
    pub(super) fn arms(&self) -> std::ops::Range<usize> {
        let values = self.one_of.as_ref().map_or(1, |(_, values)| values.len());
        0..values << self.concerning.len()
    }

    /// Adds the conditions of an arm, and those that `confine` adds.
    fn confine(&self, select: &mut Select, arm: usize, confine: &dyn Fn(&mut Select)) {
        select.conditions = 0;
        (self.filter)(select);
        if let Some((column, values)) = &self.one_of {
            select.equals(column, values.get(arm >> self.concerning.len()).copied());
        }
        for (bit, did) in self.concerning.iter().enumerate() {
            if arm >> bit & 1 == 0 {
                select.equals("owner_did", Some(*did));
            } else {
                select.equals("caller_did", Some(*did));
                select.compares("owner_did", "<>", Some(*did));
            }
        }
        confine(select);
    }

    /// Takes the one row too many off. The rows are put in order here: a UNION promises none.
    fn cut<T: Keyed>(&self, mut rows: Vec<T>, slice: &Slice) -> Page<T> {
        let descending = self.keyset.descending != slice.backward;
        rows.sort_by(|a, b| {
            let order = a.key(&self.keyset).cmp(&b.key(&self.keyset));
            if descending { order.reverse() } else { order }
        });
        let more = rows.len() > slice.limit;
        rows.truncate(slice.limit);
        if slice.backward {
            rows.reverse();
        }
        Page { rows, has_next: more && !slice.backward, has_previous: more && slice.backward, total: None }
    }
}
