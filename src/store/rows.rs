//! Many rows in one INSERT.

use std::fmt::Write as _;

use super::engine::{Arg, Connection, Sql};
use super::error::Result;
use super::row::FromRow;

/// The most rows that one statement inserts.
const ROWS_A_STATEMENT: usize = 64;

/// Inserts rows in their order: `head` is everything up to VALUES, `tail` what follows the rows. Answers with what the
/// tail returns.
pub(super) async fn insert_many<T: FromRow>(
    connection: &mut Connection,
    (head, tail): (&str, &str),
    rows: Vec<Vec<Arg>>,
) -> Result<Vec<T>> {
    let mut left = rows.len();
    let mut rows = rows.into_iter();
    let mut returned = vec![];
    while left > 0 {
        // Powers of two: seven shapes of the statement serve every count.
        let most = left.min(ROWS_A_STATEMENT);
        let count = if most.is_power_of_two() { most } else { most.next_power_of_two() / 2 };
        let mut text = format!("{head} VALUES ");
        let mut args: Vec<Arg> = vec![];
        for row in rows.by_ref().take(count) {
            text.push_str(if args.is_empty() { "(" } else { ", (" });
            for place in 1..=row.len() {
                let _ = write!(text, "{}${}", if place == 1 { "" } else { ", " }, args.len() + place);
            }
            text.push(')');
            args.extend(row);
        }
        text.push_str(tail);
        returned.extend(connection.all::<T>(Sql::Shaped(&text), args).await?);
        left -= count;
    }
    Ok(returned)
}
