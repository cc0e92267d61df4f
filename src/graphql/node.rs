//! Anything that has a node id.

use async_graphql::{Context, ID, Interface};

use super::errors::Result;
use super::loaders::{
    CandidateByNodeKey, OperationByNodeKey, ReceiptByNodeKey, SyncStateByNodeKey, WatchByNodeKey, load,
};
use super::operations::Operation;
use super::sweeps::{SweepCandidate, SweepReceipt};
use super::sync::SyncState;
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
    SweepReceipt(Box<SweepReceipt>),
    SweepCandidate(Box<SweepCandidate>),
    SyncState(Box<SyncState>),
}

/// The entity with this id; none when it is unknown, gone, or not the viewer's to see.
pub(super) async fn node(ctx: &Context<'_>, field: &str, id: &str) -> Result<Option<Node>> {
    let NodeId { kind, key } = NodeId::decode(field, id)?;
    Ok(match kind {
        EntityKind::Operation => {
            load(ctx, OperationByNodeKey(key)).await?.map(|row| Node::Operation(Box::new(Operation(row))))
        }
        EntityKind::Watch => load(ctx, WatchByNodeKey(key)).await?.map(|row| Node::Watch(Box::new(Watch(row)))),
        EntityKind::SweepReceipt => {
            load(ctx, ReceiptByNodeKey(key)).await?.map(|row| Node::SweepReceipt(Box::new(SweepReceipt(row))))
        }
        EntityKind::SweepCandidate => {
            load(ctx, CandidateByNodeKey(key)).await?.map(|row| Node::SweepCandidate(Box::new(SweepCandidate(row))))
        }
        EntityKind::SyncState => {
            load(ctx, SyncStateByNodeKey(key)).await?.map(|row| Node::SyncState(Box::new(SyncState(row))))
        }
        // Kinds whose entities are no nodes.
        EntityKind::Document | EntityKind::SweepCheckpoint => None,
    })
}
