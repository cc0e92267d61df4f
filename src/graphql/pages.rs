//! Relay connections: arguments in, slices of lists out, cursors between.

use async_graphql::{Context, SimpleObject};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::Value;

use crate::domain::bounds::BadInput;
use crate::store::{COUNTED_MOST, KeyPart, Slice};

/// Rows of a page when neither `first` nor `last` is given.
const PAGE_ROWS: usize = 50;
/// The most rows of a page.
const PAGE_MOST: i32 = 100;
/// Bytes of a cursor: five keys of 512 bytes, escaped, in base64.
const CURSOR_BYTES: usize = 24_000;

/// Where a page stands in its list.
#[derive(Debug, Clone, SimpleObject)]
pub(super) struct PageInfo {
    /// Whether there are rows after this page.
    pub has_next_page: bool,
    /// Whether there are rows before this page.
    pub has_previous_page: bool,
    /// The cursor of the first row; null on an empty page.
    pub start_cursor: Option<String>,
    /// The cursor of the last row; null on an empty page.
    pub end_cursor: Option<String>,
}

/// A connection's page arguments, as they came.
#[derive(Debug, Default)]
pub(super) struct PageArgs {
    pub first: Option<i32>,
    pub after: Option<String>,
    pub last: Option<i32>,
    pub before: Option<String>,
}

impl PageArgs {
    /// Checks the arguments; `decode` reads a cursor of the list. What the request does not select is not looked for.
    pub(super) fn slice(
        self,
        ctx: &Context<'_>,
        decode: impl Fn(&str, &str) -> Result<Vec<KeyPart>, BadInput>,
    ) -> Result<Slice, BadInput> {
        let (limit, backward) = match (self.first, self.last) {
            (Some(_), Some(_)) => return Err(BadInput::new("last", "must not be given together with first")),
            (None, None) => (PAGE_ROWS, false),
            (Some(first), None) => (rows("first", first)?, false),
            (None, Some(last)) => (rows("last", last)?, true),
        };
        let wanted = ctx.look_ahead();
        let info = wanted.field("pageInfo");
        let other_side = if backward { "hasNextPage" } else { "hasPreviousPage" };
        Ok(Slice {
            limit,
            backward,
            after: self.after.map(|cursor| decode("after", &cursor)).transpose()?,
            before: self.before.map(|cursor| decode("before", &cursor)).transpose()?,
            look_back: info.field(other_side).exists(),
            count: wanted.field("totalCount").exists() || wanted.field("totalCountExact").exists(),
        })
    }
}

fn rows(field: &str, count: i32) -> Result<usize, BadInput> {
    usize::try_from(count)
        .ok()
        .filter(|_| count <= PAGE_MOST)
        .ok_or_else(|| BadInput::new(field, format!("must be 0 to {PAGE_MOST}, got {count}")))
}

/// The cursor of a row: the list's name and the row's key in it.
pub(super) fn encode_cursor(list: &str, key: Vec<KeyPart>) -> String {
    let mut parts = vec![Value::from(list)];
    parts.extend(key.into_iter().map(|part| match part {
        KeyPart::Int(int) => Value::from(int),
        KeyPart::Text(text) => Value::from(text),
    }));
    URL_SAFE_NO_PAD.encode(Value::from(parts).to_string())
}

/// Reads a cursor of a list whose keys have this shape (`i` for a number, `t` for a text).
pub(super) fn decode_cursor(list: &str, shape: &str, field: &str, cursor: &str) -> Result<Vec<KeyPart>, BadInput> {
    let malformed = || BadInput::new(field, "is not a cursor of this list");
    if cursor.len() > CURSOR_BYTES {
        return Err(malformed());
    }
    let bytes = URL_SAFE_NO_PAD.decode(cursor).map_err(|_| malformed())?;
    let Ok(Value::Array(parts)) = serde_json::from_slice(&bytes) else { return Err(malformed()) };
    let Some((name, key)) = parts.split_first() else { return Err(malformed()) };
    if name.as_str() != Some(list) || key.len() != shape.len() {
        return Err(malformed());
    }
    let parts = key.iter().zip(shape.bytes()).map(|(part, kind)| match (kind, part) {
        (b'i', Value::Number(number)) => number.as_i64().map(KeyPart::Int),
        (b't', Value::String(text)) if !text.contains('\0') => Some(KeyPart::Text(text.clone())),
        _ => None,
    });
    parts.collect::<Option<Vec<_>>>().ok_or_else(malformed)
}

