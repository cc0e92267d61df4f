//! Both drivers behind one connection: statements, arguments and queries. With `row` and `pools` the only files that
//! name a driver.
//!
//! One SQL text with `$1` placeholders serves both. What a text may hold beside SQL: `{columns}`, the row's column
//! list, `{for_update}` and `{skip_locked}`, which are `FOR UPDATE` and `FOR UPDATE SKIP LOCKED` on PostgreSQL and nothing on
//! `SQLite`, whose one writer needs no lock.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Postgres, SqlSafeStr as _, SqlStr, Sqlite};

use super::error::Result;
use super::row::{FromRow, Row};

/// Which database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Engine {
    /// Embedded, one server.
    Sqlite,
    /// Shared by several servers.
    Postgres,
}

impl Engine {
    /// Its name, as `serverStatus` and log lines give it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }
}

/// One SQL text, prepared by name in the tests on both engines.
#[derive(Debug)]
pub struct Statement {
    template: &'static str,
    columns: &'static str,
    texts: [OnceLock<String>; 2],
    only: Option<Engine>,
}

impl Statement {
    /// A statement from its template and the column list that `{columns}` stands for. One for a single engine has a
    /// comment that opens with "Differs because".
    #[must_use]
    pub const fn new(template: &'static str, columns: &'static str, only: Option<Engine>) -> Self {
        Self { template, columns, texts: [OnceLock::new(), OnceLock::new()], only }
    }

    /// Whether the engine ever sees this statement.
    #[must_use]
    pub fn is_for(&self, engine: Engine) -> bool {
        self.only.is_none_or(|only| only == engine)
    }

