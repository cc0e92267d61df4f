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
pub mod resume;
mod scan;
mod settled;
mod syntax;
#[cfg(test)]
mod tests;
mod variables;

use std::collections::BTreeMap;

use async_graphql::parser::types::{ExecutableDocument, OperationType};
use async_graphql::{Name, Request, ServerError, Variables};
use async_graphql_value::ConstValue;

use self::plan::Plan;
pub use self::settled::{Digest, Settled};
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
    /// Given when a subscription's answers are to be events.
    pub by_events: Option<ByEvents>,
}

/// How a subscription's answers become events.
#[derive(Debug)]
pub struct ByEvents {
    /// The last event that the client got, when it comes back.
    pub last_event_id: Option<String>,
}

/// A request that passed every check that can be made before validation.
pub struct Prepared {
    /// What is asked, but for the values of its variables.
    pub settled: Settled,
    /// The variables, coerced.
    pub variables: Variables,
    /// What its operation is.
    pub kind: OperationType,
    /// What its operation is called.
    pub name: Option<Name>,
}

impl Prepared {
    /// As the schema runs it, once, and how its answer is to look.
    #[must_use]
    pub fn into_request(self) -> (Request, Plan) {
        self.settled.into_request(self.variables)
    }
}

/// Checks and prepares what a client asks.
///
/// # Errors
/// The errors to answer with; at least one, each with its code.
pub fn prepare(mut ask: Ask, types: &Types) -> Result<Prepared, Vec<ServerError>> {
    scan::scan(&ask.query).map_err(|unreadable| vec![bad_input(unreadable.message())])?;
    let mut document = syntax::parse(&ask.query).map_err(|error| vec![error])?;
    let name = ask.operation_name.as_deref();
    if let Some(ByEvents { last_event_id: Some(last) }) = &ask.by_events {
        let operation = choice::find_mut(&mut document.operations, name)?;
        resume::go_on(operation, last, &mut ask.variables, types)?;
    }
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
    let variables = variables::coerce(operation, std::mem::take(&mut ask.variables), types)?;
    let removed = arguments::settle(operation, fragments, &variables, types)?;
    if kind == OperationType::Subscription {
        choice::single_root(operation)?;
    } else if kind == OperationType::Mutation {
        choice::distinct_roots(operation, fragments)?;
    }
    let plan = plan::plan(operation, fragments, &variables, types);
    if kind == OperationType::Subscription && ask.by_events.is_some() {
        resume::ask_for_cursor(operation, types);
    }
    if removed {
        // Other operations may use the variables that were taken out of fragments they share with this one.
        choice::keep_only(&mut document, name);
    }

    let digest = settled::digest(&ask, &variables);
    let name = choice::name(&document.operations, name);
    let settled = Settled::new(document, ask.operation_name, plan, digest);
    Ok(Prepared { settled, variables, kind, name })
}
