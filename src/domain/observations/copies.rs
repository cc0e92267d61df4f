//! The copies that are kept of one owner and id, and what they decide.

use std::cmp::Ordering;

use super::{Claim, order, payload_digest};
use crate::domain::words::words;

words! {
    /// What came of putting a copy of a claim.
    ObservationRecordOutcome {
        /// It is kept: the first of its claim, or by another signer.
        Stored = "stored",
        /// It is kept in place of others: of an older or losing claim, or of the same signer.
        Replaced = "replaced",
        /// It or a better copy of the same signer is there.
        Duplicate = "duplicate",
        /// A claim of a higher version is there.
        IgnoredOlder = "ignored_older",
        /// A claim of the same version with a smaller digest is there.
        IgnoredLosing = "ignored_losing",
        /// It is no such claim, or not by who may make it: see reason.
        Invalid = "invalid",
    }
}

/// A verified copy, with its payload where that came along.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the claim is described above, the others are columns")]
pub struct Copy {
    pub claim: Claim,
    pub op_jwt: String,
    pub payload: Option<Vec<u8>>,
}

impl Copy {
    /// Whether it belongs before another of its claim: what has its payload comes first, then the smaller hash.
    fn is_better_than(&self, other: &Self) -> bool {
        (self.payload.is_none(), &self.claim.op_hash) < (other.payload.is_none(), &other.claim.op_hash)
    }
}

/// What is known of one owner and id: the claim that counts, and who signed it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[expect(missing_docs, reason = "the fields are those of ObservationDecision, where they are described")]
pub struct Decision {
    pub owner: String,
    pub id: String,
    pub hlc: String,
    pub claim_digest: String,
    pub payload_digest: Option<String>,
    pub payload: Option<Vec<u8>>,
    /// In byte order.
    pub signers: Vec<String>,
}

/// The decision of some copies; none without any.
#[must_use]
pub fn decide(copies: &[Copy]) -> Option<Decision> {
    let winner = copies.iter().max_by(|a, b| order(&a.claim, &b.claim))?;
    let of_winner = || copies.iter().filter(|copy| order(&copy.claim, &winner.claim) == Ordering::Equal);
    let mut signers: Vec<String> = of_winner().map(|copy| copy.claim.signer.clone()).collect();
    signers.sort_unstable();
    signers.dedup();
    let fits = |bytes: &Vec<u8>| Some(payload_digest(bytes)) == winner.claim.payload_digest;
    Some(Decision {
        owner: winner.claim.owner.clone(),
        id: winner.claim.id.clone(),
        hlc: winner.claim.hlc.clone(),
        claim_digest: winner.claim.claim_digest.clone(),
        payload_digest: winner.claim.payload_digest.clone(),
        payload: of_winner().filter_map(|copy| copy.payload.clone()).find(fits),
        signers,
    })
}

/// What a new copy does to those that are kept: the outcome, and the hashes of those that stay beside it; none of them
/// where the new one is not kept and all stay.
#[must_use]
pub fn put(copies: &[Copy], new: &Copy) -> (ObservationRecordOutcome, Option<Vec<String>>) {
    let Some(winner) = copies.iter().max_by(|a, b| order(&a.claim, &b.claim)) else {
        return (ObservationRecordOutcome::Stored, Some(vec![]));
    };
    match order(&new.claim, &winner.claim) {
        Ordering::Greater => (ObservationRecordOutcome::Replaced, Some(vec![])),
        Ordering::Less if new.claim.hlc < winner.claim.hlc => (ObservationRecordOutcome::IgnoredOlder, None),
        Ordering::Less => (ObservationRecordOutcome::IgnoredLosing, None),
        Ordering::Equal => {
            let same = |copy: &&Copy| order(&copy.claim, &winner.claim) == Ordering::Equal;
            let of_signer = |copy: &&Copy| copy.claim.signer == new.claim.signer;
            let best = copies.iter().filter(same).filter(of_signer);
            if best.clone().any(|copy| !new.is_better_than(copy)) {
                return (ObservationRecordOutcome::Duplicate, None);
            }
            let outcome =
                if best.count() == 0 { ObservationRecordOutcome::Stored } else { ObservationRecordOutcome::Replaced };
            let stay = copies.iter().filter(same).filter(|copy| !of_signer(copy));
            (outcome, Some(stay.map(|copy| copy.claim.op_hash.clone()).collect()))
        }
    }
}

/// The hashes of a signer's copies, if another signer's copy of the claim that counts would remain.
#[must_use]
pub fn prune(copies: &[Copy], signer: &str) -> Vec<String> {
    let others = decide(copies).is_some_and(|decision| decision.signers.iter().any(|other| other != signer));
    let of_signer = copies.iter().filter(|copy| others && copy.claim.signer == signer);
    of_signer.map(|copy| copy.claim.op_hash.clone()).collect()
}
