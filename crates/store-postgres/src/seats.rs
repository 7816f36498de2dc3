//! A cache of each discussion's seats, which the tables of requirement C need with every turn.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use quorum_core::{
    model::{event::Event, id::DiscussionId, seed_rows::Seats},
    seams::StoreError,
};
use uuid::Uuid;

use crate::{
    connection::Connection,
    error::{JobError, unreadable},
};

/// The maximum number of cached discussions.
const DISCUSSIONS: usize = 4_096;

#[derive(Default)]
pub(crate) struct SeatsCache(Mutex<HashMap<DiscussionId, Arc<Seats>>>);

impl SeatsCache {
    pub(crate) fn get(&self, id: DiscussionId) -> Option<Arc<Seats>> {
        self.lock().get(&id).cloned()
    }

    pub(crate) fn put(&self, id: DiscussionId, seats: Arc<Seats>) {
        let mut cache = self.lock();
        if DISCUSSIONS <= cache.len() {
            cache.clear();
        }
        cache.insert(id, seats);
    }

    /// Drops a discussion, because nothing more is written to it.
    pub(crate) fn remove(&self, id: DiscussionId) {
        self.lock().remove(&id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<DiscussionId, Arc<Seats>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Reads the seats from the first fact.
pub(crate) async fn read(connection: &mut Connection, id: DiscussionId) -> Result<Seats, JobError> {
    let sql = "SELECT body FROM facts JOIN discussions ON number = discussion WHERE id = $1 AND seq = 1";
    let row = connection.query_opt(sql, &[&Uuid::from(id)]).await?.ok_or(StoreError::Unknown(id))?;
    let event: Event =
        serde_json::from_str(row.get(0)).map_err(|error| unreadable(id, "the first fact", error))?;
    Ok(Seats::of(&event))
}
