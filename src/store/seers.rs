//! Who sees what is said of a document: whoever sees an operation or a watch of it as it is said.
//!
//! Found by the act that says it, and written with its change, so that lists, whoever resumes and the live feed agree.

use std::collections::BTreeSet;

use super::engine::{args, statements};
use super::error::Result;
use super::tx::Tx;
use crate::domain::changes::NewChange;
use crate::domain::viewer::seer;

/// Seers of a change that are named: owners of watches first.
const NAMED: usize = 1_000;

statements! {
    /// The owners of its watches, then the owners and callers of those operations that count.
    OF_DOCUMENT: "",
        "SELECT 0 AS place, owner_did, owner_did FROM kubun_connector_projection_watch WHERE document_id = $1 \
        UNION ALL SELECT 1 AS place, owner_did, caller_did FROM (SELECT DISTINCT owner_did, caller_did \
        FROM document_operation WHERE document_id = $1 LIMIT 1000) AS operation ORDER BY 1";
}

/// Gathers a change of a document itself, with who sees it now.
pub(super) async fn tell(tx: &mut Tx, change: NewChange) -> Result<()> {
    let seen_by = match &change.document_id {
        Some(id) => of_document(tx, id).await?,
        None => String::new(),
    };
    tx.emit_seen_by(change, &seen_by);
    Ok(())
}

/// Who sees what is said of a document: to be asked before anything is removed by which somebody does.
pub(super) async fn of_document(tx: &mut Tx, document_id: &str) -> Result<String> {
    let found: Vec<(i64, String, String)> = tx.all(&OF_DOCUMENT, args![document_id]).await?;
    let acting = tx.viewer().confined_to().map(seer);
    let (mut known, mut named) = (BTreeSet::new(), vec![]);
    let seen = found.iter().flat_map(|(_, owner, caller)| [seer(owner), seer(caller)]);
    for did in acting.into_iter().chain(seen) {
        if named.len() < NAMED && known.insert(did.clone()) {
            named.push(did);
        }
    }
    Ok(named.join(" "))
}
