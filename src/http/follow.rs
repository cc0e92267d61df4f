//! Following: the answers of subscriptions, each rendered once for all who ask the same.
//!
//! Subscriptions that ask the same on behalf of the same viewer share what they asked, and the answers to what happens: the
//! first whom an event reaches renders its answer, and it is kept a while for the others. Nobody is ever given an answer that
//! was rendered before one that they have: whoever would be renders it anew.

#[cfg(test)]
mod tests;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, VecDeque};
use std::panic::AssertUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use async_graphql::{Name, Request, ServerError, Variables};
use async_graphql_value::ConstValue;
use futures_util::stream::{BoxStream, Stream, StreamExt as _, unfold};
use serde_json::value::{RawValue, to_raw_value};
use sha2::{Digest as _, Sha256};
use tokio::sync::OnceCell;

use super::answer::{Answer, guarded, take_cursor};
use super::caller::{Named, traced};
use super::document::{Digest, Prepared, Settled};
use super::refusal::{Code, error};
use super::{Door, limits};
use crate::app::App;
use crate::domain::viewer::Viewer;
use crate::graphql::{self as schema, Event, Same};
use crate::metrics::Open;

/// What a subscription is given, or why it ends.
pub type Given = Result<Told, Vec<ServerError>>;

/// An answer of a subscription.
#[derive(Clone)]
pub struct Told {
    /// As JSON.
    pub answer: Arc<RawValue>,
    /// Where to go on from, if that was asked for.
    pub cursor: Option<Arc<str>>,
}

/// Something that is asked on behalf of a viewer, by one subscription or by many.
struct Asking {
    settled: Arc<Settled>,
    /// In less room than a map takes.
    variables: Box<[(Name, ConstValue)]>,
    asked: Asked,
    /// Whoever asks the same finds it there.
    askings: Askings,
}

/// What is asked, and on whose behalf.
type Asked = (Digest, Arc<Viewer>);

impl Asking {
    fn request(&self) -> Request {
        let mut variables = Variables::default();
        variables.extend(self.variables.iter().cloned());
        self.settled.request(variables)
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        let mut shared = self.askings.shared();
        let Shared { asking, settled, .. } = &mut *shared;
        // Somebody may have asked the same since.
        if asking.get(&self.asked).is_some_and(|asking| asking.strong_count() == 0) {
            asking.remove(&self.asked);
        }
        if let Entry::Occupied(mut users) = settled.entry(self.settled.digest) {
            users.get_mut().1 -= 1;
            if users.get().1 == 0 {
                users.remove();
            }
        }
    }
}

/// What is asked by the subscriptions of a server, and answers that others of them may want. Cheap to clone.
#[derive(Clone, Default)]
pub struct Askings(Arc<Mutex<Shared>>);

#[derive(Default)]
struct Shared {
    /// With how many of `asking` use it.
    settled: HashMap<Digest, (Arc<Settled>, usize)>,
    asking: HashMap<Asked, Weak<Asking>>,
    rendered: HashMap<(Asked, Same), Rendering>,
    /// The keys of `rendered`, the oldest first.
    order: VecDeque<(Asked, Same)>,
    bytes: usize,
}

/// An answer that is being rendered, or was.
struct Rendering {
    /// When, by the count of readings.
    began: u64,
    answer: Arc<OnceCell<Rendered>>,
    bytes: usize,
}

#[derive(Clone)]
struct Rendered {
    given: Given,
    /// When its rendering was over, by the count of readings.
    ended: u64,
}

impl Askings {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn join(&self, Prepared { settled, mut variables, .. }: Prepared, viewer: Viewer) -> Arc<Asking> {
        let mut sha = Sha256::new();
        sha.update(settled.digest);
        sha.update(serde_json::to_vec(&variables).unwrap_or_default());
        let asked: Asked = (sha.finalize().into(), Arc::new(viewer));

        let mut shared = self.shared();
        if let Some(asking) = shared.asking.get(&asked).and_then(Weak::upgrade) {
            return asking;
        }
        let (settled, users) = shared.settled.entry(settled.digest).or_insert_with(|| (Arc::new(settled), 0));
        *users += 1;
        let settled = Arc::clone(settled);
        let variables = std::mem::take(&mut *variables).into_iter().collect();
        let asking = Arc::new(Asking { settled, variables, asked: asked.clone(), askings: self.clone() });
        shared.asking.insert(asked, Arc::downgrade(&asking));
        asking
    }

    /// The rendering of an event that began after `told_of`; a new one where there is none.
    fn rendering(&self, asked: Asked, same: Same, told_of: u64, now: impl FnOnce() -> u64) -> Arc<OnceCell<Rendered>> {
        let mut shared = self.shared();
        let key = (asked, same);
        if let Some(rendering) = shared.rendered.get(&key).filter(|rendering| rendering.began > told_of) {
            return Arc::clone(&rendering.answer);
        }
        let answer = Arc::new(OnceCell::new());
        let rendering = Rendering { began: now(), answer: Arc::clone(&answer), bytes: 0 };
        match shared.rendered.insert(key.clone(), rendering) {
            Some(old) => shared.bytes -= old.bytes,
            None => shared.order.push_back(key),
        }
        shared.make_room();
        answer
    }

    /// Counts the bytes of an answer that was rendered.
    fn rendered(&self, asked: Asked, same: Same, answer: &Arc<OnceCell<Rendered>>, bytes: usize) {
        let mut shared = self.shared();
        if let Some(rendering) = shared.rendered.get_mut(&(asked, same)).filter(|it| Arc::ptr_eq(&it.answer, answer)) {
            rendering.bytes = bytes;
            shared.bytes += bytes;
            shared.make_room();
        }
    }
}

