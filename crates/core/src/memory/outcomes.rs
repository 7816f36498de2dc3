//! Outcomes in memory.

use std::collections::BTreeSet;

use crate::{
    memory::MemoryStore,
    model::id::DiscussionId,
    seams::{KnownOutcome, OutcomesWanted, StoreError},
};

impl MemoryStore {
    pub(super) fn resolve_one(&self, outcome: KnownOutcome) -> Result<(), StoreError> {
        let mut contents = self.lock();
        if !contents.discussions.contains_key(&outcome.discussion) {
            return Err(StoreError::Unknown(outcome.discussion));
        }
        contents.outcomes.push(outcome);
        Ok(())
    }

    pub(super) fn known_outcomes(&self, wanted: &OutcomesWanted) -> Vec<KnownOutcome> {
        let contents = self.lock();
        let mut seen = BTreeSet::new();
        let newest = contents.outcomes.iter().rev();
        let of_tenant = newest.filter(|it| it.tenant == wanted.tenant && it.simulated == wanted.simulated);
        of_tenant.filter(|it| seen.insert(it.discussion)).take(wanted.limit).cloned().collect()
    }

    pub(super) fn all_outcomes_of(&self, id: DiscussionId) -> Vec<KnownOutcome> {
        self.lock().outcomes.iter().filter(|it| it.discussion == id).cloned().collect()
    }
}
