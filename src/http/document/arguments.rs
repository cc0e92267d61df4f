//! The arguments of an operation: literals checked, and variables that were left out taken out.
//!
//! The library reads a variable that was left out as null, and the two mean different things here (left out keeps, null
//! clears). So the argument or input field it stands in is removed from the document, together with the variable's
//! definition once nothing names it. In a list such a variable is null, by the specification. Leaves whatever it does
//! not understand to validation.

use std::collections::{HashMap, HashSet};

use async_graphql::parser::Positioned;
use async_graphql::parser::types::{
    Directive, Field, FragmentDefinition, OperationDefinition, Selection, SelectionSet,
};
use async_graphql::{Name, Pos, ServerError, Variables};
use async_graphql_value::{ConstValue, Value};

use super::input::Check;
use super::types::{Place, Types, named};
use crate::http::limits;
use crate::http::refusal::bad_input_at;

struct Pass<'a> {
    check: Check<'a>,
    types: &'a Types,
    /// Variables of the operation that have no value.
    left_out: HashSet<Name>,
    /// Those that stood somewhere and were removed from there.
    removed: HashSet<Name>,
    /// Variables that still stand somewhere.
    standing: HashSet<Name>,
    errors: Vec<ServerError>,
}

/// Settles the arguments of an operation and of all fragments; says whether anything was removed.
///
/// # Errors
/// One error for each literal that does not fit its argument, and for a null in a place that takes none.
pub fn settle(
    operation: &mut OperationDefinition,
    fragments: &mut HashMap<Name, Positioned<FragmentDefinition>>,
    variables: &Variables,
    types: &Types,
) -> Result<bool, Vec<ServerError>> {
    let defined = operation.variable_definitions.iter().map(|definition| definition.node.name.node.clone());
    let mut pass = Pass {
        check: Check::new(types),
        types,
        left_out: defined.filter(|name| !variables.contains_key(name)).collect(),
        removed: HashSet::new(),
        standing: HashSet::new(),
        errors: Vec::new(),
    };
    pass.directives(&operation.directives);
    pass.selection_set(types.root(operation.ty), &mut operation.selection_set.node);
    for fragment in fragments.values_mut() {
        let condition = fragment.node.type_condition.node.on.node.clone();
        pass.directives(&fragment.node.directives);
        pass.selection_set(&condition, &mut fragment.node.selection_set.node);
    }
    operation.variable_definitions.retain(|definition| {
        let name = &definition.node.name.node;
        !pass.removed.contains(name) || pass.standing.contains(name)
    });
    pass.tighten(operation, variables);
    pass.errors.truncate(limits::ERRORS);
    if pass.errors.is_empty() { Ok(!pass.removed.is_empty()) } else { Err(pass.errors) }
}

impl Pass<'_> {
    fn selection_set(&mut self, parent: &str, set: &mut SelectionSet) {
        for selection in &mut set.items {
            self.directives(selection.node.directives());
            match &mut selection.node {
                Selection::Field(field) => self.field(parent, field),
                Selection::InlineFragment(inline) => {
                    let condition = inline.node.type_condition.as_ref().map(|condition| condition.node.on.node.clone());
                    let parent = condition.as_ref().map_or(parent, Name::as_str);
                    self.selection_set(parent, &mut inline.node.selection_set.node);
                }
                Selection::FragmentSpread(_) => {}
            }
        }
    }

    fn field(&mut self, parent: &str, field: &mut Positioned<Field>) {
        let Field { name, arguments, selection_set, .. } = &mut field.node;
        arguments.retain_mut(|(_, value)| !self.take_out(&mut value.node));
        let shape = self.types.field(parent, &name.node);
        for (name, value) in arguments {
            if let Some(place) = shape.and_then(|shape| shape.arguments.get(&name.node)) {
                self.argument(name, place, &value.node, value.pos);
            }
        }
        self.selection_set(shape.map_or("", |shape| named(&shape.ty)), &mut selection_set.node);
    }

    fn argument(&mut self, name: &Positioned<Name>, place: &Place, value: &Value, pos: Pos) {
        if let Err(misfit) = self.check.place(place, value) {
            self.errors.push(bad_input_at(pos, format!("Argument \"{}\" {}", name.node, misfit.message())));
        }
    }

    /// Takes variables that were left out out of a value. True when the value itself is one.
    fn take_out(&mut self, value: &mut Value) -> bool {
        match value {
            Value::Variable(name) if self.left_out.contains(name) => {
                self.removed.insert(name.clone());
                true
            }
            Value::Variable(name) => {
                self.standing.insert(name.clone());
                false
            }
            Value::Object(fields) => {
                fields.retain(|_, value| !self.take_out(value));
                false
            }
            Value::List(items) => {
                for item in items {
                    match item {
                        // Null, by the specification; the library reads it so.
                        Value::Variable(name) => {
                            self.standing.insert(name.clone());
                        }
                        item => {
                            self.take_out(item);
                        }
                    }
                }
                false
            }
            _ => false,
        }
    }

    /// Directives take no part in any of this, but the variables they name are not unused.
    fn directives(&mut self, directives: &[Positioned<Directive>]) {
        for (_, value) in directives.iter().flat_map(|directive| &directive.node.arguments) {
            if let Value::Variable(name) = &value.node {
                self.standing.insert(name.clone());
            }
        }
    }

    /// A nullable variable may stand where the schema has a non-null with a default, as long as it is not null. The
    /// library does not know that rule; a definition made non-null says the same to it.
    fn tighten(&mut self, operation: &mut OperationDefinition, variables: &Variables) {
        for definition in &mut operation.variable_definitions {
            let (pos, definition) = (definition.pos, &mut definition.node);
            let name = &definition.name.node;
            if !self.check.defaulted.contains(name) {
                continue;
            }
            if variables.get(name) == Some(&ConstValue::Null) {
                self.errors.push(bad_input_at(pos, format!("Variable \"${name}\" must not be null where it is used.")));
            } else {
                definition.var_type.node.nullable = false;
            }
        }
    }
}
