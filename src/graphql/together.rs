//! Loading together: a request and the loads of its rows take turns on one task.
//!
//! The rows of a list ask for their loads while the request is polled. Only when it can go no further do the loads run,
//! and while they hand out what they found the request stands still. So whatever the rows of a list ask for at one level is
//! one load, whether they are ten or a hundred; a timer, the library's own way, splits them as it happens.

use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::future::{BoxFuture, Future, poll_fn};
use futures_util::stream::{FuturesUnordered, Stream, StreamExt as _, poll_fn as stream_fn};

/// The loads that a request has asked for and that did not begin yet.
#[derive(Clone, Default)]
pub(super) struct Asked(Arc<Mutex<Vec<BoxFuture<'static, ()>>>>);

impl Asked {
    /// Takes a load, to begin when the request can go no further.
    pub(super) fn push(&self, load: BoxFuture<'static, ()>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(load);
    }

    fn take(&self) -> Vec<BoxFuture<'static, ()>> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Tells a request that wants to be polled again from one that waits for its loads: a long list gives way in the middle
/// by waking itself.
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

/// Polls the request, then its loads, for as long as one moves the other.
fn turn<T>(
    cx: &mut Context<'_>,
    asked: &Asked,
    loads: &mut FuturesUnordered<BoxFuture<'static, ()>>,
    mut request: impl FnMut(&mut Context<'_>) -> Poll<T>,
) -> Poll<T> {
    let woken = Arc::new(Woken { again: AtomicBool::new(false), outer: cx.waker().clone() });
    let waker = Waker::from(Arc::clone(&woken));
    loop {
        if let Poll::Ready(done) = request(&mut Context::from_waker(&waker)) {
            return Poll::Ready(done);
        }
        if woken.again.swap(false, Ordering::AcqRel) {
            continue;
        }
        loads.extend(asked.take());
        let mut found = false;
        while let Poll::Ready(Some(())) = loads.poll_next_unpin(cx) {
            found = true;
        }
        if !found {
            return Poll::Pending;
        }
    }
}

/// A request with its loads.
pub(super) async fn with_loads<T>(asked: Asked, request: impl Future<Output = T>) -> T {
    let mut request = pin!(request);
    let mut loads = FuturesUnordered::new();
    poll_fn(|cx| turn(cx, &asked, &mut loads, |cx| request.as_mut().poll(cx))).await
}

/// A subscription with the loads of its answers.
pub(super) fn stream_with_loads<T>(
    asked: Asked,
    mut answers: Pin<Box<dyn Stream<Item = T> + Send>>,
) -> impl Stream<Item = T> + Send {
    let mut loads = FuturesUnordered::new();
    stream_fn(move |cx| turn(cx, &asked, &mut loads, |cx| answers.poll_next_unpin(cx)))
}
