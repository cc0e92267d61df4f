//! Node keys that are digests of primary keys, in a column of ours.
//!
//! Rows that the package wrote have none until they are adopted: by upkeep, or sooner when a node id is asked for that no row
//! has. Either does it some hundred rows at a time.

use super::engine::{Arg, Connection, Sql};
use super::error::Result;
use super::row::Texts;
use super::tx::Tx;
use crate::domain::ids::digest;

/// Rows adopted by one act.
const ADOPTED: usize = 500;

/// A table whose rows are named by the digest of their primary key, which is of texts alone.
#[derive(Debug)]
pub struct Digested {
    /// The table.
    pub(super) table: &'static str,
    /// Its primary key, in column order.
    pub(super) key: &'static [&'static str],
}

impl Digested {
    fn unadopted(&self, limit: usize) -> String {
        format!("SELECT {} FROM {} WHERE node_key IS NULL LIMIT {limit}", self.key.join(", "), self.table)
    }

    /// Whether there are rows without a node key.
    pub(super) async fn has_unadopted(&self, connection: &mut Connection) -> Result<bool> {
        Ok(connection.first::<Texts>(Sql::Shaped(&self.unadopted(1)), vec![]).await?.is_some())
    }

    /// Gives some of the package's rows their node keys; how many were found, at most 500 at once.
    pub(super) async fn adopt(&self, tx: &mut Tx) -> Result<usize> {
        let conditions: Vec<String> =
            self.key.iter().zip(2..).map(|(column, place)| format!("{column} = ${place}")).collect();
        let update =
            format!("UPDATE {} SET node_key = $1 WHERE {} AND node_key IS NULL", self.table, conditions.join(" AND "));
        let rows: Vec<Texts> = tx.all(Sql::Shaped(&self.unadopted(ADOPTED)), vec![]).await?;
        let count = rows.len();
        for Texts(key) in rows {
            let parts: Vec<&str> = key.iter().map(String::as_str).collect();
            let mut args = vec![Arg::from(digest(&parts))];
            args.extend(key.into_iter().map(Arg::from));
            tx.write(Sql::Shaped(&update), args).await?;
        }
        Ok(count)
    }
}
