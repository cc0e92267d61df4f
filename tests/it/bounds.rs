//! Bad input: each field at its bound and beyond it, alike on both engines, named in the answer, and nothing written.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use crate::harness::{Harness, START, claim, merge, on_both_engines};

/// Valid inputs of every mutation, over one operation and one watch.
fn valid(operation: &Value, watch: &Value) -> Vec<(&'static str, Value)> {
    let later = rfc3339(START + 1_000);
    vec![
        ("claimOperation", claim("another", &json!({ "reissueIntent": {}, "providerEtag": "e", "documentId": "d" }))),
        ("acquireLease", json!({ "id": operation, "leaseToken": "L2", "leaseMs": 1_000 })),
        ("renewLease", json!({ "id": operation, "leaseToken": "L2", "leaseMs": 1_000 })),
        ("releaseLease", json!({ "id": operation, "leaseToken": "L2" })),
        ("markSendStarted", json!({ "id": operation, "leaseToken": "L2", "marker": "m" })),
        (
            "recordOperation",
            json!({ "id": operation, "leaseToken": "L2", "version": 0, "toState": "DEAD", "kind": "k", "httpStatus": 200,
            "providerEtag": "e", "nextAttemptAt": later, "sendMarker": "m", "note": "n" }),
        ),
        ("deferOperation", json!({ "id": operation, "leaseToken": "L2", "nextAttemptAt": later, "note": "n" })),
        (
            "finalizeOperation",
            json!({ "id": operation, "leaseToken": "L2", "version": 0, "documentId": "d", "sourceId": "s",
            "winnerDigest": "w", "winnerVersion": "1700000000000-0000-a", "resultEntity": {} }),
        ),
        ("resumeOfflineDeferred", json!({ "ownerDid": "nobody", "connectorNames": ["c"] })),
        ("resumeAuthDeferred", json!({ "ownerDid": "nobody", "connectorNames": ["c"] })),
        (
            "recordWinner",
            json!({ "documentId": "d", "digest": "w", "version": "1700000000000-0000-a", "dueAt": later }),
        ),
        ("armWatch", json!({ "id": watch, "triggeringWinner": "w", "dueAt": later })),
        ("requestRepull", json!({ "id": watch, "dueAt": later, "note": "n" })),
        ("claimWatchAttempt", json!({ "id": watch, "generation": 0, "claimMs": 1_000 })),
        ("deferWatch", json!({ "id": watch, "generation": 0, "claimedUntil": later, "nextAttemptAt": later })),
        (
            "recordVerification",
            json!({ "id": watch, "generation": 0, "claimedUntil": later, "fetchedDigest": "w", "maxAttempts": 1, "dueAt": later }),
        ),
    ]
}

/// What lies beyond the bound of a field, by its name.
fn beyond(field: &str) -> Vec<Value> {
    let long = |bytes: usize| json!("x".repeat(bytes));
    match field {
        "id" => vec![
            json!(""),
            json!("nonsense"),
            json!("op_"),
            json!("wa_AAAA"),
            json!("sy_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"),
        ],
        "target" => vec![json!(""), long(2_049), json!("a\0b")],
        "leaseMs" | "claimMs" => vec![json!(999), json!(3_600_001), json!(0), json!(-1)],
        "maxAttempts" => vec![json!(0), json!(101), json!(-1)],
        "version" | "generation" => vec![json!(-1)],
        "httpStatus" => vec![json!(-1), json!(1_000)],
        "nextAttemptAt" | "dueAt" => {
            vec![json!(rfc3339(START + 366 * 86_400_000 + 60_000)), json!("9999-12-31T23:59:59.999Z")]
        }
        "winnerVersion" => vec![json!("1700000000000-0000-A"), json!("1700000300001-0000-a"), json!("")],
        "note" => vec![long(1_001), json!("a\0b")],
        "reissueIntent" | "resultEntity" => vec![json!("x".repeat(256 * 1_024)), json!({ "a": ["\0"] })],
        "connectorNames" => vec![json!(vec!["c"; 501]), json!([""]), json!(["a\0b"])],
        "marker" | "sendMarker" => vec![json!(""), long(513), json!("a\0b"), json!("*contested*")],
        // A time that is only compared, and enumerated words: their types bound them.
        "claimedUntil" | "op" | "toState" => vec![],
        _ => vec![json!(""), long(513), json!("ä".repeat(257)), json!("a\0b")],
    }
}

async fn everything(harness: &Harness) -> Vec<String> {
    let mut found = harness
        .database
        .texts("SELECT operation_id || version || state || updated_at FROM kubun_connector_operation ORDER BY 1")
        .await;
    found.extend(
        harness
            .database
            .texts("SELECT source_id || version || updated_at FROM kubun_connector_projection_watch ORDER BY 1")
            .await,
    );
    found.extend(harness.database.texts("SELECT CAST(count(*) AS text) FROM change_event").await);
    found.extend(harness.database.texts("SELECT digest FROM document_winner ORDER BY 1").await);
    found
}

