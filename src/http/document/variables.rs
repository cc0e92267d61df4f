//! The variables of a request: checked against their definitions before anything runs, and filled with defaults.
//!
//! A variable that is left out and has no default stays out: it is not null. Variables the operation does not define
//! are dropped, as the specification says.

use std::collections::BTreeMap;

use async_graphql::parser::types::{ExecutableDocument, OperationDefinition, Type};
use async_graphql::{Name, ServerError, Variables};
use async_graphql_value::ConstValue;

use super::input::Check;
use super::types::{Shape, Types, named};
use crate::http::limits;
use crate::http::refusal::bad_input_at;

/// Refuses a document with a variable of a type that is unknown or not an input. Validation would panic on some of them.
///
/// # Errors
/// The first such variable.
pub fn known(document: &ExecutableDocument, types: &Types) -> Result<(), ServerError> {
    let definitions = document.operations.iter().flat_map(|(_, operation)| &operation.node.variable_definitions);
    for definition in definitions {
        let ty = &definition.node.var_type.node;
        if !is_input(types, ty) {
            let name = &definition.node.name.node;
            let message = format!("Variable \"${name}\" cannot be of type {ty}: there is no such input type.");
            return Err(bad_input_at(definition.pos, message));
        }
    }
    Ok(())
}

fn is_input(types: &Types, ty: &Type) -> bool {
    matches!(types.shape(named(ty)), Some(Shape::Scalar | Shape::Enum(_) | Shape::Input(_)))
}

/// The value an operation sees in each of its variables that has one.
///
/// # Errors
/// One error for each variable whose value does not fit its type.
pub fn coerce(
    operation: &OperationDefinition,
    mut given: BTreeMap<Name, ConstValue>,
    types: &Types,
) -> Result<Variables, Vec<ServerError>> {
    let mut check = Check::new(types);
    let mut variables = Variables::default();
    let mut errors = Vec::new();
    for definition in &operation.variable_definitions {
        let (pos, definition) = (definition.pos, &definition.node);
        let name = &definition.name.node;
        let ty = &definition.var_type.node;
        let default = definition.default_value.as_ref().map(|value| &value.node);
        match given.remove(name).or_else(|| default.cloned()) {
            Some(value) => match check.value(ty, &value) {
                Ok(()) => {
                    variables.insert(name.clone(), value);
                }
                Err(misfit) => errors.push(bad_input_at(pos, format!("Variable \"${name}\" {}", misfit.message()))),
            },
            None if !ty.nullable => {
                errors.push(bad_input_at(pos, format!("Variable \"${name}\" of type {ty} must be given.")));
            }
            None => {}
        }
    }
    errors.truncate(limits::ERRORS);
    if errors.is_empty() { Ok(variables) } else { Err(errors) }
}
