//! The tables of ACCESS.md, cell by cell, by the real door with real tokens; and that every root field has its rows.

mod acts;
mod books;
mod grants;
mod reads;
mod seers;
mod squatters;
mod streams;

use std::collections::BTreeSet;
use std::sync::Arc;

use futures_util::StreamExt as _;
use serde_json::{Value, json};
use writewatch::store::Engine;

pub use self::books::{Books, House};
pub use self::grants::ACTS as GRANT_ACTS;
use crate::support::client::post_as;
use crate::support::signer::Person;

/// Rows that are tried at once.
const AT_ONCE: usize = 12;

/// A row of a table: what its field is asked of, and what is expected for each column.
#[derive(Debug, Clone)]
struct Row {
    field: String,
    of: String,
    expected: Vec<(String, String)>,
}

/// The table whose first column has this name.
fn table(kind: &str) -> Vec<Row> {
    let text = include_str!("../../../ACCESS.md");
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().trim_matches('`').to_owned()).collect()
    };
    let mut lines = text.lines().skip_while(|line| !line.starts_with(&format!("| {kind} |")));
    let columns = cells(lines.next().unwrap_or_else(|| panic!("ACCESS.md has no table of {kind}")));
    let rows = lines.skip(1).take_while(|line| line.starts_with('|')).map(|line| {
        let mut cells = cells(line).into_iter();
        let (field, of) = (cells.next().unwrap(), cells.next().unwrap());
        let expected: Vec<_> = columns[2..].iter().cloned().zip(cells).collect();
        assert_eq!(expected.len(), 7, "{line}");
        Row { field, of, expected }
    });
    rows.collect()
}

/// Tries every cell of a table, each on books of its own or all on the same: `each` says what a column's viewer meets.
async fn try_all<F: Future<Output = String>>(
    engine: Engine,
    kind: &str,
    is_shared: bool,
    each: impl Fn(Row, String, Arc<Books>) -> F + Copy,
) {
    let house = House::open(engine).await;
    let house = &house;
    let shared = &Arc::new(Books::of_somebody(house).await);
    let rows = table(kind);
    assert!(rows.len() > 5);
    let wrong = futures_util::stream::iter(rows).map(|row| async move {
        let mut wrong = vec![];
        // One after the other: some acts are over everybody's, and would find those of another cell.
        for (column, expected) in row.expected.clone() {
            let books = if is_shared { Arc::clone(shared) } else { Arc::new(Books::of_somebody(house).await) };
            let found = each(row.clone(), column.clone(), books).await;
            if found != expected {
                wrong.push(format!("{} of {}, {column}: {found} instead of {expected}", row.field, row.of));
            }
        }
        wrong
    });
    let wrong: Vec<String> = wrong.buffer_unordered(AT_ONCE).flat_map(futures_util::stream::iter).collect().await;
    assert!(wrong.is_empty(), "{} cells:\n{}", wrong.len(), wrong.join("\n"));
}

/// Nobody is answered nothing, with a token of no worth as with none.
async fn refused(house: &House, query: &str, variables: &Value) -> String {
    for authorization in [None, Some("Bearer x.y.z")] {
        let (status, answer) = post_as(house.server.url(), authorization, query, variables.clone()).await;
        let code = &answer["errors"][0]["extensions"]["code"];
        if status != 401 || answer.get("data").is_some() || code != "UNAUTHENTICATED" {
            return format!("{status} {answer}");
        }
    }
    "refused".to_owned()
}

async fn read(row: Row, column: String, books: Arc<Books>) -> String {
    let things = books.things().await;
    let (selection, variables, place) = reads::question(&row.field, &row.of, &books, things);
    let (query, variables) = reads::declared(&selection, &variables);
    if column == "nobody" {
        return refused(&books.house, &query, &variables).await;
    }
    let who = books.who(&column);
    let mut answer = books.house.answer(who, &query, variables).await;
    if answer.get("errors").is_some() {
        return answer.to_string();
    }
    let data = answer["data"].take();
    if reads::is_there(data.pointer(place), &books) {
        return "sees".to_owned();
    }
    // To the letter what is answered of nothing; lists of everybody's have others' rows in them.
    if !matches!(row.field.as_str(), "syncStates" | "observationRepairsWritten" | "serverStatus") {
        let phantom = books.phantom();
        let things = reads::make_all(&phantom).await;
        let (selection, variables, _) = reads::question(&row.field, &row.of, &phantom, &things);
        let (query, variables) = reads::declared(&selection, &variables);
        let nothing = books.house.answer(who, &query, variables).await["data"].take();
        if nothing != data {
            return format!("{data} where nothing is {nothing}");
        }
    }
    "nothing".to_owned()
}

