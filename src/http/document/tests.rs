//! The checks as a whole, on the hostile documents they were made for and on the honest ones beside them.

use std::collections::BTreeMap;
use std::time::Duration;

use async_graphql::parser::types::OperationType;
use async_graphql::{Name, ServerError};
use async_graphql_value::ConstValue;

use super::types::Types;
use super::{Ask, ByEvents, Prepared, prepare};

const SDL: &str = "
    enum State { LIVE DEAD }
    input Inner { state: State!, count: Int = 1, tags: [String!] }
    input Filter { states: [State!], inner: Inner, owner: String, leased: Boolean! = false, json: JSON }
    input Act { id: ID!, etag: String, marks: [Inner!]! }
    input Choice @oneOf { a: Int, b: String }
    scalar JSON
    interface Node { id: ID! }
    type Thing implements Node { id: ID!, name: String, data: JSON, things(filter: Filter, first: Int, after: String): Things! }
    type Other implements Node { id: ID!, label: String, thing: Thing }
    type Things { nodes: [Thing!]!, count: Int! }
    type Query {
        thing(id: ID): Thing
        things(filter: Filter, first: Int, ids: [ID!]): Things!
        node(id: ID!): Node
        choose(by: Choice!): Int
    }
    type Mutation { act(input: Act!): Thing! }
    type Change { id: ID!, cursor: String! }
    type Subscription { changes(filter: Filter): Thing!, things(after: String): Change!, ticks: Int! }
    schema { query: Query mutation: Mutation subscription: Subscription }
";

/// The text written this many times, each time for its number.
fn many(times: usize, text: impl Fn(usize) -> String) -> String {
    (0..times).map(text).collect::<Vec<_>>().concat()
}

fn types() -> Types {
    Types::read(SDL).unwrap()
}

fn ask(query: &str, variables: &str) -> Ask {
    let variables: BTreeMap<Name, ConstValue> = serde_json::from_str(variables).unwrap();
    Ask { query: query.to_owned(), operation_name: None, variables, by_events: None }
}

fn checked(query: &str, variables: &str) -> Result<Prepared, Vec<ServerError>> {
    prepare(ask(query, variables), &types())
}

/// The document that would be validated and run, as text that can be searched.
fn settled(query: &str, variables: &str) -> String {
    let mut request = checked(query, variables).map_err(|errors| errors[0].message.clone()).unwrap().into_request().0;
    format!("{:?}", request.parsed_query().unwrap())
}

fn refusal(query: &str, variables: &str) -> String {
    let errors = checked(query, variables).err().unwrap_or_else(|| panic!("passed: {query} {variables}"));
    for error in &errors {
        let code = error.extensions.as_ref().unwrap().get("code").cloned();
        assert_eq!(code, Some(ConstValue::from("BAD_INPUT")), "{query}");
    }
    errors[0].message.clone()
}

fn passes(query: &str, variables: &str) {
    checked(query, variables).map_err(|errors| errors[0].message.clone()).map(drop).unwrap();
}

#[test]
fn fragments_spreading_fragments_are_counted_not_expanded() {
    // 603 bytes, eight times as many fields a level: 2 s of CPU for the stock library, and eight times that a level on.
    let levels = many(12, |level| {
        let spread = format!("...F{} ", level + 1).repeat(8);
        format!("fragment F{level} on Query {{ {spread} }} ")
    });
    for (leaf, wanted) in [
        ("fragment F12 on Query { thing { id } }", "root fields"),
        ("fragment F12 on Query { ...Nowhere }", "no fragment \"Nowhere\""),
        ("fragment F12 on Query { ... on Thing { id } }", "root fields"),
    ] {
        let query = format!("{{ ...F0 }} {levels} {leaf}");
        let (sender, receiver) = std::sync::mpsc::channel();
        std::thread::spawn(move || sender.send(refusal(&query, "{}")));
        let message = receiver.recv_timeout(Duration::from_secs(1)).expect("the count takes as long as the text is");
        assert!(message.contains(wanted), "{message}");
    }
}

