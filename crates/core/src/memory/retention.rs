//! Retention in memory: hiding, removing and restoring discussions.

use std::collections::BTreeSet;

use crate::{
    memory::{Contents, Discussion},
    model::{id::DiscussionId, time::Timestamp},
    seams::{Cutoffs, Expired, Retention, SLICE, StoreError},
};

impl Contents {
    pub(super) fn expire(&mut self, retention: Retention) -> Expired {
        let Some(newest) = self.newest_fact() else { return Expired::default() };
        let cutoffs = match retention.measure(newest) {
            Ok(cutoffs) => cutoffs,
            Err(leap) => return Expired { leap: Some(leap), ..Expired::default() },
        };
        self.correct_marks(&cutoffs);
        let reappeared = self.show_again(&cutoffs);
        let removed = self.purge(&cutoffs);
        let hidden = self.hide(&cutoffs);
        self.audit_entries.retain(|(_, it)| it.at >= cutoffs.logged_before);
        let more = [hidden, removed].contains(&(SLICE as u64));
        Expired { hidden, removed, reappeared, leap: None, more }
    }

    /// The time of the fact that was written last.
    fn newest_fact(&self) -> Option<Timestamp> {
        let last = self.discussions.values().max_by_key(|it| it.written)?;
        last.facts.last().map(|fact| fact.at)
    }

    fn show_again(&mut self, cutoffs: &Cutoffs) -> u64 {
        let is_young =
            |it: &&mut Discussion| it.hidden_at.is_some() && !it.is_older_than(cutoffs.ended_before);
        let young = self.discussions.values_mut().filter(is_young);
        young.map(|it| it.hidden_at = None).count() as u64
    }

    /// Restarts the grace period of discussions that a wrong clock hid in the future.
    fn correct_marks(&mut self, cutoffs: &Cutoffs) {
        let marks = self.discussions.values_mut().filter_map(|it| it.hidden_at.as_mut());
        marks.filter(|at| **at > cutoffs.latest_mark()).for_each(|at| *at = cutoffs.now);
    }

    fn purge(&mut self, cutoffs: &Cutoffs) -> u64 {
        let is_due =
            |it: &&Discussion| !it.is_held() && it.hidden_at.is_some_and(|at| at <= cutoffs.hidden_before);
        let due = self.discussions.values().filter(is_due).take(SLICE);
        let due: BTreeSet<_> = due.map(|it| it.state.id).collect();
        self.remove(&due);
        due.len() as u64
    }

    fn hide(&mut self, cutoffs: &Cutoffs) -> u64 {
        let is_old = |it: &&mut Discussion| {
            it.is_root() && it.hidden_at.is_none() && !it.is_held() && it.is_older_than(cutoffs.ended_before)
        };
        let old = self.discussions.values_mut().filter(is_old).take(SLICE);
        old.map(|it| it.hidden_at = Some(cutoffs.now)).count() as u64
    }

    /// Removes these roots and everything below them.
    pub(super) fn remove(&mut self, roots: &BTreeSet<DiscussionId>) {
        roots.iter().for_each(|id| self.settle_from_record(*id));
        self.discussions.retain(|_, it| !roots.contains(&it.root_id()));
        self.reservations.retain(|it| !roots.contains(&it.id));
        self.outcomes.retain(|it| !roots.contains(&it.discussion));
    }

    pub(super) fn restore(&mut self, id: DiscussionId, now: Timestamp) -> Result<(), StoreError> {
        let discussion = self.root(id)?;
        (discussion.hidden_at, discussion.restored_at) = (None, Some(now));
        Ok(())
    }
}

impl Discussion {
    fn is_older_than(&self, moment: Timestamp) -> bool {
        let ended_at = self.summary().ended_at;
        ended_at.is_some_and(|at| at < moment) && self.restored_at.is_none_or(|at| at < moment)
    }
}
