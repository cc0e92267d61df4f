//! The kept write states: what each document's is, for each who may see something of it, so that lists can be read by it.
//!
//! Triggers append the documents that were touched, whoever touched them. Refreshing derives these documents' states anew, by
//! the one rule of `domain/documents`, and writes those that are others than before.

use std::collections::{BTreeMap, BTreeSet};

use super::engine::{Connection, Sql, args, statements};
use super::error::Result;
use super::list::{KeyPart, Keyed, Keyset, List, Page, Slice};
use super::narrowest::FEW;
use super::row::row;
use super::rows::insert_many;
use super::select::Select;
use super::tx::Tx;
use super::{Store, acts};
use crate::domain::documents::{KeptWriteState, ListOrder, write_state};
use crate::domain::viewer::Viewer;
use crate::domain::words::{DocumentWriteState, OperationState, WatchStatus};

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

/// What of an operation a write state derives from.
#[derive(Debug)]
struct Written {
    document_id: String,
    caller_did: String,
    owner_did: String,
    operation_id: String,
    model: String,
    /// As text: a row in a state that we do not know is left out, and stops no other.
    state: String,
    created_at: i64,
}

row!(Written from "kubun_connector_operation" {
    document_id, caller_did, owner_did, operation_id, model, state, created_at,
});

impl Written {
    fn order(&self) -> ListOrder<'_> {
        (self.created_at, &self.caller_did, &self.operation_id)
    }

    /// Everybody who sees it, once each; the empty name is who sees everything.
    fn seen_by(&self) -> impl Iterator<Item = &str> {
        let owner = (self.owner_did != self.caller_did).then_some(self.owner_did.as_str());
        ["", &self.caller_did].into_iter().chain(owner)
    }
}

/// What of a watch a write state derives from.
#[derive(Debug)]
struct Watched {
    document_id: String,
    owner_did: String,
    model: String,
    verification_status: String,
}

row!(Watched from "kubun_connector_projection_watch" { document_id, owner_did, model, verification_status });

const OPERATIONS: &str = "kubun_connector_operation";
/// The open operations, each with its place among those of its document, state, owner and caller: the newest is first.
const OPEN: &str = "(SELECT *, row_number() OVER (PARTITION BY document_id, state, owner_did, caller_did \
    ORDER BY created_at DESC, operation_id DESC) AS place FROM kubun_connector_operation \
    WHERE state IN ('attempted', 'reconcile_only')) AS open";
const KEPT: (&str, &str) = (
    "INSERT INTO document_write_state (document_id, viewer_did, write_state)",
    " ON CONFLICT (document_id, viewer_did) DO UPDATE SET write_state = excluded.write_state",
);

/// Derives the write states of documents that were touched, those that were first; how many there were.
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
    let operations = read(tx, &documents).await?;
    let derived = derive(tx, &documents, &operations).await?;
    put(tx, &documents, derived).await?;
    Ok(documents.len())
}

/// The states that are not NONE, by document and viewer.
type States = BTreeMap<(String, String), DocumentWriteState>;

/// Reads the finished operations that no newer ones make needless, and of the open ones each owner's and caller's newest: the others
/// of that state change nothing.
async fn read(tx: &mut Tx, documents: &[&str]) -> Result<Vec<Written>> {
    let mut finished = of(Written::COLUMNS, OPERATIONS, documents);
    // The words stand in the text, so that the index over these rows is found.
    finished.and("collectable IS NULL AND state IN ('committed', 'dead')");
    let mut operations: Vec<Written> = tx.all_of(finished).await?;
    let mut open = of(Written::COLUMNS, OPEN, documents);
    open.and("place = 1");
    operations.extend(tx.all_of::<Written>(open).await?);
    Ok(operations)
}

fn of(columns: &str, table: &str, documents: &[&str]) -> Select {
    let mut select = Select::new(columns, table);
    select.among("document_id", Some(documents));
    select
}

async fn derive(tx: &mut Tx, documents: &[&str], operations: &[Written]) -> Result<States> {
    let watches: Vec<Watched> = tx.all_of(of(Watched::COLUMNS, "kubun_connector_projection_watch", documents)).await?;
    let watches: BTreeMap<[&str; 3], WatchStatus> = watches
        .iter()
        .filter_map(|watch| {
            let status = watch.verification_status.parse().ok()?;
            Some(([watch.document_id.as_str(), &watch.owner_did, &watch.model], status))
        })
        .collect();
    let mut seen: BTreeMap<(&str, &str), Vec<(OperationState, &Written)>> = BTreeMap::new();
    for operation in operations {
        let Ok(state) = operation.state.parse() else { continue };
        for viewer in operation.seen_by() {
            seen.entry((&operation.document_id, viewer)).or_default().push((state, operation));
        }
    }
    let mut states = States::new();
    for ((document, viewer), operations) in seen {
        let commits = operations.iter().filter(|(state, _)| *state == OperationState::Committed);
        let commit = commits.map(|(_, row)| row).max_by(|a, b| a.order().cmp(&b.order()));
        let watch = commit
            .filter(|row| viewer.is_empty() || row.owner_did == viewer)
            .and_then(|row| watches.get(&[document, &row.owner_did, &row.model]).copied());
        let state = write_state(&operations.iter().map(|(state, row)| (*state, row.order())), watch);
        if state != DocumentWriteState::None {
            states.insert((document.to_owned(), viewer.to_owned()), state);
        }
    }
    Ok(states)
}

