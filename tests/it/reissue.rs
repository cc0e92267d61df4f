//! Reissuing: the link, its refusals in their order, what a replay answers.

use serde_json::{Value, json};

use crate::harness::{Harness, claim, merge, on_both_engines};

/// The mutations whose rows are here.
pub const ACTS: [&str; 1] = ["reissueOperation"];

const FIELDS: &str = "outcome operation { id operationId callerDid state version target payloadHash documentId reissueIntent \
    providerEtag lease { live } reissuedFrom { id } } reissuedFrom { id state version reissuedAs { operationId } }";

/// Makes an operation that was given up, or whose outcome nobody knows, under no lease; its id.
async fn ended(harness: &Harness, key: &str, state: &str) -> Value {
    let input = claim(key, &json!({ "reissueIntent": { "body": key }, "documentId": "d1", "providerEtag": "e1" }));
    let id = harness.act("claimOperation", input, "operation { id }").await["operation"]["id"].take();
    let record = json!({ "id": id, "leaseToken": "L1", "version": 0, "toState": state });
    harness.act("recordOperation", record, "outcome").await;
    harness.act("releaseLease", json!({ "id": id, "leaseToken": "L1" }), "outcome").await;
    id
}

async fn reissue(harness: &Harness, id: &Value, changes: Value) -> Value {
    let mut input = json!({ "id": id, "version": 1, "operationId": "new", "leaseToken": "L2", "leaseMs": 30_000 });
    merge(&mut input, &changes);
    harness.act("reissueOperation", input, FIELDS).await
}

on_both_engines! {
    async fn a_dead_operation_is_claimed_again_under_a_new_key_and_linked_both_ways(harness: Harness) {
        let id = ended(&harness, "old", "DEAD").await;
        let answer = reissue(&harness, &id, json!({ "note": "once more" })).await;
        assert_eq!(answer["outcome"], "CLAIMED");
        let new = &answer["operation"];
        let told = ["operationId", "callerDid", "state", "version", "target", "payloadHash", "documentId", "reissueIntent", "providerEtag"]
            .map(|field| new[field].clone());
        assert_eq!(told, [json!("new"), json!("did:c1"), json!("ATTEMPTED"), json!(0), json!("t-1"), json!("h-1"), json!("d1"),
            json!({ "body": "old" }), json!("e1")]);
        assert_eq!(new["lease"]["live"], true);
        assert_eq!(new["reissuedFrom"]["id"], id);
        assert_eq!(answer["reissuedFrom"], json!({ "id": id, "state": "DEAD", "version": 1, "reissuedAs": { "operationId": "new" } }));
        let log = harness.log("transition facts").await;
        let last = log.last().unwrap();
        assert_eq!((&last["transition"], &last["facts"]["note"]), (&json!("reissue"), &json!("once more")));
    }

    async fn what_nobody_knows_the_outcome_of_is_dead_in_the_same_commit(harness: Harness) {
        let id = ended(&harness, "old", "RECONCILE_ONLY").await;
        let before = harness.log("transition").await.len();
        let answer = reissue(&harness, &id, json!({})).await;
        assert_eq!(answer["outcome"], "CLAIMED");
        assert_eq!(answer["reissuedFrom"]["state"], "DEAD");
        assert_eq!(answer["reissuedFrom"]["version"], 2);
        assert_eq!(harness.log("transition").await.len(), before + 2);
    }

    async fn a_replay_finds_the_one_reissue_that_there_is(harness: Harness) {
        for state in ["DEAD", "RECONCILE_ONLY"] {
            let id = ended(&harness, state, state).await;
            let new = format!("new-{state}");
            let made = reissue(&harness, &id, json!({ "operationId": new })).await["operation"]["id"].take();
            let log = harness.log("transition").await.len();
            for (key, outcome) in [(new.as_str(), "EXISTS"), ("another", "ALREADY_REISSUED")] {
                let answer = reissue(&harness, &id, json!({ "operationId": key })).await;
                assert_eq!(answer["outcome"], outcome);
                assert_eq!(answer["operation"]["id"], made);
            }
            assert_eq!(harness.log("transition").await.len(), log, "a refusal is no change");
        }
    }

    async fn refusals_come_in_their_order_and_write_nothing(harness: Harness) {
        let unknown = json!(writewatch::domain::ids::NodeId::operation("unknown").encode());
        assert_eq!(reissue(&harness, &unknown, json!({})).await["outcome"], "NOT_FOUND");
        let live = harness.act("claimOperation", claim("live", &json!({})), "operation { id }").await["operation"]["id"].take();
        let dead = ended(&harness, "dead", "DEAD").await;
        let held = ended(&harness, "held", "DEAD").await;
        harness.act("acquireLease", json!({ "id": held, "leaseToken": "L9", "leaseMs": 1_000 }), "outcome").await;
        let log = harness.log("transition").await.len();
        for (id, changes, outcome) in [
            (&live, json!({ "version": 7 }), "WRONG_STATE"),
            (&dead, json!({ "version": 7, "operationId": "live" }), "STALE_VERSION"),
            (&held, json!({ "operationId": "live" }), "HELD"),
            (&dead, json!({ "operationId": "live" }), "CONFLICT"),
        ] {
            assert_eq!(reissue(&harness, id, changes).await["outcome"], outcome);
        }
        assert_eq!(harness.log("transition").await.len(), log);
        harness.advance(1_001);
        assert_eq!(reissue(&harness, &held, json!({})).await["outcome"], "CLAIMED", "an expired lease does not hold");
    }

    async fn a_reissue_that_was_collected_is_still_the_one(harness: Harness) {
        let id = ended(&harness, "old", "DEAD").await;
        let new = reissue(&harness, &id, json!({})).await["operation"]["id"].take();
        let record = json!({ "id": new, "leaseToken": "L2", "version": 0, "toState": "DEAD" });
        harness.act("recordOperation", record, "outcome").await;
        harness.act("releaseLease", json!({ "id": new, "leaseToken": "L2" }), "outcome").await;
        harness.database.execute("DELETE FROM kubun_connector_operation WHERE operation_id = 'new'").await;
        let sql = "INSERT INTO operation_tombstone (caller_did, operation_id, node_key, envelope_digest, state, settled_at, \
            expires_at, reissued_from) SELECT caller_did, 'new', 'gone', 'x', 'dead', 1, 253402300799999, node_key \
            FROM kubun_connector_operation";
        harness.database.execute(sql).await;
        for (key, outcome) in [("new", "SETTLED"), ("another", "ALREADY_REISSUED")] {
            let answer = reissue(&harness, &id, json!({ "operationId": key })).await;
            assert_eq!((&answer["outcome"], &answer["operation"]), (&json!(outcome), &Value::Null));
        }
    }
}
