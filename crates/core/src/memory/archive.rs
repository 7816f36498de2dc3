//! Listing and searching discussions in memory.

use std::{cmp::Reverse, collections::BTreeSet};

use futures::future::BoxFuture;

use crate::{
    memory::{Discussion, MemoryStore},
    model::{
        id::{DiscussionId, Tenant},
        time::Timestamp,
    },
    seams::{
        Archive, AuditEntry, Expired, MemoryQuery, NewMemory, Remembered, Reservation, Retention, Session,
        StoreError, Summary, Wanted,
    },
};

/// The weights of a word in the topic, in the synthesis and in the turns.
const WEIGHTS: [f64; 3] = [10.0, 5.0, 1.0];

impl Archive for MemoryStore {
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            Ok(listed(contents.discussions.values().filter(|it| it.hidden_at.is_none()), &wanted))
        })
    }

    fn search(&self, given: &str, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        let given: BTreeSet<String> = words(given).into_iter().collect();
        Box::pin(async move {
            let contents = self.lock();
            let is_listed = |it: &&Discussion| it.is_root() && it.hidden_at.is_none() && it.matches(&wanted);
            let roots: Vec<_> = contents.discussions.values().filter(is_listed).collect();
            let pages: Vec<[Vec<String>; 3]> = roots.iter().map(|it| it.words()).collect();
            let scores = scores(&pages, &given);
            let limit = if wanted.limit == 0 { usize::MAX } else { wanted.limit };
            let mut found: Vec<_> = roots.into_iter().zip(scores).filter(|(_, score)| *score > 0.0).collect();
            found.sort_by(|one, other| other.1.total_cmp(&one.1));
            Ok(found.into_iter().take(limit).map(|(it, _)| it.summary()).collect())
        })
    }

    fn expire(&self, retention: Retention) -> BoxFuture<'_, Result<Expired, StoreError>> {
        Box::pin(async move { Ok(self.lock().expire(retention)) })
    }

    fn hidden(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            Ok(listed(contents.discussions.values().filter(|it| it.hidden_at.is_some()), &wanted))
        })
    }

    fn remember(&self, new: NewMemory) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move { Ok(self.keep(new)) })
    }

    fn remembered(
        &self,
        tenant: Tenant,
        query: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<Remembered>, StoreError>> {
        Box::pin(async move { Ok(self.kept(&tenant, &query)) })
    }

    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.lock().restore(id, now) })
    }

    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let discussion = contents.root(id)?;
            if let Some(holder) = discussion.holder.as_ref().filter(|_| discussion.is_held()) {
                return Err(StoreError::Held { id, owner: holder.owner.clone() });
            }
            contents.remove(&BTreeSet::from([id]));
            Ok(())
        })
    }

    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let is_same = |it: &&Reservation| it.tenant == wanted.tenant && it.key == wanted.key;
            if let Some(standing) = contents.reservations.iter().find(is_same) {
                return Ok(standing.clone());
            }
            contents.reservations.push(wanted.clone());
            Ok(wanted)
        })
    }

    fn log(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().audit_entries.push(entry);
            Ok(())
        })
    }

    fn audit_entries(
        &self,
        tenant: Tenant,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<AuditEntry>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let audit_entries = contents.audit_entries.iter().rev().filter(|it| it.tenant == tenant);
            Ok(audit_entries.take(limit).cloned().collect())
        })
    }

    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            if !contents.sessions.iter().any(|it| it.id == session.id) {
                contents.sessions.push(session);
            }
            Ok(())
        })
    }

    fn sessions(&self) -> BoxFuture<'_, Result<Vec<Session>, StoreError>> {
        Box::pin(async move {
            let mut sessions = self.lock().sessions.clone();
            sessions.sort_by_key(|it| Reverse((it.created_at, it.id)));
            Ok(sessions)
        })
    }
}

/// The summaries of the discussions that match the filter, newest first.
fn listed<'d>(discussions: impl Iterator<Item = &'d Discussion>, wanted: &Wanted) -> Vec<Summary> {
    let roots = discussions.filter(|it| it.is_root() && it.matches(wanted));
    let mut found: Vec<Summary> = roots.map(Discussion::summary).collect();
    found.retain(|it| wanted.session.is_none() || it.session == wanted.session);
    found.retain(|it| wanted.prefix.as_ref().is_none_or(|prefix| it.id.to_string().starts_with(prefix)));
    found.sort_by_key(|it| Reverse((it.opened_at, it.id)));
    found.truncate(if wanted.limit == 0 { usize::MAX } else { wanted.limit });
    found
}

impl Discussion {
    fn matches(&self, wanted: &Wanted) -> bool {
        wanted.tenant.as_ref().is_none_or(|tenant| self.state.spec.tenant == *tenant)
    }

    pub(super) fn summary(&self) -> Summary {
        let state = &self.state;
        let has_ended = state.lifecycle.is_terminal();
        let success = state.conclusion.as_ref().map(|it| it.success);
        Summary {
            id: state.id,
            topic: state.spec.topic.clone(),
            pattern: state.spec.pattern.clone(),
            status: state.lifecycle,
            opened_at: state.opened_at,
            ended_at: state.transitions.last().filter(|_| has_ended).map(|it| it.at),
            success: success.or_else(|| state.failed.as_ref().map(|_| false)),
            synthesis: state.decision.as_ref().map(|it| it.synthesis.clone()),
            simulated: state.spec.simulation.is_some(),
            session: state.spec.session,
        }
    }

    /// The words of the topic, of the synthesis and of the turns.
    fn words(&self) -> [Vec<String>; 3] {
        let synthesis = self.state.decision.as_ref().map_or("", |it| it.synthesis.as_str());
        let said = self.state.turns.iter().flat_map(|turn| words(&turn.text)).collect();
        [words(&self.state.spec.topic), words(synthesis), said]
    }
}

fn words(text: &str) -> Vec<String> {
    text.split(|sign: char| !sign.is_alphanumeric())
        .filter(|it| !it.is_empty())
        .map(str::to_lowercase)
        .collect()
}

/// The relevance of each discussion: how often the words occur, with rare words counting more.
fn scores(pages: &[[Vec<String>; 3]], wanted: &BTreeSet<String>) -> Vec<f64> {
    let mut scores = vec![0.0; pages.len()];
    for word in wanted {
        let counts: Vec<f64> = pages.iter().map(|page| weighed_count(page, word)).collect();
        let with_it = counts.iter().filter(|count| **count > 0.0).count();
        let rarity = (1.0 + pages.len() as f64 / with_it.max(1) as f64).ln();
        scores.iter_mut().zip(counts).for_each(|(score, count)| *score += count * rarity);
    }
    scores
}

fn weighed_count(page: &[Vec<String>; 3], wanted: &str) -> f64 {
    let count = |words: &[String]| words.iter().filter(|word| word.starts_with(wanted)).count() as f64;
    page.iter().zip(WEIGHTS).map(|(words, weight)| count(words) * weight).sum()
}
