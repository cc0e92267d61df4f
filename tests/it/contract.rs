//! What clients rely on: the checked-in schema is the printed one, and everything in it is described.

use serde_json::{Value, json};
use writewatch::graphql;
use writewatch::store::Engine;

use crate::harness::Harness;

#[test]
fn schema_graphql_is_the_printed_schema() {
    let kept = include_str!("../../schema.graphql");
    assert!(kept == graphql::sdl().trim_end().to_owned() + "\n", "run `cargo run -- schema > schema.graphql`");
}

const INTROSPECTION: &str = "{ __schema { types { name description
    fields { name description args { name description } } inputFields { name description } enumValues { name description } } } }";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everything_in_the_schema_is_described() {
    let harness = Harness::start(Engine::Sqlite).await;
    let schema = harness.ask(INTROSPECTION, json!({})).await["__schema"].take();
    let types = schema["types"].as_array().unwrap();
    assert!(types.len() > 50);
    let built_in = |name: &str| name.starts_with("__") || matches!(name, "String" | "Int" | "Float" | "Boolean" | "ID");
    let described = |of: &str, what: &Value| {
        let text = what["description"].as_str().unwrap_or_default();
        assert!(text.len() > 3, "{of} {} has no description", what["name"]);
        assert!(!text.contains("[`") && !text.contains("store::"), "{of} {}: {text}", what["name"]);
    };
    for kind in types.iter().filter(|kind| !built_in(kind["name"].as_str().unwrap())) {
        let name = kind["name"].as_str().unwrap();
        described("type", kind);
        for list in ["fields", "inputFields", "enumValues"] {
            for part in kind[list].as_array().into_iter().flatten() {
                described(name, part);
                for argument in part["args"].as_array().into_iter().flatten() {
                    described(&format!("{name}.{}", part["name"]), argument);
                }
            }
        }
    }
}
