//! Grants: what one gives, and that what was taken back holds for whatever is claimed from then on.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use writewatch::domain::viewer::{Roles, Viewer};
use writewatch::store::Engine;

use crate::harness::{Harness, claim, on_both_engines};

/// The mutations whose rows are here.
pub const ACTS: [&str; 2] = ["grantAccess", "revokeAccess"];

async fn act_as(harness: &Harness, did: &str, mutation: &str, input: Value) -> Value {
    let kind = crate::harness::input_type(mutation);
    let payload = match mutation {
        "claimOperation" => "outcome settledState",
        "grantAccess" => "grant { ownerDid callerDid connectorName createdAt }",
        _ => "deleted",
    };
    let query = format!("mutation($input: {kind}!) {{ {mutation}(input: $input) {{ {payload} }} }}");
    let mut answer = harness.answer_to(Viewer::of(did), &query, json!({ "input": input })).await;
    match answer.get("errors") {
        Some(errors) => errors[0]["extensions"].clone(),
        None => answer["data"][mutation].take(),
    }
}

async fn grant(harness: &Harness, connector: Option<&str>) -> Value {
    let input = json!({ "ownerDid": "did:o1", "callerDid": "did:c1", "connectorName": connector });
    act_as(harness, "did:o1", "grantAccess", input).await["grant"].take()
}

async fn revoke(harness: &Harness, connector: Option<&str>) -> Value {
    let input = json!({ "ownerDid": "did:o1", "callerDid": "did:c1", "connectorName": connector });
    act_as(harness, "did:o1", "revokeAccess", input).await["deleted"].take()
}

/// What a claim for the owner is answered: its outcome, or the code of its error.
async fn claimed(harness: &Harness, operation_id: &str, connector: &str) -> String {
    let input = claim(operation_id, &json!({ "callerDid": null, "connectorName": connector }));
    let told = act_as(harness, "did:c1", "claimOperation", input).await;
    told["outcome"].as_str().or(told["code"].as_str()).unwrap().to_owned()
}

