//! The acts on watches, documents and whole owners as a client plans them: an input, and what the rules make of the
//! rows. Plans only what has one possible answer.

use serde_json::{Value, json};

use super::client::{Act, Client, HOUR_MS, Plan};
use super::operation_acts::record_winner;
use super::rows::{ANY, Effect, Entity};

pub const KINDS: [(&str, Plan); 11] = [
    ("record winner", winner),
    ("arm", arm),
    ("re-pull", repull),
    ("claim attempt", claim_attempt),
    ("claim attempt too early", claim_too_early),
    ("defer watch", defer),
    ("verification, verified", |client| verify(client, "VERIFIED")),
    ("verification, pending", |client| verify(client, "PENDING")),
    ("verification, failed", |client| verify(client, "REPAIR_FAILED")),
    ("resume offline", |client| Some(resume(client, "OFFLINE"))),
    ("resume auth", |client| Some(resume(client, "AUTH"))),
];

/// A due time that has passed whenever it is asked about.
const LONG_AGO: &str = "2001-02-03T04:05:06.007Z";

fn act(mutation: &'static str, input: Value, outcome: &str, effects: Vec<Effect>) -> Act {
    Act { mutation, input, answer: json!({ "outcome": outcome }), effects }
}

fn pending(row: &Value) -> bool {
    row["status"] == "PENDING_VERIFICATION"
}

fn one_more(row: &Value, member: &str) -> Value {
    json!(row[member].as_i64().unwrap_or_else(|| panic!("no {member}: {row}")) + 1)
}

impl Client {
    pub fn watches_of(&self, document: &str) -> Vec<Value> {
        let rows = self.model.rows.iter();
        rows.filter(|(key, row)| key.kind == "WATCH" && row["documentId"] == document)
            .map(|(_, row)| row.clone())
            .collect()
    }

    fn winner_of(&self, watch: &Value) -> String {
        let entity = Entity::document(watch["documentId"].as_str().unwrap());
        self.model.rows[&entity]["digest"].as_str().unwrap().to_owned()
    }

    /// Where a time stands: it passed long ago, it is the moment of some act (also `null`, a due time's default), or it
    /// is yet to come.
    fn place_in_time(&self, at: &Value) -> usize {
        if at == LONG_AGO {
            0
        } else if *at == self.later {
            2
        } else {
            1
        }
    }

    fn due(&mut self) -> Value {
        [json!(LONG_AGO), json!(self.later)][self.dice.below(2)].clone()
    }
}

/// What a due time that was given is in the row.
fn stored(due: &Value) -> Value {
    if due.is_null() { json!(ANY) } else { due.clone() }
}

/// What the finalize of an operation makes of its own watch.
pub fn armed_by_finalize(client: &Client, operation: &Value, input: &Value) -> Effect {
    let entity = Entity::watch(input["sourceId"].as_str().unwrap());
    let found = client.model.rows.get(&entity);
    let mut after = json!({
        "id": ANY, "ownerDid": client.name, "connectorName": "contacts", "model": operation["model"], "accountKey": "a1",
        "sourceId": input["sourceId"], "documentId": input["documentId"], "verifiedStateDigest": null,
        "observedWinnerDigest": input["winnerDigest"], "status": "PENDING_VERIFICATION", "attempts": 0, "generation": 0,
        "nextAttemptAt": ANY, "claimedUntil": null, "deferReason": null, "version": 0, "createdAt": ANY, "updatedAt": ANY,
    });
    if let Some(found) = found {
        after["id"] = found["id"].clone();
        after["createdAt"] = found["createdAt"].clone();
        after["generation"] = one_more(found, "generation");
        after["version"] = one_more(found, "version");
    }
    Effect { entity, after: Some(after), transition: Some("arm") }
}

fn open_generation(row: &Value, winner: &str, due: &Value) -> Effect {
    let patch = json!({
        "observedWinnerDigest": winner, "status": "PENDING_VERIFICATION", "attempts": 0,
        "generation": one_more(row, "generation"), "nextAttemptAt": stored(due), "claimedUntil": null, "deferReason": null,
        "version": one_more(row, "version"),
    });
    Effect::on(row, "arm", &patch)
}

/// The outcome, and what it does to the watch.
pub fn arm_by_ingress(
    client: &Client,
    row: &Value,
    trigger: &str,
    winner: &str,
    due: &Value,
) -> (&'static str, Option<Effect>) {
    let news = winner == trigger && row["observedWinnerDigest"] != trigger;
    let unverified = row["verifiedStateDigest"] != trigger;
    match row["status"].as_str() {
        Some("VERIFIED") if news && unverified => ("OPENED", Some(open_generation(row, winner, due))),
        Some("REPAIR_FAILED") if news => ("OPENED", Some(open_generation(row, winner, due))),
        Some("PENDING_VERIFICATION")
            if news && unverified && client.place_in_time(&row["nextAttemptAt"]) > client.place_in_time(due) =>
        {
            let patch = json!({ "nextAttemptAt": stored(due), "version": one_more(row, "version") });
            ("COALESCED", Some(Effect::on(row, "arm", &patch)))
        }
        _ => ("NOOP", None),
    }
}

fn winner(client: &mut Client) -> Option<Act> {
    let document = client.pick("DOCUMENT", |_| true)?["documentId"].as_str()?.to_owned();
    let digest = format!("w{}", client.dice.below(3));
    let due = if client.dice.one_in(2) { Value::Null } else { client.due() };
    let mut effects: Vec<Effect> = record_winner(client, &document, &digest).into_iter().collect();
    let mut outcomes = vec![];
    for watch in client.watches_of(&document) {
        let (outcome, effect) = arm_by_ingress(client, &watch, &digest, &digest, &due);
        outcomes.push(outcome);
        effects.extend(effect);
    }
    let strongest = ["OPENED", "COALESCED"].into_iter().find(|outcome| outcomes.contains(outcome)).unwrap_or("NOOP");
    let input = json!({ "documentId": document, "digest": digest, "dueAt": due });
    Some(act("recordWinner", input, strongest, effects))
}

