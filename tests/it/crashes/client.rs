//! A client with keys of its own: one act after another until the server is gone, each checked against what the rules
//! say of it. What it was answered is what the server has to know after the crash.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use serde_json::{Value, json};
use writewatch::clock::Clock;
use writewatch::domain::time::rfc3339;

use super::rows::{Effect, Found, Model};
use super::{operation_acts, watch_acts};
use crate::harness::input_type;
use crate::support::client::try_post;

/// What is shown of an operation, a watch and a winner.
pub const OPERATION: &str = "id operationId callerDid ownerDid connectorName model op accountKey target sourceId \
    deterministicEventId payloadHash reissueIntent providerEtag documentId resultEntity state attempts nextAttemptAt \
    deferReason sendState lastKind lastHttpStatus version incarnation lease { expiresAt } createdAt updatedAt";
pub const WATCH: &str = "id ownerDid connectorName model accountKey sourceId documentId verifiedStateDigest \
    observedWinnerDigest status attempts generation nextAttemptAt claimedUntil deferReason version createdAt updatedAt";
pub const WINNER: &str = "documentId digest version updatedAt";

/// Long enough to outlast every test: whose a lease or a claim is never depends on how fast the machine is.
pub const HOUR_MS: i64 = 3_600_000;

/// A request with what must come of it.
pub struct Act {
    pub mutation: &'static str,
    pub input: Value,
    /// Members of the payload.
    pub answer: Value,
    pub effects: Vec<Effect>,
}

/// Plans one kind of act, where the client has a row for it.
pub type Plan = fn(&mut Client) -> Option<Act>;

/// Every kind of transition, and some refusals, which change nothing.
pub fn kinds() -> impl Iterator<Item = (&'static str, Plan)> {
    operation_acts::KINDS.into_iter().chain(watch_acts::KINDS)
}

/// What the clients of a round and the one who kills their server tell each other.
#[derive(Default)]
pub struct Round {
    pub acknowledged: AtomicUsize,
    pub killed: AtomicBool,
}

impl Round {
    /// None when the server was killed before its answer arrived.
    async fn ask(&self, url: &str, query: &str, variables: Value) -> Option<Value> {
        let answer = try_post(url, query, variables).await;
        if let Err(failure) = &answer {
            assert!(self.killed.load(Ordering::SeqCst), "no answer while the server was alive: {failure}");
        }
        answer.ok()
    }
}

/// A small xorshift: the same seed gives every client the same intentions.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        // Never zero, and far from those of neighbouring seeds.
        Self(seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn number(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    pub fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.number() >> 33).unwrap() % end
    }

    pub fn one_in(&mut self, count: usize) -> bool {
        self.below(count) == 0
    }
}

pub struct Client {
    /// Its DID, as caller and as owner, and the beginning of all its names.
    pub name: String,
    pub model: Model,
    /// How many acts of each kind were answered.
    pub acknowledged: BTreeMap<&'static str, usize>,
    /// A due time that will not come during the test.
    pub later: String,
    pub dice: Dice,
    names: usize,
    /// The act that was not answered.
    pending: Option<Act>,
}

impl Client {
    pub fn new(name: String, dice: Dice) -> Self {
        let later = rfc3339(Clock::Host.now_ms() + 24 * HOUR_MS);
        Self { name, model: Model::default(), acknowledged: BTreeMap::new(), later, dice, names: 0, pending: None }
    }

    /// A name that nobody used yet.
    pub fn fresh(&mut self, what: &str) -> String {
        self.names += 1;
        format!("{}-{what}{}", self.name, self.names)
    }

    /// One of the client's rows of a kind that the act may be tried on.
    pub fn pick(&mut self, kind: &str, suits: impl Fn(&Value) -> bool) -> Option<Value> {
        let rows = self.model.rows.iter().filter(|(entity, row)| entity.kind == kind && suits(row));
        let rows: Vec<&Value> = rows.map(|(_, row)| row).collect();
        if rows.is_empty() { None } else { Some(rows[self.dice.below(rows.len())].clone()) }
    }

    /// Acts until the server is gone.
    pub async fn work(mut self, url: String, round: Arc<Round>) -> Self {
        loop {
            let (kind, act) = self.next_act();
            let Some(answer) = round.ask(&url, &act.query(), json!({ "input": act.input })).await else {
                self.pending = Some(act);
                return self;
            };
            self.acknowledge(kind, &act, &answer);
            round.acknowledged.fetch_add(1, Ordering::SeqCst);
            if self.dice.one_in(4) && self.look_again(&url, &round, &act).await.is_none() {
                return self;
            }
        }
    }