/// Writes what is another than before.
async fn put(tx: &mut Tx, documents: &[&str], mut states: States) -> Result<()> {
    let kept = of("document_id, viewer_did, write_state", TABLE, documents);
    let mut gone = vec![];
    for (document, viewer, state) in tx.all_of::<(String, String, DocumentWriteState)>(kept).await? {
        let key = (document, viewer);
        match states.get(&key) {
            Some(derived) if *derived == state => drop(states.remove(&key)),
            Some(_) => {}
            None => gone.push(key),
        }
    }
    if !gone.is_empty() {
        let mut delete = Select::delete(TABLE);
        delete.keys(&["document_id", "viewer_did"], gone.iter().map(|(document, viewer)| [document.as_str(), viewer]));
        let (text, args) = delete.returning("document_id");
        tx.write_returning::<(String,)>(Sql::Once(&text), args).await?;
    }
    let rows = states.into_iter().map(|((document, viewer), state)| args![document, viewer, state]);
    insert_many::<(i64,)>(tx.writing(), KEPT, rows.collect()).await?;
    Ok(())
}

/// Which documents a list shows. `None` does not filter.
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "the fields are those of DocumentFilter, where they are described")]
pub struct DocumentFilter {
    pub owner_did: Option<String>,
    pub connector_name: Option<String>,
}

/// The documents among which a list looks, where they are few beside those of its write states.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Among {
    /// Those of the owner's own write states.
    Owner,
    /// Those of the connector's operations.
    Connector,
    /// All of them.
    Any,
}

impl DocumentFilter {
    /// Where to look for what matches.
    async fn among(&self, connection: &mut Connection) -> Result<Among> {
        for (among, table, column, value) in [
            (Among::Owner, TABLE, "viewer_did", &self.owner_did),
            (Among::Connector, "kubun_connector_operation", "connector_name", &self.connector_name),
        ] {
            if let Some(value) = value {
                let filter = |select: &mut Select| select.equals(column, Some(value.as_str()));
                if List::of(table, "", BY_DOCUMENT, &filter).count(connection, FEW).await? < FEW {
                    return Ok(among);
                }
            }
        }
        Ok(Among::Any)
    }

    /// One of the document's operations is of this owner and by this connector, as far as the viewer may see it.
    fn apply(&self, select: &mut Select, viewer: &Viewer, among: Among) {
        if self.owner_did.is_none() && self.connector_name.is_none() {
            return;
        }
        // Of the document's operations: an owner's or a connector's may be all there are.
        select.and(
            "EXISTS (SELECT 1 FROM kubun_connector_operation AS seen WHERE seen.document_id = document_write_state.document_id",
        );
        select.unindexed(|select| {
            select.equals("seen.owner_did", self.owner_did.as_deref());
            select.equals("seen.connector_name", self.connector_name.as_deref());
            if let Some(did) = viewer.confined_to() {
                let did = select.arg(did);
                select.and(&format!("(seen.caller_did = {did} OR seen.owner_did = {did})"));
            }
        });
        select.text.push(')');
        let (of, value) = match among {
            Among::Owner => ("document_write_state AS own WHERE own.viewer_did", &self.owner_did),
            Among::Connector => ("kubun_connector_operation AS own WHERE own.connector_name", &self.connector_name),
            Among::Any => return,
        };
        let value = select.arg(value.as_deref());
        select.and(&format!("document_id IN (SELECT own.document_id FROM {of} = {value})"));
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
        let connection = &mut self.read().await?;
        let among = filter.among(connection).await?;
        let filter = |select: &mut Select| {
            select.equals("viewer_did", Some(viewer.confined_to().unwrap_or_default()));
            filter.apply(select, viewer, among);
        };
        let words: BTreeSet<&str> = states.iter().map(|state| state.as_str()).collect();
        if words.is_empty() {
            return Ok(Page::default());
        }
        // One list a state, each in the order of its index.
        let one_of = Some(("write_state", words.into_iter().collect()));
        let list = List { one_of, ..List::of(TABLE, KeptWriteState::COLUMNS, BY_DOCUMENT, &filter) };
        list.page(connection, slice).await
    }
}
