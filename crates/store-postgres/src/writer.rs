//! The writer task: it writes all waiting appends of this process in one statement, so that one
//! commit is paid for many of them.

use std::{collections::HashSet, collections::VecDeque};

use quorum_core::seams::StoreError;
use tokio::sync::{mpsc, oneshot};
use tokio_postgres::Row;
use uuid::Uuid;

use crate::{
    batch::{AppendRow, Columns, SQL},
    connection::{Connection, Parameters, Place},
    error::JobError,
    pool::Pool,
};

/// The maximum number of appends per statement.
const BATCH: usize = 512;

/// After how many bytes a batch takes no more appends.
const BATCH_BYTES: usize = 8 * 1_024 * 1_024;

/// The maximum number of waiting appends; further callers wait to enqueue theirs.
const WAITING: usize = 4 * BATCH;

/// Those of these rows that another transaction has locked.
const LOCKED: &str = "WITH free AS (
        SELECT id FROM discussions WHERE id = ANY ($1) FOR NO KEY UPDATE SKIP LOCKED
    )
    SELECT id FROM discussions WHERE id = ANY ($1) AND id NOT IN (SELECT id FROM free)";

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
        place
            .runtime
            .clone()
            .spawn(write_all(waiting, Session { place, pool, connection: None, locked: HashSet::new() }));
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
    /// Discussions whose rows another transaction had locked when they were last written to.
    locked: HashSet<Uuid>,
}

impl Session {
    async fn write(&mut self, batch: Vec<Request>) {
        let is_locked = |it: &Request| self.locked.contains(&it.append.id);
        let batch = if batch.iter().any(is_locked) { self.put_off_locked(batch).await } else { batch };
        if batch.is_empty() {
            return;
        }
        let mut written = self.try_write(&batch).await;
        if written.as_ref().is_err_and(JobError::is_conflict) {
            written = self.try_write(&batch).await;
        }
        match written {
            Ok(stored) => answer(batch, &stored),
            // One append failed the whole batch; written alone, only that one fails.
            Err(error) if error.is_of_the_job() && batch.len() > 1 => self.write_each(batch).await,
            Err(error) if error.is_lock_timeout() => {
                let all = batch.len();
                let free = self.put_off_locked(batch).await;
                // Those that could not be written, although nobody has locked them now, wait alone.
                if free.len() < all {
                    Box::pin(self.write(free)).await;
                } else if 1 < all {
                    self.write_each(free).await;
                } else {
                    self.refuse(free, error);
                }
            }
            Err(error) => self.refuse(batch, error),
        }
    }

    async fn write_each(&mut self, batch: Vec<Request>) {
        for request in batch {
            Box::pin(self.write(vec![request])).await;
        }
    }

    fn refuse(&self, batch: Vec<Request>, error: JobError) {
        let error = error.into_store_error(&self.place.address.to_string());
        batch.into_iter().for_each(|it| drop(it.reply.send(Err(error.clone()))));
    }

    /// Refuses the appends to discussions whose rows another transaction has locked, and returns
    /// the others, which need not wait for it.
    async fn put_off_locked(&mut self, batch: Vec<Request>) -> Vec<Request> {
        let rows: Vec<Uuid> = batch.iter().flat_map(|it| it.append.rows()).collect();
        let locked = match self.query(LOCKED, &[&rows]).await {
            Ok(found) => found.iter().map(|row| row.get(0)).collect::<HashSet<Uuid>>(),
            Err(error) => {
                self.refuse(batch, error);
                return Vec::new();
            }
        };
        let waits = |it: &Request| it.append.rows().iter().any(|row| locked.contains(row));
        let (waiting, free): (Vec<_>, Vec<_>) = batch.into_iter().partition(waits);
        for request in &free {
            self.locked.remove(&request.append.id);
        }
        for Request { append, reply } in waiting {
            self.locked.insert(append.id);
            let (id, database) = (append.id, &self.place.address);
            let message =
                format!("another transaction of the database {database} has locked discussion {id}");
            drop(reply.send(Err(StoreError::Unavailable(message))));
        }
        free
    }

    /// Returns which of the batch were stored.
    async fn try_write(&mut self, batch: &[Request]) -> Result<HashSet<i32>, JobError> {
        let columns = Columns::of(batch.iter().map(|it| &it.append));
        let rows = self.query(SQL, &columns.parameters()).await?;
        self.place.counts.batch();
        Ok(rows.iter().map(|row| row.get(0)).collect())
    }

    /// Runs a statement. The connection is kept after an error that may pass, because a server that
    /// is in trouble may refuse a new one.
    async fn query(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<Vec<Row>, JobError> {
        let mut connection = match self.connection.take().filter(Connection::is_usable) {
            Some(connection) => connection,
            None => self.open().await?,
        };
        let rows = connection.query(sql, parameters).await;
        self.connection = Some(connection);
        rows
    }

    async fn open(&self) -> Result<Connection, JobError> {
        let opened = Connection::open(&self.place).await;
        if opened.as_ref().is_err_and(JobError::is_crowded) {
            self.pool.give_way();
        }
        let mut connection = opened?;
        // Planning this statement takes longer than running it, and its plan is always the same. A
        // row that another transaction has locked must not delay all others for long.
        connection.batch("SET plan_cache_mode = force_generic_plan; SET lock_timeout = '1s'").await?;
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
