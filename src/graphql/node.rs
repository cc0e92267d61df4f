//! Anything that has a node id.

use async_graphql::{Context, ID, Interface};

use super::errors::Result;
use super::loaders::{OperationByNodeKey, WatchByNodeKey, load};
use super::operations::Operation;
use super::watches::Watch;
use crate::domain::ids::NodeId;
use crate::domain::words::EntityKind;

/// Anything that has an opaque, lasting id and can be fetched by it.
#[derive(Debug, Clone, Interface)]
#[graphql(field(
    name = "id",
    ty = "ID",
    desc = "Opaque and lasting; names the entity to `node` and to every mutation."
))]
pub(super) enum Node {
    Operation(Box<Operation>),
    Watch(Box<Watch>),
}

/// The entity with this id; none when it is unknown, gone, or not the viewer's to see.
pub(super) async fn node(ctx: &Context<'_>, field: &str, id: &str) -> Result<Option<Node>> {
    let NodeId { kind, key } = NodeId::decode(field, id)?;
    Ok(match kind {
        EntityKind::Operation => {
            load(ctx, OperationByNodeKey(key)).await?.map(|row| Node::Operation(Box::new(Operation(row))))
        }
        EntityKind::Watch => load(ctx, WatchByNodeKey(key)).await?.map(|row| Node::Watch(Box::new(Watch(row)))),
        // Kinds whose entities are not shown as nodes.
        EntityKind::Document
        | EntityKind::SweepReceipt
        | EntityKind::SweepCandidate
        | EntityKind::SweepCheckpoint
        | EntityKind::SyncState => None,
    })
}
