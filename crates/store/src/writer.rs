//! The writer thread. It writes all waiting requests in one transaction and answers them when that
//! is durable: one disk flush for many writes.

use std::{
    path::PathBuf,
    thread::JoinHandle,
    time::{Duration, Instant},
};

use quorum_core::seams::StoreError;
use tokio::sync::{mpsc, oneshot};

use crate::{
    checkpointer::Checkpointer,
    connection::Access,
    error::{JobError, explain, unwritable},
    write_context::{Unwritten, WriteContext},
};

/// The maximum number of requests per transaction.
const BATCH: usize = 512;

/// The maximum number of waiting requests; further callers wait to enqueue theirs.
const WAITING: usize = 2 * BATCH;

pub(crate) struct Writer {
    /// `None` while the store is being dropped, and in a read-only store.
    requests: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    file: PathBuf,
    access: Access,
}

impl Writer {
    /// A writer that refuses everything, for a read-only database.
    pub(crate) fn refusing(file: PathBuf) -> Self {
        Writer { requests: None, thread: None, file, access: Access::ReadOnly }
    }

    pub(crate) fn access(&self) -> Access {
        self.access
    }

    pub(crate) fn start(context: WriteContext, checkpointer: Checkpointer) -> std::io::Result<Self> {
        let (requests, waiting) = mpsc::channel(WAITING);
        let file = context.file.clone();
        let thread = std::thread::Builder::new().name("store-writer".to_owned());
        let thread = thread.spawn(move || write_all(waiting, context, &checkpointer))?;
        Ok(Writer { requests: Some(requests), thread: Some(thread), file, access: Access::Write })
    }

    /// Runs this work in a transaction, batched with other requests. It is durable when this
    /// returns.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteContext) -> Result<T, JobError> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Request { work, result: None, reply });
        let requests = self.requests.as_ref().ok_or_else(|| self.stopped_error())?;
        requests.send(job).await.map_err(|_| self.stopped_error())?;
        answer.await.unwrap_or_else(|_| Err(self.stopped_error()))
    }

    fn stopped_error(&self) -> StoreError {
        let file = self.file.display();
        match self.access {
            Access::Write => {
                StoreError::Unusable(format!("the writer of {file} has stopped; restart the program"))
            }
            Access::ReadOnly => unwritable(&self.file),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Without a sender, the thread finishes the waiting requests and ends.
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // If the writer panicked, every caller has got an error.
            drop(thread.join());
        }
    }
}

fn write_all(
    mut waiting: mpsc::Receiver<Box<dyn Job>>,
    mut context: WriteContext,
    checkpointer: &Checkpointer,
) {
    let mut pace = Pace::default();
    while let Some(first) = waiting.blocking_recv() {
        let (mut collecting, mut batch, mut next) = (Collecting::started(), Vec::new(), Some(first));
        let written = context.in_transaction(|context| {
            while let Some(mut job) = next.take() {
                let done = job.run(context);
                batch.push(job);
                done?;
                let has_room = batch.len() < BATCH && collecting.worked() < pace.batch_time();
                next = has_room.then(|| collecting.next_of(&mut waiting)).flatten();
            }
            pace.commit_started();
            Ok(())
        });
        pace.commit_finished();
        batch.extend(next);
        checkpointer.count_writes(batch.len());
        answer(&mut context, batch, written);
    }
}

/// The time in which a batch collects requests.
struct Collecting {
    began: Instant,
    /// How long other threads had the core meanwhile.
    yielded: Duration,
}

impl Collecting {
    fn started() -> Self {
        Collecting { began: Instant::now(), yielded: Duration::ZERO }
    }

    /// The time that the writer itself has spent on the batch.
    fn worked(&self) -> Duration {
        self.began.elapsed().saturating_sub(self.yielded)
    }

