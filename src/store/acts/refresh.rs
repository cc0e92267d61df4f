//! Refreshing the kept write states.

use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, write_states};

/// Derives the write states of the documents that were touched first; answers how many touches there were.
#[derive(Debug)]
pub struct RefreshWriteStates;

impl Act for RefreshWriteStates {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::write_states()]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        write_states::refresh(tx).await
    }
}
