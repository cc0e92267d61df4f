//! Loading together: a request and the loads of its rows take turns on one task.
//!
//! The rows of a list ask for what they need while the request is polled. Only when it can go no further does a round of
//! loads begin, one for each kind of thing asked for, and the next round begins when all of this one have ended. So whatever
//! the rows of a list ask for at one level is one load, whether they are ten or a hundred; the library's own loader begins
//! by a timer, which splits them as it happens.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use async_graphql::dataloader::Loader;
use futures_util::future::{BoxFuture, Future, poll_fn};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::sync::oneshot;

use super::errors::Failure;

/// What one key is answered.
type Answer<R, K> = Result<Option<<R as Loader<K>>::Value>, Failure>;

/// What a request has asked for and what did not begin yet.
pub(super) struct Loads<R>(Arc<Asked<R>>);

impl<R> Clone for Loads<R> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

struct Asked<R> {
    reader: Arc<R>,
    waiting: Mutex<HashMap<TypeId, Box<dyn Batch<R>>>>,
}

/// The keys of one kind, each with those who wait for it.
struct Keys<R: Loader<K>, K: Send + Sync + std::hash::Hash + Eq + Clone + 'static>(
    HashMap<K, Vec<oneshot::Sender<Answer<R, K>>>>,
);

trait Batch<R>: Any + Send {
    fn begin(self: Box<Self>, reader: Arc<R>) -> BoxFuture<'static, ()>;
}

impl<R, K> Batch<R> for Keys<R, K>
where
    R: Loader<K, Error = Failure>,
    K: Send + Sync + std::hash::Hash + Eq + Clone + 'static,
{
    fn begin(self: Box<Self>, reader: Arc<R>) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let keys: Vec<K> = self.0.keys().cloned().collect();
            let mut found = reader.load(&keys).await;
            for (key, waiting) in self.0 {
                let answer = match &mut found {
                    Ok(values) => Ok(values.remove(&key)),
                    Err(failure) => Err(failure.clone()),
                };
                for one in waiting {
                    // Nobody waits any more when the request was given up.
                    let _given_up = one.send(answer.clone());
                }
            }
        })
    }
}

impl<R: Send + Sync + 'static> Loads<R> {
    pub(super) fn new(reader: R) -> Self {
        Self(Arc::new(Asked { reader: Arc::new(reader), waiting: Mutex::default() }))
    }

    /// Loads one thing, with whatever else is asked for before the request can go no further.
    pub(super) async fn load<K>(&self, key: K) -> Answer<R, K>
    where
        R: Loader<K, Error = Failure>,
        K: Send + Sync + std::hash::Hash + Eq + Clone + 'static,
    {
        let (answer, answered) = oneshot::channel();
        {
            let mut waiting = self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let batch = waiting.entry(TypeId::of::<K>()).or_insert_with(|| Box::new(Keys::<R, K>(HashMap::new())));
            let batch: &mut dyn Any = batch.as_mut();
            // A batch is found by the type of its keys.
            if let Some(keys) = batch.downcast_mut::<Keys<R, K>>() {
                keys.0.entry(key).or_default().push(answer);
            }
        }
        answered.await.unwrap_or_else(|_| Err(crate::store::Error::Failed.into()))
    }

    fn begin(&self) -> FuturesUnordered<BoxFuture<'static, ()>> {
        let waiting = std::mem::take(&mut *self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_values().map(|batch| batch.begin(Arc::clone(&self.0.reader))).collect()
    }

    /// A request with its loads.
    pub(super) async fn run<T>(self, request: impl Future<Output = T>) -> T {
        let mut request = pin!(request);
        let mut round = FuturesUnordered::new();
        poll_fn(|cx| self.turn(cx, &mut round, |cx| request.as_mut().poll(cx))).await
    }

    /// Polls the request, then this round of its loads, for as long as one moves the other.
    fn turn<T>(
        &self,
        cx: &mut Context<'_>,
        round: &mut FuturesUnordered<BoxFuture<'static, ()>>,
        mut request: impl FnMut(&mut Context<'_>) -> Poll<T>,
    ) -> Poll<T> {
        let woken = Arc::new(Woken { again: AtomicBool::new(false), outer: cx.waker().clone() });
        let waker = Waker::from(Arc::clone(&woken));
        loop {
            woken.again.store(false, Ordering::Release);
            if let Poll::Ready(done) = request(&mut Context::from_waker(&waker)) {
                return Poll::Ready(done);
            }
            // It gave way in the middle, as tokio has a long turn do; polling on within this turn would never end.
            if woken.again.load(Ordering::Acquire) {
                return Poll::Pending;
            }
            if round.is_empty() {
                *round = self.begin();
            }
            let mut ended = false;
            while let Poll::Ready(Some(())) = round.poll_next_unpin(cx) {
                ended = true;
            }
            if !ended {
                return Poll::Pending;
            }
        }
    }
}

/// Tells a request that wants to be polled again from one that waits for its loads.
struct Woken {
    again: AtomicBool,
    outer: Waker,
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.again.store(true, Ordering::Release);
        self.outer.wake_by_ref();
    }
}
