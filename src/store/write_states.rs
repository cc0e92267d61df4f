//! The kept write states: what each document's is, for each who may see something of it, so that lists can be read by it.
//!
//! Triggers append the documents that were touched, whoever touched them. Refreshing derives these documents' states anew, by
//! the same rule as `domain/documents`, for all of a batch in one statement.

use std::collections::BTreeSet;

use super::engine::{Sql, args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::row::row;
use super::select::Select;
use super::tx::Tx;
use super::{Store, acts};
use crate::domain::documents::KeptWriteState;
use crate::domain::viewer::Viewer;
use crate::domain::words::DocumentWriteState;

const TABLE: &str = "document_write_state";
/// Touched documents that one act works off.
const REFRESHED: usize = 500;
/// Touches that it looks at for them: a document is touched again and again, and derived once.
const TOUCHES: i64 = 4_000;
/// Acts that a list waits for before it is read: behind a longer backlog it is read as it is.
const REFRESHES_A_READ: usize = 4;

row!(KeptWriteState from "document_write_state" { document_id, write_state });

statements! {
    TOUCHED: "", "SELECT id, document_id FROM document_touched ORDER BY id LIMIT $1";
    IS_TOUCHED: "", "SELECT id FROM document_touched LIMIT 1";
}

/// Derives the states of some documents; `{documents}` stands for them.
const DERIVE: &str = "INSERT INTO document_write_state (viewer_did, document_id, write_state) \
    SELECT viewer_did, document_id, write_state FROM (SELECT seen.viewer_did, seen.document_id, CASE \
    WHEN {reconcile_only} THEN 'needs_reconcile' WHEN {attempted} THEN 'pending' WHEN {dead} THEN 'failed' \
    WHEN last.node_key IS NULL THEN 'none' ELSE coalesce((SELECT CASE watch.verification_status \
    WHEN 'pending_verification' THEN 'verifying' WHEN 'repair_failed' THEN 'diverged' ELSE 'in_sync' END \
    FROM kubun_connector_projection_watch AS watch WHERE watch.owner_did = last.owner_did AND watch.model = last.model \
    AND watch.document_id = seen.document_id AND (seen.viewer_did = '' OR watch.owner_did = seen.viewer_did)), 'committed') \
    END AS write_state FROM (SELECT somebody.document_id, somebody.viewer_did, (SELECT commits.node_key \
    FROM kubun_connector_operation AS commits WHERE commits.document_id = somebody.document_id AND commits.state = 'committed' \
    AND (somebody.viewer_did = '' OR commits.caller_did = somebody.viewer_did OR commits.owner_did = somebody.viewer_did) \
    ORDER BY commits.created_at DESC, commits.caller_did DESC, commits.operation_id DESC LIMIT 1) AS commit_key \
    FROM (SELECT document_id, '' AS viewer_did FROM kubun_connector_operation WHERE document_id IN ({documents}) \
    UNION SELECT document_id, caller_did FROM kubun_connector_operation WHERE document_id IN ({documents}) \
    UNION SELECT document_id, owner_did FROM kubun_connector_operation WHERE document_id IN ({documents})) AS somebody) AS seen \
    LEFT JOIN kubun_connector_operation AS last ON last.node_key = seen.commit_key) AS derived WHERE write_state <> 'none'";

/// Whether an operation in a state is newer than the latest commit; `{state}` stands for the state.
const SINCE: &str = "EXISTS (SELECT 1 FROM kubun_connector_operation AS newer WHERE newer.document_id = seen.document_id \
    AND newer.state = '{state}' AND (seen.viewer_did = '' OR newer.caller_did = seen.viewer_did \
    OR newer.owner_did = seen.viewer_did) AND (last.node_key IS NULL OR (newer.created_at, newer.caller_did, \
    newer.operation_id) > (last.created_at, last.caller_did, last.operation_id)))";

/// Works off the documents that were touched first; how many there were.
pub(super) async fn refresh(tx: &mut Tx) -> Result<usize> {
    let touches: Vec<(i64, String)> = tx.all(&TOUCHED, args![TOUCHES]).await?;
    let mut documents: BTreeSet<&str> = BTreeSet::new();
    let mut last = 0;
    for (id, document) in &touches {
        if documents.len() == REFRESHED && !documents.contains(document.as_str()) {
            break;
        }
        documents.insert(document);
        last = *id;
    }
    if documents.is_empty() {
        return Ok(0);
    }
    let documents: Vec<&str> = documents.into_iter().collect();
    // Before the states are derived: what is touched from here on is derived again.
    let mut done = Select::delete("document_touched");
    done.compares("id", "<=", Some(last));
    done.among("document_id", Some(&documents));
    let (text, args) = done.returning("id");
    tx.write_returning::<(i64,)>(Sql::Shaped(&text), args).await?;
    let mut delete = Select::delete(TABLE);
    delete.among("document_id", Some(&documents));
    let (text, args) = delete.returning("document_id");
    tx.write_returning::<(String,)>(Sql::Shaped(&text), args).await?;
    let mut select = Select::default();
    let places = select.places(&documents).unwrap_or_default();
    let mut derive = DERIVE.replace("{documents}", &places);
    for state in ["reconcile_only", "attempted", "dead"] {
        derive = derive.replace(&format!("{{{state}}}"), &SINCE.replace("{state}", state));
    }
    tx.write(Sql::Shaped(&derive), select.into_args()).await?;
    Ok(documents.len())
}

/// Which documents a list shows. `None` does not filter.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of DocumentFilter, where they are described")]
pub struct DocumentFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
}

