//! Bringing up to date what is kept beside the books: write states and counts. Each is worked off by one at a time.

use crate::store::error::Result;
use crate::store::locks::{Lock, Locks};
use crate::store::tx::Tx;
use crate::store::{Act, counts, write_states};

/// Derives the write states of the documents that were touched first; answers how many there were.
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

/// Counts what was written first to the books; answers how many rows of it there were.
#[derive(Debug)]
pub struct CountBooks;

impl Act for CountBooks {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::book_counts()]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        counts::count_books(tx).await
    }
}

/// Counts the changes that come next; answers how many there were.
#[derive(Debug)]
pub struct CountOutcomes {
    /// The last number that may be counted.
    pub settled_through: i64,
}

impl Act for CountOutcomes {
    type Answer = usize;

    async fn locks(&self, _: &mut Tx) -> Result<Locks> {
        Ok(Locks::of([Lock::outcome_counts()]))
    }

    async fn run(&self, tx: &mut Tx) -> Result<usize> {
        counts::count_outcomes(tx, self.settled_through).await
    }
}
