//! Statements put together from fixed parts and arguments.
//!
//! Only the conditions that were asked for are in the text, so that each shape finds its index; the shapes are few and
//! stay prepared.

use std::fmt::Write as _;

use super::engine::{Arg, Connection, Sql};
use super::error::Result;
use super::list::Keyset;
use super::row::FromRow;

/// A SELECT in the making.
#[derive(Debug, Clone, Default)]
pub struct Select {
    pub(super) text: String,
    args: Vec<Arg>,
    pub(super) conditions: usize,
}

impl Select {
    /// A SELECT of these columns of a table.
    #[must_use]
    pub fn new(columns: &str, table: &str) -> Self {
        Self { text: format!("SELECT {columns} FROM {table}"), args: vec![], conditions: 0 }
    }

    /// An UPDATE of a table.
    #[must_use]
    pub fn update(table: &str) -> Self {
        Self { text: format!("UPDATE {table}"), args: vec![], conditions: 0 }
    }

    /// A DELETE of rows of a table.
    #[must_use]
    pub fn delete(table: &str) -> Self {
        Self { text: format!("DELETE FROM {table}"), args: vec![], conditions: 0 }
    }

    /// What an UPDATE sets: each `$` stands for the next of the values.
    pub fn set<T: Into<Arg>>(&mut self, assignments: &str, values: impl IntoIterator<Item = T>) {
        self.text.push_str(" SET ");
        let mut parts = assignments.split('$');
        self.text.push_str(parts.next().unwrap_or_default());
        for (value, part) in values.into_iter().zip(parts) {
            let place = self.arg(value);
            self.text.push_str(&place);
            self.text.push_str(part);
        }
    }

    /// The text of an UPDATE or DELETE that answers with the rows it wrote, and its arguments.
    #[must_use]
    pub fn returning(mut self, columns: &str) -> (String, Vec<Arg>) {
        let _ = write!(self.text, " RETURNING {columns}");
        (self.text, self.args)
    }

    /// The arguments alone, for a text put together elsewhere.
    #[must_use]
    pub fn into_args(self) -> Vec<Arg> {
        self.args
    }

    /// Adds an argument; its placeholder.
    pub fn arg(&mut self, value: impl Into<Arg>) -> String {
        self.args.push(value.into());
        format!("${}", self.args.len())
    }

    /// Adds a condition.
    pub fn and(&mut self, condition: &str) {
        self.text.push_str(if self.conditions == 0 { " WHERE " } else { " AND " });
        self.text.push_str(condition);
        self.conditions += 1;
    }

    /// Adds conditions that no index is to be taken for. PostgreSQL, which has no statistics of it either, takes it to be true of
    /// every second row, and so keeps to the order that is asked for.
    pub fn unindexed(&mut self, conditions: impl FnOnce(&mut Self)) {
        let (text, before) = (std::mem::take(&mut self.text), std::mem::take(&mut self.conditions));
        conditions(self);
        let (inner, added) = (std::mem::replace(&mut self.text, text), std::mem::replace(&mut self.conditions, before));
        if added > 0 {
            self.and(&format!("CASE WHEN {} THEN TRUE ELSE FALSE END", inner.trim_start_matches(" WHERE ")));
        }
    }

    /// The column holds this value, if one is asked for.
    pub fn equals<T: Into<Arg>>(&mut self, column: &str, value: Option<T>) {
        self.compares(column, "=", value);
    }

    /// The column compares so with this value, if one is asked for.
    pub fn compares<T: Into<Arg>>(&mut self, column: &str, operator: &str, value: Option<T>) {
        if let Some(value) = value {
            let place = self.arg(value);
            self.and(&format!("{column} {operator} {place}"));
        }
    }

    /// The column holds one of these values, if any are asked for; an empty list matches nothing.
    pub fn among<T: Into<Arg> + Clone>(&mut self, column: &str, values: Option<&[T]>) {
        let Some(values) = values else { return };
        match self.places(values) {
            None => self.and("1 = 0"),
            Some(places) => self.and(&format!("{column} IN ({places})")),
        }
    }

    /// The column holds none of these values.
    pub fn not_among<T: Into<Arg> + Clone>(&mut self, column: &str, values: &[T]) {
        if let Some(places) = self.places(values) {
            self.and(&format!("{column} NOT IN ({places})"));
        }
    }

    /// Adds arguments; their placeholders, none for no values.
    pub fn places<T: Into<Arg> + Clone>(&mut self, values: &[T]) -> Option<String> {
        let last = values.last()?;
        // Filled up to a power of two with the last value: a few shapes serve every length.
        let filler = std::iter::repeat_n(last, values.len().next_power_of_two() - values.len());
        let places: Vec<String> = values.iter().chain(filler).map(|value| self.arg(value.clone())).collect();
        Some(places.join(", "))
    }

    /// The columns hold one of these keys.
    pub fn keys<'k, const N: usize>(&mut self, columns: &[&str; N], keys: impl Iterator<Item = [&'k str; N]>) {
        let rows: Vec<String> = keys.map(|key| format!("({})", key.map(|part| self.arg(part)).join(", "))).collect();
        self.and(&format!("({}) IN (VALUES {})", columns.join(", "), rows.join(", ")));
    }

    /// The caller or the owner is this DID, if one is asked for.
    pub fn concerns(&mut self, did: Option<&str>) {
        if let Some(did) = did {
            let place = self.arg(did);
            self.and(&format!("(caller_did = {place} OR owner_did = {place})"));
        }
    }

    /// The first rows by one column.
    pub fn first_by(&mut self, column: &str, limit: usize) {
        let _ = write!(self.text, " ORDER BY {column} LIMIT {limit}");
    }

    /// What rows are grouped by, after the last condition.
    pub fn grouped(&mut self, columns: &str) {
        let _ = write!(self.text, " GROUP BY {columns}");
    }

    /// Rows on one side of a place in a list.
    pub(super) fn bound(&mut self, keyset: &Keyset, operator: &str, key: &[Arg]) {
        let places: Vec<String> = key.iter().map(|part| self.arg(part.clone())).collect();
        self.and(&format!("({}) {operator} ({})", keyset.columns.join(", "), places.join(", ")));
    }

    /// The first rows of a list, in its order.
    pub(super) fn ordered(&mut self, keyset: &Keyset, descending: bool, limit: usize) {
        let direction = if descending { " DESC" } else { "" };
        let order: Vec<String> = keyset.columns.iter().map(|column| format!("{column}{direction}")).collect();
        let _ = write!(self.text, " ORDER BY {} LIMIT {limit}", order.join(", "));
    }

    /// Runs it. One part has few shapes, which are kept prepared; many parts are as many shapes as there are counts.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn all<T: FromRow>(self, connection: &mut Connection, parts: usize) -> Result<Vec<T>> {
        let sql = if parts == 1 { Sql::Shaped(&self.text) } else { Sql::Once(&self.text) };
        connection.all(sql, self.args).await
    }
}
