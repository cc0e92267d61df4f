//! Documents of others: whoever names one in an operation of its own gains nothing by it, and takes nothing away.

use serde_json::{Value, json};
use writewatch::domain::viewer::{Roles, Viewer};

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

    /// Nor does it by acting at the same moment, which may be the same transaction.
    async fn what_is_said_beside_an_act_of_ones_own_is_not_told(harness: Harness) {
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        finalized(&harness, OWNER, &own, "w").await;
        let id = claimed(&harness, SQUATTER, "late", json!({})).await;
        for round in 0..40 {
            let lease = json!({ "id": id, "leaseToken": "L1", "leaseMs": 60_000 });
            let winner = json!({ "documentId": "d", "digest": format!("w{round}") });
            let acquire = act_as(&harness, SQUATTER, "acquireLease", lease, "outcome");
            let (leased, recorded) = tokio::join!(acquire, act_as(&harness, OWNER, "recordWinner", winner, "outcome"));
            assert!(leased["outcome"].is_string() && recorded["outcome"].is_string(), "{leased} {recorded}");
        }
        assert_eq!(seen(&harness, SQUATTER).await, json!([null, true, 0]));
        assert_eq!(seen(&harness, OWNER).await[2], 41);
    }

    /// Between a service's claim and its finalize nobody watches the document yet.
    async fn what_a_service_claimed_holds_its_document(harness: Harness) {
        let vouched = json!({ "callerDid": OWNER, "ownerDid": OWNER, "documentId": "d" });
        let id = harness.act("claimOperation", claim("k", &vouched), "operation { id }").await["operation"]["id"].take();
        let theirs = claimed(&harness, SQUATTER, "theirs", json!({})).await;
        let winner = json!({ "documentId": "d", "digest": "w" });
        assert_eq!(act_as(&harness, OWNER, "recordWinner", winner, "winner { digest }").await["winner"]["digest"], "w");
        assert_eq!(seen(&harness, SQUATTER).await, json!([null, true, 0]));
        assert_eq!(finalized(&harness, SQUATTER, &theirs, "s").await, json!(["FORBIDDEN", "documentId"]));
        assert_eq!(finalized(&harness, OWNER, &id, "w").await["outcome"], "FINALIZED");
        // What is finalized holds it, also once its watch has gone elsewhere.
        let away = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "elsewhere", "sourceId": "w", "winnerDigest": "w" });
        assert_eq!(act_as(&harness, OWNER, "finalizeOperation", away, "outcome").await["outcome"], "FINALIZED");
        let other = claimed(&harness, OWNER, "other", json!({ "documentId": "elsewhere" })).await;
        let input = json!({ "id": other, "leaseToken": "L1", "version": 0, "documentId": "elsewhere", "sourceId": "w2", "winnerDigest": "w" });
        assert_eq!(act_as(&harness, OWNER, "finalizeOperation", input, "outcome").await["outcome"], "FINALIZED");
        let late = claimed(&harness, SQUATTER, "late", json!({ "documentId": "elsewhere" })).await;
        harness.database.execute("DELETE FROM kubun_connector_projection_watch").await;
        let input = json!({ "id": late, "leaseToken": "L1", "version": 0, "documentId": "elsewhere", "sourceId": "s", "winnerDigest": "s" });
        assert_eq!(act_as(&harness, SQUATTER, "finalizeOperation", input, "outcome").await, json!(["FORBIDDEN", "documentId"]));
    }

    async fn naming_a_document_does_not_hold_up_its_sweep(harness: Harness) {
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        finalized(&harness, OWNER, &own, "w").await;
        claimed(&harness, SQUATTER, "late", json!({})).await;
        assert_eq!(harness.act("sweepDocument", json!({ "documentId": "d" }), "outcome").await["outcome"], "SWEPT");
        assert_eq!(seen(&harness, SQUATTER).await[2], 0, "nor is what was swept told to it");
        assert_eq!(seen(&harness, OWNER).await[2], 2);
        claimed(&harness, OWNER, "again", json!({})).await;
        let held_up = harness.act("sweepDocument", json!({ "documentId": "d" }), "outcome unfinished { operationId }").await;
        assert_eq!(held_up["outcome"], "UNFINISHED_OPERATION", "nobody holds it now: {held_up}");
    }

    /// What was claimed is finished; anything else of the owner's goes by the grant, which is gone.
    async fn a_grant_that_was_taken_back_moves_no_watch_and_takes_no_document(harness: Harness) {
        for (key, document) in [("own", "d"), ("second", "e")] {
            let own = claimed(&harness, OWNER, key, json!({ "documentId": document })).await;
            let input = json!({ "id": own, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": document, "winnerDigest": "w" });
            assert_eq!(act_as(&harness, OWNER, "finalizeOperation", input, "outcome").await["outcome"], "FINALIZED");
        }
        let grant = json!({ "ownerDid": OWNER, "callerDid": "did:worker", "connectorName": "contacts" });
        act_as(&harness, OWNER, "grantAccess", grant.clone(), "grant { ownerDid }").await;
        let theirs = json!({ "ownerDid": OWNER, "documentId": "own-new" });
        let id = claimed(&harness, "did:worker", "theirs", theirs).await;
        let unnamed = claimed(&harness, "did:worker", "unnamed", json!({ "ownerDid": OWNER, "documentId": null })).await;
        act_as(&harness, OWNER, "revokeAccess", grant.clone(), "deleted").await;
        let finalize = async |id: &Value, document: &str, source: &str| {
            let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": source, "winnerDigest": "forged" });
            act_as(&harness, "did:worker", "finalizeOperation", input, "outcome").await
        };
        let forbidden = json!(["FORBIDDEN", "documentId"]);
        let before = harness.log_length().await;
        assert_eq!(finalize(&id, "e", "fake").await, forbidden, "another document, whose watch would go");
        assert_eq!(finalize(&id, "own-new", "d").await, forbidden, "a watch that would move here");
        assert_eq!(finalize(&unnamed, "d", "other").await, forbidden, "a document that the owner watches by another source");
        assert_eq!(harness.log_length().await, before, "nothing was written");
        // The owner holds "g" by what it wrote there, though its watch has gone elsewhere.
        let moved = claimed(&harness, OWNER, "moved", json!({ "documentId": "g" })).await;
        for document in ["g", "h"] {
            let input = json!({ "id": moved, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": "g", "winnerDigest": "w" });
            assert_eq!(act_as(&harness, OWNER, "finalizeOperation", input, "outcome").await["outcome"], "FINALIZED");
        }
        let vouched = json!({ "callerDid": OWNER, "ownerDid": OWNER, "documentId": "g" });
        harness.act("claimOperation", claim("vouched", &vouched), "outcome").await;
        assert_eq!(finalize(&unnamed, "g", "newest").await, forbidden, "a document that the owner holds");
        assert_eq!(finalize(&id, "own-new", "new").await["outcome"], "FINALIZED");
        assert_eq!(finalize(&id, "f", "new").await, forbidden, "the same operation once more, elsewhere");
        assert_eq!(finalize(&unnamed, "unwatched", "newer").await["outcome"], "FINALIZED");
        act_as(&harness, OWNER, "grantAccess", grant, "grant { ownerDid }").await;
        assert_eq!(finalize(&id, "e", "moved").await["outcome"], "FINALIZED", "with the grant it may");
    }

    /// A worker drives whatever is due, and does not know who named its document.
    async fn a_worker_does_not_vouch_for_what_it_only_drives(harness: Harness) {
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        finalized(&harness, OWNER, &own, "w").await;
        let id = claimed(&harness, SQUATTER, "theirs", json!({})).await;
        let by = async |service, operator| {
            let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "forged" });
            let query = "mutation($input: FinalizeOperationInput!) { finalizeOperation(input: $input) { outcome } }";
            let viewer = Viewer::with_roles("did:r", Roles { service, operator });
            let answer = harness.answer_to(viewer, query, json!({ "input": input })).await;
            answer["errors"][0]["extensions"]["code"].as_str().unwrap_or_else(|| answer["data"]["finalizeOperation"]["outcome"].as_str().unwrap()).to_owned()
        };
        assert_eq!(by(true, false).await, "FORBIDDEN");
        assert_eq!(seen(&harness, OWNER).await, json!(["w", true, 1]));
        assert_eq!(by(false, true).await, "FINALIZED", "an operator may say so");
    }

    /// Nobody has written it yet, but somebody has said whose it is.
    async fn who_has_a_trim_or_a_repair_of_a_document_holds_it(harness: Harness) {
        let trim = json!({ "documentId": "d", "ownerDid": OWNER, "connectorName": "contacts", "trimmedFields": ["x"] });
        harness.act("setEntityTrim", trim.clone(), "trim { documentId }").await;
        let repair = json!({ "documentId": "e", "owner": OWNER, "fetchHlc": "1700000000000-0001-n1", "decisionHlc": "1700000000000-0002-n1", "present": false });
        harness.act("putObservationRepair", repair, "repair { documentId }").await;
        for document in ["d", "e"] {
            let id = claimed(&harness, SQUATTER, document, json!({ "documentId": document })).await;
            let winner = json!({ "documentId": document, "digest": "forged" });
            let forbidden = json!(["FORBIDDEN", "documentId"]);
            assert_eq!(act_as(&harness, SQUATTER, "recordWinner", winner, "outcome").await, forbidden, "{document}");
            let input = json!({ "id": id, "leaseToken": "L1", "version": 0, "documentId": document, "sourceId": document, "winnerDigest": "forged" });
            assert_eq!(act_as(&harness, SQUATTER, "finalizeOperation", input, "outcome").await, forbidden, "{document}");
        }
        harness.act("clearEntityTrim", json!({ "documentId": "d" }), "deleted").await;
        assert_eq!(seen(&harness, SQUATTER).await, json!([null, true, 0]), "nor is it told that the trim is gone");
        harness.act("setEntityTrim", trim, "trim { documentId }").await;
        let own = claimed(&harness, OWNER, "own", json!({})).await;
        assert_eq!(seen(&harness, OWNER).await[1], false);
        assert_eq!(finalized(&harness, OWNER, &own, "w").await["outcome"], "FINALIZED");
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
        assert_eq!(act_as(&harness, "did:worker", "finalizeOperation", input, "outcome").await["outcome"], "FINALIZED");
        let theirs = claimed(&harness, SQUATTER, "theirs", json!({})).await;
        let input = json!({ "id": theirs, "leaseToken": "L1", "version": 0, "documentId": "d", "sourceId": "s", "winnerDigest": "w2" });
        assert_eq!(act_as(&harness, SQUATTER, "finalizeOperation", input.clone(), "outcome").await, json!(["FORBIDDEN", "documentId"]));
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
        let model = json!({ "ownerDid": OWNER, "connectorName": "mirror", "model": "another" });
        let another = claimed(&harness, "did:worker", "another", model).await;
        assert_eq!(finalized(&harness, "did:worker", &another, "s").await, json!(["FORBIDDEN", "documentId"]), "nor its winner");
        grant(Value::Null).await;
        assert_eq!(finalized(&harness, "did:worker", &id, "s").await["outcome"], "FINALIZED");
        let watches = harness.ask("{ watches { nodes { connectorName } } }", json!({})).await;
        assert_eq!(watches["watches"]["nodes"], json!([{ "connectorName": "mirror" }]));
    }
}
