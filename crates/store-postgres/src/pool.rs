//! A few connections for everything but appends, and one of their own for heartbeats.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

use quorum_core::seams::StoreError;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{
    connection::{Connection, Place},
    error::JobError,
};

/// How long a free connection is waited for.
const WAIT: Duration = Duration::from_secs(10);

/// After how long a pool that gave connections up tries to have one more.
const GROW: Duration = Duration::from_secs(30);

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
    shared: Arc<Shared>,
    /// Where a connection comes from if this pool has none.
    other: Option<Box<Pool>>,
}

struct Shared {
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
    size: Mutex<Size>,
}

/// How many connections the pool may have.
struct Size {
    most: usize,
    now: usize,
    /// How many of those in use are closed when their jobs are done.
    owed: usize,
    /// When it was last made smaller or larger, unless it has its full size since the beginning.
    changed: Option<Instant>,
}

impl Pool {
    pub(crate) fn new(place: Place, connections: usize) -> Self {
        let most = connections.max(1);
        let size = Mutex::new(Size { most, now: most, owed: 0, changed: None });
        let places = Arc::new(Semaphore::new(most));
        Pool { place, shared: Arc::new(Shared { idle: Mutex::default(), places, size }), other: None }
    }

    /// A pool with connections besides those of this one, for jobs that must not wait for others.
    /// It uses those of this pool while the server has no more.
    pub(crate) fn besides(&self, connections: usize) -> Pool {
        Pool { other: Some(Box::new(self.clone())), ..Pool::new(self.place.clone(), connections) }
    }

    /// The error as a message for the user.
    pub(crate) fn explain(&self, error: JobError) -> StoreError {
        error.into_store_error(&self.place.address.to_string())
    }

    /// A connection for one job. A job may use one connection only: with two, jobs could wait for
    /// each other.
    pub(crate) async fn lease(&self) -> Result<Lease, JobError> {
        let Some(other) = &self.other else { return self.own_lease().await };
        self.shared.grow();
        let Ok(place) = self.shared.places.clone().try_acquire_owned() else {
            return other.own_lease().await;
        };
        match self.connect().await {
            Ok(connection) => Ok(self.lend(connection, place)),
            Err(error) if error.is_crowded() && self.shared.give_up(place, 0) => other.own_lease().await,
            Err(error) => Err(error),
        }
    }

    async fn own_lease(&self) -> Result<Lease, JobError> {
        self.shared.grow();
        loop {
            let place = self.free_place().await?;
            match self.connect().await {
                Ok(connection) => return Ok(self.lend(connection, place)),
                // The server has no more for it, so it makes do with those that it has.
                Err(error) if error.is_crowded() && self.shared.give_up(place, 1) => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// A connection that is idle, or a new one. One that broke while it was idle is replaced.
    async fn connect(&self) -> Result<Connection, JobError> {
        let idle = std::iter::from_fn(|| lock(&self.shared.idle).pop()).find(Connection::is_usable);
        match idle {
            Some(connection) => Ok(connection),
            None => Connection::open(&self.place).await,
        }
    }

    fn lend(&self, connection: Connection, place: OwnedSemaphorePermit) -> Lease {
        Lease { connection: Some(connection), place: Some(place), shared: self.shared.clone() }
    }

    async fn free_place(&self) -> Result<OwnedSemaphorePermit, JobError> {
        // A task of the store's runtime waits, because the timer must be that runtime's.
        let places = self.shared.places.clone();
        let waiting = async move { tokio::time::timeout(WAIT, places.acquire_owned()).await.ok()?.ok() };
        let free = match self.shared.places.clone().try_acquire_owned() {
            Ok(free) => Some(free),
            Err(_) => {
                self.place.counts.pool_wait();
                self.place.runtime.spawn(waiting).await.ok().flatten()
            }
        };
        free.ok_or_else(|| {
            let message =
                format!("all connections to the database {} are in use; try again", self.place.address);
            StoreError::Unavailable(message).into()
        })
    }

    /// Closes a connection now or after its job, because the server has none for the writer or the
    /// listener. Of this pool and the other one, the last one stays.
    pub(crate) fn give_way(&self) {
        let is_given = self.other.as_ref().is_some_and(|it| it.close_one(1));
        if !is_given {
            self.close_one(usize::from(self.other.is_none()));
        }
    }

    /// Closes a connection, unless that leaves fewer than `least`; says whether it does.
    fn close_one(&self, least: usize) -> bool {
        let mut size = lock(&self.shared.size);
        if size.now <= size.owed + least {
            return false;
        }
        match self.shared.places.clone().try_acquire_owned() {
            Ok(place) => {
                place.forget();
                size.now -= 1;
                drop(lock(&self.shared.idle).pop());
            }
            Err(_) => size.owed += 1,
        }
        size.changed = Some(Instant::now());
        true
    }
}

impl Shared {
    /// Does without this place, unless that leaves fewer than `least`; says whether it does.
    fn give_up(&self, place: OwnedSemaphorePermit, least: usize) -> bool {
        let mut size = lock(&self.size);
        if size.now <= size.owed + least {
            return false;
        }
        place.forget();
        (size.now, size.changed) = (size.now - 1, Some(Instant::now()));
        true
    }

    /// Allows one connection more, a while after one was given up.
    fn grow(&self) {
        let mut size = lock(&self.size);
        if size.now < size.most && size.changed.is_some_and(|it| GROW < it.elapsed()) {
            (size.now, size.changed) = (size.now + 1, Some(Instant::now()));
            self.places.add_permits(1);
        }
    }

    /// Whether a connection whose job is done is to be closed.
    fn is_owed(&self) -> bool {
        let mut size = lock(&self.size);
        let is_owed = 0 < size.owed;
        if is_owed {
            (size.now, size.owed) = (size.now - 1, size.owed - 1);
        }
        is_owed
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A connection that goes back to the pool.
pub(crate) struct Lease {
    connection: Option<Connection>,
    place: Option<OwnedSemaphorePermit>,
    shared: Arc<Shared>,
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
        let connection = self.connection.take();
        if self.shared.is_owed() {
            self.place.take().into_iter().for_each(OwnedSemaphorePermit::forget);
        } else if let Some(connection) = connection.filter(Connection::is_usable) {
            lock(&self.shared.idle).push(connection);
        }
    }
}