fn arm(client: &mut Client) -> Option<Act> {
    let row = client.pick("WATCH", |_| true)?;
    let (winner, due) = (client.winner_of(&row), client.due());
    let trigger = if client.dice.one_in(4) { "not the winner" } else { &winner };
    let (outcome, effect) = arm_by_ingress(client, &row, trigger, &winner, &due);
    let input = json!({ "id": row["id"], "triggeringWinner": trigger, "dueAt": due });
    Some(act("armWatch", input, outcome, effect.into_iter().collect()))
}

fn repull(client: &mut Client) -> Option<Act> {
    let row = client.pick("WATCH", |_| true)?;
    let due = if client.dice.one_in(2) { Value::Null } else { client.due() };
    let effect = open_generation(&row, &client.winner_of(&row), &due);
    Some(act("requestRepull", json!({ "id": row["id"], "dueAt": due }), "OPENED", vec![effect]))
}

fn claim_attempt(client: &mut Client) -> Option<Act> {
    let later = json!(client.later);
    let row =
        client.pick("WATCH", |row| pending(row) && row["nextAttemptAt"] != later && row["claimedUntil"].is_null())?;
    let input = json!({ "id": row["id"], "generation": row["generation"], "claimMs": HOUR_MS });
    let patch = json!({ "claimedUntil": ANY, "version": one_more(&row, "version") });
    Some(act("claimWatchAttempt", input, "CLAIMED", vec![Effect::on(&row, "claim_attempt", &patch)]))
}

fn claim_too_early(client: &mut Client) -> Option<Act> {
    let later = json!(client.later);
    let row = client.pick("WATCH", |row| pending(row) && row["nextAttemptAt"] == later)?;
    let input = json!({ "id": row["id"], "generation": row["generation"], "claimMs": HOUR_MS });
    Some(act("claimWatchAttempt", input, "NOT_DUE", vec![]))
}

fn defer(client: &mut Client) -> Option<Act> {
    let row = client.pick("WATCH", |row| pending(row) && !row["claimedUntil"].is_null())?;
    let (due, reason) = (client.due(), ["OFFLINE", "AUTH"][client.dice.below(2)]);
    let input = json!({
        "id": row["id"], "generation": row["generation"], "claimedUntil": row["claimedUntil"], "nextAttemptAt": due,
        "reason": reason,
    });
    let version = one_more(&row, "version");
    let patch = json!({ "nextAttemptAt": due, "deferReason": reason, "claimedUntil": null, "version": version });
    Some(act("deferWatch", input, "DEFERRED", vec![Effect::on(&row, "defer", &patch)]))
}

fn verify(client: &mut Client, outcome: &str) -> Option<Act> {
    let row = client.pick("WATCH", pending)?;
    let (winner, due) = (client.winner_of(&row), client.due());
    let attempts = one_more(&row, "attempts");
    let mut patch = match outcome {
        "VERIFIED" => json!({ "status": "VERIFIED", "observedWinnerDigest": winner, "verifiedStateDigest": winner }),
        "REPAIR_FAILED" => json!({ "status": "REPAIR_FAILED", "observedWinnerDigest": winner, "attempts": attempts }),
        _ => json!({ "attempts": attempts }),
    };
    patch["nextAttemptAt"] = if outcome == "PENDING" { due.clone() } else { Value::Null };
    patch["claimedUntil"] = Value::Null;
    patch["deferReason"] = Value::Null;
    patch["version"] = one_more(&row, "version");
    let fetched = if outcome == "VERIFIED" { &winner } else { "something else" };
    let input = json!({
        "id": row["id"], "generation": row["generation"], "claimedUntil": row["claimedUntil"], "fetchedDigest": fetched,
        "maxAttempts": if outcome == "REPAIR_FAILED" { 1 } else { 100 }, "dueAt": due,
    });
    Some(act("recordVerification", input, outcome, vec![Effect::on(&row, "record_verification", &patch)]))
}

/// Of this client's rows alone, all at once. The answer shows how many, not which.
fn resume(client: &Client, reason: &str) -> Act {
    let live = |row: &Value| row["state"] == "ATTEMPTED" || pending(row);
    let waiting = client.model.rows.values().filter(|row| row["deferReason"] == reason && live(row));
    let (operations, watches): (Vec<&Value>, Vec<&Value>) = waiting.partition(|row| row["state"] == "ATTEMPTED");
    let (mutation, transition) = match reason {
        "OFFLINE" => ("resumeOfflineDeferred", "resume_offline"),
        _ => ("resumeAuthDeferred", "resume_auth"),
    };
    let answer = json!({ "operations": operations.len(), "watches": watches.len() });
    let patch = json!({ "nextAttemptAt": ANY, "deferReason": null });
    let mut effects: Vec<Effect> = operations.iter().map(|row| Effect::on(row, transition, &patch)).collect();
    for row in watches {
        let patch = json!({ "nextAttemptAt": ANY, "deferReason": null, "version": one_more(row, "version") });
        effects.push(Effect::on(row, transition, &patch));
    }
    let input = json!({ "ownerDid": client.name, "connectorNames": ["contacts"] });
    Act { mutation, input, answer, effects }
}