async fn act(row: Row, column: String, books: Arc<Books>) -> String {
    let nobody = Person::fresh();
    let who = if column == "nobody" { &nobody } else { books.who(&column) };
    let asked = acts::asked(&row.field, &row.of, &books, who).await;
    let before = books.everything(who).await;
    let mut found = if column == "nobody" {
        refused(&books.house, &asked.query, &asked.variables).await
    } else {
        let answer = books.house.answer(who, &asked.query, asked.variables).await;
        let found = told(&answer, &asked.place, &asked.does, &asked.nothing);
        let sees_it = found == "forbidden" && matches!(column.as_str(), "caller" | "owner");
        if found != "does" && !sees_it {
            let phantom = acts::asked(&row.field, &row.of, &books.phantom(), who).await;
            let nothing = books.house.answer(who, &phantom.query, phantom.variables).await;
            if nothing != answer {
                return format!("{answer} where nothing is {nothing}");
            }
        }
        found
    };
    if found != "does" && books.everything(who).await != before {
        found.push_str(", and wrote");
    }
    found
}

fn told(answer: &Value, place: &str, does: &Value, nothing: &Value) -> String {
    if answer["errors"][0]["extensions"]["code"] == "FORBIDDEN" && answer["data"].is_null() {
        return "forbidden".to_owned();
    }
    let found = answer["data"].pointer(place).cloned().unwrap_or_default();
    let is_done = if does.is_null() { !found.is_null() } else { found == *does };
    match answer.get("errors") {
        None if found == *nothing && !nothing.is_null() => "nothing".to_owned(),
        None if is_done => "does".to_owned(),
        _ => answer.to_string(),
    }
}

async fn follow(row: Row, column: String, books: Arc<Books>) -> String {
    if column != "nobody" {
        return streams::told(&row.field, &row.of, &books, books.who(&column)).await.to_owned();
    }
    let (query, variables) = streams::any_query(&row.field, &row.of);
    for token in [None, Some("x.y.z")] {
        match streams::begin(&books, token, query, variables.clone()).await {
            Ok(_) => return "begun".to_owned(),
            Err(refused) if refused.to_string().contains("4403") => {}
            Err(other) => return other.to_string(),
        }
    }
    "refused".to_owned()
}

macro_rules! tables {
    ($($name:ident: $kind:literal by $each:ident, shared: $shared:literal;)+) => {
        $(mod $name {
            use super::*;

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn sqlite() {
                try_all(Engine::Sqlite, $kind, $shared, $each).await;
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn postgres() {
                try_all(Engine::Postgres, $kind, $shared, $each).await;
            }
        })+
    };
}
tables! {
    every_query_tells_each_viewer_what_the_table_says: "query" by read, shared: true;
    every_mutation_does_for_each_viewer_what_the_table_says: "mutation" by act, shared: false;
    every_subscription_tells_each_viewer_what_the_table_says: "subscription" by follow, shared: false;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_root_field_has_its_row() {
    let harness = crate::harness::Harness::start(Engine::Sqlite).await;
    let query = "{ __schema { query: queryType { fields { name } } mutation: mutationType { fields { name } }
        subscription: subscriptionType { fields { name } } } }";
    let schema = harness.ask(query, json!({})).await["__schema"].take();
    for kind in ["query", "mutation", "subscription"] {
        let fields = schema[kind]["fields"].as_array().unwrap();
        let fields: BTreeSet<String> = fields.iter().map(|field| field["name"].as_str().unwrap().to_owned()).collect();
        let rows: BTreeSet<String> = table(kind).into_iter().map(|row| row.field).collect();
        assert_eq!(fields, rows, "{kind}");
    }
}