    /// The text for one engine.
    pub fn text(&'static self, engine: Engine) -> &'static str {
        let (slot, lock, free) = match engine {
            Engine::Sqlite => (&self.texts[0], "", ""),
            Engine::Postgres => (&self.texts[1], "FOR UPDATE", "FOR UPDATE SKIP LOCKED"),
        };
        let text = || self.template.replace("{columns}", self.columns).replace("{for_update}", lock);
        slot.get_or_init(|| text().replace("{skip_locked}", free))
    }
}

/// Declares the statements of one file, and the list of them that the tests prepare.
macro_rules! statements {
    ($($(#[$meta:meta])* $name:ident $(for $engine:ident)?: $columns:expr, $template:expr;)+) => {
        $($(#[$meta])* pub(super) static $name: $crate::store::engine::Statement =
            $crate::store::engine::Statement::new($template, $columns, $crate::store::engine::only!($($engine)?));)+
        /// Every fixed statement of this file.
        pub static STATEMENTS: &[(&str, &$crate::store::engine::Statement)] = &[$((stringify!($name), &$name)),+];
    };
}
pub(crate) use statements;

/// The engine that a statement is declared for, if it is for one alone.
macro_rules! only {
    () => {
        None
    };
    ($engine:ident) => {
        Some($crate::store::engine::Engine::$engine)
    };
}
pub(crate) use only;

/// One argument of a statement.
#[derive(Debug, Clone)]
pub enum Arg {
    /// Text or NULL.
    Text(Option<String>),
    /// An integer of any width or NULL.
    Int(Option<i64>),
    /// Bytes or NULL.
    Bytes(Option<Vec<u8>>),
}

macro_rules! arg_from {
    ($($source:ty => |$value:ident| $arg:expr;)+) => {
        $(impl From<$source> for Arg { fn from($value: $source) -> Self { $arg } })+
    };
}
arg_from! {
    &str => |value| Self::Text(Some(value.to_owned()));
    &String => |value| Self::Text(Some(value.clone()));
    String => |value| Self::Text(Some(value));
    Option<&str> => |value| Self::Text(value.map(str::to_owned));
    Option<String> => |value| Self::Text(value);
    &Option<String> => |value| Self::Text(value.clone());
    Option<Vec<u8>> => |value| Self::Bytes(value);
    i64 => |value| Self::Int(Some(value));
    i32 => |value| Self::Int(Some(value.into()));
    Option<i64> => |value| Self::Int(value);
    Option<i32> => |value| Self::Int(value.map(i64::from));
}

/// The arguments of a statement, each turned into what both drivers bind.
macro_rules! args {
    ($($value:expr),* $(,)?) => { vec![$($crate::store::engine::Arg::from($value)),*] };
}
pub(crate) use args;

/// A connection of either driver, counted: the tests ask how many statements a list takes.
#[derive(Debug)]
pub struct Connection {
    inner: Inner,
    statements: std::sync::Arc<AtomicU64>,
}

#[derive(Debug)]
enum Inner {
    Sqlite(PoolConnection<Sqlite>),
    Postgres(PoolConnection<Postgres>),
}

/// Runs the same body once per driver, so that types stay concrete.
macro_rules! each_driver {
    ($inner:expr, $connection:ident => $body:expr) => {
        match $inner {
            Inner::Sqlite($connection) => $body,
            Inner::Postgres($connection) => $body,
        }
    };
}

/// A prepared text with its arguments bound, for whichever driver the call goes to.
macro_rules! bound {
    ($sql:expr, $args:expr, $cached:expr) => {{
        let mut query = sqlx::query($sql).persistent($cached);
        for arg in $args {
            query = match arg {
                Arg::Text(text) => query.bind(text),
                Arg::Int(int) => query.bind(int),
                Arg::Bytes(bytes) => query.bind(bytes),
            };
        }
        query
    }};
}

/// A text to run: a fixed statement, or one that was put together from fixed parts.
#[derive(Debug, Clone, Copy)]
pub enum Sql<'a> {
    /// Prepared once per connection and kept.
    Fixed(&'static Statement),
    /// Prepared and kept too: of few shapes.
    Shaped(&'a str),
    /// Prepared and forgotten: of very many shapes.
    Once(&'a str),
}

impl From<&'static Statement> for Sql<'_> {
    fn from(statement: &'static Statement) -> Self {
        Self::Fixed(statement)
    }
}

impl Connection {
    pub(super) fn sqlite(connection: PoolConnection<Sqlite>, statements: std::sync::Arc<AtomicU64>) -> Self {
        Self { inner: Inner::Sqlite(connection), statements }
    }

    pub(super) fn postgres(connection: PoolConnection<Postgres>, statements: std::sync::Arc<AtomicU64>) -> Self {
        Self { inner: Inner::Postgres(connection), statements }
    }

    /// Which database this is a connection of.
    #[must_use]
    pub const fn engine(&self) -> Engine {
        match self.inner {
            Inner::Sqlite(_) => Engine::Sqlite,
            Inner::Postgres(_) => Engine::Postgres,
        }
    }

    fn text(&self, sql: Sql<'_>) -> (SqlStr, bool) {
        self.statements.fetch_add(1, Ordering::Relaxed);
        match sql {
            Sql::Fixed(statement) => (statement.text(self.engine()).into_sql_str(), true),
            Sql::Shaped(text) => (AssertSqlSafe(text.to_owned()).into_sql_str(), true),
            Sql::Once(text) => (AssertSqlSafe(text.to_owned()).into_sql_str(), false),
        }
    }

    /// Every row of a query.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn all<T: FromRow>(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<Vec<T>> {
        let (text, cached) = self.text(sql.into());
        match &mut self.inner {
            Inner::Sqlite(connection) => {
                let rows = bound!(text, args, cached).fetch_all(&mut **connection).await?;
                rows.into_iter().map(|row| T::from_row(&Row::Sqlite(row))).collect()
            }
            Inner::Postgres(connection) => {
                let rows = bound!(text, args, cached).fetch_all(&mut **connection).await?;
                rows.into_iter().map(|row| T::from_row(&Row::Postgres(row))).collect()
            }
        }
    }

    /// The first row of a query, if there is one.
    ///
    /// # Errors
    /// When the database refuses, or the row cannot be.
    pub async fn first<T: FromRow>(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<Option<T>> {
        Ok(self.all(sql, args).await?.into_iter().next())
    }

    /// Runs a statement; how many rows it wrote.
    ///
    /// # Errors
    /// When the database refuses.
    pub async fn execute(&mut self, sql: impl Into<Sql<'_>>, args: Vec<Arg>) -> Result<u64> {
        let (text, cached) = self.text(sql.into());
        each_driver!(&mut self.inner, connection => {
            Ok(bound!(text, args, cached).execute(&mut **connection).await?.rows_affected())
        })
    }

    /// Asks the database to prepare a text, without running it.
    ///
    /// # Errors
    /// When the database finds a fault in it.
    pub async fn prepare(&mut self, text: &str) -> Result<()> {
        use sqlx::Executor as _;
        each_driver!(&mut self.inner, connection => {
            (&mut **connection).prepare(AssertSqlSafe(text.to_owned()).into_sql_str()).await?;
        });
        Ok(())
    }

    /// Never give this connection back to its pool: it may be in the middle of something.
    pub fn discard(&mut self) {
        each_driver!(&mut self.inner, connection => connection.close_on_drop());
    }
}
