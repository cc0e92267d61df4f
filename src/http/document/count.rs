//! How large a document is once its fragments are expanded, found without expanding them.
//!
//! A few hundred bytes of fragments spreading fragments stand for millions of fields. Each definition is walked once and
//! its size remembered, so the count takes as long as the text is, whatever it stands for. A fragment that spreads
//! itself is refused here, so that nothing after has to fear it. Counts what was written; never judges names or types.

use std::collections::HashMap;

use async_graphql::parser::types::{ExecutableDocument, Field, Selection, SelectionSet};
use async_graphql::{Name, ServerError};
use async_graphql_value::{ConstValue, Value};

use super::types::{FieldShape, Types, named};
use crate::http::limits;
use crate::http::refusal::bad_input;

/// What a selection set comes to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Size {
    /// Selections, fragments expanded: fields, and the fragments themselves, whatever is in them.
    selections: u64,
    /// Fields of the largest answer: each counted for every row it may stand in.
    rows: u64,
    /// Those among them that tell of the schema itself.
    introspected: u64,
    /// Fields in this set itself, fragments expanded.
    roots: u64,
    /// Fields inside fields.
    depth: u64,
    /// Selection sets inside selection sets.
    nesting: u64,
}

/// Where introspection begins.
const INTROSPECTION: [&str; 2] = ["__schema", "__type"];
/// From where on it is of types that the document picks: these may be the largest again and again, where `types` has each
/// once.
const PICKS: [&str; 8] =
    ["__type", "queryType", "mutationType", "subscriptionType", "type", "ofType", "possibleTypes", "interfaces"];

struct Counter<'a> {
    document: &'a ExecutableDocument,
    types: &'a Types,
    variables: &'a dyn Fn(&str) -> Option<&'a ConstValue>,
    /// A fragment's size, of types that are picked or not; none while it is being walked.
    fragments: HashMap<(&'a Name, bool), Option<Size>>,
    /// Whether introspection has come to types that the document picks, by name or by what refers to them.
    picked: bool,
    /// Selection sets open on the way here: bounds the recursion before any size is known.
    open: u64,
    aliases: u64,
    directives: u64,
}

/// Passes a document whose operations are all of a size that may be validated and executed. `variables` gives the value
/// of a variable where it has one: the size of a page is often in it.
///
/// # Errors
/// The first bound that is broken, or a fragment that spreads itself.
pub fn count<'a>(
    document: &'a ExecutableDocument,
    types: &'a Types,
    variables: &'a dyn Fn(&str) -> Option<&'a ConstValue>,
) -> Result<(), ServerError> {
    let mut counter = Counter {
        document,
        types,
        variables,
        fragments: HashMap::new(),
        picked: false,
        open: 0,
        aliases: 0,
        directives: 0,
    };
    for (_, operation) in document.operations.iter() {
        let operation = &operation.node;
        counter.directives += operation.directives.len() as u64;
        for variable in &operation.variable_definitions {
            counter.directives += variable.node.directives.len() as u64;
        }
        let size = counter.selection_set(types.root(operation.ty), &operation.selection_set.node)?;
        within(size.roots, limits::ROOT_FIELDS, "root fields in one operation")?;
        within(size.depth, limits::FIELD_DEPTH, "fields inside one another")?;
        within(size.selections, limits::EXPANDED_SELECTIONS, "selections with its fragments expanded")?;
        within(
            size.rows - size.introspected,
            limits::ANSWER_FIELDS,
            "fields in the largest answer; ask for smaller pages",
        )?;
        within(size.introspected, limits::INTROSPECTED_FIELDS, "fields in the largest answer about the schema")?;
    }
    for name in document.fragments.keys() {
        counter.fragment(name)?;
    }
    within(counter.aliases, limits::ALIASES, "aliases")?;
    within(counter.directives, limits::DIRECTIVES, "directives")
}

fn within(count: u64, limit: u64, what: &str) -> Result<(), ServerError> {
    if count <= limit { Ok(()) } else { Err(bad_input(format!("The document has more than {limit} {what}."))) }
}

