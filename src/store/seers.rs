//! Who sees what is said of a document: whoever sees an operation or a watch of it, when it is said or until then.
//!
//! Found once for a whole transaction and written with its changes, so that lists, whoever resumes and the live feed agree.

use std::collections::{BTreeMap, BTreeSet};

use super::documents::counts;
use super::engine::{Connection, Sql};
use super::error::Result;
use super::operations::TABLE as OPERATIONS;
use super::select::Select;
use super::tx::Gathered;
use super::watches::TABLE as WATCHES;
use crate::domain::viewer::seer;
use crate::domain::words::EntityKind;

/// Seers of a document that are named: owners of watches first.
const NAMED: usize = 1_000;

/// Notes with each change of a document itself who sees it.
pub(super) async fn note(connection: &mut Connection, changes: &mut [Gathered]) -> Result<()> {
    let said = changes.iter().filter(|made| made.change.by_document).filter_map(|made| made.change.document_id.clone());
    let mut seers: BTreeMap<String, BTreeSet<String>> = said.map(|id| (id, BTreeSet::new())).collect();
    if seers.is_empty() {
        return Ok(());
    }
    let documents: Vec<String> = seers.keys().cloned().collect();
    let mut add = |document: &str, did: &str| {
        if let Some(seers) = seers.get_mut(document) {
            seers.insert(seer(did));
        }
    };
    for (document, owner, caller) in read(connection, &documents).await? {
        add(&document, &owner);
        add(&document, &caller);
    }
    // Those whose operation or watch goes, or goes elsewhere, by this very transaction.
    for change in changes.iter().map(|made| &made.change) {
        if matches!(change.entity, EntityKind::Operation | EntityKind::Watch) {
            for document in [change.document_id.as_deref(), change.left_document_id()].into_iter().flatten() {
                change.owner_did.iter().chain(&change.caller_did).for_each(|did| add(document, did));
            }
        }
    }
    for made in changes.iter_mut().filter(|made| made.change.by_document) {
        let seers = made.change.document_id.as_ref().and_then(|id| seers.get(id)).into_iter().flatten();
        let named: Vec<&str> = seers.take(NAMED).map(String::as_str).collect();
        made.seen_by = Some(named.join(" "));
    }
    Ok(())
}

/// The owners of the documents' watches, and the owners and callers of those operations that count; of each document as many as
/// are named.
async fn read(connection: &mut Connection, documents: &[String]) -> Result<Vec<(String, String, String)>> {
    let mut select = Select::default();
    let Some(places) = select.places(documents) else { return Ok(vec![]) };
    let text = format!(
        "SELECT document_id, owner_did, owner_did FROM {WATCHES} WHERE document_id IN ({places}) \
        UNION ALL SELECT document_id, owner_did, caller_did FROM (SELECT document_id, owner_did, caller_did, \
        row_number() OVER (PARTITION BY document_id) AS place FROM (SELECT DISTINCT document_id, owner_did, caller_did \
        FROM {OPERATIONS} AS operation WHERE document_id IN ({places}) AND {counts}) AS pairs) AS placed WHERE place <= {NAMED}",
        counts = counts("operation")
    );
    connection.all(Sql::Shaped(&text), select.into_args()).await
}
