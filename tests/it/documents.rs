//! Trims, repairs and observations.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};
use writewatch::store::Engine;

use crate::harness::{Harness, merge, on_both_engines};

/// The mutations whose rows are here.
pub const ACTS: [&str; 6] = [
    "setEntityTrim",
    "clearEntityTrim",
    "putObservationRecord",
    "pruneObservationRecord",
    "putObservationRepair",
    "clearObservationRepair",
];

/// A time when the fixtures' versions have passed, and what holds for long still holds.
const AFTER_FIXTURES: i64 = 1_790_000_000_000;

/// Claims made by other people's libraries; see tests/fixtures/observations.
fn fixtures() -> Vec<Value> {
    let text = include_str!("../fixtures/observations/observations.json");
    serde_json::from_str(text).unwrap()
}

async fn put(harness: &Harness, fixture: &Value, changes: Value) -> Value {
    let mut input = json!({ "owner": fixture["owner"], "id": fixture["id"], "opJwt": fixture["jwt"], "payload": fixture["payload"] });
    merge(&mut input, &changes);
    let fields = "outcome reason decision { hlc claimDigest payloadDigest payload signers }";
    harness.act("putObservationRecord", input, fields).await
}

fn repair(document: &str, present: bool) -> Value {
    json!({ "documentId": document, "owner": "did:o1", "fetchHlc": "1700000000000-0001-n1", "decisionHlc": "1700000000000-0002-n1", "present": present, "valueDigest": "d" })
}

async fn written(harness: &Harness, after: &Value) -> (Vec<String>, Value) {
    let query = "query($after: String) { observationRepairsWritten(after: $after) { nodes { documentId } pageInfo { endCursor } } }";
    let page = harness.ask(query, json!({ "after": after })).await["observationRepairsWritten"].take();
    let names = page["nodes"].as_array().unwrap().iter().map(|node| node["documentId"].as_str().unwrap().to_owned());
    (names.collect(), page["pageInfo"]["endCursor"].clone())
}

