//! The pool of reading connections, used on blocking threads so that reads delay neither
//! discussions nor the writer.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use quorum_core::seams::StoreError;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::{
    connection::{self, Access, Options},
    error::JobError,
};

/// The number of parallel reads; the disk is no faster with more.
const READERS: usize = 4;

#[derive(Clone)]
pub(crate) struct Readers(Arc<Inner>);

struct Inner {
    file: PathBuf,
    options: Options,
    access: Access,
    idle: Mutex<Vec<Connection>>,
    places: Arc<Semaphore>,
}

impl Readers {
    pub(crate) fn new(file: PathBuf, options: Options, access: Access) -> Self {
        let (idle, places) = (Mutex::default(), Arc::new(Semaphore::new(READERS)));
        Readers(Arc::new(Inner { file, options, access, idle, places }))
    }

    /// Runs a read on a blocking thread.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, JobError> + Send + 'static,
    {
        let inner = self.0.clone();
        let place = inner.places.clone().acquire_owned().await;
        let looked_up = tokio::task::spawn_blocking(move || {
            let _place = place;
            inner.look_up(work).map_err(|error| error.into_store_error(&inner.file))
        });
        let gone = |_| StoreError::Unavailable("the program is ending; no more reads".to_owned());
        looked_up.await.map_err(gone)?
    }
}

impl Inner {
    fn look_up<T>(&self, work: impl FnOnce(&Connection) -> Result<T, JobError>) -> Result<T, JobError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection =
            idle.map_or_else(|| connection::to_read(&self.file, &self.options, self.access), Ok)?;
        let found = work(&connection);
        // A connection that failed is not reused.
        if !matches!(found, Err(JobError::Database(_))) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        found
    }
}
