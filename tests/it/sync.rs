//! Sync state and pending authorisations.

use futures_util::future::join_all;
use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, merge, on_both_engines};

/// The mutations whose rows are here.
pub const ACTS: [&str; 6] = [
    "setSyncState",
    "advanceSyncProgress",
    "deleteSyncState",
    "createPendingAuth",
    "consumePendingAuth",
    "deleteExpiredPendingAuth",
];

const FIELDS: &str = "outcome syncState { version status entityCount checkpoint error recovery incarnation }";

fn state(changes: &Value) -> Value {
    let mut input = json!({ "connectorName": "calendar", "ownerDid": "did:o1", "lastSyncedAt": "2023-11-14T22:29:01.486Z", "entityCount": 3 });
    merge(&mut input, changes);
    input
}

async fn advance(harness: &Harness, changes: Value) -> Value {
    harness.act("advanceSyncProgress", state(&changes), FIELDS).await
}

fn auth(name: &str, expires_at: i64) -> Value {
    json!({ "state": name, "codeVerifier": "the-secret-verifier", "provider": "google", "ownerDid": "did:o1", "redirectUrl": "https://app.example/cb",
        "scopes": ["read", "write"], "incremental": true, "expiresAt": rfc3339(expires_at) })
}

async fn consume(harness: &Harness, name: &str) -> Value {
    harness
        .act("consumePendingAuth", json!({ "state": name }), "outcome codeVerifier pendingAuth { state scopes }")
        .await
}

