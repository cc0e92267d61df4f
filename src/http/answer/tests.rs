//! Answers of a small schema whose resolvers finish in any order and fail in any place.

use async_graphql::{EmptyMutation, EmptySubscription, Error, Interface, Object, Schema};
use serde_json::{Value, json};

use super::Answer;
use crate::http::document::types::Types;
use crate::http::document::{Ask, prepare};

struct Query;
struct Thing(i64);
struct Other;

#[derive(Interface)]
#[graphql(field(name = "id", ty = "i64"))]
enum Node {
    Thing(Thing),
    Other(Other),
}

async fn late() {
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
}

#[Object]
impl Query {
    async fn late(&self) -> i32 {
        late().await;
        1
    }
    async fn soon(&self) -> i32 {
        2
    }
    async fn thing(&self) -> Thing {
        late().await;
        Thing(1)
    }
    async fn maybe(&self) -> Option<Thing> {
        Some(Thing(7))
    }
    async fn things(&self) -> Option<Vec<Thing>> {
        Some(vec![Thing(1), Thing(7)])
    }
    async fn nodes(&self) -> Vec<Node> {
        vec![Node::Thing(Thing(1)), Node::Other(Other)]
    }
    async fn checked(&self, #[graphql(validator(maximum = 3))] n: i32) -> i32 {
        n
    }
}

#[Object]
impl Thing {
    async fn id(&self) -> Result<i64, Error> {
        late().await;
        if self.0 == 7 { Err(Error::new("SELECT secret FROM things")) } else { Ok(self.0) }
    }
    async fn name(&self) -> Result<Option<&str>, Error> {
        tokio::task::yield_now().await;
        if self.0 == 7 { Err(Error::new("no name")) } else { Ok(Some("thing")) }
    }
    async fn wide(&self) -> i64 {
        1 << 40
    }
    async fn inner(&self) -> Thing {
        Thing(1)
    }
}

#[Object]
impl Other {
    async fn id(&self) -> i64 {
        2
    }
    async fn name(&self) -> &str {
        late().await;
        "other"
    }
}

async fn answered(query: &str, variables: Value) -> Answer {
    let schema = Schema::new(Query, EmptyMutation, EmptySubscription);
    let types = Types::read(&schema.sdl()).unwrap();
    let variables = serde_json::from_value(variables).unwrap();
    let ask = Ask { query: query.to_owned(), operation_name: None, variables, by_events: None };
    match prepare(ask, &types) {
        Ok(prepared) => {
            let (request, plan) = prepared.into_request();
            Answer::finish(schema.execute(request).await, &plan)
        }
        Err(errors) => errors.into(),
    }
}

async fn text(query: &str) -> String {
    serde_json::to_string(&answered(query, json!({})).await).unwrap()
}

async fn value(query: &str) -> Value {
    serde_json::to_value(answered(query, json!({})).await).unwrap()
}

fn code(error: &Value) -> &str {
    error["extensions"]["code"].as_str().unwrap()
}

#[tokio::test]
async fn fields_come_in_the_order_asked() {
    assert_eq!(text("{ late soon }").await, r#"{"data":{"late":1,"soon":2}}"#);
    assert_eq!(text("{ b: late a: soon late }").await, r#"{"data":{"b":1,"a":2,"late":1}}"#);
    assert_eq!(
        text("{ thing { ...F name } soon thing { inner { id name } } } fragment F on Thing { id }").await,
        r#"{"data":{"thing":{"id":1,"name":"thing","inner":{"id":1,"name":"thing"}},"soon":2}}"#
    );
    assert_eq!(
        text("{ things: maybe { inner { id name } } }").await,
        r#"{"data":{"things":{"inner":{"id":1,"name":"thing"}}}}"#
    );
}

#[tokio::test]
async fn each_object_of_an_interface_has_its_own_order() {
    let query = "{ nodes { ... on Other { name id } ... on Thing { id name } __typename } }";
    assert_eq!(
        text(query).await,
        r#"{"data":{"nodes":[{"id":1,"name":"thing","__typename":"Thing"},{"name":"other","id":2,"__typename":"Other"}]}}"#
    );
    let by_keys = "{ nodes { ... on Other { n: name i: id } ... on Thing { id name } } }";
    assert_eq!(text(by_keys).await, r#"{"data":{"nodes":[{"id":1,"name":"thing"},{"n":"other","i":2}]}}"#);
}

#[tokio::test]
async fn introspection_keeps_its_order_too() {
    let query = r#"{ __type(name: "Other") { name kind fields { name type { kind ofType { name kind } } } } soon }"#;
    let text = text(query).await;
    assert!(text.starts_with(r#"{"data":{"__type":{"name":"Other","kind":"OBJECT","fields":[{"name":"id","type":{"kind":"NON_NULL","ofType":{"name":"Int","kind":"SCALAR"}}}"#), "{text}");
}

#[tokio::test]
async fn skipped_fields_take_no_place() {
    let query = "query ($no: Boolean! = false) { late @include(if: $no) soon @skip(if: $no) }";
    assert_eq!(text(query).await, r#"{"data":{"soon":2}}"#);
}

#[tokio::test]
async fn a_failed_field_is_null_and_takes_along_what_cannot_be() {
    let answer = value("{ soon maybe { name inner { id } } }").await;
    assert_eq!(answer["data"], json!({"soon": 2, "maybe": {"name": null, "inner": {"id": 1}}}));
    assert_eq!(answer["errors"][0]["path"], json!(["maybe", "name"]));
    assert_eq!(value("{ soon maybe { name } }").await["data"], json!({"soon": 2, "maybe": {"name": null}}));
    assert_eq!(value("{ soon maybe { id name } }").await["data"], json!({"soon": 2, "maybe": null}));
    assert_eq!(value("{ soon things { id } }").await["data"], json!({"soon": 2, "things": null}));
    assert_eq!(
        value("{ soon things { name } }").await["data"],
        json!({"soon": 2, "things": [{"name": "thing"}, {"name": null}]})
    );
}

#[tokio::test]
async fn an_int_wider_than_32_bits_does_not_leave() {
    let answer = value("{ soon thing { wide } }").await;
    assert_eq!(answer["data"], Value::Null, "thing and wide cannot be null");
    assert_eq!((code(&answer["errors"][0]), &answer["errors"][0]["path"]), ("INTERNAL", &json!(["thing", "wide"])));
}

#[tokio::test]
async fn a_refused_request_has_no_data() {
    for query in ["{", "{ nope }", "{ things }", "query ($x: Int!) { soon }", "{ checked(n: \"x\") }", "{ ...F }"] {
        let answer = value(query).await;
        assert!(answer.get("data").is_none(), "{query}: {answer}");
        assert_eq!(code(&answer["errors"][0]), "BAD_INPUT", "{query}");
    }
}

#[tokio::test]
async fn what_is_internal_stays_inside() {
    let answer = value("{ thing { id } maybe { id } }").await;
    assert_eq!(
        (answer["errors"][0]["message"].as_str(), code(&answer["errors"][0])),
        (Some("Internal error."), "INTERNAL")
    );
    let answer = value("{ checked(n: 4) }").await;
    assert_eq!(code(&answer["errors"][0]), "BAD_INPUT");
    assert!(answer["data"].is_null() && answer.as_object().unwrap().contains_key("data"));
}

#[tokio::test]
async fn at_most_ten_errors_are_told() {
    let unknown = (0..20).map(|n| format!("nope{n}")).collect::<Vec<_>>().join(" ");
    assert_eq!(value(&format!("{{ thing {{ {unknown} }} }}")).await["errors"].as_array().map(Vec::len), Some(10));
}
