//! Arming watches: by a winner that was recorded, by a connector that saw one, by a person who asks again.

use super::{Note, must_own_document, visible_watch, watch_locks};
use crate::domain::documents::Winner;
use crate::domain::watches::{self as rules, Watch, WatchIdentity};
use crate::domain::words::ArmOutcome;
use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, watches, winners};

/// What came of arming, with the row as it is now.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ArmWatchPayload, where they are described")]
pub struct Armed {
    pub outcome: ArmOutcome,
    pub watch: Option<Watch>,
}

/// Arms one watch by ingress.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of ArmWatchInput, where they are described")]
pub struct ArmWatch {
    pub node_key: String,
    pub triggering_winner: String,
    pub due_at: i64,
}

/// Opens a new generation of one watch, whatever its state.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RequestRepullInput, where they are described")]
pub struct RequestRepull {
    pub node_key: String,
    pub due_at: Option<i64>,
    pub note: Note,
}

/// Records what the local store shows of a document, and arms its watches.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordWinnerInput, where they are described")]
pub struct RecordWinner {
    pub document_id: String,
    pub digest: String,
    pub version: Option<String>,
    pub due_at: Option<i64>,
}

/// What came of recording a winner: the strongest of its watches' outcomes, as far as the viewer may see them.
#[derive(Debug, Clone)]
#[expect(missing_docs, reason = "the fields are those of RecordWinnerPayload, where they are described")]
pub struct RecordedWinner {
    pub outcome: ArmOutcome,
    pub winner: Winner,
    pub watches: Vec<Watch>,
}

impl Act for ArmWatch {
    type Answer = Armed;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        watch_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Armed> {
        let Some(row) = visible_watch(tx, &self.node_key).await? else {
            return Ok(Armed { outcome: ArmOutcome::Noop, watch: None });
        };
        let winner = winners::lock(tx, &row.document_id).await?.map(|winner| winner.digest);
        let (outcome, row) = arm_by_ingress(tx, row, &self.triggering_winner, winner.as_deref(), self.due_at).await?;
        Ok(Armed { outcome, watch: Some(row) })
    }
}

impl Act for RequestRepull {
    type Answer = Armed;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        watch_locks(tx, &self.node_key).await
    }

    async fn run(&self, tx: &mut Tx) -> Result<Armed> {
        let Some(row) = visible_watch(tx, &self.node_key).await? else {
            return Ok(Armed { outcome: ArmOutcome::Noop, watch: None });
        };
        let winner = winners::lock(tx, &row.document_id).await?.map(|winner| winner.digest);
        let due = self.due_at.unwrap_or_else(|| tx.now());
        let next = rules::open_generation(&row, winner.as_deref(), due, tx.now())?;
        watches::put(tx, "arm", Some(&row), &next, |change| {
            change
                .with("trigger", Some("MANUAL"))
                .with("outcome", Some("OPENED"))
                .with("winnerDigest", winner.as_deref())
                .with("note", self.note.as_deref())
        })
        .await?;
        Ok(Armed { outcome: ArmOutcome::Opened, watch: Some(next) })
    }
}

impl Act for RecordWinner {
    type Answer = RecordedWinner;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let mut locks = vec![Lock::document(&self.document_id)];
        locks.extend(watches::peek_of_document(tx, &self.document_id).await?.iter().flat_map(watches::locks));
        Ok(Locks::of(locks))
    }

    async fn run(&self, tx: &mut Tx) -> Result<RecordedWinner> {
        must_own_document(tx, &self.document_id).await?;
        let decided = winners::decide(tx, &self.document_id, &self.digest, self.version.as_deref()).await?;
        if !decided.taken {
            let mut watches = watches::lock_of_document(tx, &self.document_id).await?;
            watches.retain(|row| tx.viewer().sees(Some(&row.owner_did), None));
            return Ok(RecordedWinner { outcome: ArmOutcome::Noop, winner: decided.winner, watches });
        }
        let due = self.due_at.unwrap_or_else(|| tx.now());
        let mut armed = arm_document(tx, &self.document_id, &decided.winner.digest, due, None).await?;
        armed.retain(|(_, row)| tx.viewer().sees(Some(&row.owner_did), None));
        winners::write(tx, &decided).await?;
        // The words are declared from the strongest to the weakest.
        let outcome = armed.iter().map(|(outcome, _)| *outcome).min().unwrap_or(ArmOutcome::Noop);
        Ok(RecordedWinner {
            outcome,
            winner: decided.winner,
            watches: armed.into_iter().map(|(_, watch)| watch).collect(),
        })
    }
}

/// Arms every watch of a document but one by ingress.
pub(super) async fn arm_document(
    tx: &mut Tx,
    document_id: &str,
    winner: &str,
    due: i64,
    but: Option<&WatchIdentity>,
) -> Result<Vec<(ArmOutcome, Watch)>> {
    let mut armed = vec![];
    for row in watches::lock_of_document(tx, document_id).await? {
        if but == Some(&row.identity()) {
            continue;
        }
        if row.is_at_its_bound() {
            // It can never change again; that must not keep the document's other watches from changing.
            tracing::error!(identity = ?row.identity(), "a watch has a counter at its bound");
            armed.push((ArmOutcome::Noop, row));
            continue;
        }
        armed.push(arm_by_ingress(tx, row, winner, Some(winner), due).await?);
    }
    Ok(armed)
}

async fn arm_by_ingress(
    tx: &mut Tx,
    row: Watch,
    trigger: &str,
    winner: Option<&str>,
    due: i64,
) -> Result<(ArmOutcome, Watch)> {
    let (outcome, next) = rules::arm_by_ingress(&row, trigger, winner, due, tx.now())?;
    let Some(next) = next else { return Ok((outcome, row)) };
    watches::put(tx, "arm", Some(&row), &next, |change| {
        let outcome = outcome.as_str().to_ascii_uppercase();
        change.with("trigger", Some("INGRESS")).with("outcome", Some(outcome)).with("winnerDigest", Some(trigger))
    })
    .await?;
    Ok((outcome, next))
}