on_both_engines! {
    /// T10 of the cases, for every text.
    async fn each_field_beyond_its_bound_is_refused_by_name(harness: Harness) {
        let claimed = harness.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
        let finalize = json!({ "id": claimed, "leaseToken": "L1", "version": 0, "documentId": "d0", "sourceId": "s0", "winnerDigest": "w" });
        let watch = harness.act("finalizeOperation", finalize, "watch { id }").await["watch"]["id"].take();
        let before = everything(&harness).await;
        for (mutation, input) in valid(&claimed, &watch) {
            for field in input.as_object().unwrap().keys() {
                // The winner's version has two names.
                let kind = if mutation == "recordWinner" && field == "version" { "winnerVersion" } else { field };
                for value in beyond(kind) {
                    let mut bad = input.clone();
                    bad[field] = value.clone();
                    let error = harness.refuse(mutation, bad).await;
                    assert_eq!(error["extensions"]["code"], "BAD_INPUT", "{mutation}, {field} = {value}: {error}");
                    assert_eq!(error["extensions"]["field"], json!(field), "{mutation}, {field} = {value}: {error}");
                }
            }
        }
        assert_eq!(everything(&harness).await, before, "nothing is written");
    }

    async fn each_field_at_its_bound_is_taken(harness: Harness) {
        let key = "ä".repeat(256);
        let widest = json!({ "callerDid": key, "ownerDid": key, "connectorName": key, "model": key, "accountKey": key, "sourceId": key,
            "target": "t".repeat(2_048), "deterministicEventId": key, "payloadHash": key, "providerEtag": key, "documentId": key,
            "leaseToken": key, "leaseMs": 3_600_000, "reissueIntent": "x".repeat(256 * 1_024 - 2) });
        let claimed = harness.act("claimOperation", claim(&key, &widest), "outcome operation { id reissueIntent target }").await;
        assert_eq!(claimed["outcome"], "CLAIMED");
        assert_eq!(claimed["operation"]["target"], widest["target"]);
        let id = &claimed["operation"]["id"];
        let last = rfc3339(START + 366 * 86_400_000);
        let defer = json!({ "id": id, "leaseToken": key, "nextAttemptAt": last, "note": "n".repeat(1_000) });
        let deferred = harness.act("deferOperation", defer, "outcome operation { nextAttemptAt }").await;
        assert_eq!(deferred["operation"]["nextAttemptAt"], json!(last));
        let finalize = json!({ "id": id, "leaseToken": key, "version": 0, "documentId": key, "sourceId": key, "winnerDigest": key });
        let armed = harness.act("finalizeOperation", finalize, "outcome watch { id sourceId }").await;
        assert_eq!(armed["watch"]["sourceId"], json!(key));
        let page = harness.ask("{ watches(first: 1) { pageInfo { endCursor } } }", json!({})).await;
        let cursor = page["watches"]["pageInfo"]["endCursor"].clone();
        let after = harness.ask("query($after: String) { watches(after: $after) { nodes { id } } }", json!({ "after": cursor })).await;
        assert_eq!(after["watches"]["nodes"], json!([]), "the cursor of the widest key is taken back");
    }

    /// L04 of the cases, as far as the main job goes.
    async fn counters_at_their_bound_refuse_and_wrap_nothing(harness: Harness) {
        let id = harness.act("claimOperation", claim("k", &json!({})), "operation { id }").await["operation"]["id"].take();
        harness.database.execute("UPDATE kubun_connector_operation SET attempts = 2147483647").await;
        let record = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": "ATTEMPTED" });
        let error = harness.refuse("recordOperation", record.clone()).await;
        assert_eq!((&error["extensions"]["code"], &error["extensions"]["field"]), (&json!("BAD_INPUT"), &json!("attempts")));
        let mut uncounted = record;
        merge(&mut uncounted, &json!({ "countAttempt": false }));
        let recorded = harness.act("recordOperation", uncounted, "outcome operation { attempts version }").await;
        assert_eq!(recorded, json!({ "outcome": "RECORDED", "operation": { "attempts": 2_147_483_647, "version": 1 } }));
        assert_eq!(harness.ask("{ operations { totalCount } }", json!({})).await["operations"]["totalCount"], 1);
    }

    async fn json_and_times_come_back_as_they_went_in(harness: Harness) {
        let intents = [json!(null), json!({ "b": [1, 2.5, "é\"\\\u{7}"], "a": {} }), json!([]), json!("text"), json!(false), json!(9_007_199_254_740_993_i64)];
        for (place, intent) in intents.iter().enumerate() {
            let input = claim(&format!("k{place}"), &json!({ "reissueIntent": intent }));
            let claimed = harness.act("claimOperation", input, "operation { reissueIntent createdAt }").await;
            assert_eq!(&claimed["operation"]["reissueIntent"], intent);
            assert_eq!(claimed["operation"]["createdAt"], json!(rfc3339(START)));
        }
    }
}