on_both_engines! {
    async fn a_trim_is_set_again_and_cleared(harness: Harness) {
        for fields in [json!({ "a": 1 }), json!(["b"])] {
            let input = json!({ "documentId": "d", "ownerDid": "did:o1", "connectorName": "contacts", "trimmedFields": fields });
            let answer = harness.act("setEntityTrim", input, "trim { documentId trimmedFields }").await;
            assert_eq!(answer["trim"], json!({ "documentId": "d", "trimmedFields": fields }));
        }
        let read = harness.ask("{ document(id: \"d\") { trim { trimmedFields } } }", json!({})).await;
        assert_eq!(read["document"]["trim"]["trimmedFields"], json!(["b"]));
        for deleted in [1, 0] {
            assert_eq!(harness.act("clearEntityTrim", json!({ "documentId": "d" }), "deleted").await["deleted"], deleted);
        }
        let log: Vec<Value> = harness.log("transition documentId").await;
        assert_eq!(log.len(), 3);
        assert_eq!(log[2], json!({ "transition": "clear_trim", "documentId": "d" }));
    }

    async fn repairs_are_listed_in_the_order_of_their_last_write(harness: Harness) {
        for document in ["a", "b", "c"] {
            harness.act("putObservationRepair", repair(document, true), "repair { documentId }").await;
        }
        let (all, end) = written(&harness, &Value::Null).await;
        assert_eq!(all, ["a", "b", "c"]);
        // All of it within one millisecond, and then with a clock that went back.
        harness.act("putObservationRepair", repair("a", false), "repair { present }").await;
        harness.set_clock(harness.now() - 5_000);
        harness.act("putObservationRepair", repair("d", true), "repair { present }").await;
        harness.act("clearObservationRepair", json!({ "documentId": "c" }), "deleted").await;
        harness.act("putObservationRepair", repair("e", true), "repair { present }").await;
        assert_eq!(written(&harness, &end).await.0, ["a", "d", "e"]);
        let many = harness.ask("{ observationRepairs(documentIds: [\"c\", \"a\"]) { documentId present } }", json!({})).await;
        assert_eq!(many["observationRepairs"], json!([null, { "documentId": "a", "present": false }]));
    }

    async fn a_repair_that_the_package_writes_is_numbered_too(harness: Harness) {
        harness.act("putObservationRepair", repair("a", true), "repair { present }").await;
        let (_, end) = written(&harness, &Value::Null).await;
        harness.database.execute("INSERT INTO kubun_connector_observation_repair (document_id, owner, fetch_hlc, decision_hlc, present, written_at)
            VALUES ('b', 'o', 'f', 'd', 1, 1); UPDATE kubun_connector_observation_repair SET written_at = 1, present = 0 WHERE document_id = 'a'").await;
        assert_eq!(written(&harness, &end).await.0, ["b", "a"]);
    }

    async fn every_fixture_that_holds_now_is_taken_and_the_highest_version_decides(harness: Harness) {
        harness.set_clock(AFTER_FIXTURES);
        let mut best: BTreeMap<(String, String), (String, std::cmp::Reverse<String>)> = BTreeMap::new();
        let mut taken = 0;
        for fixture in fixtures() {
            let answer = put(&harness, &fixture, json!({ "owner": fixture["owner"] })).await;
            if fixture["signer"] != fixture["owner"] || fixture["expired"] == true {
                assert_eq!(answer["outcome"], "INVALID", "{}", fixture["name"]);
                continue;
            }
            assert_ne!(answer["outcome"], "INVALID", "{}: {}", fixture["name"], answer["reason"]);
            taken += 1;
            let text = |field: &str| fixture[field].as_str().unwrap().to_owned();
            let rank = (text("hlc"), std::cmp::Reverse(text("claimDigest")));
            let entry = best.entry((text("owner"), text("id"))).or_insert_with(|| rank.clone());
            *entry = entry.clone().max(rank);
            assert_eq!(answer["decision"]["hlc"], entry.0, "{}", fixture["name"]);
            assert_eq!(answer["decision"]["claimDigest"], entry.1.0, "{}", fixture["name"]);
        }
        assert!(taken > 5, "only {taken} fixtures are by their owners");
        for ((owner, id), (hlc, _)) in &best {
            let query = "query($owner: String!, $id: String!) { observationDecision(owner: $owner, id: $id) { hlc } }";
            let read = harness.ask(query, json!({ "owner": owner, "id": id })).await;
            assert_eq!(read["observationDecision"]["hlc"], json!(hlc));
        }
    }

    async fn j01_what_is_tampered_with_or_not_asked_for_is_refused_and_nothing_is_kept(harness: Harness) {
        harness.set_clock(AFTER_FIXTURES);
        let good = fixtures().into_iter().find(|fixture| fixture["signer"] == fixture["owner"] && fixture["expired"] != true && fixture["payload"].is_string()).unwrap();
        let jwt = good["jwt"].as_str().unwrap();
        let parts: Vec<&str> = jwt.split('.').collect();
        let unsigned = format!("{}.{}.", parts[0], parts[1]);
        for changes in [
            json!({ "opJwt": unsigned }),
            json!({ "opJwt": format!("{jwt}=") }),
            json!({ "opJwt": format!("eyJhbGciOiJub25lIiwidHlwIjoiSldUIn0.{}.{}", parts[1], parts[2]) }),
            json!({ "owner": "did:other" }),
            json!({ "id": "another" }),
            json!({ "payload": "AAAA" }),
        ] {
            let answer = put(&harness, &good, changes.clone()).await;
            assert_eq!((&answer["outcome"], &answer["decision"]), (&json!("INVALID"), &Value::Null), "{changes}");
            assert!(answer["reason"].is_string());
        }
        assert_eq!(harness.database.texts("SELECT op_hash FROM kubun_connector_observation_records").await, [""; 0]);
        assert_eq!(harness.log("transition").await.len(), 0);
        let first = put(&harness, &good, json!({})).await;
        assert_eq!((&first["outcome"], &first["decision"]["payload"]), (&json!("STORED"), &good["payload"]));
        assert_eq!(put(&harness, &good, json!({})).await["outcome"], "DUPLICATE");
    }

    async fn the_last_copy_of_a_claim_is_not_pruned(harness: Harness) {
        harness.set_clock(AFTER_FIXTURES);
        let good = fixtures().into_iter().find(|fixture| fixture["signer"] == fixture["owner"] && fixture["expired"] != true).unwrap();
        put(&harness, &good, json!({})).await;
        let input = json!({ "owner": good["owner"], "id": good["id"], "signer": good["signer"] });
        assert_eq!(harness.act("pruneObservationRecord", input, "deleted").await["deleted"], 0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn services_sign_beside_the_owner_and_may_be_pruned() {
    let fixtures = fixtures();
    let service = fixtures[1]["signer"].as_str().unwrap();
    assert_ne!(fixtures[1]["signer"], fixtures[1]["owner"]);
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let database = crate::harness::Database::fresh(engine).await;
        let harness = Harness::start_with(engine, database, &["--service-did", service]).await;
        harness.set_clock(AFTER_FIXTURES);
        let signers = async |fixture: &Value| put(&harness, fixture, json!({})).await;
        let first = signers(&fixtures[1]).await;
        assert_eq!((&first["outcome"], &first["decision"]["signers"]), (&json!("STORED"), &json!([service])));
        let second = signers(&fixtures[0]).await;
        assert_eq!(second["outcome"], "STORED");
        assert_eq!(second["decision"]["signers"].as_array().unwrap().len(), 2);
        assert_eq!(signers(&fixtures[2]).await["outcome"], "INVALID", "another service, which is not configured");
        // Two copies of one signer: the one with the smaller hash stays, whichever came first.
        let (one, other) = (&fixtures[0], &fixtures[3]);
        let outcome = signers(other).await["outcome"].take();
        let smaller = other["opHash"].as_str() < one["opHash"].as_str();
        assert_eq!(outcome, if smaller { "REPLACED" } else { "DUPLICATE" });
        let prune = json!({ "owner": one["owner"], "id": one["id"], "signer": service });
        for deleted in [1, 0] {
            assert_eq!(harness.act("pruneObservationRecord", prune.clone(), "deleted").await["deleted"], deleted);
        }
        let newer = fixtures.iter().find(|fixture| fixture["name"] == "next counter").unwrap();
        assert_eq!(signers(newer).await["outcome"], "REPLACED");
        assert_eq!(signers(one).await["outcome"], "IGNORED_OLDER");
        let kept = harness.database.texts("SELECT hlc FROM kubun_connector_observation_records").await;
        assert_eq!(kept, [newer["hlc"].as_str().unwrap()]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stored_copy_by_a_stranger_counts_for_nothing_and_a_payload_stays_with_its_claim() {
    let fixtures = fixtures();
    let (one, other) = (&fixtures[0], &fixtures[3]);
    assert_eq!((&one["signer"], &one["claimDigest"]), (&other["signer"], &other["claimDigest"]));
    let (smaller, larger) = if one["opHash"].as_str() < other["opHash"].as_str() { (one, other) } else { (other, one) };
    let stranger = fixtures.iter().find(|fixture| fixture["name"] == "next millisecond").unwrap();
    assert_ne!(stranger["signer"], stranger["owner"]);
    for engine in [Engine::Sqlite, Engine::Postgres] {
        let harness = Harness::start(engine).await;
        harness.set_clock(AFTER_FIXTURES);
        let text = |fixture: &Value, field: &str| fixture[field].as_str().unwrap().to_owned();
        let insert = format!(
            "INSERT INTO kubun_connector_observation_records (type, owner, id, op_hash, hlc, op_jwt) VALUES ('connector.observation', '{}', '{}', '{}', '{}', '{}')",
            text(stranger, "owner"),
            text(stranger, "id"),
            text(stranger, "opHash"),
            text(stranger, "hlc"),
            text(stranger, "jwt"),
        );
        harness.database.execute(&insert).await;
        let stored = put(&harness, smaller, json!({ "payload": null })).await;
        assert_eq!((&stored["outcome"], &stored["decision"]["hlc"]), (&json!("STORED"), &smaller["hlc"]));
        assert_eq!(stored["decision"]["payload"], Value::Null);
        let again = put(&harness, larger, json!({})).await;
        assert_eq!((&again["outcome"], &again["decision"]["payload"]), (&json!("DUPLICATE"), &larger["payload"]));
        let kept = harness.database.texts("SELECT op_hash FROM kubun_connector_observation_records").await;
        assert_eq!(kept, [text(smaller, "opHash")]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_repair_that_commits_late_is_not_skipped() {
    let harness = Harness::start(Engine::Postgres).await;
    harness.act("putObservationRepair", repair("a", true), "repair { present }").await;
    let (_, end) = written(&harness, &Value::Null).await;
    let mut late = PgConnection::connect(&harness.database.url()).await.unwrap();
    let insert = "BEGIN; INSERT INTO kubun_connector_observation_repair (document_id, owner, fetch_hlc, decision_hlc, present, written_at)
        VALUES ('late', 'o', 'f', 'd', 1, 1)";
    sqlx::raw_sql(AssertSqlSafe(insert)).execute(&mut late).await.unwrap();
    // Whoever writes another has to wait for its turn; nobody can be told of a later one before.
    let ((), told) = tokio::join!(
        async {
            let blocked = "SELECT count(*) FROM pg_locks WHERE NOT granted";
            while harness.database.texts(&format!("SELECT ({blocked})::text")).await == ["0"] {
                tokio::task::yield_now().await;
            }
            assert_eq!(written(&harness, &end).await.0, [""; 0]);
            sqlx::raw_sql(AssertSqlSafe("COMMIT")).execute(&mut late).await.unwrap();
        },
        harness.act("putObservationRepair", repair("b", true), "repair { present }"),
    );
    assert_eq!(told["repair"]["present"], true);
    assert_eq!(written(&harness, &end).await.0, ["late", "b"]);
}
