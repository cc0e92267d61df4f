//! The router: who is concerned by a change, and what waits for each until it is taken.
//!
//! A subscription is found by the narrowest thing that its filter names, so that the cost of a change follows those whom it
//! concerns. What waits for one that takes nothing is bounded: beyond that it is told to read the log instead.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::shown::Shown;
use crate::domain::changes::{Change, ChangeFilter};
use crate::domain::viewer::{Viewer, seer};
use crate::domain::words::EntityKind;

/// Changes that wait for one subscription at most.
const WAITING: usize = 256;

/// Changes in the order of the log, with what their entities were when they were handed on.
#[derive(Debug, Clone)]
pub struct Run {
    /// The changes, never none.
    pub changes: Vec<Arc<Change>>,
    /// The entities, where the run came live and they were asked for.
    pub shown: Option<Arc<Shown>>,
}

/// What a subscription wants.
#[derive(Debug)]
pub struct Wanted {
    /// On whose behalf.
    pub viewer: Arc<Viewer>,
    /// Which changes.
    pub filter: ChangeFilter,
    /// The kind of entity that is shown with them, if any is.
    pub shows: Option<EntityKind>,
}

impl Wanted {
    pub(super) fn matches(&self, change: &Change) -> bool {
        self.filter.matches(&self.viewer, change)
    }

    /// The narrowest topics under which every change that it wants is found.
    fn topics(&self) -> Vec<Topic> {
        let filter = &self.filter;
        let one = |kind: Kind, name: &String| vec![Topic { kind, name: name.clone() }];
        let of = |did: &str| [Kind::Owner, Kind::Caller].map(|kind| Topic { kind, name: did.to_owned() }).to_vec();
        let documents = filter.document_ids.as_ref().or(filter.touching.as_ref());
        if let Some(id) = &filter.entity_id {
            one(Kind::Entity, id)
        } else if let Some(documents) = documents {
            documents.iter().map(|id| Topic { kind: Kind::Document, name: id.clone() }).collect()
        } else if let Some(owner) = &filter.owner_did {
            one(Kind::Owner, owner)
        } else if let Some(did) = filter.visible_to.as_deref() {
            of(did)
        } else if let Some(did) = self.viewer.confined_to() {
            of(did).into_iter().chain(one(Kind::Seer, &seer(did))).collect()
        } else if let Some(caller) = &filter.caller_did {
            one(Kind::Caller, caller)
        } else if let Some(connector) = &filter.connector_name {
            one(Kind::Connector, connector)
        } else {
            one(Kind::All, &String::new())
        }
    }
}

/// What a change can be found by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Entity,
    Document,
    Owner,
    Caller,
    Connector,
    /// Who saw an operation or watch of its document.
    Seer,
    All,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Topic {
    kind: Kind,
    name: String,
}

/// What waits for one subscription.
#[derive(Debug)]
struct Mailbox {
    wanted: Wanted,
    waiting: Mutex<Waiting>,
    bell: Notify,
}

#[derive(Debug, Default)]
struct Waiting {
    runs: VecDeque<Run>,
    changes: usize,
    /// Something was not kept: it has to be read from the log, after what is here.
    overflowed: bool,
    closed: bool,
}

impl Mailbox {
    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn put(&self, run: Run) {
        let mut waiting = self.waiting();
        if waiting.overflowed || waiting.changes + run.changes.len() > WAITING.max(run.changes.len()) {
            waiting.overflowed = true;
        } else {
            waiting.changes += run.changes.len();
            waiting.runs.push_back(run);
        }
        drop(waiting);
        self.bell.notify_one();
    }

    fn close(&self) {
        self.waiting().closed = true;
        self.bell.notify_one();
    }
}

/// What a subscription takes next.
#[derive(Debug)]
pub(super) enum Taken {
    /// What waited first.
    Run(Run),
    /// Nothing waits, and something was not kept: the log has it.
    Overflowed,
    /// The feed has ended.
    Closed,
}

/// Who listens to one topic.
type Listeners = Vec<Arc<Mailbox>>;

#[derive(Debug, Default)]
struct Topics {
    listeners: HashMap<Kind, HashMap<String, Listeners>>,
    closed: bool,
}

/// Who is concerned by what. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub(super) struct Router(Arc<Mutex<Topics>>);

