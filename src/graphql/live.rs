//! A subscription in two halves: what it follows, and how each event of it is told.
//!
//! The library's own stream keeps its request, its context and room for an answer for as long as it lives, 7 kB for each.
//! So a subscription's request is executed once to begin: its arguments are read, what it follows is handed over, and the
//! library's stream is at its end. It is executed again for each event, which its resolver then finds in the request.
//! Between events there is only what is followed.

use std::any::Any;
use std::sync::{Arc, Mutex, PoisonError};

use async_graphql::Context;
use futures_util::stream::{self, BoxStream, Stream, StreamExt as _};

use super::errors::{Failure, Result};
use crate::store::Error;

/// Why a request of a subscription is executed.
pub(super) enum Moment {
    /// To begin.
    Begin(Handover),
    /// To tell this.
    Tell(Told),
}

/// What an event tells; a failure is its subscription's last word.
type Told = Result<Arc<dyn Any + Send + Sync>>;

/// Something that a subscription tells.
#[derive(Debug, Clone)]
pub struct Event {
    told: Told,
    same: Option<Same>,
}

/// Events with equal ones tell the same, to whoever may see the same: the change's number, and what else tells them apart.
pub type Same = (i64, u64);

impl Event {
    /// One that is told on its own.
    pub(super) fn new<T: Send + Sync + 'static>(told: T) -> Self {
        Self { told: Ok(Arc::new(told)), same: None }
    }

    /// One that may be told alike to others.
    pub(super) fn shared<T: Send + Sync + 'static>(told: T, same: Same) -> Self {
        Self { told: Ok(Arc::new(told)), same: Some(same) }
    }

    pub(super) fn moment(&self) -> Moment {
        Moment::Tell(self.told.clone())
    }

    /// What it has in common with the events of others; none when nobody else is told it.
    #[must_use]
    pub const fn same(&self) -> Option<Same> {
        self.same
    }
}

impl From<Failure> for Event {
    fn from(failure: Failure) -> Self {
        Self { told: Err(failure), same: None }
    }
}

/// Where a resolver leaves what its subscription follows.
#[derive(Clone, Default)]
pub(super) struct Handover(Arc<Mutex<Option<BoxStream<'static, Event>>>>);

impl Handover {
    pub(super) fn moment(&self) -> Moment {
        Moment::Begin(self.clone())
    }

    fn put(&self, events: BoxStream<'static, Event>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(events);
    }

    /// What was left; nothing to follow when nothing was.
    pub(super) fn take(&self) -> BoxStream<'static, Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take().unwrap_or_else(|| stream::empty().boxed())
    }
}

/// One answer, or none.
type Once<T> = stream::Iter<std::option::IntoIter<async_graphql::Result<T>>>;

/// What a resolver of a subscription answers the library: to begin, nothing, once what `begin` follows was handed over; else
/// the one event that is to be told.
pub(super) async fn tell<T, S>(
    ctx: &Context<'_>,
    begin: impl Future<Output = Result<S>> + Send,
) -> async_graphql::Result<Once<T>>
where
    T: Clone + Send + Sync + 'static,
    S: Stream<Item = Result<Event>> + Send + 'static,
{
    let told = match ctx.data_unchecked::<Moment>() {
        Moment::Begin(handover) => {
            let followed = begin.await?;
            handover.put(followed.map(|event| event.unwrap_or_else(Event::from)).boxed());
            None
        }
        Moment::Tell(Ok(told)) => Some(told.downcast_ref::<T>().cloned().ok_or_else(|| Error::Failed.into())),
        Moment::Tell(Err(failure)) => Some(Err(failure.clone())),
    };
    Ok(stream::iter(told.map(|told: Result<T>| told.map_err(async_graphql::Error::from))))
}
