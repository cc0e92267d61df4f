//! JSON as a claim is read and as its digest sees it: names unique at every depth, numbers doubles, RFC 8785 out.
//!
//! `serde_json::Value` lets the last of two like names win, so that two readers could see two claims; this does not.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fmt::Formatter;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// The members of an object.
pub type Members = BTreeMap<String, Json>;

/// A JSON value.
pub enum Json {
    /// `null`
    Null,
    /// `true`, `false`
    Bool(bool),
    /// A number: the double nearest to what was written, as RFC 8785 and JavaScript have it. Always finite.
    Number(f64),
    /// A string.
    Text(String),
    /// An array.
    List(Vec<Json>),
    /// An object.
    Object(Members),
}

impl Json {
    /// Reads JSON text: UTF-8, one value, at most 127 levels deep, no name twice in an object.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }

    /// The canonical text of RFC 8785.
    pub fn canonical(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    fn write(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Self::Number(value) => out.push_str(ryu_js::Buffer::new().format_finite(*value)),
            Self::Text(value) => out.push_str(&quoted(value)),
            Self::List(items) => list(out, ('[', ']'), items, |out, item| item.write(out)),
            Self::Object(members) => {
                let mut members: Vec<_> = members.iter().collect();
                members.sort_by(|(left, _), (right, _)| left.encode_utf16().cmp(right.encode_utf16()));
                list(out, ('{', '}'), members, |out, (name, value)| {
                    out.push_str(&quoted(name));
                    out.push(':');
                    value.write(out);
                });
            }
        }
    }
}

fn list<T>(
    out: &mut String,
    (open, close): (char, char),
    items: impl IntoIterator<Item = T>,
    write: impl Fn(&mut String, T),
) {
    out.push(open);
    for (place, item) in items.into_iter().enumerate() {
        if place > 0 {
            out.push(',');
        }
        write(out, item);
    }
    out.push(close);
}

/// `serde_json` escapes just what RFC 8785 says, and in its way.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

#[expect(clippy::cast_precision_loss, reason = "RFC 8785: a number is a double, and this is the nearest")]
impl<'de> Visitor<'de> for Reader {
    type Value = Json;

    fn expecting(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Json, E> {
        Ok(Json::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Json, E> {
        Ok(Json::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Json, E> {
        Ok(Json::Number(value as f64))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Json, E> {
        Ok(Json::Number(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Json, E> {
        Ok(Json::Text(value.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Json, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            list.push(item);
        }
        Ok(Json::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Json, A::Error> {
        let mut members = Members::new();
        while let Some((name, value)) = entries.next_entry()? {
            if members.insert(name, value).is_some() {
                return Err(A::Error::custom("a name twice"));
            }
        }
        Ok(Json::Object(members))
    }
}
