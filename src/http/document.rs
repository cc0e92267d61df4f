//! From what a client asks to a request that is safe to validate and run: one set of checks for every transport.
//!
//! In this order: the scan of the text, the parse (the only one), the choice of the operation, the count with fragments
//! expanded, the variables, the arguments. Whatever fails here is a request error: nothing has run. Validation against
//! the schema is the library's and comes with execution. Never reads a header, never runs a resolver.

pub mod types;

mod arguments;
mod choice;
mod count;
mod input;
pub mod plan;
mod scan;
mod syntax;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;

use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::{Name, Request, ServerError};
use async_graphql_value::ConstValue;

use self::plan::Plan;
use self::types::Types;
use super::refusal::bad_input;

/// What a client asks, in any transport.
#[derive(Debug)]
pub struct Ask {
    /// The document's text.
    pub query: String,
    /// Which of its operations to run.
    pub operation_name: Option<String>,
    /// The variables as they were sent.
    pub variables: BTreeMap<Name, ConstValue>,
}

/// A request that passed every check that can be made before validation.
pub struct Prepared {
    /// With its document parsed and its variables coerced.
    pub request: Request,
    /// What its operation is.
    pub kind: OperationType,
    /// How its answer is to look.
    pub plan: Plan,
}

/// Checks and prepares what a client asks.
///
/// # Errors
/// The errors to answer with; at least one, each with its code.
pub fn prepare(ask: Ask, types: &Types) -> Result<Prepared, Vec<ServerError>> {
    scan::scan(&ask.query).map_err(|unreadable| vec![bad_input(unreadable.message())])?;
    let mut document = syntax::parse(&ask.query).map_err(|error| vec![error])?;
    let name = ask.operation_name.as_deref();
    let defaults = choice::find(&document.operations, name)?.variable_definitions.iter().map(|it| &it.node);
    let value = |variable: &str| {
        let default = || defaults.clone().find(|it| it.name.node == variable)?.default_value.as_ref();
        ask.variables.get(variable).or_else(|| default().map(|value| &value.node))
    };
    count::count(&document, types, &value)?;
    variables::known(&document, types)?;

    let ExecutableDocument { operations, fragments } = &mut document;
    let operation = choice::find_mut(operations, name)?;
    let kind = operation.ty;
    let variables = variables::coerce(operation, ask.variables, types)?;
    let removed = arguments::settle(operation, fragments, &variables, types)?;
    if kind == OperationType::Subscription {
        choice::single_root(operation)?;
    } else if kind == OperationType::Mutation {
        choice::distinct_roots(operation, fragments)?;
    }
    let plan = plan::plan(operation, fragments, &variables, types);
    if removed {
        // Other operations may use the variables that were taken out of fragments they share with this one.
        choice::keep_only(&mut document, name);
    }

    let mut request = Request::new(ask.query).variables(variables);
    request.operation_name = ask.operation_name;
    request.set_parsed_query(document);
    Ok(Prepared { request, kind, plan })
}