#[test]
fn fragments_that_spread_themselves_do_not_loop() {
    for query in [
        "{ ...A } fragment A on Query { ...A }",
        "{ thing { id } } fragment A on Query { ...B ...B } fragment B on Query { ...A ...A }",
        "{ ...A } fragment A on Query { thing { ...B } } fragment B on Thing { things { nodes { ...B } } }",
    ] {
        assert!(refusal(query, "{}").ends_with("spreads itself."), "{query}");
    }
}

#[test]
fn a_long_chain_of_fragments_is_refused_without_following_it() {
    let chain = many(600, |n| format!("fragment F{n} on Query {{ ...F{} }} ", n + 1));
    let query = format!("{{ ...F0 }} {chain}");
    assert!(refusal(&query, "{}").contains("inside one another"));
}

#[test]
fn t07_depth_aliases_and_directives_have_their_limits() {
    let deep = |levels: usize| {
        format!("{{ thing {} {{ id }} {} }}", "{ things(first: 1) { nodes".repeat(levels), "} }".repeat(levels))
    };
    // thing, then two fields a level, then id.
    passes(&deep(7), "{}");
    assert!(refusal(&deep(8), "{}").contains("fields inside one another"));
    let aliased = |count: usize| many(count, |n| format!("a{n}: id "));
    passes(&format!("{{ thing {{ {} }} }}", aliased(30)), "{}");
    assert!(refusal(&format!("{{ thing {{ {} }} }}", aliased(31)), "{}").contains("aliases"));
    let roots = many(11, |n| format!("a{n}: thing {{ id }} "));
    assert!(refusal(&format!("{{ {roots} }}"), "{}").contains("root fields"));
    assert!(refusal(&format!("{{ thing {{ id {} }} }}", "@skip(if: false) ".repeat(51)), "{}").contains("directives"));
    let claims = many(400, |n| format!("c{n}: act(input: {{}}) {{ id }} "));
    assert!(refusal(&format!("mutation {{ {claims} }}"), "{}").contains("root fields"));
}

