//! The writer task: it writes all waiting appends of this process in one statement, so that one
//! commit is paid for many of them.

use std::{collections::HashSet, collections::VecDeque};

use quorum_core::seams::StoreError;
use tokio::sync::{mpsc, oneshot};

use crate::{
    batch::{AppendRow, Columns, SQL},
    connection::{Connection, Place},
    error::JobError,
    pool::Pool,
};

/// The maximum number of appends per statement.
const BATCH: usize = 512;

/// After how many bytes a batch takes no more appends.
const BATCH_BYTES: usize = 8 * 1_024 * 1_024;

/// The maximum number of waiting appends; further callers wait to enqueue theirs.
const WAITING: usize = 4 * BATCH;

/// What became of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    Stored,
    /// The claim, the last number or the state of the discussion is another.
    Refused,
}

#[derive(Clone)]
pub(crate) struct Writer {
    requests: mpsc::Sender<Request>,
}

struct Request {
    append: AppendRow,
    reply: oneshot::Sender<Result<Written, StoreError>>,
}

impl Writer {
    /// Starts the task. It ends when the last writer is dropped.
    pub(crate) fn start(place: Place, pool: Pool) -> Self {
        let (requests, waiting) = mpsc::channel(WAITING);
        place.runtime.clone().spawn(write_all(waiting, Session { place, pool, connection: None }));
        Writer { requests }
    }

    /// Writes an append, together with others. It is durable when this returns.
    pub(crate) async fn write(&self, append: AppendRow) -> Result<Written, StoreError> {
        let stopped =
            || StoreError::Unusable("the writer of the store has stopped; restart the program".to_owned());
        let (reply, answer) = oneshot::channel();
        self.requests.send(Request { append, reply }).await.map_err(|_| stopped())?;
        answer.await.unwrap_or_else(|_| Err(stopped()))
    }
}

async fn write_all(mut waiting: mpsc::Receiver<Request>, mut session: Session) {
    let mut held_back = VecDeque::new();
    loop {
        let first = match held_back.pop_front() {
            Some(first) => first,
            None => match waiting.recv().await {
                Some(first) => first,
                None => return,
            },
        };
        let batch = collect(first, &mut held_back, &mut waiting);
        session.write(batch).await;
    }
}

/// The next batch: at most one append of each discussion, sorted by their ids, so that the batches
/// of two nodes lock rows in the same order.
fn collect(
    first: Request,
    held_back: &mut VecDeque<Request>,
    waiting: &mut mpsc::Receiver<Request>,
) -> Vec<Request> {
    let (mut ids, mut bytes, mut batch) = (HashSet::new(), 0, Vec::new());
    let mut again = VecDeque::new();
    let mut next = Some(first);
    while let Some(request) = next.take() {
        if ids.insert(request.append.id) {
            bytes += request.append.size();
            batch.push(request);
        } else {
            again.push_back(request);
        }
        if batch.len() < BATCH && bytes < BATCH_BYTES {
            next = held_back.pop_front().or_else(|| waiting.try_recv().ok());
        }
    }
    again.append(held_back);
    *held_back = again;
    batch.sort_by_key(|it| it.append.id);
    batch
}

struct Session {
    place: Place,
    pool: Pool,
    connection: Option<Connection>,
}

impl Session {
    async fn write(&mut self, batch: Vec<Request>) {
        let mut written = self.try_write(&batch).await;
        if written.as_ref().is_err_and(JobError::is_conflict) {
            written = self.try_write(&batch).await;
        }
        match written {
            Ok(stored) => answer(batch, &stored),
            // One append failed the whole batch; written alone, only that one fails.
            Err(error) if error.is_of_the_job() && batch.len() > 1 => {
                for request in batch {
                    Box::pin(self.write(vec![request])).await;
                }
            }
            Err(error) => {
                let error = error.into_store_error(&self.place.address.to_string());
                batch.into_iter().for_each(|it| drop(it.reply.send(Err(error.clone()))));
            }
        }
    }

    /// Returns which of the batch were stored.
    async fn try_write(&mut self, batch: &[Request]) -> Result<HashSet<i32>, JobError> {
        let mut connection = match self.connection.take().filter(Connection::is_usable) {
            Some(connection) => connection,
            None => self.open().await?,
        };
        let columns = Columns::of(batch.iter().map(|it| &it.append));
        let rows = connection.query(SQL, &columns.parameters()).await?;
        self.place.counts.batch();
        self.connection = Some(connection);
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    async fn open(&self) -> Result<Connection, JobError> {
        let opened = Connection::open(&self.place).await;
        if opened.as_ref().is_err_and(JobError::is_crowded) {
            self.pool.give_way();
        }
        let mut connection = opened?;
        // Planning this statement takes longer than running it, and its plan is always the same.
        connection.batch("SET plan_cache_mode = force_generic_plan").await?;
        Ok(connection)
    }
}

fn answer(batch: Vec<Request>, stored: &HashSet<i32>) {
    for (ord, request) in (0..).zip(batch) {
        let written = if stored.contains(&ord) { Written::Stored } else { Written::Refused };
        // If the caller has stopped waiting, the answer is dropped.
        drop(request.reply.send(Ok(written)));
    }
}
