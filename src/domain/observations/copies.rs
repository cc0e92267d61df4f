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

/// What a new copy does to those that are kept: the outcome, and what is kept from then on, where that is anything else.
/// Of one signer the copy with the smallest hash is kept, and the payload whichever copy it came with.
#[must_use]
pub fn put(copies: &[Copy], new: &Copy) -> (ObservationRecordOutcome, Option<Vec<Copy>>) {
    let Some(winner) = copies.iter().max_by(|a, b| order(&a.claim, &b.claim)) else {
        return (ObservationRecordOutcome::Stored, Some(vec![new.clone()]));
    };
    match order(&new.claim, &winner.claim) {
        Ordering::Greater => (ObservationRecordOutcome::Replaced, Some(vec![new.clone()])),
        Ordering::Less if new.claim.hlc < winner.claim.hlc => (ObservationRecordOutcome::IgnoredOlder, None),
        Ordering::Less => (ObservationRecordOutcome::IgnoredLosing, None),
        Ordering::Equal => {
            let same = copies.iter().filter(|copy| order(&copy.claim, &winner.claim) == Ordering::Equal);
            let (of_signer, mut kept): (Vec<Copy>, Vec<Copy>) =
                same.cloned().partition(|copy| copy.claim.signer == new.claim.signer);
            let Some(before) = of_signer.iter().min_by(|a, b| a.claim.op_hash.cmp(&b.claim.op_hash)) else {
                kept.push(new.clone());
                return (ObservationRecordOutcome::Stored, Some(kept));
            };
            let (outcome, best) = if new.claim.op_hash < before.claim.op_hash {
                (ObservationRecordOutcome::Replaced, new)
            } else {
                (ObservationRecordOutcome::Duplicate, before)
            };
            let payload = best.payload.clone().or_else(|| new.payload.clone()).or_else(|| before.payload.clone());
            let best = Copy { payload, ..best.clone() };
            if of_signer == [best.clone()] {
                return (outcome, None);
            }
            kept.push(best);
            (outcome, Some(kept))
        }
    }
}

/// What is kept without a signer's copies, if another signer's copy of the claim that counts is among it; a payload that
/// came with theirs alone stays with one of the others.
#[must_use]
pub fn prune(copies: &[Copy], signer: &str) -> Option<Vec<Copy>> {
    let decision = decide(copies)?;
    let of_claim = copies.iter().filter(|copy| copy.claim.claim_digest == decision.claim_digest);
    let mut kept: Vec<Copy> = of_claim.filter(|copy| copy.claim.signer != signer).cloned().collect();
    let gone = copies.iter().any(|copy| copy.claim.signer == signer);
    if kept.iter().all(|copy| copy.payload.is_none()) {
        kept.first_mut()?.payload = decision.payload;
    }
    gone.then_some(kept)
}
