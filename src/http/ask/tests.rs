//! Tests of reading what is asked.

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
        "{\"documentId\":1}",
        "{\"documentId\":\"sha512:ab\"}",
        "{\"extensions\":{\"persistedQuery\":{}}}",
        "{\"extensions\":{\"persistedQuery\":{\"version\":1}}}",
        "{\"extensions\":{\"persistedQuery\":{\"version\":2,\"sha256Hash\":\"0\"}}}",
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
    let body = format!("{{\"query\":\"{{a}}\",\"variables\":{{\"x\":{}{}}}}}", "[".repeat(5_000), "]".repeat(5_000));
    from_json(body.as_bytes()).unwrap_err();
}

#[test]
fn null_parameters_are_as_good_as_none() {
    let ask = from_json(b"{\"query\":\"{a}\",\"operationName\":null,\"variables\":null,\"extensions\":null}").unwrap();
    assert_eq!((ask.query.as_deref(), ask.operation_name, ask.variables.len()), (Some("{a}"), None, 0));
}

#[test]
fn a_url_carries_name_and_variables_too() {
    let pairs = [("query", "{a}"), ("operationName", "B"), ("variables", "{\"x\":1}"), ("extensions", "{}")];
    let ask = from_url(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).into()).unwrap();
    assert_eq!(ask.operation_name.as_deref(), Some("B"));
    assert_eq!(ask.variables["x"], ConstValue::Number(1.into()));
}