impl DocumentFilter {
    /// One of the document's operations is of this owner and by this connector, as far as the viewer may see it.
    fn apply(&self, select: &mut Select, viewer: &Viewer) {
        let mut conditions = vec![];
        let mut equals = |select: &mut Select, column: &str, value: &Option<String>| {
            if let Some(value) = value {
                conditions.push(format!("seen.{column} = {}", select.arg(value)));
            }
        };
        equals(select, "owner_did", &self.owner_did);
        equals(select, "connector_name", &self.connector_name);
        if conditions.is_empty() {
            return;
        }
        if let Some(did) = viewer.confined_to() {
            let did = select.arg(did);
            conditions.push(format!("(seen.caller_did = {did} OR seen.owner_did = {did})"));
        }
        select.and(&format!(
            "EXISTS (SELECT 1 FROM kubun_connector_operation AS seen WHERE seen.document_id = document_write_state.document_id \
            AND {})",
            conditions.join(" AND ")
        ));
        if let Some(owner) = &self.owner_did {
            // An owner's documents are few beside everybody's: they are looked for by the owner's own states.
            let owner = select.arg(owner);
            select.and(&format!(
                "document_id IN (SELECT own.document_id FROM document_write_state AS own WHERE own.viewer_did = {owner})"
            ));
        }
    }
}

/// By document.
pub const BY_DOCUMENT: Keyset = Keyset { columns: &["document_id"], descending: false };

impl Keyed for KeptWriteState {
    fn key(&self, _: &Keyset) -> Vec<KeyPart> {
        vec![KeyPart::Text(self.document_id.clone())]
    }
}

impl Store {
    /// Works off documents that were touched, some acts' worth at most; whether none are left.
    ///
    /// # Errors
    /// As `perform`.
    pub async fn refresh_write_states(&self, acts_most: usize) -> Result<bool> {
        for _ in 0..acts_most {
            if self.read().await?.first::<(i64,)>(&IS_TOUCHED, vec![]).await?.is_none() {
                return Ok(true);
            }
            self.perform(&std::sync::Arc::new(Viewer::open()), acts::RefreshWriteStates).await?;
        }
        Ok(false)
    }

    /// A page of the documents with one of these write states, by id.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub async fn documents_by_write_state(
        &self,
        viewer: &Viewer,
        states: &[DocumentWriteState],
        filter: &DocumentFilter,
        slice: &Slice,
    ) -> Result<Page<KeptWriteState>> {
        self.refresh_write_states(REFRESHES_A_READ).await?;
        let filter = |select: &mut Select| {
            select.equals("viewer_did", Some(viewer.confined_to().unwrap_or_default()));
            filter.apply(select, viewer);
        };
        let list = List {
            table: TABLE,
            columns: KeptWriteState::COLUMNS,
            keyset: BY_DOCUMENT,
            filter: &filter,
            concerning: vec![],
        };
        let words: BTreeSet<&str> = states.iter().map(|state| state.as_str()).collect();
        let words: Vec<String> = words.into_iter().map(str::to_owned).collect();
        // One list a state, each in the order of its index, put together here.
        let pages = list.page_each(&mut self.read().await?, "write_state", &words, slice).await?;
        Ok(Page::joined(pages, &BY_DOCUMENT, slice))
    }
}