    /// What was acknowledged is there for whoever reads next. None when the server is gone.
    async fn look_again(&mut self, url: &str, round: &Round, act: &Act) -> Option<()> {
        for Effect { entity, after, .. } in &act.effects {
            let (kind, fields) = match entity.kind {
                "OPERATION" => ("Operation", OPERATION),
                "WATCH" => ("Watch", WATCH),
                _ => continue,
            };
            let Some(row) = after.as_ref().map(|_| &self.model.rows[entity]) else { continue };
            let query = format!("query($id: ID!) {{ node(id: $id) {{ ... on {kind} {{ {fields} }} }} }}");
            let answer = round.ask(url, &query, json!({ "id": row["id"] })).await?;
            let node = &answer["data"]["node"];
            assert!(node.is_object(), "{entity:?} was not found after {act}: {answer}");
            self.model.see(node).unwrap_or_else(|problem| panic!("read after {act}: {problem}"));
        }
        Some(())
    }

    /// At random, but rather what it has done the least: whatever has a row to be done on comes soon.
    fn next_act(&mut self) -> (&'static str, Act) {
        let kinds: Vec<_> = kinds().collect();
        loop {
            let mut few = [0; 5].map(|_| kinds[self.dice.below(kinds.len())]);
            few.sort_by_key(|(kind, _)| self.acknowledged.get(kind));
            let planned = few.into_iter().find_map(|(kind, plan)| Some((kind, plan(self)?)));
            if let Some(planned) = planned {
                return planned;
            }
        }
    }

    fn acknowledge(&mut self, kind: &'static str, act: &Act, answer: &Value) {
        let payload = &answer["data"][act.mutation];
        for (member, expected) in act.answer.as_object().unwrap() {
            assert_eq!(payload[member], *expected, "{kind}: {act} was answered {answer}");
        }
        self.model.perform(&act.effects);
        let one = ["operation", "watch", "winner"].map(|member| &payload[member]);
        let many = payload["watches"].as_array().into_iter().flatten();
        for row in one.into_iter().filter(|row| !row.is_null()).chain(many) {
            self.model.see(row).unwrap_or_else(|problem| panic!("the answer to {act}: {problem}"));
        }
        *self.acknowledged.entry(kind).or_default() += 1;
    }

    /// Documents whose winner the client has recorded, or may have.
    pub fn document_ids(&self) -> Vec<String> {
        let pending = self.pending.iter().flat_map(|act| &act.effects).map(|effect| &effect.entity);
        let entities = self.model.rows.keys().chain(pending).filter(|entity| entity.kind == "DOCUMENT");
        entities.map(|entity| entity.name.clone()).collect()
    }

    /// Compares all that was answered with what a server shows: the act without an answer happened wholly, or not at all.
    pub fn settle(&mut self, found: &Found) {
        let mut without = self.model.clone();
        let not_at_all = without.agrees(found);
        let Some(act) = self.pending.take() else {
            return not_at_all.unwrap_or_else(|problem| panic!("{}: {problem}", self.name));
        };
        if not_at_all.is_ok() {
            self.model = without;
            return;
        }
        self.model.perform(&act.effects);
        if let (Err(not_at_all), Err(wholly)) = (not_at_all, self.model.agrees(found)) {
            let name = &self.name;
            panic!("{name}: {act} was not answered.\nIt was not left undone: {not_at_all}\nNor was it done: {wholly}");
        }
    }
}

impl fmt::Display for Act {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}({})", self.mutation, self.input)
    }
}

impl Act {
    fn query(&self) -> String {
        let Self { mutation, .. } = self;
        let fields = match *mutation {
            "resumeOfflineDeferred" | "resumeAuthDeferred" => "operations watches".to_owned(),
            "finalizeOperation" => format!("outcome operation {{ {OPERATION} }} watch {{ {WATCH} }}"),
            "recordWinner" => format!("outcome winner {{ {WINNER} }} watches {{ {WATCH} }}"),
            "armWatch" | "requestRepull" | "claimWatchAttempt" | "deferWatch" | "recordVerification" => {
                format!("outcome watch {{ {WATCH} }}")
            }
            _ => format!("outcome operation {{ {OPERATION} }}"),
        };
        format!("mutation($input: {}!) {{ {mutation}(input: $input) {{ {fields} }} }}", input_type(mutation))
    }
}