    /// The next request that waits. If there is none, yields the core once: a thread that shares it
    /// may be about to send a request, which is then written with the same flush.
    fn next_of(&mut self, waiting: &mut mpsc::Receiver<Box<dyn Job>>) -> Option<Box<dyn Job>> {
        if let Ok(job) = waiting.try_recv() {
            return Some(job);
        }
        if LONGEST_YIELDING < self.yielded {
            return None;
        }
        let before = Instant::now();
        std::thread::yield_now();
        self.yielded += before.elapsed();
        waiting.try_recv().ok()
    }
}

fn answer(context: &mut WriteContext, batch: Vec<Box<dyn Job>>, written: Result<(), Unwritten>) {
    match written {
        Ok(()) => batch.into_iter().for_each(|job| job.answer(Ok(()))),
        // One request failed the whole batch; run alone, only that one fails.
        Err(Unwritten::RolledBack(_)) if batch.len() > 1 => {
            batch.into_iter().for_each(|job| write_alone(context, job));
        }
        Err(Unwritten::RolledBack(error) | Unwritten::NotBegun(error)) => {
            let error = explain(&error, &context.file);
            batch.into_iter().for_each(|job| job.answer(Err(error.clone())));
        }
    }
}

fn write_alone(context: &mut WriteContext, mut job: Box<dyn Job>) {
    let written = context.in_transaction(|context| job.run(context));
    answer(context, vec![job], written);
}

/// Limits how long a batch collects requests before it commits.
///
/// A request waits for its whole batch. If a hundred callers arrive together and are answered
/// together, they will arrive together again, and each waits for the whole batch again. If they are
/// answered a few at a time, they spread out and don't wait as long the next time. So a batch
/// collects for at most about twice the time of a commit. While requests keep arriving, commits
/// then take about a third of the time.
struct Pace {
    /// The moving average of the commit time.
    commit: Duration,
    committing: Option<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { commit: SHORTEST, committing: None }
    }
}

/// The minimum; shorter times don't matter.
const SHORTEST: Duration = Duration::from_micros(250);

/// The maximum, so that a slow disk doesn't make requests wait even longer for each other.
const LONGEST: Duration = Duration::from_millis(20);

/// A batch that has yielded its core for longer than this doesn't yield again. A single yield may
/// take longer.
const LONGEST_YIELDING: Duration = Duration::from_millis(2);

impl Pace {
    fn batch_time(&self) -> Duration {
        (2 * self.commit).clamp(SHORTEST, LONGEST)
    }

    fn commit_started(&mut self) {
        self.committing = Some(Instant::now());
    }

    /// Updates the average; the newest commit counts a quarter, so one slow commit changes little.
    fn commit_finished(&mut self) {
        if let Some(began) = self.committing.take() {
            self.commit = (3 * self.commit + began.elapsed()) / 4;
        }
    }
}

/// A request to the writer, with its caller.
trait Job: Send {
    /// Runs it inside a transaction; may be called again in another one.
    fn run(&mut self, context: &mut WriteContext) -> rusqlite::Result<()>;
    /// Answers the caller after the transaction.
    fn answer(self: Box<Self>, written: Result<(), StoreError>);
}

struct Request<T, F> {
    work: F,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&mut WriteContext) -> Result<T, JobError> + Send> Job for Request<T, F> {
    fn run(&mut self, context: &mut WriteContext) -> rusqlite::Result<()> {
        let before = context.connection.total_changes();
        self.result = match (self.work)(context) {
            Ok(value) => Some(Ok(value)),
            Err(JobError::Refused(refusal)) => {
                debug_assert_eq!(
                    before,
                    context.connection.total_changes(),
                    "a refused request must change nothing"
                );
                Some(Err(refusal))
            }
            Err(JobError::Database(error)) => return Err(error),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<(), StoreError>) {
        // If the caller has stopped waiting, the answer is dropped.
        match (written, self.result) {
            (Ok(()), Some(result)) => drop(self.reply.send(result)),
            (Err(error), _) => drop(self.reply.send(Err(error))),
            (Ok(()), None) => {}
        }
    }
}
