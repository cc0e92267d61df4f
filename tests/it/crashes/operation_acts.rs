//! The acts on operations as a client plans them: an input, and what the rules make of the row. Plans only what has one
//! possible answer.

use serde_json::{Value, json};

use super::client::{Act, Client, HOUR_MS, Plan};
use super::rows::{ANY, Effect, Entity};
use super::watch_acts::{arm_by_ingress, armed_by_finalize};
use crate::harness::merge;

pub const KINDS: [(&str, Plan); 18] = [
    ("claim", |client| Some(claim(client))),
    ("replay", replay),
    ("another envelope", another_envelope),
    ("acquire", acquire),
    ("acquire another's lease", acquire_anothers),
    ("renew", renew),
    ("release", release),
    ("release another's lease", release_anothers),
    ("mark send started", mark),
    ("record, counted", |client| record(client, "ATTEMPTED", "ATTEMPTED", Attempt::Counted)),
    ("record, uncounted", |client| record(client, "ATTEMPTED", "ATTEMPTED", Attempt::Uncounted)),
    ("record, refunded", |client| record(client, "ATTEMPTED", "ATTEMPTED", Attempt::Refunded)),
    ("record, reconcile only", |client| record(client, "ATTEMPTED", "RECONCILE_ONLY", Attempt::Counted)),
    ("record, attempted again", |client| record(client, "RECONCILE_ONLY", "ATTEMPTED", Attempt::Uncounted)),
    ("record, dead", |client| record(client, "ATTEMPTED", "DEAD", Attempt::Counted)),
    ("defer", defer),
    ("finalize", |client| finalize(client, "ATTEMPTED")),
    ("finalize again", |client| finalize(client, "COMMITTED")),
];

#[derive(Clone, Copy, PartialEq)]
enum Attempt {
    Counted,
    Uncounted,
    Refunded,
}

fn act(mutation: &'static str, input: Value, outcome: &str, effects: Vec<Effect>) -> Act {
    Act { mutation, input, answer: json!({ "outcome": outcome }), effects }
}

fn held(row: &Value) -> bool {
    !row["lease"].is_null()
}

fn int(row: &Value, member: &str) -> i64 {
    row[member].as_i64().unwrap_or_else(|| panic!("no {member}: {row}"))
}

fn claim(client: &mut Client) -> Act {
    let models = ["Contact", "Event"];
    let input = json!({
        "callerDid": client.name, "operationId": client.fresh("o"), "ownerDid": client.name, "connectorName": "contacts",
        "model": models[client.dice.below(2)], "op": "UPDATE", "accountKey": "a1", "target": "t-1", "sourceId": null,
        "deterministicEventId": client.fresh("e"), "payloadHash": "h-1", "reissueIntent": { "again": true },
        "leaseToken": client.fresh("t"), "leaseMs": HOUR_MS,
    });
    let mut row = json!({
        "id": ANY, "providerEtag": null, "documentId": null, "resultEntity": null, "state": "ATTEMPTED", "attempts": 0,
        "nextAttemptAt": null, "deferReason": null, "sendState": "UNSENT", "lastKind": null, "lastHttpStatus": null,
        "version": 0, "incarnation": ANY, "lease": { "expiresAt": ANY }, "createdAt": ANY, "updatedAt": ANY,
        "_claim": input, "_token": input["leaseToken"], "_marker": null, "_refunded": null,
    });
    merge(&mut row, &input);
    let effect = Effect { entity: Entity::of(&row), after: Some(row), transition: Some("claim") };
    act("claimOperation", input, "CLAIMED", vec![effect])
}

fn replay(client: &mut Client) -> Option<Act> {
    let mut input = client.pick("OPERATION", |_| true)?["_claim"].take();
    input["leaseToken"] = json!(client.fresh("t"));
    Some(act("claimOperation", input, "EXISTS", vec![]))
}

fn another_envelope(client: &mut Client) -> Option<Act> {
    let mut input = client.pick("OPERATION", |_| true)?["_claim"].take();
    input["payloadHash"] = json!("h-2");
    Some(act("claimOperation", input, "CONFLICT", vec![]))
}

/// A free lease, or one's own once more.
fn acquire(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", |_| true)?;
    let token = if held(&row) { row["_token"].clone() } else { json!(client.fresh("t")) };
    let input = json!({ "id": row["id"], "leaseToken": token, "leaseMs": HOUR_MS });
    let patch = json!({ "lease": { "expiresAt": ANY }, "_token": token });
    Some(act("acquireLease", input, "ACQUIRED", vec![Effect::on(&row, "acquire_lease", &patch)]))
}

fn acquire_anothers(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", held)?;
    let input = json!({ "id": row["id"], "leaseToken": client.fresh("t"), "leaseMs": HOUR_MS });
    Some(act("acquireLease", input, "HELD", vec![]))
}

fn renew(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", held)?;
    let input = json!({ "id": row["id"], "leaseToken": row["_token"], "leaseMs": HOUR_MS });
    let effect = Effect::unlogged(&row, &json!({ "lease": { "expiresAt": ANY } }));
    Some(act("renewLease", input, "RENEWED", vec![effect]))
}

fn release(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", held)?;
    let input = json!({ "id": row["id"], "leaseToken": row["_token"] });
    let effect = Effect::on(&row, "release_lease", &json!({ "lease": null }));
    Some(act("releaseLease", input, "RELEASED", vec![effect]))
}