#[test]
fn an_answer_has_a_largest_size() {
    let nested = |first: &str| {
        format!(
            "query Q($n: Int) {{ things(first: {first}) {{ nodes {{ things(first: {first}) {{ nodes {{ things(first: {first}) \
             {{ nodes {{ id name }} }} }} }} }} }} }}"
        )
    };
    passes(&nested("10"), "{}");
    passes(&nested("$n"), r#"{"n":10}"#);
    assert!(refusal(&nested("100"), "{}").contains("largest answer"));
    assert!(refusal(&nested("$n"), r#"{"n":1000000000}"#).contains("largest answer"));
    assert!(refusal(&nested("1").replace("(first: 1)", ""), "{}").contains("largest answer"), "fifty rows each");
    let ids = format!(r#"{{"ids":[{}]}}"#, vec!["\"x\""; 3_000].join(","));
    let deep = "query ($ids: [ID!]) { things(ids: $ids) { nodes { things { nodes { id name a: id b: id } } } } }";
    assert!(refusal(deep, &ids).contains("largest answer"));
}

#[test]
fn a_json_value_counts_for_what_it_may_hold() {
    let pages = |field: &str| {
        format!("{{ things(first: 100) {{ nodes {{ things(first: 100) {{ nodes {{ {field} }} }} }} }} }}")
    };
    passes(&pages("name"), "{}");
    assert!(refusal(&pages("data"), "{}").contains("largest answer"));
    passes("{ things(first: 100) { nodes { data name id } } }", "{}");
}

#[test]
fn introspection_is_as_large_as_the_schema_makes_it() {
    let names = |count: usize| "name ".repeat(count);
    let circle = |inner: &str| format!("fields {{ type {{ {inner} }} }}");
    let types = |inner: &str| format!("{{ __schema {{ types {{ {inner} }} }} }}");
    for (query, passes) in [
        (types("name fields { name args { name } }"), true),
        (types(&circle(&names(1_500))), true),
        (types(&circle(&circle(&circle(&names(500))))), false),
        (types(&circle(&circle(&circle(&names(50))))), true),
        (format!("{{ __type(name: \"Query\") {{ {} }} }}", circle(&circle(&circle(&circle(&names(500)))))), false),
        // A fragment is as large as where it is spread makes it.
        (types("...A") + &format!("fragment A on __Type {{ fields {{ {} }} }}", names(400)), true),
        (types(&circle(&circle("...A"))) + &format!("fragment A on __Type {{ fields {{ {} }} }}", names(400)), false),
    ] {
        let result = checked(&query, "{}").map_err(|errors| errors[0].message.clone()).map(drop);
        assert_eq!(result.is_ok(), passes, "{query}: {result:?}");
        if let Err(message) = result {
            assert!(message.contains("about the schema") || message.contains("selections"), "{message}");
        }
    }
}

#[test]
fn introspection_as_graphiql_asks_it_passes() {
    let of_type = (0..9).fold("kind name".to_owned(), |inner, _| format!("kind name ofType {{ {inner} }}"));
    let query = format!(
        "query IntrospectionQuery {{ __schema {{ queryType {{ name }} mutationType {{ name }} subscriptionType {{ name }} types \
         {{ ...FullType }} directives {{ name description isRepeatable locations args(includeDeprecated: true) {{ ...InputValue }} }} }} }} \
         fragment FullType on __Type {{ kind name description specifiedByURL fields(includeDeprecated: true) {{ name description \
         args(includeDeprecated: true) {{ ...InputValue }} type {{ ...TypeRef }} isDeprecated deprecationReason }} \
         inputFields(includeDeprecated: true) {{ ...InputValue }} interfaces {{ ...TypeRef }} enumValues(includeDeprecated: true) \
         {{ name description isDeprecated deprecationReason }} possibleTypes {{ ...TypeRef }} }} fragment InputValue on __InputValue \
         {{ name description type {{ ...TypeRef }} defaultValue isDeprecated deprecationReason }} fragment TypeRef on __Type {{ {of_type} }}"
    );
    passes(&query, "{}");
}

#[test]
fn variables_are_checked_before_anything_runs() {
    let query = "query ($v: Filter) { things(filter: $v) { count } }";
    for (variables, wanted) in [
        (r#"{"v":7}"#, "Variable \"$v\" Filter takes an object."),
        (r#"{"v":{"states":["LIVE","GONE"]}}"#, "Variable \"$v\" at states.1: State has no such value."),
        (r#"{"v":{"states":[null]}}"#, "Variable \"$v\" at states.0: State! must not be null."),
        (r#"{"v":{"inner":{}}}"#, "Variable \"$v\" at inner: Inner needs its field \"state\" of type State!."),
        (
            r#"{"v":{"inner":{"state":"LIVE","count":2147483648}}}"#,
            "Variable \"$v\" at inner.count: Int takes a whole number of 32 bits.",
        ),
        (
            r#"{"v":{"inner":{"state":"LIVE","count":1.5}}}"#,
            "Variable \"$v\" at inner.count: Int takes a whole number of 32 bits.",
        ),
        (
            r#"{"v":{"inner":{"state":"LIVE","tags":[1]}}}"#,
            "Variable \"$v\" at inner.tags.0: String takes another kind of value.",
        ),
        (r#"{"v":{"leased":null}}"#, "Variable \"$v\" at leased: Boolean! must not be null."),
        (r#"{"v":{"nope":1}}"#, "Variable \"$v\" Filter has no field \"nope\"."),
    ] {
        assert_eq!(refusal(query, variables), wanted);
    }
    passes(query, r#"{"v":{"states":"LIVE","inner":{"state":"DEAD","tags":"one"},"json":{"any":[1,null]}}}"#);
    passes(query, "{}");
    passes(query, r#"{"v":null,"another":1}"#);
    assert_eq!(refusal("query ($i: ID!) { node(id: $i) { id } }", "{}"), "Variable \"$i\" of type ID! must be given.");
    assert_eq!(
        refusal("query ($i: ID!) { node(id: $i) { id } }", r#"{"i":null}"#),
        "Variable \"$i\" ID! must not be null."
    );
    passes("query ($i: ID!) { node(id: $i) { id } }", r#"{"i":12}"#);
    passes("query ($i: ID! = \"x\") { node(id: $i) { id } }", "{}");
    assert!(refusal("query ($c: Choice!) { choose(by: $c) }", r#"{"c":{"a":1,"b":"x"}}"#).contains("exactly one"));
}

#[test]
fn variables_of_unknown_types_are_refused_before_validation_can_panic() {
    for ty in ["Nope", "[Nope]", "[Nope!]! = []", "Thing", "[Thing] = [1]"] {
        assert!(
            refusal(&format!("query ($v: {ty}) {{ thing {{ id }} }}"), "{}").contains("no such input type"),
            "{ty}"
        );
    }
}

#[test]
fn a_variable_that_is_left_out_is_left_out_and_not_null() {
    let query = "mutation M($id: ID!, $etag: String, $marks: [Inner!]!) \
        { act(input: {id: $id, etag: $etag, marks: $marks}) { id } }";
    let given = r#"{"id":"x","marks":[],"etag":null}"#;
    assert!(settled(query, given).contains("etag"));
    let left_out = settled(query, r#"{"id":"x","marks":[]}"#);
    assert!(!left_out.contains("etag"), "{left_out}");
    // As an argument, in a fragment, and deep inside literals.
    assert!(!settled("query ($id: ID) { thing(id: $id) { name } }", "{}").contains("Variable"));
    let shared = "query ($o: String) { ...F } fragment F on Query { things(filter: {owner: $o}) { count } }";
    assert!(!settled(shared, "{}").contains("owner"));
    assert!(settled(shared, r#"{"o":"x"}"#).contains("owner"));
    assert!(
        !settled("query ($c: Int) { things(filter: {inner: {state: LIVE, count: $c}}) { count } }", "{}")
            .contains("Variable")
    );
}

#[test]
fn in_a_list_a_variable_that_is_left_out_is_null() {
    let query = "query ($t: String) { things(filter: {inner: {state: LIVE, tags: [$t]}}) { count } }";
    assert!(settled(query, "{}").contains("Variable"), "the library reads it as null there");
}

#[test]
fn other_operations_do_not_suffer_from_what_was_taken_out_for_this_one() {
    let query = "query A($o: String) { ...F } query B($o: String) { ...F ...G } \
        fragment F on Query { things(filter: {owner: $o}) { count } } fragment G on Query { thing { id } }";
    let mut of_a = ask(query, "{}");
    of_a.operation_name = Some("A".to_owned());
    let mut request = prepare(of_a, &types()).map_err(|errors| errors[0].message.clone()).unwrap().into_request().0;
    let document = request.parsed_query().unwrap();
    assert_eq!(document.operations.iter().count(), 1);
    assert_eq!(document.fragments.len(), 1);
}

#[test]
fn a_nullable_variable_may_stand_where_the_schema_has_a_default() {
    let query = "query ($l: Boolean) { things(filter: {leased: $l}) { count } }";
    passes(query, "{}");
    assert!(settled(query, r#"{"l":true}"#).contains("nullable: false"));
    assert!(refusal(query, r#"{"l":null}"#).contains("must not be null where it is used"));
}

#[test]
fn literals_are_checked_like_variables() {
    for (argument, wanted) in [
        ("filter: 5", "Argument \"filter\" Filter takes an object."),
        ("filter: {states: [\"LIVE\"]}", "Argument \"filter\" at states.0: State takes one of its values."),
        (
            "filter: {inner: {state: LIVE, count: 3000000000}}",
            "Argument \"filter\" at inner.count: Int takes a whole number of 32 bits.",
        ),
        ("first: \"1\"", "Argument \"first\" Int takes a whole number of 32 bits."),
    ] {
        assert_eq!(refusal(&format!("{{ things({argument}) {{ count }} }}"), "{}"), wanted);
    }
    passes("{ things(filter: {states: LIVE, inner: {state: DEAD}}, first: 3) { count } }", "{}");
}

#[test]
fn the_operation_is_chosen_by_name() {
    let query = "query A { thing { id } } mutation B { act(input: {id: 1, marks: []}) { id } }";
    assert!(refusal(query, "{}").contains("name one in operationName"));
    let named = |name: &str| {
        let mut ask = ask(query, "{}");
        ask.operation_name = Some(name.to_owned());
        prepare(ask, &types()).map(|prepared| prepared.kind).map_err(|errors| errors[0].message.clone())
    };
    assert_eq!(named("B"), Ok(OperationType::Mutation));
    assert_eq!(named("A"), Ok(OperationType::Query));
    assert_eq!(named("C"), Err("The document has no operation named \"C\".".to_owned()));
}

#[test]
fn roots_of_mutations_and_subscriptions_are_what_they_seem() {
    let act = "act(input: {id: 1, marks: []}) { id }";
    assert!(refusal(&format!("mutation {{ {act} {act} }}"), "{}").contains("twice"));
    assert!(refusal(&format!("mutation {{ {act} ...F }} fragment F on Mutation {{ {act} }}"), "{}").contains("twice"));
    passes(&format!("mutation {{ {act} b: {act} }}"), "{}");
    passes("subscription { changes { id } }", "{}");
    for roots in ["ticks changes { id }", "__typename", "...F", "... { ticks }", "ticks @skip(if: true)"] {
        let query = format!("subscription {{ {roots} }} fragment F on Subscription {{ ticks }}");
        assert!(refusal(&query, "{}").contains("exactly one field"), "{roots}");
    }
}

#[test]
fn documents_are_alike_where_variables_decide_nothing_of_them() {
    let digest = |query: &str, variables: &str| checked(query, variables).ok().unwrap().settled.digest;
    let query = "query ($l: Boolean, $o: String) { things(filter: {leased: $l, owner: $o}) { count } }";
    let of = |variables: &str| digest(query, variables);
    assert_eq!(of(r#"{"l":true,"o":"a"}"#), of(r#"{"l":true,"o":"b"}"#));
    // A boolean may be what a field is skipped by; what is left out is taken out.
    for other in [r#"{"l":false,"o":"a"}"#, r#"{"o":"a"}"#, r#"{"l":true}"#] {
        assert_ne!(of(r#"{"l":true,"o":"a"}"#), of(other), "{other}");
    }
    assert_ne!(digest("{ thing { id } }", "{}"), digest("query { thing { id } }", "{}"));
}

#[test]
fn what_goes_by_events_is_not_like_what_goes_without_nor_like_what_goes_on_from_elsewhere() {
    let digest = |by_events: Option<ByEvents>| {
        let mut asked = ask("subscription { things { cursor } }", "{}");
        asked.by_events = by_events;
        prepare(asked, &types()).ok().unwrap().settled.digest
    };
    let events = |last: Option<&str>| Some(ByEvents { last_event_id: last.map(str::to_owned) });
    let digests = [digest(None), digest(events(None)), digest(events(Some("a"))), digest(events(Some("b")))];
    for (place, one) in digests.iter().enumerate() {
        assert!(!digests[..place].contains(one), "{place}");
    }
}

#[test]
fn the_last_event_takes_the_place_of_after() {
    let settled = |query: &str| {
        let mut asked = ask(query, r#"{"a":"old"}"#);
        asked.by_events = Some(ByEvents { last_event_id: Some("last".to_owned()) });
        let prepared = prepare(asked, &types()).map_err(|errors| errors[0].message.clone())?;
        let (mut request, _) = prepared.into_request();
        Ok::<_, String>((format!("{:?}", request.parsed_query().unwrap()), request.variables))
    };
    for query in ["{ things { id } }", "{ things(after: \"old\") { id } }", "{ things(after: null) { id } }"] {
        let (document, _) = settled(&format!("subscription {query}")).unwrap();
        assert!(document.contains("\"last\"") && !document.contains("old"), "{document}");
        assert!(document.contains("__lastEventId"), "{document}");
    }
    let (_, variables) = settled("subscription ($a: String) { things(after: $a) { id } }").unwrap();
    assert_eq!(variables.get("a"), Some(&ConstValue::from("last")));
    for query in ["{ thing { id } }", "mutation { act { id } }", "subscription { ticks }"] {
        assert!(settled(query).unwrap_err().starts_with("Last-Event-ID"), "{query}");
    }
}