on_both_engines! {
    async fn progress_moves_on_only_from_what_was_read(harness: Harness) {
        let first = advance(&harness, json!({ "checkpoint": { "c": 1 }, "error": "e" })).await;
        assert_eq!((&first["outcome"], &first["syncState"]["version"], &first["syncState"]["status"]), (&json!("ADVANCED"), &json!(0), &json!("IDLE")));
        assert_eq!(advance(&harness, json!({})).await["outcome"], "STALE", "there is one by now");
        let read = json!({ "version": 0, "incarnation": first["syncState"]["incarnation"] });
        let second = advance(&harness, json!({ "expected": read, "entityCount": 9 })).await;
        let row = &second["syncState"];
        assert_eq!([&row["version"], &row["entityCount"], &row["checkpoint"], &row["error"]], [&json!(1), &json!(9), &Value::Null, &Value::Null], "nulls clear");
        let stale = advance(&harness, json!({ "expected": read })).await;
        assert_eq!((&stale["outcome"], &stale["syncState"]["version"]), (&json!("STALE"), &json!(1)));
        let other = advance(&harness, json!({ "expected": { "version": 1, "incarnation": "another" } })).await;
        assert_eq!(other["outcome"], "STALE");
        let gone = harness.act("deleteSyncState", json!({ "connectorName": "calendar", "ownerDid": "did:o1" }), "deleted").await;
        assert_eq!(gone["deleted"], 1);
        assert_eq!(advance(&harness, json!({ "expected": read })).await, json!({ "outcome": "STALE", "syncState": null }));
        let log: Vec<Value> = harness.log("transition").await;
        assert_eq!(log.iter().map(|change| change["transition"].as_str().unwrap()).collect::<Vec<_>>(), ["advance", "advance", "remove"]);
    }

    async fn a_set_beside_an_advance_is_not_overwritten_unseen(harness: Harness) {
        let first = advance(&harness, json!({})).await;
        let read = json!({ "version": 0, "incarnation": first["syncState"]["incarnation"] });
        let set = harness.act("setSyncState", state(&json!({ "status": "SYNCING", "recovery": { "r": 1 } })), FIELDS).await;
        assert_eq!((&set["outcome"], &set["syncState"]["version"]), (&json!("SET"), &json!(1)));
        assert_eq!(set["syncState"]["incarnation"], first["syncState"]["incarnation"]);
        let stale = advance(&harness, json!({ "expected": read })).await;
        assert_eq!((&stale["outcome"], &stale["syncState"]["status"], &stale["syncState"]["recovery"]), (&json!("STALE"), &json!("SYNCING"), &json!({ "r": 1 })));
    }

    async fn of_many_who_advance_from_one_version_one_does(harness: Harness) {
        let first = advance(&harness, json!({})).await;
        let read = json!({ "version": 0, "incarnation": first["syncState"]["incarnation"] });
        let outcomes = join_all((0..20).map(|_| advance(&harness, json!({ "expected": read })))).await;
        assert_eq!(outcomes.iter().filter(|answer| answer["outcome"] == "ADVANCED").count(), 1);
    }

    async fn sync_states_are_listed_and_found_by_their_node_ids(harness: Harness) {
        advance(&harness, json!({})).await;
        advance(&harness, json!({ "connectorName": "contacts" })).await;
        harness.database.execute("UPDATE kubun_connector_sync_state SET node_key = NULL").await;
        let query = "query($name: String) { syncStates(connectorName: $name) { nodes { id connectorName lastSyncedAt } } }";
        let all = harness.ask(query, json!({})).await["syncStates"]["nodes"].take();
        assert_eq!([&all[0]["connectorName"], &all[1]["connectorName"]], ["calendar", "contacts"]);
        let one = harness.ask(query, json!({ "name": "contacts" })).await["syncStates"]["nodes"].take();
        assert_eq!(one, json!([all[1]]));
        advance(&harness, json!({ "ownerDid": "did:o2" })).await;
        let of = "query($name: String, $owner: String) { syncStates(connectorName: $name, ownerDid: $owner) { nodes { connectorName ownerDid } } }";
        let theirs = harness.ask(of, json!({ "owner": "did:o2" })).await["syncStates"]["nodes"].take();
        assert_eq!(theirs, json!([{ "connectorName": "calendar", "ownerDid": "did:o2" }]));
        let both = harness.ask(of, json!({ "owner": "did:o2", "name": "contacts" })).await["syncStates"]["nodes"].take();
        assert_eq!(both, json!([]));
        let node = harness.ask("query($id: ID!) { node(id: $id) { ... on SyncState { connectorName } } }", json!({ "id": all[1]["id"] })).await;
        assert_eq!(node["node"]["connectorName"], "contacts");
        let single = harness.ask("{ syncState(connectorName: \"calendar\", ownerDid: \"did:o1\") { lastSyncedAt } }", json!({})).await;
        assert_eq!(single["syncState"]["lastSyncedAt"], "2023-11-14T22:29:01.486Z");
    }

    async fn o01_an_authorisation_is_consumed_once(harness: Harness) {
        let fields = "outcome codeVerifier pendingAuth { provider }";
        let created = harness.act("createPendingAuth", auth("st", harness.now() + 1_000), fields).await;
        assert_eq!(created, json!({ "outcome": "CREATED", "codeVerifier": null, "pendingAuth": { "provider": "google" } }));
        let mut other = auth("st", harness.now() + 9_000);
        other["provider"] = json!("another");
        let exists = harness.act("createPendingAuth", other, fields).await;
        assert_eq!(exists, json!({ "outcome": "EXISTS", "codeVerifier": null, "pendingAuth": { "provider": "google" } }), "never overwritten");
        harness.advance(1_000);
        let consumed = join_all((0..10).map(|_| consume(&harness, "st"))).await;
        let (won, lost): (Vec<_>, Vec<_>) = consumed.into_iter().partition(|answer| answer["outcome"] == "CONSUMED");
        assert_eq!(won, [json!({ "outcome": "CONSUMED", "codeVerifier": "the-secret-verifier", "pendingAuth": { "state": "st", "scopes": ["read", "write"] } })], "good at its very expiry");
        assert!(lost.iter().all(|answer| *answer == json!({ "outcome": "NOT_FOUND", "codeVerifier": null, "pendingAuth": null })), "{lost:?}");
    }

    async fn o01_an_expired_authorisation_is_gone_and_its_secret_with_it(harness: Harness) {
        harness.act("createPendingAuth", auth("st", harness.now() + 1_000), "outcome").await;
        harness.advance(1_001);
        let answer = consume(&harness, "st").await;
        assert_eq!((&answer["outcome"], &answer["codeVerifier"]), (&json!("EXPIRED"), &Value::Null));
        assert_eq!(consume(&harness, "st").await["outcome"], "NOT_FOUND");
        let log = harness.log("facts").await;
        assert!(!json!(log).to_string().contains("the-secret-verifier"));
    }

    async fn o01_an_authorisation_with_scopes_in_another_form_still_gives_its_secret(harness: Harness) {
        harness.act("createPendingAuth", auth("st", harness.now() + 1_000), "outcome").await;
        harness.database.execute("UPDATE kubun_connector_pending_auth SET scopes = 'openid email'").await;
        let listed = harness.ask("{ pendingAuths { nodes { scopes } } }", json!({})).await;
        assert_eq!(listed["pendingAuths"]["nodes"], json!([{ "scopes": ["openid email"] }]));
        let answer = consume(&harness, "st").await;
        assert_eq!((&answer["outcome"], &answer["codeVerifier"]), (&json!("CONSUMED"), &json!("the-secret-verifier")));
    }

    async fn expired_authorisations_are_removed_oldest_first_and_never_good_ones(harness: Harness) {
        for (name, ahead) in [("a", 1_000), ("b", 2_000), ("c", 3_000)] {
            harness.act("createPendingAuth", auth(name, harness.now() + ahead), "outcome").await;
        }
        let error = harness.refuse("deleteExpiredPendingAuth", json!({ "before": rfc3339(harness.now() + 1) })).await;
        assert_eq!(error["extensions"]["field"], "before");
        harness.advance(3_000);
        let one = harness.act("deleteExpiredPendingAuth", json!({ "limit": 1 }), "deleted").await;
        assert_eq!(one["deleted"], 1);
        let rest = harness.act("deleteExpiredPendingAuth", json!({ "before": rfc3339(harness.now()) }), "deleted").await;
        assert_eq!(rest["deleted"], 1, "the one that expires now is still good");
        let left = harness.ask("{ pendingAuths { nodes { state } } pendingAuth(state: \"c\") { expiresAt } }", json!({})).await;
        assert_eq!(left["pendingAuths"]["nodes"], json!([{ "state": "c" }]));
        assert_eq!(left["pendingAuth"]["expiresAt"], rfc3339(harness.now()));
    }

    async fn each_filter_of_pending_authorisations_changes_the_answer(harness: Harness) {
        harness.act("createPendingAuth", auth("a", harness.now() + 1_000), "outcome").await;
        let mut other = auth("b", harness.now() + 1_000);
        merge(&mut other, &json!({ "provider": "other", "ownerDid": "did:o2" }));
        harness.act("createPendingAuth", other, "outcome").await;
        for (arguments, expected) in [("first: 9", 2), ("ownerDid: \"did:o2\"", 1), ("provider: \"google\"", 1), ("provider: \"x\"", 0)] {
            let found = harness.ask(&format!("{{ pendingAuths({arguments}) {{ totalCount }} }}"), json!({})).await;
            assert_eq!(found["pendingAuths"]["totalCount"], expected, "{arguments}");
        }
    }
}
