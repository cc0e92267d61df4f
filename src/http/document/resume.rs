//! Subscriptions as events: an id on each, and going on from it.
//!
//! An event's id is the cursor of its answer, whether the document asks for it or not; so it is asked for once more,
//! under a name of ours, and taken out of the answer again (`answer`). A client that comes back sends its last id in a
//! header: that takes the place of `after`, because whoever reconnects by itself repeats its first document, whose
//! `after` is older.

use std::collections::BTreeMap;

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{Field, OperationDefinition, OperationType, Selection, SelectionSet};
use async_graphql::{Name, ServerError};
use async_graphql_value::{ConstValue, Value};

use super::types::{Types, named};
use crate::http::refusal::{bad_input, bad_input_at};

/// The name under which an answer tells its cursor to us: two underscores are for nobody's own names.
pub const CURSOR_KEY: &str = "__lastEventId";
const CURSOR: &str = "cursor";
const AFTER: &str = "after";

/// Lets a subscription go on after the last event that its client got.
///
/// # Errors
/// When it is none that can.
pub fn go_on(
    operation: &mut OperationDefinition,
    last_event_id: &str,
    variables: &mut BTreeMap<Name, ConstValue>,
    types: &Types,
) -> Result<(), ServerError> {
    let refusal = "Last-Event-ID is for subscriptions that take a cursor as \"after\".";
    let root = types.root(operation.ty);
    if operation.ty != OperationType::Subscription {
        return Err(bad_input(refusal));
    }
    let Some(field) = root_field(operation) else { return Ok(()) };
    if !types.field(root, &field.node.name.node).is_some_and(|shape| shape.arguments.contains_key(AFTER)) {
        return Err(bad_input_at(field.pos, refusal));
    }
    let (pos, arguments) = (field.pos, &mut field.node.arguments);
    match arguments.iter_mut().find(|(name, _)| name.node == AFTER).map(|(_, value)| &mut value.node) {
        Some(Value::Variable(name)) => {
            variables.insert(name.clone(), ConstValue::String(last_event_id.to_owned()));
        }
        Some(value) => *value = Value::String(last_event_id.to_owned()),
        None => {
            let value = Value::String(last_event_id.to_owned());
            arguments.push((Positioned::new(Name::new(AFTER), pos), Positioned::new(value, pos)));
        }
    }
    Ok(())
}

/// Asks for the cursor of each answer, where there is one. Comes after the plan, which knows what the client asked for.
pub fn ask_for_cursor(operation: &mut OperationDefinition, types: &Types) {
    let root = types.root(operation.ty);
    let Some(field) = root_field(operation) else { return };
    let Some(answer) = types.field(root, &field.node.name.node).map(|shape| named(&shape.ty)) else { return };
    if types.field(answer, CURSOR).is_none() {
        return;
    }
    let pos = field.pos;
    let cursor = Field {
        alias: Some(Positioned::new(Name::new(CURSOR_KEY), pos)),
        name: Positioned::new(Name::new(CURSOR), pos),
        arguments: Vec::new(),
        directives: Vec::new(),
        selection_set: Positioned::new(SelectionSet::default(), pos),
    };
    let selection = Selection::Field(Positioned::new(cursor, pos));
    field.node.selection_set.node.items.push(Positioned::new(selection, pos));
}

/// The one field at the root; a root of any other form is refused elsewhere.
fn root_field(operation: &mut OperationDefinition) -> Option<&mut Positioned<Field>> {
    match operation.selection_set.node.items.as_mut_slice() {
        [Positioned { node: Selection::Field(field), .. }] => Some(field),
        _ => None,
    }
}