/// How many rows a list has, as far as it was counted.
#[derive(Debug, Clone, Copy)]
pub(super) struct Total(pub Option<i64>);

impl Total {
    pub(super) fn count(self) -> i32 {
        self.0.map_or(0, |total| i32::try_from(total.min(COUNTED_MOST)).unwrap_or(i32::MAX))
    }

    pub(super) fn is_exact(self) -> bool {
        self.0.is_none_or(|total| total <= COUNTED_MOST)
    }
}

/// A connection of one type, with its edge.
macro_rules! connection {
    ($connection:ident, $edge:ident, $node:ty, $of:literal) => {
        #[doc = concat!("One row of a list of ", $of, ", with its place in the list.")]
        #[derive(Debug, Clone, async_graphql::SimpleObject)]
        pub(super) struct $edge {
            /// The row's place in its list: pass it as `after` or `before`.
            pub cursor: String,
            /// The row.
            pub node: $node,
        }

        #[doc = concat!("A page of a list of ", $of, ".")]
        #[derive(Debug, Clone)]
        pub(super) struct $connection {
            edges: Vec<$edge>,
            has_next: bool,
            has_previous: bool,
            total: $crate::graphql::pages::Total,
        }

        impl $connection {
            /// The page, each row with its cursor.
            pub(super) fn new<T>(page: $crate::store::Page<T>, edge: impl Fn(T) -> (String, $node)) -> Self {
                let edges = page.rows.into_iter().map(|row| {
                    let (cursor, node) = edge(row);
                    $edge { cursor, node }
                });
                Self {
                    edges: edges.collect(),
                    has_next: page.has_next,
                    has_previous: page.has_previous,
                    total: $crate::graphql::pages::Total(page.total),
                }
            }
        }

        #[doc = concat!("A page of a list of ", $of, ".")]
        #[async_graphql::Object]
        impl $connection {
            /// The rows of this page with their cursors, in the list's order.
            async fn edges(&self) -> &[$edge] {
                &self.edges
            }

            /// The rows of this page alone.
            async fn nodes(&self) -> Vec<&$node> {
                self.edges.iter().map(|edge| &edge.node).collect()
            }

            /// Where this page stands in its list.
            async fn page_info(&self) -> $crate::graphql::pages::PageInfo {
                $crate::graphql::pages::PageInfo {
                    has_next_page: self.has_next,
                    has_previous_page: self.has_previous,
                    start_cursor: self.edges.first().map(|edge| edge.cursor.clone()),
                    end_cursor: self.edges.last().map(|edge| edge.cursor.clone()),
                }
            }

            /// How many rows the whole list has, at most 10,000. Counted only when it is asked for.
            async fn total_count(&self) -> i32 {
                self.total.count()
            }

            /// Whether totalCount is the true number; false beyond 10,000.
            async fn total_count_exact(&self) -> bool {
                self.total.is_exact()
            }
        }
    };
}
pub(super) use connection;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cursors_name_their_list() {
        let key = vec![KeyPart::Int(7), KeyPart::Text("é".to_owned())];
        let cursor = encode_cursor("l", key.clone());
        assert_eq!(decode_cursor("l", "it", "after", &cursor), Ok(key));
        for (list, shape, cursor) in
            [("m", "it", &*cursor), ("l", "ti", &cursor), ("l", "i", &cursor), ("l", "it", "e30")]
        {
            assert!(decode_cursor(list, shape, "after", cursor).is_err());
        }
    }
}
