//! Histories drawn by a fixed rule, through the acts: what collecting and sweeping may never do, whatever came before.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::harness::{Harness, claim, on_both_engines};
use crate::retention::{collect, states};
use crate::write_states::draws;

const DOCUMENTS: u64 = 5;
const STEPS: usize = 90;
const YEAR: i64 = 365 * 24 * 3_600 * 1_000;

/// An operation as its caller remembers it.
#[derive(Debug, Clone)]
struct Remembered {
    input: Value,
    id: Value,
    /// How it ended, once it did.
    ended: Option<&'static str>,
}

/// Everything that a history remembers.
struct History<'h> {
    harness: &'h Harness,
    documents: Vec<String>,
    operations: Vec<Remembered>,
    seen: BTreeMap<&'static str, usize>,
}

impl History<'_> {
    fn came_about(&mut self, what: &'static str) {
        *self.seen.entry(what).or_default() += 1;
    }

    async fn claim(&mut self, key: &str, caller: u64, owner: u64, document: u64) {
        let input = claim(
            key,
            &json!({
                "callerDid": format!("did:c{caller}"), "ownerDid": format!("did:o{owner}"), "documentId": format!("d{document}"),
                "sourceId": format!("s{owner}-{document}"),
            }),
        );
        let answer = self.harness.act("claimOperation", input.clone(), "outcome operation { id }").await;
        assert_eq!(answer["outcome"], "CLAIMED", "{key}");
        self.operations.push(Remembered { input, id: answer["operation"]["id"].clone(), ended: None });
    }

    /// Ends one of the operations that are open, if any is.
    async fn end(&mut self, draw: &mut impl FnMut(u64) -> u64) {
        let open: Vec<usize> =
            (0..self.operations.len()).filter(|place| self.operations[*place].ended.is_none()).collect();
        if open.is_empty() {
            return;
        }
        let place = open[usize::try_from(draw(open.len() as u64)).unwrap()];
        let Remembered { input, id, .. } = self.operations[place].clone();
        let lease = json!({ "id": id, "leaseToken": "L1", "leaseMs": 1_000 });
        let leased = self.harness.act("acquireLease", lease, "outcome operation { version }").await;
        let mut step = json!({ "id": id, "leaseToken": "L1", "version": leased["operation"]["version"] });
        let committed = draw(3) > 0;
        let answer = if committed {
            // Now and then onto another document than the claim said.
            let document =
                if draw(4) == 0 { json!(format!("d{}", draw(DOCUMENTS))) } else { input["documentId"].clone() };
            let more = json!({ "documentId": document, "sourceId": format!("s-{}", document.as_str().unwrap()), "winnerDigest": "w" });
            crate::harness::merge(&mut step, &more);
            self.harness.act("finalizeOperation", step, "outcome").await
        } else {
            step["toState"] = json!("DEAD");
            self.harness.act("recordOperation", step, "outcome").await
        };
        assert!(["FINALIZED", "RECORDED"].iter().any(|outcome| answer["outcome"] == *outcome), "{leased} {answer}");
        self.operations[place].ended = Some(if committed { "COMMITTED" } else { "DEAD" });
    }

    /// Claims again what was claimed before: nothing may be written a second time.
    async fn replay(&mut self, draw: &mut impl FnMut(u64) -> u64) {
        let Some(last) = self.operations.len().checked_sub(1) else { return };
        let place = usize::try_from(draw(last as u64 + 1)).unwrap();
        let Remembered { input, ended, id } = self.operations[place].clone();
        let answer = self.harness.act("claimOperation", input, "outcome settledState operation { id state }").await;
        match (answer["outcome"].as_str().unwrap(), ended) {
            ("EXISTS", None) => assert_eq!(answer["operation"]["id"], id),
            ("EXISTS", Some(state)) => assert_eq!(answer["operation"], json!({ "id": id, "state": state })),
            ("SETTLED", Some(state)) => {
                assert_eq!(answer["settledState"], state);
                self.came_about("settled");
            }
            other => panic!("a replay of {id} was answered {other:?}"),
        }
    }

    async fn unfinished(&self) -> Vec<String> {
        let open = "SELECT operation_id FROM kubun_connector_operation WHERE state IN ('attempted', 'reconcile_only') ORDER BY 1";
        self.harness.database.texts(open).await
    }

    async fn collect(&mut self, limit: u64) {
        let (before, open) = (states(self.harness, &self.documents).await, self.unfinished().await);
        let deleted = collect(self.harness, self.harness.now(), i64::try_from(limit).unwrap()).await;
        assert_eq!(states(self.harness, &self.documents).await, before);
        assert_eq!(self.unfinished().await, open);
        if deleted > 0 {
            self.came_about("collected");
        }
    }

    async fn sweep(&mut self, document: u64) {
        let swept = format!("d{document}");
        let (before, open) = (states(self.harness, &self.documents).await, self.unfinished().await);
        let answer = self
            .harness
            .act("sweepDocument", json!({ "documentId": swept }), "outcome unfinished { id } operationsRemoved")
            .await;
        let after = states(self.harness, &self.documents).await;
        let gone = answer["outcome"] == "SWEPT";
        assert_ne!(gone, !answer["unfinished"].as_array().unwrap().is_empty(), "{answer}");
        for (was, is) in before.iter().zip(&after) {
            let pairs =
                was["data"]["documents"].as_array().unwrap().iter().zip(is["data"]["documents"].as_array().unwrap());
            for (place, (was, is)) in pairs.enumerate() {
                if gone && self.documents[place] == swept {
                    assert_eq!(is["writeState"], "NONE", "{swept}");
                } else {
                    assert_eq!(was, is, "sweeping {swept}: {answer}");
                }
            }
        }
        assert_eq!(self.unfinished().await, open);
        self.came_about(if gone { "swept" } else { "held" });
    }
}

on_both_engines! {
    async fn no_history_lets_retention_change_a_write_state_or_a_replay_write_twice(harness: Harness) {
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for seed in 1..=3_u64 {
            let mut draw = draws(seed);
            let documents = (0..DOCUMENTS).map(|place| format!("d{place}")).collect();
            let mut history = History { harness: &harness, documents, operations: vec![], seen: std::mem::take(&mut seen) };
            for step in 0..STEPS {
                match draw(12) {
                    0..=2 => {
                        let (caller, owner, document) = (draw(2), draw(2), draw(DOCUMENTS));
                        history.claim(&format!("{seed}-{step}"), caller, owner, document).await;
                    }
                    3..=5 => history.end(&mut draw).await,
                    6 | 7 => history.replay(&mut draw).await,
                    8 | 9 => history.collect(draw(4) + 1).await,
                    10 => history.sweep(draw(DOCUMENTS)).await,
                    // Leases end, and some days go by: less than a year in all.
                    _ => harness.advance(60_000 + i64::try_from(draw(2 * 24 * 3_600 * 1_000)).unwrap()),
                }
                harness.advance(1_001);
            }
            for place in 0..history.operations.len() {
                let ended = history.operations[place].ended;
                let input = history.operations[place].input.clone();
                let answer = harness.act("claimOperation", input, "outcome").await;
                assert!(answer["outcome"] == "EXISTS" || (answer["outcome"] == "SETTLED" && ended.is_some()), "seed {seed}: {answer}");
            }
            seen = history.seen;
        }
        for what in ["settled", "collected", "swept", "held"] {
            assert!(seen.get(what).is_some_and(|times| *times >= 3), "{what} hardly came about: {seen:?}");
        }
        assert!(harness.now() < crate::harness::START + YEAR);
    }
}