on_both_engines! {
    async fn a_grant_is_for_one_connector_or_for_all(harness: Harness) {
        assert_eq!(claimed(&harness, "k0", "contacts").await, "FORBIDDEN");
        let given = grant(&harness, Some("contacts")).await;
        assert_eq!((&given["connectorName"], &given["callerDid"]), (&json!("contacts"), &json!("did:c1")));
        assert_eq!(claimed(&harness, "k1", "contacts").await, "CLAIMED");
        assert_eq!(claimed(&harness, "k2", "calendar").await, "FORBIDDEN");
        harness.advance(1_000);
        assert_eq!(grant(&harness, Some("contacts")).await, given, "given again it stands as it was");
        assert_eq!(grant(&harness, None).await["connectorName"], Value::Null);
        assert_eq!(claimed(&harness, "k2", "calendar").await, "CLAIMED");
        let theirs = harness.answer_to(Viewer::of("did:c1"), "{ accessGrants { connectorName } }", json!({})).await;
        assert_eq!(theirs["data"]["accessGrants"], json!([{ "connectorName": null }, { "connectorName": "contacts" }]));
        assert_eq!(revoke(&harness, Some("contacts")).await, 1);
        assert_eq!(claimed(&harness, "k3", "contacts").await, "CLAIMED", "the one for all stands");
        grant(&harness, Some("contacts")).await;
        assert_eq!(revoke(&harness, None).await, 2, "without a connector all of them go");
        assert_eq!(claimed(&harness, "k4", "contacts").await, "FORBIDDEN");
        assert_eq!(revoke(&harness, None).await, 0);
    }

    /// By then the write may have been made: whoever replays it has to learn how it stands.
    async fn a_replay_finds_what_was_claimed_whatever_became_of_the_grant(harness: Harness) {
        grant(&harness, None).await;
        assert_eq!(claimed(&harness, "k", "contacts").await, "CLAIMED");
        revoke(&harness, None).await;
        assert_eq!(claimed(&harness, "k", "contacts").await, "EXISTS");
        assert_eq!(claimed(&harness, "k", "calendar").await, "CONFLICT");
        let found = harness.ask("{ operation(callerDid: \"did:c1\", operationId: \"k\") { id } }", json!({})).await;
        let dead = json!({ "id": found["operation"]["id"], "leaseToken": "L1", "version": 0, "toState": "DEAD" });
        harness.act("recordOperation", dead, "outcome").await;
        harness.advance(60_000);
        let before = writewatch::domain::time::rfc3339(harness.now());
        assert_eq!(harness.act("collectFinishedOperations", json!({ "before": before, "limit": 10 }), "deleted").await["deleted"], 1);
        assert_eq!(claimed(&harness, "k", "contacts").await, "SETTLED");
    }

    async fn one_forbidden_item_of_many_refuses_them_all_by_its_place(harness: Harness) {
        let own = json!({ "callerDid": null, "ownerDid": "did:c1" });
        let inputs = json!([claim("k1", &own), claim("k2", &json!({ "callerDid": null })), claim("k3", &own)]);
        let query = "mutation($inputs: [ClaimOperationInput!]!) { claimOperations(inputs: $inputs) { outcome } }";
        let answer = harness.answer_to(Viewer::of("did:c1"), query, json!({ "inputs": inputs })).await;
        let extensions = &answer["errors"][0]["extensions"];
        assert_eq!((&extensions["code"], &extensions["field"]), (&json!("FORBIDDEN"), &json!("inputs[1].ownerDid")));
        assert!(answer["errors"][0]["message"].as_str().unwrap().starts_with("inputs[1].ownerDid is another DID"), "{answer}");
        assert!(harness.log("transition").await.is_empty(), "nothing was written");
    }

    async fn operators_give_and_see_what_services_do_not(harness: Harness) {
        let with = |service, operator| Viewer::with_roles("did:r", Roles { service, operator });
        let query = "mutation($input: AccessGrantInput!) { grantAccess(input: $input) { grant { ownerDid } } }";
        let input = json!({ "input": { "ownerDid": "did:o1", "callerDid": "did:c1" } });
        let refused = harness.answer_to(with(true, false), query, input.clone()).await;
        assert_eq!(refused["errors"][0]["extensions"]["code"], "FORBIDDEN");
        let given = harness.answer_to(with(false, true), query, input).await;
        assert_eq!(given["data"]["grantAccess"]["grant"]["ownerDid"], "did:o1");
        for (viewer, count) in [(with(true, false), 0), (with(false, true), 1), (Viewer::open(), 1), (Viewer::of("did:x"), 0)] {
            let seen = harness.answer_to(viewer, "{ accessGrants { callerDid } }", json!({})).await;
            assert_eq!(seen["data"]["accessGrants"].as_array().unwrap().len(), count);
        }
    }
}

/// Claims go on without a pause while the grant is taken back, through another server where there can be one.
async fn a_revoke_holds(claiming: Arc<Harness>, revoking: &Harness) {
    for round in 0..10 {
        grant(revoking, None).await;
        let before = claiming.log_length().await;
        let is_revoked = Arc::new(AtomicBool::new(false));
        let claims = (0..8).map(|worker| {
            let (harness, is_revoked) = (Arc::clone(&claiming), Arc::clone(&is_revoked));
            tokio::spawn(async move {
                let mut taken = 0;
                for place in 0.. {
                    // Read before the claim is sent: what is sent after the answer must be refused.
                    let revoked = is_revoked.load(Ordering::SeqCst);
                    let outcome = claimed(&harness, &format!("{round}-{worker}-{place}"), "contacts").await;
                    assert!(!revoked || outcome == "FORBIDDEN", "{outcome} after the revoke was answered");
                    taken += usize::from(outcome == "CLAIMED");
                    if revoked {
                        break;
                    }
                }
                taken
            })
        });
        let claims: Vec<_> = claims.collect();
        while claiming.log_length().await < before + 8 {
            tokio::task::yield_now().await;
        }
        assert_eq!(revoke(revoking, None).await, 1);
        is_revoked.store(true, Ordering::SeqCst);
        let mut taken = 0;
        for claims in claims {
            taken += claims.await.unwrap();
        }
        assert!(taken > 0, "some came before it");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoke_that_was_answered_holds_for_every_later_claim_on_sqlite() {
    let harness = Arc::new(Harness::start(Engine::Sqlite).await);
    a_revoke_holds(Arc::clone(&harness), &harness).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_revoke_through_one_server_holds_for_every_later_claim_through_another() {
    let harness = Harness::start(Engine::Postgres).await;
    let beside = Arc::new(Harness::start_beside(&harness).await);
    a_revoke_holds(beside, &harness).await;
}
