//! The one thread that writes. It takes what waits, writes it in one transaction, and answers when that is durable: one wait
//! for the disk, however many wrote.

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
    error::{Trouble, explain, unwritable},
    write_context::{Unwritten, WriteContext},
};

/// How many requests are written at once at most.
const BATCH: usize = 512;

/// How many may wait; whoever comes then waits for a place.
const WAITING: usize = 2 * BATCH;

pub(crate) struct Writer {
    /// `None` while the store is being dropped, and where the database can't be written.
    requests: Option<mpsc::Sender<Box<dyn Job>>>,
    thread: Option<JoinHandle<()>>,
    file: PathBuf,
    access: Access,
}

impl Writer {
    /// Refuses everything: the database can't be written.
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

    /// Has this done, together with what others want done. When it is answered it is durable.
    pub(crate) async fn write<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnMut(&mut WriteContext) -> Result<T, Trouble> + Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let job = Box::new(Request { work, result: None, reply });
        let requests = self.requests.as_ref().ok_or_else(|| self.stopped())?;
        requests.send(job).await.map_err(|_| self.stopped())?;
        answer.await.unwrap_or_else(|_| Err(self.stopped()))
    }

    fn stopped(&self) -> StoreError {
        let file = self.file.display();
        match self.access {
            Access::Write => StoreError::Unusable(format!(
                "nothing is written to {file} any more; start the program again"
            )),
            Access::ReadOnly => unwritable(&self.file),
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Without a sender the thread finishes what waits, and ends.
        self.requests = None;
        if let Some(thread) = self.thread.take() {
            // A writer that panicked has told everyone who waited.
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
        let (began, mut batch, mut next) = (Instant::now(), Vec::new(), Some(first));
        let written = context.in_transaction(|context| {
            while let Some(mut job) = next.take() {
                let done = job.run(context);
                batch.push(job);
                done?;
                let has_room = batch.len() < BATCH && began.elapsed() < pace.working();
                next = has_room.then(|| waiting.try_recv().ok()).flatten();
            }
            pace.commits();
            Ok(())
        });
        pace.has_committed();
        batch.extend(next);
        checkpointer.tell(batch.len());
        answer(&mut context, batch, written);
    }
}

fn answer(context: &mut WriteContext, batch: Vec<Box<dyn Job>>, written: Result<(), Unwritten>) {
    match written {
        Ok(()) => batch.into_iter().for_each(|job| job.answer(Ok(()))),
        // One of them spoilt it for all; alone, only that one fails.
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

/// How long to work before it is worth waiting for the disk.
///
/// Whoever is in a batch waits for all of it. A hundred who come at the same moment and are answered at the same moment will
/// come at the same moment again, and wait for all of it again; answered a few at a time, they are spread out, and no one waits
/// for long a second time. So a batch takes about twice the time the disk needs for it, and a third of all time at most is
/// spent on the disk.
struct Pace {
    /// What the disk needed lately.
    commit: Duration,
    committing: Option<Instant>,
}

impl Default for Pace {
    fn default() -> Self {
        Pace { commit: SHORTEST, committing: None }
    }
}

/// Less than that is not worth counting.
const SHORTEST: Duration = Duration::from_micros(250);

/// However slow the disk is, nobody waits longer for what others write.
const LONGEST: Duration = Duration::from_millis(20);

impl Pace {
    fn working(&self) -> Duration {
        (2 * self.commit).clamp(SHORTEST, LONGEST)
    }

    fn commits(&mut self) {
        self.committing = Some(Instant::now());
    }

    /// The newest counts for a quarter, so that one slow commit changes little.
    fn has_committed(&mut self) {
        if let Some(began) = self.committing.take() {
            self.commit = (3 * self.commit + began.elapsed()) / 4;
        }
    }
}

/// Something to be written, and somebody who waits for it.
trait Job: Send {
    /// Does it, inside a transaction; perhaps again in another one.
    fn run(&mut self, context: &mut WriteContext) -> rusqlite::Result<()>;
    /// Tells how it went, once the transaction is over.
    fn answer(self: Box<Self>, written: Result<(), StoreError>);
}

struct Request<T, F> {
    work: F,
    result: Option<Result<T, StoreError>>,
    reply: oneshot::Sender<Result<T, StoreError>>,
}

impl<T: Send, F: FnMut(&mut WriteContext) -> Result<T, Trouble> + Send> Job for Request<T, F> {
    fn run(&mut self, context: &mut WriteContext) -> rusqlite::Result<()> {
        let before = context.connection.total_changes();
        self.result = match (self.work)(context) {
            Ok(value) => Some(Ok(value)),
            Err(Trouble::Refused(refusal)) => {
                debug_assert_eq!(
                    before,
                    context.connection.total_changes(),
                    "what is refused changes nothing"
                );
                Some(Err(refusal))
            }
            Err(Trouble::Broken(error)) => return Err(error),
        };
        Ok(())
    }

    fn answer(self: Box<Self>, written: Result<(), StoreError>) {
        // Whoever does not wait any more does not need the answer.
        match (written, self.result) {
            (Ok(()), Some(result)) => drop(self.reply.send(result)),
            (Err(error), _) => drop(self.reply.send(Err(error))),
            (Ok(()), None) => {}
        }
    }
}
