//! Rows of both drivers and what is read from them: words, numbers and texts, each checked as it comes in.
//!
//! A row that cannot be is an error that names its table and column; nothing is defaulted.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use super::engine::Arg;
use super::error::{Error, Result};
use crate::domain::sweeps::SweepCandidateState;
use crate::domain::sync::SyncStatus;
use crate::domain::words::{DeferReason, DocumentWriteState, EntityKind, OperationOp, OperationState, WatchStatus};

/// What is wrong with a column.
type Fault = Box<dyn std::error::Error + Send + Sync>;

/// A row of either driver.
#[derive(Debug)]
pub enum Row {
    #[doc(hidden)]
    Sqlite(SqliteRow),
    #[doc(hidden)]
    Postgres(PgRow),
}

impl Row {
    fn len(&self) -> usize {
        match self {
            Self::Sqlite(row) => row.len(),
            Self::Postgres(row) => row.len(),
        }
    }

    /// The last column, which a list adds to a table's own.
    ///
    /// # Errors
    /// `Corrupt` when it holds what cannot be.
    pub fn last<T: FromColumn>(&self, column: &'static str) -> Result<T> {
        T::from_column(self, self.len().saturating_sub(1)).map_err(|source| Error::Corrupt {
            table: "a list",
            column,
            source,
        })
    }
}

/// What is made from one row.
pub trait FromRow: Sized {
    /// Reads the row.
    ///
    /// # Errors
    /// When a column holds what cannot be.
    fn from_row(row: &Row) -> Result<Self>;
}

/// A row of texts alone, however many.
#[derive(Debug)]
pub struct Texts(pub Vec<String>);

impl FromRow for Texts {
    fn from_row(row: &Row) -> Result<Self> {
        let mut columns = Columns::new(row, "a key");
        (0..row.len()).map(|_| columns.take("a part")).collect::<Result<_>>().map(Self)
    }
}

/// Reads a row's columns in their order.
#[derive(Debug)]
pub struct Columns<'r> {
    row: &'r Row,
    table: &'static str,
    next: usize,
}

impl<'r> Columns<'r> {
    /// The columns of a row of this table.
    #[must_use]
    pub const fn new(row: &'r Row, table: &'static str) -> Self {
        Self { row, table, next: 0 }
    }

    /// The next column.
    ///
    /// # Errors
    /// `Corrupt` when it holds what cannot be.
    pub fn take<T: FromColumn>(&mut self, column: &'static str) -> Result<T> {
        let index = self.next;
        self.next += 1;
        T::from_column(self.row, index).map_err(|source| Error::Corrupt { table: self.table, column, source })
    }
}

/// What is made from one column.
pub trait FromColumn: Sized {
    /// Reads the column.
    ///
    /// # Errors
    /// When it holds what cannot be.
    fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault>;
}

macro_rules! plain_column {
    ($($kind:ty),+) => {
        $(impl FromColumn for $kind {
            fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault> {
                // Unchecked: PostgreSQL's 32-bit columns are read as 64 bits where that is asked for.
                Ok(match row {
                    Row::Sqlite(row) => row.try_get_unchecked(index)?,
                    Row::Postgres(row) => row.try_get_unchecked(index)?,
                })
            }
        })+
    };
}
plain_column!(String, Option<String>, i64, Option<i64>, Option<Vec<u8>>);

macro_rules! narrow_column {
    ($($kind:ty),+) => {
        $(impl FromColumn for $kind {
            fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault> {
                Ok(<$kind>::try_from(i64::from_column(row, index)?)?)
            }
        }
        impl FromColumn for Option<$kind> {
            fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault> {
                Ok(Option::<i64>::from_column(row, index)?.map(<$kind>::try_from).transpose()?)
            }
        })+
    };
}
narrow_column!(i32, u32);

macro_rules! word_column {
    ($($kind:ty),+) => {
        $(impl FromColumn for $kind {
            fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault> {
                Ok(String::from_column(row, index)?.parse::<$kind>()?)
            }
        }
        impl FromColumn for Option<$kind> {
            fn from_column(row: &Row, index: usize) -> std::result::Result<Self, Fault> {
                Ok(Option::<String>::from_column(row, index)?.map(|word| word.parse::<$kind>()).transpose()?)
            }
        }
        impl From<$kind> for Arg {
            fn from(word: $kind) -> Self { Self::from(word.as_str()) }
        }
        impl From<Option<$kind>> for Arg {
            fn from(word: Option<$kind>) -> Self { Self::from(word.map(|word| word.as_str())) }
        })+
    };
}
word_column!(
    DeferReason,
    DocumentWriteState,
    EntityKind,
    OperationOp,
    OperationState,
    SweepCandidateState,
    SyncStatus,
    WatchStatus
);

/// Maps a struct whose fields are named as its table's columns.
macro_rules! row {
    ($name:ident from $table:literal { $first:ident $(, $rest:ident)* $(,)? }) => {
        impl $name {
            /// The columns of its table, in the order in which they are read.
            pub const COLUMNS: &'static str = concat!(stringify!($first) $(, ", ", stringify!($rest))*);
        }
        impl $crate::store::row::FromRow for $name {
            fn from_row(row: &$crate::store::row::Row) -> $crate::store::error::Result<Self> {
                let mut columns = $crate::store::row::Columns::new(row, $table);
                Ok(Self { $first: columns.take(stringify!($first))? $(, $rest: columns.take(stringify!($rest))?)* })
            }
        }
    };
}
pub(crate) use row;

macro_rules! tuple_row {
    ($($part:ident),+) => {
        impl<$($part: FromColumn),+> FromRow for ($($part,)+) {
            fn from_row(row: &Row) -> Result<Self> {
                let mut columns = Columns::new(row, "an expression");
                Ok(($(columns.take::<$part>(stringify!($part))?,)+))
            }
        }
    };
}
tuple_row!(A);
tuple_row!(A, B);
tuple_row!(A, B, C);
tuple_row!(A, B, C, D, E, F);
