//! Lists of many parents at once: what is written for each of them becomes one statement.

use std::fmt::Write as _;

use super::engine::{Connection, Engine};
use super::error::Result;
use super::list::List;
use super::row::{FromRow, Row};
use super::select::Select;

/// A part of a statement: the rows of one parent, as its columns tell, or all of them.
pub(super) type Part<'a> = Vec<(&'static str, &'a str)>;

/// Writes an arm for the part at a place, confined to it.
pub(super) type Write<'w> = dyn Fn(&mut Select, usize, &str, &dyn Fn(&mut Select)) + 'w;

/// The same, told the place as a number.
type WriteAt<'w> = dyn Fn(&mut Select, usize, usize, &dyn Fn(&mut Select)) + 'w;

/// A statement, and of how many parts it is put together.
pub(super) struct Statement {
    select: Select,
    parts: usize,
}

impl Statement {
    /// Runs it.
    pub(super) async fn run<T: FromRow>(self, connection: &mut Connection) -> Result<Vec<T>> {
        self.select.all(connection, self.parts).await
    }
}

/// A row, and the place of its part.
pub(super) struct Child<T>(pub(super) T, pub(super) i64);

impl<T: FromRow> FromRow for Child<T> {
    fn from_row(row: &Row) -> Result<Self> {
        Ok(Self(T::from_row(row)?, row.last("part")?))
    }
}

impl List<'_> {
    /// One statement for every part and arm, each written with its place and what confines it to its part.
    pub(super) fn of_each(&self, engine: Engine, parts: &[Part<'_>], write: &Write<'_>) -> Statement {
        match parts {
            [first, _, ..] if engine == Engine::Postgres => self.at_once(first, parts, write),
            _ => self.one_by_one(parts, &|select, arm, place, confine| write(select, arm, &place.to_string(), confine)),
        }
    }

    /// One after the other.
    pub(super) fn one_by_one(&self, parts: &[Part<'_>], write: &WriteAt<'_>) -> Statement {
        let (mut select, arms) = (Select::default(), self.arms());
        for (place, part) in parts.iter().enumerate() {
            for arm in arms.clone() {
                select.text.push_str(if select.text.is_empty() { "" } else { " UNION ALL " });
                write(&mut select, arm, place, &|select| {
                    for (column, parent) in part {
                        select.equals(column, Some(*parent));
                    }
                });
            }
        }
        Statement { select, parts: parts.len() * arms.len() }
    }

    /// Written once for all parts, which come as a list: to plan the same for each of a hundred takes longer than to run it.
    fn at_once(&self, first: &Part<'_>, parts: &[Part<'_>], write: &Write<'_>) -> Statement {
        let keys: Vec<Vec<&str>> = parts.iter().map(|part| part.iter().map(|(_, parent)| *parent).collect()).collect();
        let mut select = Select::default();
        let keys = select.arg(serde_json::json!(keys).to_string());
        let _ = write!(
            select.text,
            "SELECT child.* FROM json_array_elements({keys}::json) WITH ORDINALITY AS parent(keys, place) CROSS JOIN LATERAL ("
        );
        for arm in self.arms() {
            select.text.push_str(if arm == 0 { "" } else { " UNION ALL " });
            write(&mut select, arm, "parent.place - 1", &|select| {
                for (place, (column, _)) in first.iter().enumerate() {
                    select.and(&format!("{column} = (parent.keys->>{place}) COLLATE \"C\""));
                }
            });
        }
        select.text.push_str(") AS child");
        Statement { select, parts: 1 }
    }
}