impl Router {
    fn topics(&self) -> MutexGuard<'_, Topics> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens from now on, until what is returned is dropped.
    pub(super) fn listen(&self, wanted: Wanted) -> Listening {
        let names = wanted.topics();
        let waiting = Mutex::default();
        let mailbox = Arc::new(Mailbox { wanted, waiting, bell: Notify::new() });
        let mut topics = self.topics();
        for Topic { kind, name } in &names {
            let listeners = topics.listeners.entry(*kind).or_default();
            listeners.entry(name.clone()).or_default().push(Arc::clone(&mailbox));
        }
        if topics.closed {
            mailbox.close();
        }
        Listening { router: self.clone(), mailbox }
    }

    /// Whom these changes concern, each with those of them that do.
    pub(super) fn concerned(&self, changes: &[Arc<Change>]) -> Concerned {
        let topics = self.topics();
        let mut concerned: HashMap<*const Mailbox, (Arc<Mailbox>, Vec<Arc<Change>>)> = HashMap::new();
        for change in changes {
            let names = [
                (Kind::Entity, Some(change.entity_id.as_str())),
                (Kind::Document, change.document_id.as_deref()),
                (Kind::Document, change.left_document_id()),
                (Kind::Owner, change.owner_did.as_deref()),
                (Kind::Caller, change.caller_did.as_deref()),
                (Kind::Connector, change.connector_name.as_deref()),
                (Kind::All, Some("")),
            ];
            let seers = change.seen_by.as_deref().into_iter().flat_map(|seers| seers.split(' '));
            for (kind, name) in names.into_iter().chain(seers.map(|seer| (Kind::Seer, Some(seer)))) {
                let Some(listeners) = name.and_then(|name| topics.listeners.get(&kind)?.get(name)) else { continue };
                for mailbox in listeners.iter().filter(|mailbox| mailbox.wanted.matches(change)) {
                    let (_, of_it) =
                        concerned.entry(Arc::as_ptr(mailbox)).or_insert_with(|| (Arc::clone(mailbox), vec![]));
                    // One that is found by two topics gets it once.
                    if of_it.last().is_none_or(|last| last.sequence != change.sequence) {
                        of_it.push(Arc::clone(change));
                    }
                }
            }
        }
        Concerned(concerned.into_values().collect())
    }

    /// Ends every subscription, and each that comes later.
    pub(super) fn close(&self) {
        let mut topics = self.topics();
        topics.closed = true;
        topics.listeners.values().flat_map(HashMap::values).flatten().for_each(|mailbox| mailbox.close());
    }
}

/// Those whom some changes concern.
pub(super) struct Concerned(Vec<(Arc<Mailbox>, Vec<Arc<Change>>)>);

impl Concerned {
    /// The entities of a kind that are shown to somebody, each once.
    pub(super) fn shown(&self, kind: EntityKind) -> Vec<&str> {
        let wanting = self.0.iter().filter(|(mailbox, _)| mailbox.wanted.shows == Some(kind));
        let mut ids: Vec<&str> = wanting.flat_map(|(_, of_it)| of_it).map(|change| change.entity_id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }

    /// Hands each theirs.
    pub(super) fn hand_on(self, shown: Option<&Arc<Shown>>) {
        for (mailbox, changes) in self.0 {
            let shown = shown.filter(|_| mailbox.wanted.shows.is_some()).cloned();
            mailbox.put(Run { changes, shown });
        }
    }
}

/// One subscription's place in the router.
#[derive(Debug)]
pub(super) struct Listening {
    router: Router,
    mailbox: Arc<Mailbox>,
}

impl Listening {
    pub(super) fn wanted(&self) -> &Wanted {
        &self.mailbox.wanted
    }

    /// Forgets what waits.
    pub(super) fn forget(&self) {
        let mut waiting = self.mailbox.waiting();
        let closed = waiting.closed;
        *waiting = Waiting { closed, ..Waiting::default() };
    }

    /// Waits for what comes next.
    pub(super) async fn take(&self) -> Taken {
        loop {
            {
                let mut waiting = self.mailbox.waiting();
                if let Some(run) = waiting.runs.pop_front() {
                    waiting.changes -= run.changes.len();
                    return Taken::Run(run);
                }
                if std::mem::take(&mut waiting.overflowed) {
                    return Taken::Overflowed;
                }
                if waiting.closed {
                    return Taken::Closed;
                }
            }
            self.mailbox.bell.notified().await;
        }
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut topics = self.router.topics();
        for Topic { kind, name } in self.mailbox.wanted.topics() {
            let Some(names) = topics.listeners.get_mut(&kind) else { continue };
            let Some(listeners) = names.get_mut(&name) else { continue };
            if let Some(place) = listeners.iter().position(|other| Arc::ptr_eq(other, &self.mailbox)) {
                listeners.swap_remove(place);
            }
            if listeners.is_empty() {
                names.remove(&name);
            }
        }
    }
}