impl Shared {
    fn make_room(&mut self) {
        while self.order.len() > limits::SHARED_ANSWERS || self.bytes > limits::SHARED_ANSWER_BYTES {
            let Some(oldest) = self.order.pop_front() else { return };
            self.bytes -= self.rendered.remove(&oldest).map_or(0, |rendering| rendering.bytes);
        }
    }
}

/// One subscription.
struct Following {
    app: App,
    asking: Arc<Asking>,
    request_id: Arc<str>,
    /// None before it has begun.
    events: Option<BoxStream<'static, Event>>,
    /// When the answer that was given last was rendered, by the count of readings.
    told_of: u64,
    _open: Open,
}

impl Door {
    /// Runs a subscription: what its client is given, until it ends. An error is the end. `id` is the client's name for it.
    pub fn follow(
        &self,
        prepared: Prepared,
        viewer: Viewer,
        request_id: &Arc<str>,
        id: Option<Arc<str>>,
    ) -> impl Stream<Item = Given> + Send + Unpin + use<> {
        let named = Named::of(&prepared);
        let [request_id, of_panic] = [Arc::clone(request_id), Arc::clone(request_id)];
        let metrics = self.app.store.metrics();
        metrics.asked("subscription").result = "begun";
        let following = Following {
            app: self.app.clone(),
            asking: self.askings.join(prepared, viewer),
            request_id: Arc::clone(&request_id),
            events: None,
            // What was rendered before is not for who joins.
            told_of: self.app.feed.tick(),
            _open: metrics.subscription(),
        };
        let given = unfold(Some(following), async |following| {
            let mut following = following?;
            let given = following.next().await?;
            let going_on = given.is_ok().then_some(following);
            Some((given, going_on))
        });
        // The panic hook has logged it.
        let given = AssertUnwindSafe(given).catch_unwind().map(move |given| {
            given.unwrap_or_else(|_| Err(Answer::refused(internal()).signed(&of_panic).into_errors()))
        });
        traced(Box::pin(given), move || named.span(&request_id, id.as_deref()))
    }
}

impl Following {
    async fn next(&mut self) -> Option<Given> {
        let events = match &mut self.events {
            Some(events) => events,
            // What is awaited once, or seldom, is boxed: an idle subscription keeps no room for it.
            None => match Box::pin(begin(&self.app, &self.asking, &self.request_id)).await {
                Ok(events) => self.events.insert(events),
                Err(errors) => return Some(Err(errors)),
            },
        };
        let event = events.next().await?;
        let rendered = Box::pin(self.asking.render(&self.app, &event, self.told_of, &self.request_id));
        let Rendered { given, ended } = rendered.await;
        self.told_of = self.told_of.max(ended);
        Some(given)
    }
}

impl Asking {
    /// Tells an event, with an answer that was not rendered before `told_of`. What fails in one that others are given too
    /// names the request that rendered it: the log tells of it there.
    async fn render(self: &Arc<Self>, app: &App, event: &Event, told_of: u64, request_id: &str) -> Rendered {
        let for_others = Arc::strong_count(self) > 1;
        let Some(same) = event.same().filter(|_| for_others) else {
            return self.rendered(app, event, request_id).await;
        };
        let answer = self.askings.rendering(self.asked.clone(), same, told_of, || app.feed.tick());
        let ours = AtomicBool::new(false);
        let rendered = answer.get_or_init(async || {
            ours.store(true, Ordering::Relaxed);
            let rendered = self.rendered(app, event, request_id).await;
            let bytes = rendered.given.as_ref().map_or(0, |told| told.answer.get().len());
            self.askings.rendered(self.asked.clone(), same, &answer, bytes);
            rendered
        });
        let rendered = rendered.await.clone();
        if rendered.given.is_err() && !ours.into_inner() {
            // What failed for one may go well for another.
            return self.rendered(app, event, request_id).await;
        }
        rendered
    }

    async fn rendered(&self, app: &App, event: &Event, request_id: &str) -> Rendered {
        let mut cursor = None;
        let answer = guarded(async {
            let mut response = schema::tell(app, self.request(), &self.asked.1, event).await;
            cursor = take_cursor(&mut response).map(Arc::from);
            Answer::finish(response, &self.settled.plan)
        });
        let given = match answer.await.signed(request_id) {
            // Going on would hide a gap.
            Answer::Executed { data: ConstValue::Null, errors } | Answer::Refused { errors } => Err(errors),
            answer @ Answer::Executed { .. } => json(&answer).map(|answer| Told { answer, cursor }),
        };
        Rendered { given, ended: app.feed.tick() }
    }
}

/// Begins what is asked: what it follows, or why it is refused.
async fn begin(app: &App, asking: &Asking, request_id: &str) -> Result<BoxStream<'static, Event>, Vec<ServerError>> {
    let mut events = None;
    let answer = guarded(async {
        match schema::follow(app, asking.request(), &asking.asked.1).await {
            Ok(begun) => {
                events = Some(begun);
                Answer::Refused { errors: vec![] }
            }
            Err(refusal) => Answer::finish(refusal, &asking.settled.plan),
        }
    })
    .await;
    events.ok_or_else(|| answer.signed(request_id).into_errors())
}

/// An answer as it goes over the wire.
pub fn json(answer: &Answer) -> Result<Arc<RawValue>, Vec<ServerError>> {
    to_raw_value(answer).map(Arc::from).map_err(|cause| {
        tracing::error!(%cause, "an answer could not be written as JSON");
        vec![internal()]
    })
}

fn internal() -> ServerError {
    error(Code::Internal, "Internal error.")
}
