//! Work that is due: told to every worker that waits for it, looked for once for all who wait for the same.
//!
//! It is looked for again when something changes that may count, when more becomes due by time, and slowly even so, because
//! others may write to the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures_util::stream::{self, Stream};
use tokio::sync::{Notify, watch};
use tokio_util::task::AbortOnDropHandle;

use super::Feed;
use super::router::{Listening, Taken, Wanted};
use crate::domain::changes::ChangeFilter;
use crate::domain::viewer::Viewer;
use crate::domain::words::EntityKind;
use crate::store::{DueFilter, WorkDue};

/// The net under changes and times.
const POLL: Duration = Duration::from_secs(10);
/// How long changes are gathered before it is looked again.
const GATHER: Duration = Duration::from_millis(50);
/// How long to wait after the database refused.
const RETRY: Duration = Duration::from_millis(500);

/// What is looked for.
type Question = (Arc<Viewer>, DueFilter);

/// One question with its latest answer; looked for as long as anybody holds it.
#[derive(Debug)]
struct Board {
    answer: watch::Receiver<Option<Looked>>,
    /// Who joins is told what is true by then.
    bell: Arc<Bell>,
    _looking: AbortOnDropHandle<()>,
}

/// What a look found.
#[derive(Debug, Clone)]
struct Looked {
    due: Arc<WorkDue>,
    /// How many had joined when it began.
    joined: u64,
}

/// Rung by who joins.
#[derive(Debug, Default)]
struct Bell {
    joined: AtomicU64,
    rung: Notify,
}

/// Every question that somebody asks now.
#[derive(Debug, Clone, Default)]
pub(super) struct Boards(Arc<Mutex<HashMap<Question, Weak<Board>>>>);

impl Feed {
    /// How much is due, now and again whenever that changes.
    pub fn work_due(&self, viewer: &Viewer, filter: DueFilter) -> impl Stream<Item = Arc<WorkDue>> + Send + use<> {
        let board = self.board(viewer, filter);
        let answer = board.answer.clone();
        // What a look found that began before is not for who joins.
        let place = board.bell.joined.fetch_add(1, Ordering::SeqCst) + 1;
        board.bell.rung.notify_one();
        stream::unfold((board, answer, None), move |(board, mut answer, told)| async move {
            loop {
                // The looking ends with the server.
                answer.changed().await.ok()?;
                let looked = answer.borrow_and_update().clone().filter(|looked| looked.joined >= place);
                // A look for somebody who joined is told to the others only where it is news.
                if let Some(Looked { due, .. }) = looked.filter(|looked| Some(&looked.due) != told.as_ref()) {
                    return Some((Arc::clone(&due), (board, answer, Some(due))));
                }
            }
        })
    }

    fn board(&self, viewer: &Viewer, filter: DueFilter) -> Arc<Board> {
        let mut boards = self.boards.0.lock().unwrap_or_else(PoisonError::into_inner);
        boards.retain(|_, board| board.strong_count() > 0);
        // Whoever sees the same asks the same.
        let question = (Arc::new(viewer.sight()), filter);
        if let Some(board) = boards.get(&question).and_then(Weak::upgrade) {
            return board;
        }
        let (viewer, filter) = question.clone();
        let changes = ChangeFilter {
            entities: Some(vec![EntityKind::Operation, EntityKind::Watch]),
            owner_did: filter.owner_did.clone(),
            connector_name: filter.connector_name.clone(),
            ..ChangeFilter::default()
        };
        let listening = self.router.listen(Wanted { viewer: Arc::clone(&viewer), filter: changes, shows: None });
        let (publish, answer) = watch::channel(None);
        let bell = Arc::new(Bell::default());
        let looking =
            Looking { feed: self.clone(), question: (viewer, filter), listening, bell: Arc::clone(&bell), publish };
        let board = Arc::new(Board { answer, bell, _looking: AbortOnDropHandle::new(tokio::spawn(looking.run())) });
        boards.insert(question, Arc::downgrade(&board));
        board
    }
}

/// The one that looks, for a board.
struct Looking {
    feed: Feed,
    question: Question,
    listening: Listening,
    bell: Arc<Bell>,
    publish: watch::Sender<Option<Looked>>,
}

impl Looking {
    /// Looks for what is due until the feed ends or nobody asks any more.
    async fn run(self) {
        let (viewer, filter) = &self.question;
        loop {
            // Who joins during the look is for the next.
            let joined = self.bell.joined.load(Ordering::SeqCst);
            let now = self.feed.store.now_ms();
            let wait = match self.feed.store.work_due(viewer, filter, now).await {
                Ok(due) => {
                    let until = due.next_due_at.map_or(i64::MAX, |at| (at - now).max(1));
                    let due = Arc::new(due);
                    self.publish.send_if_modified(|told| {
                        let known = told.as_ref().is_some_and(|told| told.joined == joined && told.due == due);
                        *told = Some(Looked { due, joined });
                        !known
                    });
                    u64::try_from(until).map_or(POLL, Duration::from_millis).min(POLL)
                }
                Err(error) => {
                    tracing::warn!(%error, "due work is looked for later");
                    RETRY
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = self.bell.rung.notified() => {}
                taken = self.listening.take() => {
                    if matches!(taken, Taken::Closed) {
                        return;
                    }
                    // What comes meanwhile is looked for at once.
                    tokio::time::sleep(GATHER).await;
                    self.listening.forget();
                }
            }
        }
    }
}
