//! Which operation of a document runs, and what a mutation's or subscription's root may hold.
//!
//! The library runs a root field as often as it is written, and overlooks fragments at the root of a subscription, so
//! both are refused.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    DocumentOperations, ExecutableDocument, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, ServerError};

use crate::http::refusal::{bad_input, bad_input_at};

type Fragments = HashMap<Name, Positioned<FragmentDefinition>>;

/// The operation that a request names, or the only one.
///
/// # Errors
/// When there is none of that name, or several and no name.
pub fn find<'a>(
    operations: &'a DocumentOperations,
    name: Option<&str>,
) -> Result<&'a OperationDefinition, ServerError> {
    let mut matching = operations.iter().filter(|(given, _)| name.is_none() || given.map(Name::as_str) == name);
    match (matching.next(), matching.next()) {
        (Some((_, operation)), None) => Ok(&operation.node),
        (Some(_), Some(_)) => Err(bad_input("The document has several operations; name one in operationName.")),
        (None, _) => Err(bad_input(format!("The document has no operation named \"{}\".", name.unwrap_or_default()))),
    }
}

/// As `find`, to change it.
///
/// # Errors
/// As `find`.
pub fn find_mut<'a>(
    operations: &'a mut DocumentOperations,
    name: Option<&str>,
) -> Result<&'a mut OperationDefinition, ServerError> {
    find(operations, name)?;
    let operation = match operations {
        DocumentOperations::Single(operation) => Some(operation),
        DocumentOperations::Multiple(operations) => match name {
            Some(name) => operations.get_mut(name),
            None => operations.values_mut().next(),
        },
    };
    operation.map(|operation| &mut operation.node).ok_or_else(|| bad_input("The document has no such operation."))
}

/// What the operation is called that a request names, or the only one.
#[must_use]
pub fn name(operations: &DocumentOperations, name: Option<&str>) -> Option<Name> {
    let DocumentOperations::Multiple(operations) = operations else { return None };
    operations.keys().find(|given| name.is_none_or(|name| *given == name)).cloned()
}

/// Drops the other operations, and the fragments that only they spread.
pub fn keep_only(document: &mut ExecutableDocument, name: Option<&str>) {
    let ExecutableDocument { operations, fragments } = document;
    let DocumentOperations::Multiple(operations) = operations else { return };
    let (Some(name), true) = (name, operations.len() > 1) else { return };
    let mut dropped = HashSet::new();
    let mut kept = HashSet::new();
    for (given, operation) in operations.iter() {
        let into = if given == name { &mut kept } else { &mut dropped };
        reach(&operation.node.selection_set.node, fragments, into);
    }
    fragments.retain(|name, _| kept.contains(name) || !dropped.contains(name));
    operations.retain(|given, _| given == name);
}

/// Gathers the fragments that a selection set spreads, and those that they spread.
fn reach(set: &SelectionSet, fragments: &Fragments, into: &mut HashSet<Name>) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(field) => reach(&field.node.selection_set.node, fragments, into),
            Selection::InlineFragment(inline) => reach(&inline.node.selection_set.node, fragments, into),
            Selection::FragmentSpread(spread) => {
                let name = &spread.node.fragment_name.node;
                if let Some(fragment) = fragments.get(name)
                    && into.insert(name.clone())
                {
                    reach(&fragment.node.selection_set.node, fragments, into);
                }
            }
        }
    }
}

/// Refuses a mutation that writes one root field twice under one key: by the specification it would run once.
///
/// # Errors
/// The first key that comes twice.
pub fn distinct_roots(operation: &OperationDefinition, fragments: &Fragments) -> Result<(), ServerError> {
    let mut keys = HashSet::new();
    let mut roots = Vec::new();
    gather(&operation.selection_set.node, fragments, &mut roots);
    for field in roots {
        let key = &field.node.response_key().node;
        if !keys.insert(key) {
            let message = format!("The mutation asks for \"{key}\" twice; ask once, or give each its own alias.");
            return Err(bad_input_at(field.pos, message));
        }
    }
    Ok(())
}

/// Refuses a subscription whose root is anything but one field of the schema, written there.
///
/// # Errors
/// What its root is to be.
pub fn single_root(operation: &OperationDefinition) -> Result<(), ServerError> {
    let set = &operation.selection_set;
    if let [Positioned { node: Selection::Field(field), .. }] = set.node.items.as_slice()
        && field.node.directives.is_empty()
        && !field.node.name.node.starts_with("__")
    {
        return Ok(());
    }
    let message = "A subscription's root is exactly one field of the schema, not in a fragment and without directives.";
    Err(bad_input_at(set.pos, message))
}

/// Gathers the fields at a root, fragments expanded.
fn gather<'a>(set: &'a SelectionSet, fragments: &'a Fragments, into: &mut Vec<&'a Positioned<Field>>) {
    for selection in &set.items {
        match &selection.node {
            Selection::Field(field) => into.push(field),
            Selection::InlineFragment(inline) => gather(&inline.node.selection_set.node, fragments, into),
            Selection::FragmentSpread(spread) => {
                if let Some(fragment) = fragments.get(&spread.node.fragment_name.node) {
                    gather(&fragment.node.selection_set.node, fragments, into);
                }
            }
        }
    }
}
