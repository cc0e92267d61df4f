//! Entities as they are shown with changes: read once for all who are shown them.
//!
//! Whoever has seen a row must never be shown an older one. Rows that were read by different hands are compared by a count
//! of readings: one that began after another had ended cannot be older.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::domain::ids::NodeId;
use crate::domain::operations::Operation;
use crate::domain::viewer::Viewer;
use crate::domain::watches::Watch;
use crate::domain::words::EntityKind;
use crate::store::{Result, Store};

/// Counts the beginnings and ends of readings. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Readings(Arc<AtomicU64>);

impl Readings {
    pub(super) fn tick(&self) -> u64 {
        self.0.fetch_add(1, Ordering::SeqCst)
    }
}

/// Operations and watches as one reading found them, by their node ids.
#[derive(Debug, Default)]
pub struct Shown {
    operations: HashMap<String, Arc<Operation>>,
    watches: HashMap<String, Arc<Watch>>,
    began: u64,
    ended: u64,
}

impl Shown {
    /// Reads the entities with these node ids, whoever may see them.
    ///
    /// # Errors
    /// When the database refuses, or a row cannot be.
    pub(super) async fn read(
        store: &Store,
        readings: &Readings,
        operations: &[&str],
        watches: &[&str],
    ) -> Result<Self> {
        let began = readings.tick();
        let open = Viewer::open();
        let mut shown = Self::default();
        if !operations.is_empty() {
            let rows = store.operations_by_node_key(&open, &keys(EntityKind::Operation, operations)).await?;
            let rows = rows.into_iter().map(|row| (NodeId::operation(&row.node_key).encode(), Arc::new(row)));
            shown.operations = rows.collect();
        }
        if !watches.is_empty() {
            let rows = store.watches_by_node_key(&open, &keys(EntityKind::Watch, watches)).await?;
            let id = |row: &Watch| NodeId::of_key(EntityKind::Watch, &row.identity().parts()).encode();
            shown.watches = rows.into_iter().map(|row| (id(&row), Arc::new(row))).collect();
        }
        Ok(Self { began, ended: readings.tick(), ..shown })
    }

    /// Whether nothing in it can be older than what was read by then.
    #[must_use]
    pub const fn is_after(&self, ended: u64) -> bool {
        self.began > ended
    }

    /// When it was read, as the count of readings has it.
    #[must_use]
    pub const fn ended(&self) -> u64 {
        self.ended
    }

    /// The operation with this node id, if it was there and the viewer may see it.
    #[must_use]
    pub fn operation(&self, viewer: &Viewer, id: &str) -> Option<Arc<Operation>> {
        let row = self.operations.get(id)?;
        viewer.sees(Some(&row.owner_did), Some(&row.caller_did)).then(|| Arc::clone(row))
    }

    /// The watch with this node id, if it was there and the viewer may see it.
    #[must_use]
    pub fn watch(&self, viewer: &Viewer, id: &str) -> Option<Arc<Watch>> {
        let row = self.watches.get(id)?;
        viewer.sees(Some(&row.owner_did), None).then(|| Arc::clone(row))
    }
}

/// The keys behind node ids of one kind.
fn keys(kind: EntityKind, ids: &[&str]) -> Vec<String> {
    ids.iter().filter_map(|id| NodeId::decode_as(kind, "id", id).ok()).collect()
}
