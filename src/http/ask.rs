//! Reading what a client asks out of JSON or out of a URL.
//!
//! Owns the parameters of a GraphQL request (`query`, `operationName`, `variables`, `extensions`) and what they may be.
//! Says what is wrong with them in words of its own: never what the JSON library says.

use std::collections::{BTreeMap, HashMap};

use async_graphql::Name;
use async_graphql_value::ConstValue;

use super::document::Ask;
use super::json;

/// Reads a request's body.
///
/// # Errors
/// What is wrong with it.
pub fn from_json(body: &[u8]) -> Result<Ask, String> {
    match json::read(body, "The body")? {
        ConstValue::List(_) => Err("Batches are not served: send one request at a time.".to_owned()),
        value => from_value(value),
    }
}

/// Reads the query string of a URL, already decoded into its pairs.
///
/// # Errors
/// What is wrong with it.
pub fn from_url(mut pairs: HashMap<String, String>) -> Result<Ask, String> {
    let mut decoded = |key: &'static str| {
        let text = pairs.remove(key).filter(|text| !text.is_empty());
        text.map_or(Ok(ConstValue::Null), |text| json::read(text.as_bytes(), key))
    };
    let (variables, extensions) = (decoded("variables")?, decoded("extensions")?);
    map(extensions, "extensions")?;
    Ok(Ask {
        query: pairs.remove("query").ok_or("The parameter \"query\" is missing.")?,
        operation_name: pairs.remove("operationName").filter(|name| !name.is_empty()),
        variables: map(variables, "variables")?,
    })
}

/// Reads a request that is a part of something else, as in a socket's message.
///
/// # Errors
/// What is wrong with it.
pub fn from_value(value: ConstValue) -> Result<Ask, String> {
    let ConstValue::Object(mut fields) = value else { return Err("A request is a JSON object.".to_owned()) };
    let mut take = |key| fields.swap_remove(key).unwrap_or_default();
    let query = match take("query") {
        ConstValue::String(query) => query,
        ConstValue::Null => return Err("The parameter \"query\" is missing.".to_owned()),
        _ => return Err("The parameter \"query\" is a string.".to_owned()),
    };
    let operation_name = match take("operationName") {
        ConstValue::String(name) => Some(name),
        ConstValue::Null => None,
        _ => return Err("The parameter \"operationName\" is a string.".to_owned()),
    };
    let variables = map(take("variables"), "variables")?;
    // Extensions are for agreements between client and server; there are none yet, but their form is checked.
    map(take("extensions"), "extensions")?;
    Ok(Ask { query, operation_name, variables })
}

fn map(value: ConstValue, key: &str) -> Result<BTreeMap<Name, ConstValue>, String> {
    match value {
        ConstValue::Object(fields) => Ok(fields.into_iter().collect()),
        ConstValue::Null => Ok(BTreeMap::new()),
        _ => Err(format!("The parameter \"{key}\" is an object.")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn t04_whatever_is_not_a_request_is_refused_in_our_own_words() {
        for body in [
            "",
            "{\"query\":\"{a}\"",
            "\"{ a }\"",
            "{\"query\":{}}",
            "{\"query\":\"{a}\",\"variables\":[]}",
            "{}",
            "7",
            "{\"query\":\"{a}\",\"operationName\":1}",
            "{\"query\":\"{a}\",\"extensions\":\"x\"}",
            "{\"query\":\"\\ud800\"}",
            "{\"query\":\"{a}\",\"variables\":{\"n\":1e999}}",
        ] {
            let message = from_json(body.as_bytes()).unwrap_err();
            assert!(!message.contains("expected") && !message.contains("invalid type"), "{body}: {message}");
        }
        from_json(b"{\"query\":\"\xff\"}").unwrap_err();
    }

    #[test]
    fn t03_batches_are_refused() {
        for body in ["[]", "[{\"query\":\"{a}\"}]"] {
            assert!(from_json(body.as_bytes()).unwrap_err().starts_with("Batches"), "{body}");
        }
    }

    #[test]
    fn json_as_deep_as_a_stack_is_refused() {
        let body =
            format!("{{\"query\":\"{{a}}\",\"variables\":{{\"x\":{}{}}}}}", "[".repeat(5_000), "]".repeat(5_000));
        from_json(body.as_bytes()).unwrap_err();
    }

    #[test]
    fn null_parameters_are_as_good_as_none() {
        let ask =
            from_json(b"{\"query\":\"{a}\",\"operationName\":null,\"variables\":null,\"extensions\":null}").unwrap();
        assert_eq!((ask.query.as_str(), ask.operation_name, ask.variables.len()), ("{a}", None, 0));
    }

    #[test]
    fn a_url_carries_name_and_variables_too() {
        let pairs = [("query", "{a}"), ("operationName", "B"), ("variables", "{\"x\":1}"), ("extensions", "{}")];
        let ask = from_url(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()).unwrap();
        assert_eq!(ask.operation_name.as_deref(), Some("B"));
        assert_eq!(ask.variables["x"], ConstValue::Number(1.into()));
    }
}