impl<'a> Counter<'a> {
    fn selection_set(&mut self, parent: &str, set: &'a SelectionSet) -> Result<Size, ServerError> {
        self.open += 1;
        within(self.open, limits::SELECTION_DEPTH, "selections inside one another")?;
        let mut size = Size::default();
        for selection in &set.items {
            self.directives += selection.node.directives().len() as u64;
            size.selections = size.selections.saturating_add(1);
            let inner = match &selection.node {
                Selection::Field(field) => self.field(parent, &field.node)?,
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref().map(|condition| &condition.node.on.node);
                    self.selection_set(condition.map_or(parent, Name::as_str), &inline.node.selection_set.node)?
                }
                Selection::FragmentSpread(spread) => self.fragment(&spread.node.fragment_name.node)?,
            };
            size.selections = size.selections.saturating_add(inner.selections);
            size.rows = size.rows.saturating_add(inner.rows);
            size.introspected = size.introspected.saturating_add(inner.introspected);
            size.roots = size.roots.saturating_add(inner.roots);
            size.depth = size.depth.max(inner.depth);
            size.nesting = size.nesting.max(inner.nesting);
        }
        self.open -= 1;
        size.nesting += 1;
        // A fragment's size is remembered, so what it holds is not walked again; its nesting still adds up.
        within(self.open + size.nesting, limits::SELECTION_DEPTH, "selections inside one another")?;
        Ok(size)
    }

    fn field(&mut self, parent: &str, field: &'a Field) -> Result<Size, ServerError> {
        self.aliases += u64::from(field.alias.is_some());
        let name = field.name.node.as_str();
        let shape = self.types.field(parent, name);
        let ty = shape.map_or("", |shape| named(&shape.ty));
        let rows = self.rows(shape, field);
        let around = self.picked;
        self.picked |= shape.is_none() && PICKS.contains(&name);
        let inner = if field.selection_set.node.items.is_empty() {
            Size::default()
        } else {
            self.selection_set(ty, &field.selection_set.node)?
        };
        self.picked = around;
        let itself = if ty == "JSON" { limits::JSON_VALUE_FIELDS } else { 1 };
        let rows = inner.rows.saturating_mul(rows).saturating_add(itself);
        Ok(Size {
            selections: inner.selections,
            rows,
            introspected: if INTROSPECTION.contains(&name) { rows } else { inner.introspected },
            roots: 1,
            depth: inner.depth + 1,
            nesting: inner.nesting,
        })
    }

    fn fragment(&mut self, name: &Name) -> Result<Size, ServerError> {
        let Some((name, fragment)) = self.document.fragments.get_key_value(name) else {
            return Err(bad_input(format!("There is no fragment \"{name}\".")));
        };
        let key = (name, self.picked);
        match self.fragments.get(&key) {
            Some(Some(size)) => {
                within(self.open + size.nesting, limits::SELECTION_DEPTH, "selections inside one another")?;
                return Ok(*size);
            }
            Some(None) => return Err(bad_input(format!("The fragment \"{name}\" spreads itself."))),
            None => {}
        }
        self.fragments.insert(key, None);
        self.directives += fragment.node.directives.len() as u64;
        let condition = &fragment.node.type_condition.node.on.node;
        let size = self.selection_set(condition, &fragment.node.selection_set.node)?;
        self.fragments.insert(key, Some(size));
        Ok(size)
    }

    /// How often the selection inside a field may be answered: the rows of its page, or one for each item it is given.
    fn rows(&self, shape: Option<&FieldShape>, field: &Field) -> u64 {
        if shape.is_none() {
            return self.types.introspected(&field.name.node, self.picked);
        }
        let given = field.arguments.iter().filter_map(|(name, value)| match self.value(&value.node) {
            Given::Number(number) if name.node == "first" || name.node == "last" => {
                Some(number.clamp(1, limits::MAX_PAGE_ROWS))
            }
            Given::List(length) => Some(length as u64),
            Given::Number(_) | Given::Other => None,
        });
        let paged = shape.is_some_and(|shape| shape.arguments.contains_key("first"));
        given.max().unwrap_or(if paged { limits::DEFAULT_PAGE_ROWS } else { 1 }).max(1)
    }

    fn value(&self, value: &Value) -> Given {
        match value {
            Value::Number(number) => Given::Number(number.as_u64().unwrap_or(0)),
            Value::List(list) => Given::List(list.len()),
            Value::Variable(name) => match (self.variables)(name) {
                Some(ConstValue::Number(number)) => Given::Number(number.as_u64().unwrap_or(0)),
                Some(ConstValue::List(list)) => Given::List(list.len()),
                _ => Given::Other,
            },
            _ => Given::Other,
        }
    }
}

/// What matters of an argument's value for the size of an answer.
enum Given {
    Number(u64),
    List(usize),
    Other,
}
