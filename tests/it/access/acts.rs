//! The acts of the table's mutations: what each needs made, its input, and what it answers when it is done and of nothing.

use serde_json::{Value, json};
use writewatch::domain::time::rfc3339;

use super::books::Books;
use crate::harness::{input_type, merge};
use crate::support::signer::{Person, now_s};

/// What is sent, and where in the answer it says what came of it.
pub struct Asked {
    pub query: String,
    pub variables: Value,
    pub place: String,
    pub does: Value,
    pub nothing: Value,
}

const BULK: [(&str, &str); 4] = [
    ("claimOperations", "ClaimOperationInput"),
    ("recordWinners", "RecordWinnerInput"),
    ("recordSweepOutcomes", "SweepOutcomeInput"),
    ("requestRepulls", "RequestRepullInput"),
];

/// The act of a row, with what it needs made.
pub async fn asked(field: &str, of: &str, books: &Books, who: &Person) -> Asked {
    let (input, fields, does, nothing) = act(field, of, books, who).await;
    let (variables, head, place) = if let Some((_, kind)) = BULK.iter().find(|(name, _)| *name == field) {
        let inputs = if input.is_array() { input } else { json!([input]) };
        let last = inputs.as_array().unwrap().len() - 1;
        let head = format!("($inputs: [{kind}!]!) {{ {field}(inputs: $inputs)");
        (json!({ "inputs": inputs }), head, format!("/{field}/{last}/{fields}"))
    } else {
        let kind = input_type(field);
        let head = format!("($input: {kind}!) {{ {field}(input: $input)");
        (json!({ "input": input }), head, format!("/{field}/{fields}"))
    };
    // Where a payload says what came of it by an object, one of its fields is asked for.
    let selected = match fields {
        "trim" => "trim { documentId }",
        "repair" => "repair { documentId }",
        "grant" => "grant { createdAt }",
        other => other,
    };
    Asked { query: format!("mutation{head} {{ {selected} }} }}"), variables, place, does, nothing }
}