fn release_anothers(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", |_| true)?;
    let input = json!({ "id": row["id"], "leaseToken": client.fresh("t") });
    Some(act("releaseLease", input, "LEASE_NOT_HELD", vec![]))
}

/// A second marker within an attempt contests the first.
fn mark(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", |row| held(row) && row["state"] == "ATTEMPTED")?;
    let marker = json!(client.fresh("m"));
    let patch = if row["_marker"].is_null() {
        json!({ "sendState": "STARTED", "_marker": marker })
    } else {
        json!({ "sendState": "CONTESTED" })
    };
    let input = json!({ "id": row["id"], "leaseToken": row["_token"], "marker": marker });
    Some(act("markSendStarted", input, "MARKED", vec![Effect::on(&row, "mark_send_started", &patch)]))
}

fn record(client: &mut Client, from: &str, to: &str, attempt: Attempt) -> Option<Act> {
    let row = client.pick("OPERATION", |row| {
        let refundable =
            int(row, "attempts") > row["_refunded"].as_i64().unwrap_or(0) && row["sendState"] != "CONTESTED";
        held(row) && row["state"] == from && (attempt != Attempt::Refunded || refundable)
    })?;
    let due = client.dice.one_in(2).then(|| client.later.clone());
    let reason = [Some("OFFLINE"), Some("AUTH"), None][client.dice.below(3)];
    let said = json!({ "nextAttemptAt": due, "deferReason": reason, "providerEtag": client.fresh("etag") });
    let mut input = json!({
        "id": row["id"], "leaseToken": row["_token"], "version": row["version"], "fromState": from, "toState": to,
        "kind": "http", "httpStatus": 503, "countAttempt": attempt == Attempt::Counted,
        "refundAttempt": attempt == Attempt::Refunded, "sendMarker": row["_marker"], "note": "by a client that may be cut off",
    });
    let version = int(&row, "version") + 1;
    let mut patch = json!({ "state": to, "lastKind": "http", "lastHttpStatus": 503, "version": version });
    merge(&mut input, &said);
    merge(&mut patch, &said);
    if attempt != Attempt::Uncounted {
        merge(&mut patch, &json!({ "sendState": "UNSENT", "_marker": null }));
    }
    match attempt {
        Attempt::Counted => patch["attempts"] = json!(int(&row, "attempts") + 1),
        Attempt::Refunded => {
            let left = int(&row, "attempts") - 1;
            merge(&mut patch, &json!({ "attempts": left, "_refunded": left }));
        }
        Attempt::Uncounted => {}
    }
    Some(act("recordOperation", input, "RECORDED", vec![Effect::on(&row, "record", &patch)]))
}

/// By the lease's holder, or by anybody while there is none.
fn defer(client: &mut Client) -> Option<Act> {
    let row = client.pick("OPERATION", |row| row["state"] == "ATTEMPTED")?;
    let token = if held(&row) { row["_token"].clone() } else { Value::Null };
    let reason = ["OFFLINE", "AUTH"][client.dice.below(2)];
    let input = json!({
        "id": row["id"], "leaseToken": token, "nextAttemptAt": client.later, "reason": reason,
    });
    let patch = json!({ "nextAttemptAt": client.later, "deferReason": reason });
    Some(act("deferOperation", input, "DEFERRED", vec![Effect::on(&row, "defer", &patch)]))
}

/// Of a document and a source that may both be known already, so that watches are moved, removed and armed by others.
fn finalize(client: &mut Client, state: &str) -> Option<Act> {
    let row = client.pick("OPERATION", |row| held(row) && row["state"] == state)?;
    let known = client.pick("DOCUMENT", |_| true).filter(|_| client.dice.one_in(3));
    let document = known.map_or_else(|| client.fresh("d"), |row| row["documentId"].as_str().unwrap().to_owned());
    let known = client.pick("WATCH", |watch| watch["model"] == row["model"]).filter(|_| client.dice.one_in(3));
    let source = known.map_or_else(|| client.fresh("s"), |row| row["sourceId"].as_str().unwrap().to_owned());
    let digest = format!("w{}", client.dice.below(3));

    let input = json!({
        "id": row["id"], "leaseToken": row["_token"], "version": row["version"], "documentId": document,
        "resultEntity": { "etag": digest }, "sourceId": source, "winnerDigest": digest,
    });
    let patch = json!({ "state": "COMMITTED", "documentId": document, "resultEntity": { "etag": digest } });
    let mut effects = vec![Effect::on(&row, "finalize", &patch)];
    effects.extend(record_winner(client, &document, &digest));
    for watch in client.watches_of(&document).iter().filter(|watch| watch["sourceId"] != source) {
        if watch["model"] == row["model"] {
            effects.push(Effect { entity: Entity::of(watch), after: None, transition: Some("remove") });
        } else {
            effects.extend(arm_by_ingress(client, watch, &digest, &digest, &Value::Null).1);
        }
    }
    effects.push(armed_by_finalize(client, &row, &input));
    Some(act("finalizeOperation", input, "FINALIZED", effects))
}

/// What a winner changes of the document itself: nothing when it is the stored one.
pub fn record_winner(client: &Client, document: &str, digest: &str) -> Option<Effect> {
    let entity = Entity::document(document);
    if client.model.rows.get(&entity).is_some_and(|row| row["digest"] == digest) {
        return None;
    }
    let row = json!({ "documentId": document, "digest": digest, "version": null, "updatedAt": ANY });
    Some(Effect { entity, after: Some(row), transition: Some("record_winner") })
}
