//! Reading what a client asks out of JSON or out of a URL.
//!
//! Owns the parameters of a GraphQL request (`query`, `documentId`, `operationName`, `variables`, `extensions`) and what
//! they may be. Says what is wrong with them in words of its own: never what the JSON library says.

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

use async_graphql::Name;
use async_graphql_value::ConstValue;

use super::json;
use super::persisted::DocumentHash;

/// What a client asks, before its document is known.
#[derive(Debug)]
pub struct Asked {
    /// The document's text, where it was sent.
    pub query: Option<String>,
    /// Its hash, where that was sent; one of the two was.
    pub hash: Option<DocumentHash>,
    /// Which of its operations to run.
    pub operation_name: Option<String>,
    /// The variables as they were sent.
    pub variables: BTreeMap<Name, ConstValue>,
}

/// Reads a request's body.
///
/// # Errors
/// What is wrong with it.
pub fn from_json(body: &[u8]) -> Result<Asked, String> {
    match json::read(body, "The body")? {
        ConstValue::List(_) => Err("Batches are not served: send one request at a time.".to_owned()),
        value => from_value(value),
    }
}

/// Reads the query string of a URL, already decoded into its pairs.
///
/// # Errors
/// What is wrong with it.
pub fn from_url(mut pairs: HashMap<String, String>) -> Result<Asked, String> {
    let mut decoded = |key: &'static str| {
        let text = pairs.remove(key).filter(|text| !text.is_empty());
        text.map_or(Ok(ConstValue::Null), |text| json::read(text.as_bytes(), key))
    };
    let (variables, extensions) = (decoded("variables")?, decoded("extensions")?);
    let mut text = |key| pairs.remove(key).filter(|text| !text.is_empty());
    let (query, document_id, operation_name) = (text("query"), text("documentId"), text("operationName"));
    Parameters { query, document_id, operation_name, variables, extensions }.asked()
}

/// Reads a request that is a part of something else, as in a socket's message.
///
/// # Errors
/// What is wrong with it.
pub fn from_value(value: ConstValue) -> Result<Asked, String> {
    let ConstValue::Object(mut fields) = value else { return Err("A request is a JSON object.".to_owned()) };
    let mut text = |key| match fields.swap_remove(key).unwrap_or_default() {
        ConstValue::String(text) => Ok(Some(text)),
        ConstValue::Null => Ok(None),
        _ => Err(format!("The parameter \"{key}\" is a string.")),
    };
    let (query, document_id, operation_name) = (text("query")?, text("documentId")?, text("operationName")?);
    let mut take = |key| fields.swap_remove(key).unwrap_or_default();
    let (variables, extensions) = (take("variables"), take("extensions"));
    Parameters { query, document_id, operation_name, variables, extensions }.asked()
}

/// The parameters of a request, wherever they stood.
struct Parameters {
    query: Option<String>,
    document_id: Option<String>,
    operation_name: Option<String>,
    variables: ConstValue,
    extensions: ConstValue,
}

impl Parameters {
    fn asked(self) -> Result<Asked, String> {
        let Self { query, document_id, operation_name, variables, extensions } = self;
        let variables = map(variables, "variables")?;
        let by_id = document_id.map(|id| hash(id.strip_prefix("sha256:").unwrap_or(&id), "documentId")).transpose()?;
        let persisted_query = map(extensions, "extensions")?.remove("persistedQuery").unwrap_or_default();
        let hash = match (by_id, persisted(persisted_query)?) {
            (Some(one), Some(other)) if one != other => {
                return Err("\"documentId\" and \"extensions.persistedQuery\" name different documents.".to_owned());
            }
            (one, other) => one.or(other),
        };
        if query.is_none() && hash.is_none() {
            return Err("The parameter \"query\" is missing.".to_owned());
        }
        Ok(Asked { query, hash, operation_name, variables })
    }
}

/// The hash in Apollo's `extensions.persistedQuery`.
fn persisted(value: ConstValue) -> Result<Option<DocumentHash>, String> {
    if value == ConstValue::Null {
        return Ok(None);
    }
    let mut fields = map(value, "extensions.persistedQuery")?;
    if fields.remove("version") != Some(ConstValue::from(1)) {
        return Err("The parameter \"extensions.persistedQuery.version\" is 1.".to_owned());
    }
    let key = "extensions.persistedQuery.sha256Hash";
    match fields.remove("sha256Hash") {
        Some(ConstValue::String(text)) => hash(&text, key).map(Some),
        _ => Err(format!("The parameter \"{key}\" is a string.")),
    }
}

fn hash(text: &str, key: &str) -> Result<DocumentHash, String> {
    text.parse().map_err(|wrong| format!("The parameter \"{key}\" {wrong}."))
}

fn map(value: ConstValue, key: &str) -> Result<BTreeMap<Name, ConstValue>, String> {
    match value {
        ConstValue::Object(fields) => Ok(fields.into_iter().collect()),
        ConstValue::Null => Ok(BTreeMap::new()),
        _ => Err(format!("The parameter \"{key}\" is an object.")),
    }
}