/// The input, the field that tells, and what it tells: something is done when it is not what is expected of nothing and, where
/// a word is given, when it is that word.
type Act = (Value, &'static str, Value, Value);

async fn act(field: &str, of: &str, books: &Books, who: &Person) -> Act {
    if let Some(act) = operation_act(field, of, books, who).await {
        return act;
    }
    if let Some(act) = watch_act(field, books).await {
        return act;
    }
    if let Some(act) = sweep_act(field, books).await {
        return act;
    }
    other_act(field, books).await
}

const LONG_AGO: &str = "2020-01-01T00:00:00.000Z";

fn later() -> String {
    rfc3339((now_s() + 600) * 1_000)
}

async fn operation_act(field: &str, of: &str, books: &Books, who: &Person) -> Option<Act> {
    let outcome = |input: Value, does: &str| (input, "outcome", json!(does), json!("NOT_FOUND"));
    let leased = |id: String| json!({ "id": id, "leaseToken": "L1", "leaseMs": 60_000 });
    let own = json!({ "ownerDid": who.did, "callerDid": null });
    let as_oneself = books.claim("as-oneself", &json!({ "callerDid": null }));
    Some(match (field, of) {
        ("claimOperation", "oneself, as oneself") => outcome(books.claim("own", &own), "CLAIMED"),
        ("claimOperation", "the owner, as oneself") => outcome(as_oneself, "CLAIMED"),
        ("claimOperation", "the owner, as the caller") => {
            outcome(books.claim("new", &json!({ "callerDid": books.caller.did })), "CLAIMED")
        }
        ("claimOperation", "a replay, as the caller") => {
            books.operation().await;
            outcome(books.claim("live", &json!({})), "EXISTS")
        }
        ("claimOperations", _) => {
            (json!([books.claim("own", &own), as_oneself]), "outcome", json!("CLAIMED"), Value::Null)
        }
        ("acquireLease", _) => outcome(leased(books.operation().await), "ACQUIRED"),
        ("renewLease", _) => outcome(leased(books.operation().await), "RENEWED"),
        ("releaseLease", _) => outcome(json!({ "id": books.operation().await, "leaseToken": "L1" }), "RELEASED"),
        ("markSendStarted", _) => {
            outcome(json!({ "id": books.operation().await, "leaseToken": "L1", "marker": "m" }), "MARKED")
        }
        ("recordOperation", _) => outcome(
            json!({ "id": books.operation().await, "leaseToken": "L1", "version": 0, "toState": "RECONCILE_ONLY" }),
            "RECORDED",
        ),
        ("deferOperation", _) => {
            outcome(json!({ "id": books.operation().await, "leaseToken": "L1", "nextAttemptAt": later() }), "DEFERRED")
        }
        ("finalizeOperation", _) => outcome(
            json!({ "id": books.operation().await, "leaseToken": "L1", "version": 0, "documentId": books.document(),
                "sourceId": "s", "winnerDigest": "w" }),
            "FINALIZED",
        ),
        ("reissueOperation", _) => outcome(
            json!({ "id": books.dead().await, "version": 1, "operationId": format!("again-{}", books.name), "leaseToken": "L2",
                "leaseMs": 60_000 }),
            "CLAIMED",
        ),
        ("resumeOfflineDeferred", _) => {
            books.deferred("OFFLINE").await;
            (json!({ "ownerDid": books.owner.did }), "operations", json!(1), json!(0))
        }
        ("resumeAuthDeferred", _) => {
            books.deferred("AUTH").await;
            let input = json!({ "ownerDid": books.owner.did, "connectorNames": ["contacts"] });
            (input, "operations", json!(1), json!(0))
        }
        _ => return None,
    })
}

async fn watch_act(field: &str, books: &Books) -> Option<Act> {
    let outcome = |input: Value, does: &str| (input, "outcome", json!(does), json!("NOT_FOUND"));
    let armed = |input: Value, does: &str| (input, "outcome", json!(does), json!("NOOP"));
    Some(match field {
        "recordWinner" | "recordWinners" => {
            books.watch().await;
            let input = json!({ "documentId": books.document(), "digest": "w2", "dueAt": LONG_AGO });
            (input, "outcome", json!("COALESCED"), Value::Null)
        }
        "armWatch" => {
            // Pending, and due sooner by the winner that has come in.
            let id = books.watch().await;
            books.make("recordWinner", json!({ "documentId": books.document(), "digest": "w2" })).await;
            armed(json!({ "id": id, "triggeringWinner": "w2", "dueAt": LONG_AGO }), "COALESCED")
        }
        "requestRepull" | "requestRepulls" => armed(json!({ "id": books.watch().await }), "OPENED"),
        "claimWatchAttempt" => {
            outcome(json!({ "id": books.watch().await, "generation": 0, "claimMs": 5_000 }), "CLAIMED")
        }
        "deferWatch" => {
            let id = books.watch().await;
            let until = books.claimed_until(&id).await;
            outcome(json!({ "id": id, "generation": 0, "claimedUntil": until, "nextAttemptAt": later() }), "DEFERRED")
        }
        "recordVerification" => outcome(
            json!({ "id": books.watch().await, "generation": 0, "fetchedDigest": "w1", "maxAttempts": 5, "dueAt": later() }),
            "VERIFIED",
        ),
        _ => return None,
    })
}

async fn sweep_act(field: &str, books: &Books) -> Option<Act> {
    let relist = books.relist("open", &[books.swept()]);
    let with = |more: Value| {
        let mut input = books.candidate();
        merge(&mut input, &more);
        input
    };
    let outcome = |input: Value, does: &str| (input, "outcome", json!(does), json!("NOT_FOUND"));
    Some(match field {
        "recordRelistReceipt" => (relist, "outcome", json!("RECORDED"), Value::Null),
        "recordSweepOutcome" | "recordSweepOutcomes" => {
            books.make("recordRelistReceipt", relist).await;
            outcome(with(json!({ "outcome": "ABSENT" })), "RECORDED")
        }
        "recordSweepApplyFailure" => {
            books.make("recordRelistReceipt", relist).await;
            outcome(with(json!({ "lastError": "no" })), "RETRY")
        }
        "markSweepCandidateApplied" => {
            books.make("recordRelistReceipt", relist).await;
            books.make("recordSweepOutcome", with(json!({ "outcome": "PRESENT" }))).await;
            outcome(books.candidate(), "APPLIED")
        }
        "commitSweepCheckpoint" => {
            books.make("recordRelistReceipt", books.relist("open", &[])).await;
            outcome(books.receipt("open"), "COMMITTED")
        }
        _ => return None,
    })
}

async fn other_act(field: &str, books: &Books) -> Act {
    let deleted = |input: Value| (input, "deleted", json!(1), json!(0));
    let mut sync = books.sync_state();
    merge(&mut sync, &json!({ "lastSyncedAt": "2026-01-01T00:00:00.000Z", "entityCount": 1 }));
    let mut set = sync.clone();
    set["status"] = json!("IDLE");
    let pending = books.pending_auth(now_s() + 3_600);
    // So that it is the owner's.
    if matches!(field, "setEntityTrim" | "clearEntityTrim" | "putObservationRepair" | "clearObservationRepair") {
        books.operation().await;
    }
    match field {
        // Before everything that any other row has made.
        "collectFinishedOperations" => {
            (json!({ "before": "1970-01-02T00:00:00.000Z", "limit": 1 }), "deleted", json!(0), Value::Null)
        }
        "sweepDocument" => {
            books.watch().await;
            (json!({ "documentId": books.document() }), "outcome", json!("SWEPT"), Value::Null)
        }
        "setSyncState" => (set, "outcome", json!("SET"), Value::Null),
        "advanceSyncProgress" => (sync, "outcome", json!("ADVANCED"), Value::Null),
        "deleteSyncState" => {
            books.make("setSyncState", set).await;
            deleted(books.sync_state())
        }
        "createPendingAuth" => (pending, "outcome", json!("CREATED"), Value::Null),
        "consumePendingAuth" => {
            books.make("createPendingAuth", pending.clone()).await;
            (json!({ "state": pending["state"] }), "outcome", json!("CONSUMED"), json!("NOT_FOUND"))
        }
        "deleteExpiredPendingAuth" => {
            books.make("createPendingAuth", books.pending_auth(now_s() - 3_600)).await;
            // With those that the other viewers' cells have left, where everybody's are meant.
            (json!({}), "deleted", Value::Null, json!(0))
        }
        "setEntityTrim" => (books.trim(), "trim", json!({ "documentId": books.document() }), Value::Null),
        "clearEntityTrim" => {
            books.make("setEntityTrim", books.trim()).await;
            deleted(json!({ "documentId": books.document() }))
        }
        "putObservationRecord" => (books.observation(), "outcome", json!("STORED"), Value::Null),
        "pruneObservationRecord" => {
            // The only signer's copy stays: that it is asked for is allowed.
            books.make("putObservationRecord", books.observation()).await;
            let input = json!({ "owner": books.owner.did, "id": books.document(), "signer": books.owner.did });
            (input, "deleted", json!(0), Value::Null)
        }
        "putObservationRepair" => (books.repair(), "repair", json!({ "documentId": books.document() }), Value::Null),
        "clearObservationRepair" => {
            books.make("putObservationRepair", books.repair()).await;
            deleted(json!({ "documentId": books.document() }))
        }
        "grantAccess" => {
            let input =
                json!({ "ownerDid": books.owner.did, "callerDid": books.caller.did, "connectorName": "contacts" });
            (input, "grant", Value::Null, Value::Null)
        }
        "revokeAccess" => deleted(json!({ "ownerDid": books.owner.did, "callerDid": books.granted.did })),
        other => panic!("the table has a mutation {other}, and nobody knows how"),
    }
}

impl Books {
    async fn claimed_until(&self, watch: &str) -> String {
        if self.is_phantom() {
            return later();
        }
        let claim = json!({ "id": watch, "generation": 0, "claimMs": 60_000 });
        let claimed = self.house.act("claimWatchAttempt", claim, "claimedUntil").await;
        claimed["claimedUntil"].as_str().unwrap().to_owned()
    }
}
