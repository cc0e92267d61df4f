//! What a client knows: its rows as they were answered, and the changes that its acts logged, act by act. Owns the
//! comparison with what a server shows; never asks one.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::merge;

/// Stands for a value that the server chooses, in a row or change that has not been seen yet.
pub const ANY: &str = "<chosen by the server>";

/// What a row is about, by names that no two clients share.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entity {
    pub kind: &'static str,
    pub name: String,
}

impl Entity {
    pub fn document(id: &str) -> Self {
        Self { kind: "DOCUMENT", name: id.to_owned() }
    }

    pub fn watch(source_id: &str) -> Self {
        Self { kind: "WATCH", name: source_id.to_owned() }
    }

    pub fn of(row: &Value) -> Self {
        let (kind, name) = match row {
            row if row.get("operationId").is_some() => ("OPERATION", "operationId"),
            row if row.get("generation").is_some() => ("WATCH", "sourceId"),
            _ => ("DOCUMENT", "documentId"),
        };
        Self { kind, name: row[name].as_str().unwrap_or_else(|| panic!("a row without a name: {row}")).to_owned() }
    }
}

/// What an act does to one row. Members that begin with `_` are what the client alone knows of it.
#[derive(Debug, Clone)]
pub struct Effect {
    pub entity: Entity,
    /// None when the row is removed.
    pub after: Option<Value>,
    /// None when no change is logged.
    pub transition: Option<&'static str>,
}

impl Effect {
    /// A row changes; whatever changes a row dates it.
    pub fn on(row: &Value, transition: &'static str, patch: &Value) -> Self {
        Self { transition: Some(transition), ..Self::unlogged(row, patch) }
    }

    pub fn unlogged(row: &Value, patch: &Value) -> Self {
        let mut after = row.clone();
        merge(&mut after, patch);
        after["updatedAt"] = json!(ANY);
        Self { entity: Entity::of(row), after: Some(after), transition: None }
    }
}

/// What a server shows of one client: its rows, and its changes in the order of the log.
pub struct Found {
    pub rows: Vec<Value>,
    pub log: Vec<Value>,
}

#[derive(Clone, Default)]
pub struct Model {
    pub rows: BTreeMap<Entity, Value>,
    /// The changes of each act. Those of one act have no order among themselves.
    log: Vec<Vec<Value>>,
}

impl Model {
    pub fn perform(&mut self, effects: &[Effect]) {
        let mut changes = vec![];
        for Effect { entity, after, transition } in effects {
            let before = self.rows.remove(entity);
            if let Some(transition) = transition {
                changes.push(logged(entity, transition, before.as_ref(), after.as_ref()));
            }
            if let Some(after) = after {
                self.rows.insert(entity.clone(), after.clone());
            }
        }
        changes.sort_by_key(subject);
        self.log.push(changes);
    }

    /// Takes over what the server chose in a row, which must otherwise be the one that is known.
    pub fn see(&mut self, found: &Value) -> Result<(), String> {
        let entity = Entity::of(found);
        let Some(row) = self.rows.get_mut(&entity) else { return Err(format!("nobody made {found}")) };
        fits(row, found).map_err(|problem| format!("{entity:?}: {problem}\nknown: {row}\nfound: {found}"))?;
        merge(row, found);
        // A change and its row are of one moment.
        let changes = self.log.last_mut().into_iter().flatten();
        for change in changes.filter(|change| subject(change) == (entity.kind.to_owned(), entity.name.clone())) {
            change["at"] = found["updatedAt"].clone();
        }
        Ok(())
    }

    /// Whether these are all rows and all changes there are, each change once and in its place.
    pub fn agrees(&mut self, found: &Found) -> Result<(), String> {
        for row in &found.rows {
            self.see(row)?;
        }
        for (entity, row) in &self.rows {
            if !found.rows.iter().any(|found| Entity::of(found) == *entity) {
                return Err(format!("{entity:?} is gone: {row}"));
            }
        }
        let mut log = found.log.iter();
        for changes in &self.log {
            let mut found: Vec<&Value> = log.by_ref().take(changes.len()).collect();
            found.sort_by_key(|change| subject(change));
            for (place, change) in changes.iter().enumerate() {
                let found = found.get(place).ok_or_else(|| format!("the log ends before {change}"))?;
                fits(change, found).map_err(|problem| format!("{problem}\nknown: {change}\nlogged: {found}"))?;
            }
        }
        log.next().map_or(Ok(()), |more| Err(format!("logged once too often, or by nobody: {more}")))
    }
}

/// The change that says so.
fn logged(entity: &Entity, transition: &str, before: Option<&Value>, after: Option<&Value>) -> Value {
    let state = |row: Option<&Value>| row.map_or(Value::Null, |row| row[state_of(entity.kind)].clone());
    let row = after.or(before).unwrap_or(&Value::Null);
    let mut change = json!({
        "entity": entity.kind, "name": entity.name, "transition": transition, "fromState": state(before),
        "toState": state(after), "documentId": row["documentId"], "at": ANY,
    });
    for fact in FACTS {
        change[fact] = row[fact].clone();
    }
    change
}

/// What a change tells of the row as it was then.
const FACTS: [&str; 5] = ["attempts", "version", "generation", "sendState", "digest"];

/// A change of the log in the form of `logged`.
pub fn heard(change: &Value) -> Value {
    let facts = &change["facts"];
    let name = match change["entity"].as_str() {
        Some("OPERATION") => &facts["operationId"],
        Some("WATCH") => &facts["sourceId"],
        _ => &change["documentId"],
    };
    let mut heard = json!({ "name": name });
    for member in ["entity", "transition", "fromState", "toState", "documentId", "at"] {
        heard[member] = change[member].clone();
    }
    for fact in FACTS {
        heard[fact] = facts[fact].clone();
    }
    heard
}

fn state_of(kind: &str) -> &'static str {
    match kind {
        "OPERATION" => "state",
        "WATCH" => "status",
        _ => "no state",
    }
}

fn subject(change: &Value) -> (String, String) {
    let text = |member: &str| change[member].as_str().unwrap_or_default().to_owned();
    (text("entity"), text("name"))
}

/// Whether what was found is what is known: whatever the server shows has to be as expected.
fn fits(known: &Value, found: &Value) -> Result<(), String> {
    match (known, found) {
        (known, found) if known == ANY && !found.is_null() => Ok(()),
        (Value::Object(known), Value::Object(found)) => found.iter().try_for_each(|(member, found)| {
            fits(known.get(member).unwrap_or(&Value::Null), found).map_err(|problem| format!("{member}: {problem}"))
        }),
        (known, found) if known == found => Ok(()),
        (known, found) => Err(format!("{found} instead of {known}")),
    }
}
