//! One connection to the database, with its prepared statements.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use tokio::runtime::Handle;
use tokio_postgres::{Client, Row, Statement, types::ToSql};

use crate::{address::Address, error::JobError, figures::Counts};

/// Where a store connects to, and the runtime its connections live in. The store has one of its
/// own, so that it doesn't matter where, and by which clock, its callers run.
#[derive(Clone)]
pub(crate) struct Place {
    pub(crate) address: Address,
    pub(crate) runtime: Handle,
    pub(crate) counts: Arc<Counts>,
}

/// How long an answer is waited for. A statement ends earlier by the server's own limit, so this is
/// for a network that swallows everything.
const ANSWER: Duration = Duration::from_secs(15);

pub(crate) type Parameters<'a> = &'a [&'a (dyn ToSql + Sync)];

pub(crate) struct Connection {
    client: Client,
    runtime: Handle,
    /// How long an answer is waited for.
    pub(crate) patience: Duration,
    statements: HashMap<String, Statement>,
    /// Set while an answer is outstanding or a transaction is open: a connection that is dropped in
    /// this state can't be used again.
    is_busy: bool,
    /// Set when its server refused to write. Another host may be the one to write to by now, and
    /// only a new connection finds it.
    is_read_only: bool,
}

impl Connection {
    /// Connects; a task drives the connection until it is dropped.
    pub(crate) async fn open(place: &Place) -> Result<Self, JobError> {
        let address = place.address.clone();
        let opened = place.runtime.spawn(async move {
            let (client, connection) = address.connect().await?;
            // Its end is noticed by the client.
            tokio::spawn(async move { drop(connection.await) });
            Ok::<_, JobError>(client)
        });
        match opened.await {
            Ok(client) => Ok(Connection::of(client?, place)),
            Err(_) => Err(JobError::Silent),
        }
    }

    /// A connection that somebody else drives.
    pub(crate) fn of(client: Client, place: &Place) -> Self {
        let (statements, is_busy, is_read_only) = (HashMap::new(), false, false);
        let (runtime, patience) = (place.runtime.clone(), ANSWER);
        Connection { client, runtime, patience, statements, is_busy, is_read_only }
    }

    /// Whether it can be used for something else.
    pub(crate) fn is_usable(&self) -> bool {
        !self.is_busy && !self.is_read_only && !self.client.is_closed()
    }

    /// Notes what the outcome of a statement means for the connection.
    fn note<T>(&mut self, was_busy: bool, done: &Result<T, JobError>) {
        self.is_busy = was_busy || is_silent(done);
        self.is_read_only |= done.as_ref().is_err_and(JobError::is_read_only);
    }

    pub(crate) async fn query(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Vec<Row>, JobError> {
        let was_busy = std::mem::replace(&mut self.is_busy, true);
        let statement = self.prepared(sql, was_busy).await?;
        let rows = in_time(&self.runtime, self.patience, self.client.query(&statement, parameters)).await;
        self.note(was_busy, &rows);
        rows
    }

    /// The same without a limit, for a query that reads whole tables. The server's own limit must
    /// have been lifted.
    pub(crate) async fn query_slowly(&mut self, sql: &str) -> Result<Vec<Row>, JobError> {
        let was_busy = std::mem::replace(&mut self.is_busy, true);
        let rows = self.client.query(sql, &[]).await.map_err(JobError::Database);
        self.is_busy = was_busy;
        rows
    }

    pub(crate) async fn query_opt(
        &mut self,
        sql: &str,
        parameters: Parameters<'_>,
    ) -> Result<Option<Row>, JobError> {
        Ok(self.query(sql, parameters).await?.into_iter().next())
    }

    /// Runs a statement that writes.
    pub(crate) async fn execute(&mut self, sql: &str, parameters: Parameters<'_>) -> Result<u64, JobError> {
        let was_busy = std::mem::replace(&mut self.is_busy, true);
        let statement = self.prepared(sql, was_busy).await?;
        let changed =
            in_time(&self.runtime, self.patience, self.client.execute(&statement, parameters)).await;
        self.note(was_busy, &changed);
        // A transaction that was not committed has written nothing.
        if was_busy { changed } else { changed.map_err(JobError::of_a_write) }
    }

    /// Runs statements without parameters.
    pub(crate) async fn batch(&mut self, sql: &str) -> Result<(), JobError> {
        let was_busy = std::mem::replace(&mut self.is_busy, true);
        let done = in_time(&self.runtime, self.patience, self.client.batch_execute(sql)).await;
        self.note(was_busy, &done);
        done
    }

    /// The same without a limit, for a change of whole tables. The server's own limit must have
    /// been lifted.
    pub(crate) async fn batch_slowly(&mut self, sql: &str) -> Result<(), JobError> {
        let was_busy = std::mem::replace(&mut self.is_busy, true);
        let done = self.client.batch_execute(sql).await.map_err(JobError::Database);
        self.is_busy = was_busy;
        done
    }

    /// Begins a transaction.
    pub(crate) async fn begin(&mut self) -> Result<(), JobError> {
        self.batch("BEGIN").await?;
        self.is_busy = true;
        Ok(())
    }

    /// Ends a transaction: commits if its work succeeded, and undoes it if not.
    pub(crate) async fn end<T>(&mut self, done: Result<T, JobError>) -> Result<T, JobError> {
        let end = if done.is_ok() { "COMMIT" } else { "ROLLBACK" };
        let ended = self.close(end).await;
        done.and_then(|value| ended.map(|()| value).map_err(JobError::of_a_write))
    }

    /// Ends a transaction and undoes it.
    pub(crate) async fn undo(&mut self) -> Result<(), JobError> {
        self.close("ROLLBACK").await
    }

    async fn close(&mut self, end: &str) -> Result<(), JobError> {
        let ended = in_time(&self.runtime, self.patience, self.client.batch_execute(end)).await;
        self.is_busy = ended.is_err();
        ended
    }

    async fn prepared(&mut self, sql: &str, was_busy: bool) -> Result<Statement, JobError> {
        if let Some(statement) = self.statements.get(sql) {
            return Ok(statement.clone());
        }
        let prepared = in_time(&self.runtime, self.patience, self.client.prepare(sql)).await;
        self.is_busy = was_busy || prepared.is_ok() || is_silent(&prepared);
        let statement = prepared?;
        self.statements.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// Whether no answer came in time. Such a connection may never answer again, so it is not used for
/// anything else.
fn is_silent<T>(done: &Result<T, JobError>) -> bool {
    matches!(done, Err(JobError::Silent))
}

async fn in_time<T>(
    runtime: &Handle,
    limit: Duration,
    work: impl Future<Output = Result<T, tokio_postgres::Error>>,
) -> Result<T, JobError> {
    let limit = Timer(runtime.spawn(tokio::time::sleep(limit)));
    futures::pin_mut!(work, limit);
    match futures::future::select(work, limit).await {
        futures::future::Either::Left((done, _)) => done.map_err(JobError::Database),
        futures::future::Either::Right(_) => Err(JobError::Silent),
    }
}

/// A timer that ends when it is dropped.
struct Timer(tokio::task::JoinHandle<()>);

impl Future for Timer {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        Pin::new(&mut self.0).poll(cx).map(drop)
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.0.abort();
    }
}

#[cfg(test)]
mod tests {
    use quorum_testkit::postgres::Database;

    use super::*;

    /// It said that nothing was written, although the answer only came too late.
    #[tokio::test]
    async fn a_write_without_an_answer_may_have_been_done() {
        let database = Database::fresh();
        let address = Address::parse(&database.url()).unwrap();
        let place = Place { address, runtime: Handle::current(), counts: Arc::default() };
        let told = |done: Result<u64, JobError>| done.map_err(|it| it.into_store_error("panel").to_string());
        let mut connection = Connection::open(&place).await.unwrap();
        connection.prepared("SELECT pg_sleep(20)", false).await.unwrap();
        connection.is_busy = false;
        connection.patience = Duration::from_millis(50);
        let alone = told(connection.execute("SELECT pg_sleep(20)", &[]).await);
        let uncertain = "the database panel doesn't answer; it is not known whether it was written; look before \
                         repeating it";
        assert_eq!(alone, Err(uncertain.to_owned()));
        assert!(!connection.is_usable());

        let mut connection = Connection::open(&place).await.unwrap();
        connection.begin().await.unwrap();
        connection.prepared("SELECT pg_sleep(20)", true).await.unwrap();
        connection.patience = Duration::from_millis(50);
        let in_transaction = told(connection.execute("SELECT pg_sleep(20)", &[]).await);
        assert_eq!(in_transaction, Err("the database panel doesn't answer".to_owned()));
        let committed = told(connection.end(Ok(0)).await);
        assert_eq!(committed, Err(uncertain.to_owned()));
    }
}
