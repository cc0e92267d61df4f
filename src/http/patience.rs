//! A connection whose peer has to take what is written to it within a time, and may send little until it is known.
//!
//! idle or taking → (the peer takes nothing) → waiting → taking again, or given up. Costs a connection two pointers while
//! nothing waits.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// How many bytes a connection's peer may still send: without end, unless it is held to some.
#[derive(Debug, Clone)]
pub struct Allowance(Arc<AtomicUsize>);

impl Allowance {
    const WITHOUT_END: usize = usize::MAX;

    /// A fresh connection's.
    pub fn without_end() -> Self {
        Self(Arc::new(Self::WITHOUT_END.into()))
    }

    /// Holds the peer to so many bytes from now on.
    pub fn hold_to(&self, bytes: usize) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Lets the peer send what it likes.
    pub fn lift(&self) {
        self.hold_to(Self::WITHOUT_END);
    }

    /// Counts what was read; whether it was too much.
    fn is_exceeded_by(&self, bytes: usize) -> bool {
        let left = self.0.load(Ordering::Relaxed);
        if left == Self::WITHOUT_END {
            return false;
        }
        self.0.store(left.saturating_sub(bytes), Ordering::Relaxed);
        bytes > left
    }
}

/// A connection with a bound on how long a write may wait.
pub struct Patient<T> {
    inner: T,
    patience: Duration,
    allowance: Allowance,
    /// Running since nothing more was taken.
    waiting: Option<Pin<Box<Sleep>>>,
}

impl<T> Patient<T> {
    /// Gives a connection this much patience, and its peer this allowance.
    pub const fn new(inner: T, patience: Duration, allowance: Allowance) -> Self {
        Self { inner, patience, allowance, waiting: None }
    }

    /// Gives up when nothing has been taken for too long; to be asked whenever something waits.
    fn wait<V>(&mut self, context: &mut Context<'_>) -> Poll<io::Result<V>> {
        let patience = self.patience;
        let waiting = self.waiting.get_or_insert_with(|| Box::pin(sleep(patience)));
        waiting.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// What a write came to: whatever was taken ends the waiting.
    fn written(&mut self, context: &mut Context<'_>, written: Poll<io::Result<usize>>) -> Poll<io::Result<usize>> {
        if written.is_ready() {
            self.waiting = None;
            return written;
        }
        self.wait(context)
    }
}

impl<T: AsyncRead + Unpin> AsyncRead for Patient<T> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, into);
        if self.allowance.is_exceeded_by(into.filled().len() - before) {
            return Poll::Ready(Err(io::ErrorKind::QuotaExceeded.into()));
        }
        read
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Patient<T> {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.written(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.inner).poll_write_vectored(context, bytes);
        self.written(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.inner).poll_flush(context);
        if flushed.is_ready() { flushed } else { self.wait(context) }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.inner).poll_shutdown(context);
        if shut.is_ready() { shut } else { self.wait(context) }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_peer_that_takes_nothing_is_given_up_and_one_that_takes_slowly_is_not() {
        let (near, mut far) = duplex(4);
        let mut near = Patient::new(near, Duration::from_secs(10), Allowance::without_end());
        let slow = tokio::spawn(async move {
            let mut got = [0; 4];
            for _ in 0..5 {
                sleep(Duration::from_secs(9)).await;
                far.read_exact(&mut got).await.unwrap();
            }
            far
        });
        near.write_all(&[7; 20]).await.unwrap();
        let far = slow.await.unwrap();
        near.write_all(&[7; 4]).await.unwrap();
        let refused = near.write_all(&[7; 4]).await.unwrap_err();
        assert_eq!(refused.kind(), io::ErrorKind::TimedOut);
        drop(far);
    }

    #[tokio::test]
    async fn a_peer_that_is_held_to_its_allowance_is_given_up_beyond_it_and_not_once_it_is_lifted() {
        let (near, mut far) = duplex(64);
        let allowance = Allowance::without_end();
        let mut near = Patient::new(near, Duration::from_secs(10), allowance.clone());
        let mut got = [0; 8];
        for held in [None, Some(8)] {
            if let Some(bytes) = held {
                allowance.hold_to(bytes);
            }
            far.write_all(&[7; 8]).await.unwrap();
            near.read_exact(&mut got).await.unwrap();
        }
        far.write_all(&[7; 1]).await.unwrap();
        assert_eq!(near.read(&mut got).await.unwrap_err().kind(), io::ErrorKind::QuotaExceeded);
        allowance.lift();
        far.write_all(&[7; 8]).await.unwrap();
        near.read_exact(&mut got).await.unwrap();
    }
}
