//! Resuming: what waited for a network or an authorisation is due now, all of it in one transaction.
//!
//! The rule is a predicate, so each table takes one statement. It may touch many rows: the act keeps every other batch
//! out while it runs.

use crate::domain::changes::NewChange;
use crate::domain::operations::Operation;
use crate::domain::watches::Watch;
use crate::domain::words::DeferReason;
use crate::store::Act;
use crate::store::engine::Sql;
use crate::store::error::Result;
use crate::store::locks::Locks;
use crate::store::select::Select;
use crate::store::tx::Tx;

/// Makes deferred work due now. `None` does not filter, an empty list matches nothing.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "the fields are those of ResumeOfflineInput and ResumeAuthInput, where they are described"
)]
pub struct Resume {
    pub reason: DeferReason,
    pub owner_did: Option<String>,
    pub connector_names: Option<Vec<String>>,
}

/// How many rows are due now that were not before.
#[derive(Debug, Clone, Copy)]
#[expect(missing_docs, reason = "the fields are those of ResumePayload, where they are described")]
pub struct Resumed {
    pub operations: usize,
    pub watches: usize,
}

impl Resume {
    fn confine(&self, tx: &Tx, update: &mut Select, state: &'static str, word: &'static str) {
        update.equals(state, Some(word));
        update.equals("defer_reason", Some(self.reason));
        update.equals("owner_did", self.owner_did.as_deref());
        update.among("connector_name", self.connector_names.as_deref());
        if state == "state" {
            update.concerns(tx.viewer().confined_to());
        } else {
            update.equals("owner_did", tx.viewer().confined_to());
        }
    }

    const fn transition(&self) -> &'static str {
        match self.reason {
            DeferReason::Offline => "resume_offline",
            DeferReason::Auth => "resume_auth",
        }
    }
}

impl Act for Resume {
    type Answer = Resumed;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::everything())
    }

    async fn run(&self, tx: &mut Tx) -> Result<Resumed> {
        let now = tx.now();
        let mut update = Select::update("kubun_connector_operation");
        update.set("next_attempt_at = $, defer_reason = NULL, updated_at = $", [now, now]);
        self.confine(tx, &mut update, "state", "attempted");
        let (text, args) = update.returning(Operation::COLUMNS);
        let mut operations: Vec<Operation> = tx.write_returning(Sql::Shaped(&text), args).await?;
        operations.sort_by(|a, b| (&a.caller_did, &a.operation_id).cmp(&(&b.caller_did, &b.operation_id)));
        for row in &operations {
            tx.emit(NewChange::operation(self.transition(), Some(row), row));
        }
        let mut update = Select::update("kubun_connector_projection_watch");
        update.set("next_attempt_at = $, defer_reason = NULL, version = version + 1, updated_at = $", [now, now]);
        self.confine(tx, &mut update, "verification_status", "pending_verification");
        // A version at its bound stays: it must not keep all the others from being resumed.
        update.compares("version", "<", Some(i64::from(i32::MAX)));
        let (text, args) = update.returning(Watch::COLUMNS);
        let mut watches: Vec<Watch> = tx.write_returning(Sql::Shaped(&text), args).await?;
        watches.sort_by_cached_key(Watch::identity);
        for row in &watches {
            if let Some(change) = NewChange::watch(self.transition(), Some(row), Some(row)) {
                tx.emit(change);
            }
        }
        Ok(Resumed { operations: operations.len(), watches: watches.len() })
    }
}
