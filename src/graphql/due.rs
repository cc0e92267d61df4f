//! Due work as clients see it: what a worker may drive now.

use std::sync::Arc;

use async_graphql::{Context, InputObject};

use super::Services;
use super::errors::Result;
use super::operations::{Operation, OperationConnection};
use super::pages::{PageArgs, decode_cursor, encode_cursor};
use super::watches::{Watch, WatchConnection};
use crate::domain::bounds::{self, BadInput};
use crate::domain::viewer::Viewer;
use crate::store::{self, Keyed as _};

/// Which due work. A field that is left out or null does not filter.
#[derive(Debug, InputObject)]
pub(super) struct DueFilter {
    /// Of this owner.
    owner_did: Option<String>,
    /// By this connector.
    connector_name: Option<String>,
    /// Also what somebody works on now: under a live lease, or in a claimed attempt.
    #[graphql(default = false)]
    include_leased: bool,
}

impl DueFilter {
    pub(super) fn checked(filter: Option<Self>) -> std::result::Result<store::DueFilter, BadInput> {
        let Some(filter) = filter else { return Ok(store::DueFilter::default()) };
        bounds::optional_key("filter.ownerDid", filter.owner_did.as_deref())?;
        bounds::optional_key("filter.connectorName", filter.connector_name.as_deref())?;
        let Self { owner_did, connector_name, include_leased } = filter;
        Ok(store::DueFilter { owner_did, connector_name, include_leased, overdue_ms: 0 })
    }
}

const OPERATIONS: &str = "dueOperations";
const WATCHES: &str = "dueWatches";

/// The list of operations that are due.
pub(super) async fn operations(
    ctx: &Context<'_>,
    filter: Option<DueFilter>,
    args: PageArgs,
) -> Result<OperationConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(OPERATIONS, "itt", field, cursor))?;
    let store = &ctx.data_unchecked::<Services>().store;
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let page = store.due_operations(viewer, &DueFilter::checked(filter)?, store.now_ms(), &slice).await?;
    Ok(OperationConnection::new(page, |row| {
        (encode_cursor(OPERATIONS, row.key(&store::DUE_OPERATIONS)), Operation::from(row))
    }))
}

/// The list of watches that are due.
pub(super) async fn watches(ctx: &Context<'_>, filter: Option<DueFilter>, args: PageArgs) -> Result<WatchConnection> {
    let slice = args.slice(ctx, |field, cursor| decode_cursor(WATCHES, "ittttt", field, cursor))?;
    let store = &ctx.data_unchecked::<Services>().store;
    let viewer = ctx.data_unchecked::<Arc<Viewer>>();
    let page = store.due_watches(viewer, &DueFilter::checked(filter)?, store.now_ms(), &slice).await?;
    Ok(WatchConnection::new(page, |row| (encode_cursor(WATCHES, row.key(&store::DUE_WATCHES)), Watch::from(row))))
}
