//! A few connections for everything but appends.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use quorum_core::seams::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    connection::{Connection, Place},
    error::JobError,
};

/// How long a free connection is waited for.
const WAIT: Duration = Duration::from_secs(10);

/// Runs a job with a connection of the pool. A macro, because a future that borrows its connection
/// and the arguments of its caller can't be described as a parameter that may be sent to another
/// thread.
macro_rules! run {
    ($pool:expr, $connection:ident, $job:expr) => {{
        let pool = &$pool;
        let done = match pool.lease().await {
            Ok(mut lease) => {
                let $connection: &mut crate::connection::Connection = &mut lease;
                $job.await
            }
            Err(error) => Err(error),
        };
        done.map_err(|error: crate::error::JobError| pool.explain(error))
    }};
}

/// Runs a job in one transaction, and once more if another one was preferred to it.
macro_rules! transact {
    ($pool:expr, $connection:ident, $job:expr) => {{
        let pool = &$pool;
        let mut tries = 0;
        loop {
            let done = match pool.lease().await {
                Ok(mut lease) => {
                    let $connection: &mut crate::connection::Connection = &mut lease;
                    match $connection.begin().await {
                        Ok(()) => {
                            let done = $job.await;
                            $connection.end(done).await
                        }
                        Err(error) => Err(error),
                    }
                }
                Err(error) => Err(error),
            };
            tries += 1;
            match done {
                Err(error) if error.is_conflict() && tries < 2 => {}
                done => break done.map_err(|error: crate::error::JobError| pool.explain(error)),
            }
        }
    }};
}

pub(crate) use {run, transact};

#[derive(Clone)]
pub(crate) struct Pool {
    place: Place,
    idle: Arc<Mutex<Vec<Connection>>>,
    places: Arc<Semaphore>,
}

impl Pool {
    pub(crate) fn new(place: Place, connections: usize) -> Self {
        Pool { place, idle: Arc::default(), places: Arc::new(Semaphore::new(connections.max(1))) }
    }

    /// The error as a message for the user.
    pub(crate) fn explain(&self, error: JobError) -> StoreError {
        error.into_store_error(&self.place.address.to_string())
    }

    /// A connection for one job. A job may use one connection only: with two, jobs could wait for
    /// each other.
    pub(crate) async fn lease(&self) -> Result<Lease, JobError> {
        // A task of the store's runtime waits, because the timer must be that runtime's.
        let places = self.places.clone();
        let waiting = async move { tokio::time::timeout(WAIT, places.acquire_owned()).await.ok()?.ok() };
        let free = match self.places.clone().try_acquire_owned() {
            Ok(free) => Some(free),
            Err(_) => {
                self.place.counts.pool_wait();
                self.place.runtime.spawn(waiting).await.ok().flatten()
            }
        };
        let Some(place) = free else {
            let message =
                format!("all connections to the database {} are in use; try again", self.place.address);
            return Err(StoreError::Unavailable(message).into());
        };
        // A connection that broke while nobody used it is replaced.
        let idle = std::iter::from_fn(|| self.lock().pop()).find(Connection::is_usable);
        let connection = match idle {
            Some(connection) => connection,
            None => Connection::open(&self.place).await?,
        };
        Ok(Lease { connection: Some(connection), idle: self.idle.clone(), _place: place })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection that goes back to the pool.
pub(crate) struct Lease {
    connection: Option<Connection>,
    idle: Arc<Mutex<Vec<Connection>>>,
    _place: OwnedSemaphorePermit,
}

const TAKEN: &str = "a lease has its connection until it is dropped";

#[expect(clippy::expect_used, reason = "only drop takes the connection")]
impl Deref for Lease {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection.as_ref().expect(TAKEN)
    }
}

#[expect(clippy::expect_used, reason = "only drop takes the connection")]
impl DerefMut for Lease {
    fn deref_mut(&mut self) -> &mut Connection {
        self.connection.as_mut().expect(TAKEN)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(connection) = self.connection.take().filter(Connection::is_usable) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
    }
}
