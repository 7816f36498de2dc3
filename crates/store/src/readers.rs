//! Reading, off the threads that run discussions and never in the writer's way.

use std::{
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

use quorum_core::seams::StoreError;
use rusqlite::Connection;
use tokio::sync::Semaphore;

use crate::{
    connection::{self, Access, Options},
    error::Trouble,
};

/// How many read at the same time; the disk gets no faster by more.
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

    /// Looks something up.
    pub(crate) async fn read<T, F>(&self, work: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: FnOnce(&Connection) -> Result<T, Trouble> + Send + 'static,
    {
        let inner = self.0.clone();
        let place = inner.places.clone().acquire_owned().await;
        let looked_up = tokio::task::spawn_blocking(move || {
            let _place = place;
            inner.look_up(work).map_err(|trouble| trouble.about(&inner.file))
        });
        let gone = |_| StoreError::Unavailable("the program is ending; nothing is read any more".to_owned());
        looked_up.await.map_err(gone)?
    }
}

impl Inner {
    fn look_up<T>(&self, work: impl FnOnce(&Connection) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let connection =
            idle.map_or_else(|| connection::to_read(&self.file, &self.options, self.access), Ok)?;
        let found = work(&connection);
        // One that broke is not used again.
        if !matches!(found, Err(Trouble::Broken(_))) {
            self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(connection);
        }
        found
    }
}
