//! The schema: input, act, payload. One file a noun, merged here.
//!
//! An expected refusal is an outcome in the payload; an error has a code from `errors`. No rule lives here, and no SQL.

mod books;
mod bulk;
mod changes;
mod document_acts;
mod documents;
mod due;
mod errors;
mod grants;
mod live;
mod loaders;
mod node;
mod observations;
mod operation_acts;
mod operation_input;
mod operations;
mod pages;
mod pending_auth;
mod query;
mod scalars;
mod statistics;
mod status;
mod subscriptions;
mod sweep_acts;
mod sweeps;
mod sync;
mod together;
mod viewer;
mod watch_acts;
mod watches;

use std::sync::Arc;

use async_graphql::{MergedObject, Request, Response};
use futures_util::stream::{BoxStream, StreamExt as _};

use crate::access::Access;
use crate::app::App;
pub use crate::domain::viewer::Viewer;
use crate::events::Feed;
use crate::store::Store;
use live::Handover;
pub use live::{Event, Same};
use loaders::Reader;
use together::Loads;

/// Everything that changes something. Each act is done once its answer arrives; what did not happen says why.
#[derive(MergedObject, Default)]
pub struct Mutation(
    operation_acts::OperationActs,
    watch_acts::WatchActs,
    document_acts::DocumentActs,
    sweep_acts::SweepActs,
    sync::SyncActs,
    pending_auth::PendingAuthActs,
    grants::GrantActs,
);

/// Everything that can be read. What a viewer may not see does not exist for them.
#[derive(MergedObject, Default)]
pub struct Query(query::MainQuery, books::BookQuery, status::StatusQuery, grants::GrantQuery);

/// The schema that clients see.
pub type Schema = async_graphql::Schema<Query, Mutation, subscriptions::Subscription>;

/// What every resolver finds in its context.
#[derive(Clone)]
struct Services {
    store: Store,
    feed: Feed,
    /// Who may sign observations beside their owners.
    access: Access,
    /// When this server started, in ms since the epoch.
    started_at: i64,
}

/// The schema over a store and its feed.
#[must_use]
pub fn schema(store: Store, feed: Feed, access: Access) -> Schema {
    let started_at = store.now_ms();
    builder().data(Services { store, feed, access, started_at }).finish()
}

fn builder() -> async_graphql::SchemaBuilder<Query, Mutation, subscriptions::Subscription> {
    Schema::build(Query::default(), Mutation::default(), subscriptions::Subscription)
        .register_output_type::<node::Node>()
        .disable_suggestions()
}

/// The schema's text, as `schema.graphql` has it.
#[must_use]
pub fn sdl() -> String {
    builder().finish().sdl()
}

/// Makes a request one of this viewer's, with loads of its own.
fn attach(request: Request, app: &App, viewer: &Arc<Viewer>) -> (Request, Loads<Reader>) {
    let loads = Loads::new(Reader::new(app.store.clone(), app.feed.clone(), Arc::clone(viewer)));
    (request.data(Arc::clone(viewer)).data(loads.clone()), loads)
}

/// Runs a query or a mutation on behalf of a viewer.
pub async fn execute(app: &App, request: Request, viewer: Viewer) -> Response {
    let (request, loads) = attach(request, app, &Arc::new(viewer));
    loads.run(app.schema.execute(request)).await
}

/// Begins a subscription on behalf of a viewer: what it follows, to be told by `tell`.
///
/// # Errors
/// The answer of one that is refused: its last.
pub async fn follow(
    app: &App,
    request: Request,
    viewer: &Arc<Viewer>,
) -> std::result::Result<BoxStream<'static, Event>, Response> {
    let handover = Handover::default();
    match once(app, request.data(handover.moment()), viewer).await {
        Some(refusal) => Err(refusal),
        None => Ok(handover.take()),
    }
}

/// Tells an event of a subscription, as the same request asks for it.
pub async fn tell(app: &App, request: Request, viewer: &Arc<Viewer>, event: &Event) -> Response {
    once(app, request.data(event.moment()), viewer).await.unwrap_or_default()
}

/// The first answer of the library's own stream.
async fn once(app: &App, request: Request, viewer: &Arc<Viewer>) -> Option<Response> {
    let (request, loads) = attach(request, app, viewer);
    let mut answers = app.schema.execute_stream(request);
    loads.run(answers.next()).await
}
