//! The same act for many rows: at most 500, one answer each in order, one commit.

use async_graphql::Context;

use super::errors::{Failure, Result};
use super::operation_acts::perform;
use crate::domain::bounds::{self, BadInput};
use crate::store::Act;
use crate::store::acts::Each;

/// Performs an act for each input. What is refused hurts no other; an input out of its bounds refuses them all, by its place.
pub(super) async fn perform_each<I, A: Act>(
    ctx: &Context<'_>,
    inputs: Vec<I>,
    checked: impl Fn(I) -> std::result::Result<A, BadInput>,
) -> Result<Vec<A::Answer>> {
    bounds::length("inputs", inputs.len())?;
    let acts = inputs
        .into_iter()
        .enumerate()
        .map(|(place, input)| checked(input).map_err(|bad| bad.at(&format!("inputs[{place}]"))));
    let acts = acts.collect::<std::result::Result<Vec<A>, BadInput>>().map_err(Failure::from)?;
    perform(ctx, Each(acts)).await
}
