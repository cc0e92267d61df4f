//! Many acts of one kind as one, in one commit.

use crate::store::Act;
use crate::store::error::{Error, Result};
use crate::store::locks::Locks;
use crate::store::tx::Tx;

/// Each of these acts, in order; one answer for each.
#[derive(Debug)]
pub struct Each<A>(pub Vec<A>);

impl<A: Act> Act for Each<A> {
    type Answer = Vec<A::Answer>;

    async fn locks(&self, tx: &mut Tx) -> Result<Locks> {
        let mut locks = Locks::none();
        for act in &self.0 {
            locks.merge(act.locks(tx).await?);
        }
        Ok(locks)
    }

    fn weight(&self) -> usize {
        self.0.iter().map(Act::weight).sum()
    }

    async fn run(&self, tx: &mut Tx) -> Result<Self::Answer> {
        let mut answers = Vec::with_capacity(self.0.len());
        for (place, act) in self.0.iter().enumerate() {
            // A counter at its bound and what is forbidden refuse them all, as any bad input does: by its place.
            answers.push(act.run(tx).await.map_err(|error| match error {
                Error::BadInput(bad) => Error::BadInput(bad.at(&format!("inputs[{place}]"))),
                Error::Forbidden(forbidden) => Error::Forbidden(forbidden.at(&format!("inputs[{place}]"))),
                error => error,
            })?);
        }
        Ok(answers)
    }
}
