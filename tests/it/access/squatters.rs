//! Documents of others: whoever names one in an operation of its own gains nothing by it, and takes nothing away.

use serde_json::{Value, json};
use writewatch::domain::viewer::Viewer;

use crate::harness::{Harness, claim, input_type, on_both_engines};

const OWNER: &str = "did:owner";
const SQUATTER: &str = "did:squatter";

/// What an act answers somebody: its payload, or the code and the field of its error.
async fn act_as(harness: &Harness, did: &str, mutation: &str, input: Value, payload: &str) -> Value {
    let query = format!(
        "mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {payload} }} }}",
        kind = input_type(mutation)
    );
    let mut answer = harness.answer_to(Viewer::of(did), &query, json!({ "input": input })).await;
    match answer.get("errors") {
        Some(errors) => json!([errors[0]["extensions"]["code"], errors[0]["extensions"]["field"]]),
        None => answer["data"][mutation].take(),
    }
}

/// Claims on a document as oneself, for oneself unless it is for another; the operation's id.
async fn claimed(harness: &Harness, did: &str, key: &str, changes: Value) -> Value {
    let mut input = claim(key, &json!({ "callerDid": null, "ownerDid": did, "documentId": "d" }));
    for (name, value) in changes.as_object().unwrap() {
        input[name] = value.clone();
    }
    let mut answer = act_as(harness, did, "claimOperation", input, "outcome operation { id }").await;
    assert_eq!(answer["outcome"], "CLAIMED", "{answer}");
    answer["operation"]["id"].take()
}

async fn finalized(harness: &Harness, did: &str, id: &Value, source: &str) -> Value {
    let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": source, "winnerDigest": source });
    act_as(harness, did, "finalizeOperation", input, "outcome").await
}

/// What somebody is shown of the document itself, and whether the changes of its winner are.
async fn seen(harness: &Harness, did: &str) -> Value {
    let query = "{ document(id: \"d\") { winner { digest } trim { trimmedFields } repair { fetchHlc } \
        changes { nodes { entity } } } }";
    let document = harness.answer_to(Viewer::of(did), query, json!({})).await["data"]["document"].take();
    let told = document["changes"]["nodes"].as_array().unwrap().iter().filter(|change| change["entity"] == "DOCUMENT");
    json!([document["winner"]["digest"], document["trim"].is_null(), told.count()])
}

