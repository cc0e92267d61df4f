//! What was prepared, to be run once or as often as there are events; and what tells it from what others ask.

use async_graphql::parser::types::ExecutableDocument;
use async_graphql::{Request, Variables};
use async_graphql_value::ConstValue;
use sha2::{Digest as _, Sha256};

use super::Ask;
use super::plan::Plan;

/// A document that is ready to be validated and run, with any variables like those that it was settled for.
pub struct Settled {
    document: ExecutableDocument,
    operation_name: Option<String>,
    /// How its answer is to look.
    pub plan: Plan,
    /// Of the document's text, the operation's name, and of what its variables decide of both: equal where those are.
    pub digest: Digest,
}

/// A SHA-256.
pub type Digest = [u8; 32];

impl Settled {
    /// A document, which of its operations runs, how its answer is to look, and its digest.
    #[must_use]
    pub const fn new(document: ExecutableDocument, operation_name: Option<String>, plan: Plan, digest: Digest) -> Self {
        Self { document, operation_name, plan, digest }
    }

    /// As the schema runs it, as often as it is wanted.
    #[must_use]
    pub fn request(&self, variables: Variables) -> Request {
        request(self.document.clone(), self.operation_name.clone(), variables)
    }

    /// As the schema runs it, once, and how its answer is to look.
    #[must_use]
    pub fn into_request(self, variables: Variables) -> (Request, Plan) {
        (request(self.document, self.operation_name, variables), self.plan)
    }
}

fn request(document: ExecutableDocument, operation_name: Option<String>, variables: Variables) -> Request {
    let mut request = Request::new("").variables(variables);
    request.operation_name = operation_name;
    request.set_parsed_query(document);
    request
}

/// Variables decide of a document what is taken out because they were left out, and what is skipped; whoever wants events is
/// told a cursor too, and may go on from one that stands in the document.
#[must_use]
pub fn digest(ask: &Ask, variables: &Variables) -> Digest {
    let mut sha = Sha256::new();
    let mut part = |text: &str, decides: u8| {
        // Its length keeps what follows apart.
        sha.update(text.len().to_be_bytes());
        sha.update(text);
        sha.update([decides]);
    };
    let last_event_id = ask.by_events.as_ref().map(|events| events.last_event_id.as_deref());
    for text in [Some(ask.query.as_str()), ask.operation_name.as_deref(), last_event_id.flatten()] {
        part(text.unwrap_or_default(), u8::from(text.is_some()));
    }
    part("", u8::from(last_event_id.is_some()));
    for (name, value) in variables.iter() {
        part(name, if let ConstValue::Boolean(value) = value { u8::from(*value) } else { 2 });
    }
    sha.finalize().into()
}