on_both_engines! {
    async fn naming_a_document_that_another_watches_gains_nothing(harness: Harness) {
        // Before anybody watches it, and after.
        let early = claimed(&harness, SQUATTER, "early", json!({})).await;
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        assert_eq!(finalized(&harness, OWNER, &own, "w").await["outcome"], "FINALIZED", "no claim keeps the owner out");
        let late = claimed(&harness, SQUATTER, "late", json!({})).await;
        let trim = |owner: &str| json!({ "documentId": "d", "ownerDid": owner, "connectorName": "contacts", "trimmedFields": ["x"] });
        assert_eq!(act_as(&harness, OWNER, "setEntityTrim", trim(OWNER), "trim { ownerDid }").await["trim"]["ownerDid"], OWNER);
        assert_eq!(seen(&harness, OWNER).await, json!(["w", false, 2]));
        assert_eq!(seen(&harness, SQUATTER).await, json!([null, true, 0]));

        let forbidden = json!(["FORBIDDEN", "documentId"]);
        let winner = json!({ "documentId": "d", "digest": "forged" });
        let repair = json!({ "documentId": "d", "owner": SQUATTER, "fetchHlc": "1700000000000-0001-n1", "decisionHlc": "1700000000000-0002-n1", "present": false });
        for (mutation, input, payload) in [
            ("recordWinner", winner, "outcome"),
            ("setEntityTrim", trim(SQUATTER), "trim { documentId }"),
            ("clearEntityTrim", json!({ "documentId": "d" }), "deleted"),
            ("putObservationRepair", repair, "repair { documentId }"),
            ("clearObservationRepair", json!({ "documentId": "d" }), "deleted"),
        ] {
            assert_eq!(act_as(&harness, SQUATTER, mutation, input, payload).await, forbidden, "{mutation}");
        }
        let before = harness.log_length().await;
        for id in [&early, &late] {
            assert_eq!(finalized(&harness, SQUATTER, id, "forged").await, forbidden);
        }
        assert_eq!(harness.log_length().await, before, "nothing was written");
        assert_eq!(seen(&harness, OWNER).await, json!(["w", false, 2]));

        // A reissue of it is worth no more, whoever makes it.
        let dead = json!({ "id": late, "leaseToken": "L1", "version": 0, "toState": "DEAD" });
        assert_eq!(act_as(&harness, SQUATTER, "recordOperation", dead, "outcome").await["outcome"], "RECORDED");
        harness.advance(3_600_000);
        let reissue = json!({ "id": late, "version": 1, "operationId": "again", "leaseToken": "L1", "leaseMs": 60_000 });
        assert_eq!(harness.act("reissueOperation", reissue, "outcome").await["outcome"], "CLAIMED");
        assert_eq!(seen(&harness, SQUATTER).await, json!([null, true, 0]));
    }

    /// What a service claims and finalizes counts: it knows whose documents are shared.
    async fn a_service_vouches_for_whom_it_claims_and_finalizes(harness: Harness) {
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        finalized(&harness, OWNER, &own, "w").await;
        let shared = json!({ "callerDid": "did:worker", "ownerDid": "did:second", "documentId": "d" });
        let id = harness.act("claimOperation", claim("k", &shared), "operation { id }").await["operation"]["id"].take();
        for did in ["did:worker", "did:second"] {
            assert_eq!(seen(&harness, did).await[0], "w", "{did}");
        }
        let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w2" });
        assert_eq!(act_as(&harness, "did:worker", "finalizeOperation", input.clone(), "outcome").await, json!(["FORBIDDEN", "documentId"]));
        assert_eq!(harness.act("finalizeOperation", input, "outcome").await["outcome"], "FINALIZED");
        let winner = json!({ "documentId": "d", "digest": "w3" });
        assert_eq!(act_as(&harness, "did:second", "recordWinner", winner, "winner { digest }").await["winner"]["digest"], "w3");
        assert_eq!(seen(&harness, OWNER).await[0], "w3");
    }

    /// The watch of another connector is no part of what was granted, when the operation was claimed or until now.
    async fn a_grant_for_one_connector_takes_no_watch_of_another(harness: Harness) {
        let own = claimed(&harness, OWNER, "own", json!({ "connectorName": "contacts" })).await;
        finalized(&harness, OWNER, &own, "w").await;
        let grant = async |connector: Value| {
            let input = json!({ "ownerDid": OWNER, "callerDid": "did:worker", "connectorName": connector });
            act_as(&harness, OWNER, "grantAccess", input, "grant { ownerDid }").await;
        };
        grant(json!("mirror")).await;
        let other = json!({ "ownerDid": OWNER, "connectorName": "mirror" });
        let id = claimed(&harness, "did:worker", "theirs", other).await;
        let before = harness.log_length().await;
        assert_eq!(finalized(&harness, "did:worker", &id, "s").await, json!(["FORBIDDEN", "documentId"]));
        assert_eq!(harness.log_length().await, before);
        let watches = harness.ask("{ watches { nodes { connectorName } } }", json!({})).await;
        assert_eq!(watches["watches"]["nodes"], json!([{ "connectorName": "contacts" }]));
        grant(Value::Null).await;
        assert_eq!(finalized(&harness, "did:worker", &id, "s").await["outcome"], "FINALIZED");
        let watches = harness.ask("{ watches { nodes { connectorName } } }", json!({})).await;
        assert_eq!(watches["watches"]["nodes"], json!([{ "connectorName": "mirror" }]));
    }
}
