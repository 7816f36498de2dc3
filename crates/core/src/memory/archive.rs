//! Listing and searching discussions in memory.

use std::{cmp::Reverse, collections::BTreeSet};

use futures::future::BoxFuture;
use uuid::Uuid;

use crate::{
    memory::{Discussion, MemoryStore},
    model::{
        id::{DiscussionId, Tenant},
        relevance::{Match, Rules, WEIGHTS, Weighted, bm25, key, looked_up, ranked, terms},
        time::Timestamp,
    },
    seams::{
        Archive, AuditEntry, AuditWanted, Backlog, Cursor, Expired, Found, KnownOutcome, MemoryQuery,
        NewMemory, OutcomesWanted, Query, Recalling, Remembered, Reservation, Retention, Session,
        SessionsWanted, StoreError, Summary, Wanted,
    },
};

/// How many audit entries are kept. Databases keep all of them for the retention time; here they
/// would fill the memory of a program that runs for long.
const MOST_AUDIT_ENTRIES: usize = 10_000;

impl Archive for MemoryStore {
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            Ok(listed(contents.discussions.values().filter(|it| it.hidden_at.is_none()), &wanted))
        })
    }

    fn find(&self, query: Query, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Found>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let is_wanted =
                |it: &&Discussion| it.matches(&wanted) && it.could_be_found(query.recalling.as_ref());
            let roots: Vec<&Discussion> = contents.discussions.values().filter(is_wanted).collect();
            let limit = if wanted.limit == 0 { usize::MAX } else { wanted.limit };
            let found = found(&roots, &query).into_iter().take(limit);
            Ok(found.map(|(it, score)| Found { summary: it.summary(), score }).collect())
        })
    }

    fn copies(&self, of: DiscussionId) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let source = contents.discussions.get(&of).ok_or(StoreError::Unknown(of))?;
            let has_copy = |it: &&Discussion| {
                let spec = &it.state.spec;
                spec.tenant == source.state.spec.tenant && spec.shown().iter().any(|shown| shown.id == of)
            };
            Ok(listed(contents.discussions.values().filter(has_copy), &Wanted::default()))
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
        Box::pin(async move { Ok(self.store_value(new)) })
    }

    fn remembered(
        &self,
        tenant: Tenant,
        query: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<Remembered>, StoreError>> {
        Box::pin(async move { Ok(self.kept(&tenant, &query)) })
    }

    fn resolve(&self, outcome: KnownOutcome) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.resolve_one(outcome) })
    }

    fn outcomes(&self, wanted: OutcomesWanted) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(async move { Ok(self.known_outcomes(&wanted)) })
    }

    fn outcomes_of(&self, id: DiscussionId) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(async move { Ok(self.all_outcomes_of(id)) })
    }

    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.lock().restore(id, now) })
    }

    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let discussion = contents.root(id)?;
            if let Some(holder) = discussion.holder {
                return Err(StoreError::Held { id, owner: contents.node_name(holder) });
            }
            contents.remove(&BTreeSet::from([id]));
            Ok(())
        })
    }

    fn rename(&self, id: DiscussionId, title: Option<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().root(id)?.title = title;
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
            let mut contents = self.lock();
            contents.audited += 1;
            let number = contents.audited;
            contents.audit_entries.push_back((number, entry));
            let surplus = contents.audit_entries.len().saturating_sub(MOST_AUDIT_ENTRIES);
            contents.audit_entries.drain(..surplus);
            Ok(())
        })
    }

    fn audit_entries(
        &self,
        wanted: AuditWanted,
    ) -> BoxFuture<'_, Result<Vec<(u64, AuditEntry)>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let is_wanted = |(number, entry): &&(u64, AuditEntry)| {
                entry.tenant == wanted.tenant && wanted.before.is_none_or(|before| *number < before)
            };
            Ok(contents.audit_entries.iter().rev().filter(is_wanted).take(wanted.limit).cloned().collect())
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

    fn rename_session(
        &self,
        tenant: Tenant,
        id: Uuid,
        name: String,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let mut own = contents.sessions.iter_mut().filter(|it| it.tenant == tenant);
            own.find(|it| it.id == id).ok_or(StoreError::UnknownSession(id))?.name = name;
            Ok(())
        })
    }

    fn remove_session(&self, tenant: Tenant, id: Uuid) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let is_meant = |it: &Session| it.id == id && it.tenant == tenant;
            let place = contents.sessions.iter().position(is_meant);
            let place = place.ok_or(StoreError::UnknownSession(id))?;
            let roots = contents.discussions.values().filter(|it| it.is_root());
            let discussions = roots.filter(|it| it.state.spec.session == Some(id)).count() as u64;
            if 0 < discussions {
                return Err(StoreError::SessionInUse { id, discussions });
            }
            contents.sessions.remove(place);
            Ok(())
        })
    }

    fn backlog(&self, tenant: Option<Tenant>) -> BoxFuture<'_, Result<Backlog, StoreError>> {
        Box::pin(async move { Ok(self.lock().backlog(tenant.as_ref())) })
    }

    fn sessions(&self, wanted: SessionsWanted) -> BoxFuture<'_, Result<Vec<Session>, StoreError>> {
        Box::pin(async move {
            let SessionsWanted { tenant, limit, after, called } = wanted;
            let mut sessions = self.lock().sessions.clone();
            let is_called =
                |it: &Session, called: &String| it.name == *called || it.id.to_string() == *called;
            sessions.retain(|it| {
                it.tenant == tenant
                    && after.is_none_or(|after| (it.created_at, it.id) < after)
                    && called.as_ref().is_none_or(|called| is_called(it, called))
            });
            sessions.sort_by_key(|it| Reverse((it.created_at, it.id)));
            sessions.truncate(if limit == 0 { usize::MAX } else { limit });
            Ok(sessions)
        })
    }
}

/// The summaries of the discussions that match the filter, newest first.
fn listed<'d>(discussions: impl Iterator<Item = &'d Discussion>, wanted: &Wanted) -> Vec<Summary> {
    let roots = discussions.filter(|it| it.is_root() && it.matches(wanted));
    let mut found: Vec<Summary> = roots.map(Discussion::summary).collect();
    found.retain(|it| wanted.prefix.as_ref().is_none_or(|prefix| it.id.to_string().starts_with(prefix)));
    let place = |it: &Summary| Cursor { opened_at: it.opened_at, id: it.id };
    found.retain(|it| wanted.after.is_none_or(|after| place(it) < after));
    found.retain(|it| !wanted.unfinished || !it.status.is_terminal());
    found.sort_by_key(|it| Reverse(place(it)));
    found.truncate(if wanted.limit == 0 { usize::MAX } else { wanted.limit });
    found
}

impl Discussion {
    fn matches(&self, wanted: &Wanted) -> bool {
        let spec = &self.state.spec;
        wanted.tenant.as_ref().is_none_or(|tenant| spec.tenant == *tenant)
            && (wanted.session.is_none() || spec.session == wanted.session)
    }

    fn could_be_found(&self, recalling: Option<&Recalling>) -> bool {
        let succeeded = || self.state.conclusion.as_ref().is_some_and(|it| it.success);
        let could_be_recalled = |it: &Recalling| {
            let is_simulated = self.state.spec.simulation.is_some();
            succeeded() && is_simulated == it.simulated && !it.except.contains(&self.state.id)
        };
        self.is_root() && self.hidden_at.is_none() && recalling.is_none_or(could_be_recalled)
    }

    pub(super) fn summary(&self) -> Summary {
        let state = &self.state;
        let has_ended = state.lifecycle.is_terminal();
        let success = state.conclusion.as_ref().map(|it| it.success);
        Summary {
            id: state.id,
            topic: state.spec.topic.clone(),
            title: self.title.clone(),
            pattern: state.spec.pattern.clone(),
            status: state.lifecycle,
            opened_at: state.opened_at,
            ended_at: state.transitions.last().filter(|_| has_ended).map(|it| it.at),
            success: success.or_else(|| state.failed.as_ref().map(|_| false)),
            synthesis: state.decision.as_ref().map(|it| it.synthesis.clone()),
            simulated: state.spec.simulation.is_some(),
            session: state.spec.session,
            run: self.run_status(),
            digest: Some(self.digest.clone()),
        }
    }

    /// The words of the topic, of the synthesis and of the turns.
    fn words(&self) -> [Vec<String>; 3] {
        let synthesis = self.state.decision.as_ref().map_or("", |it| it.synthesis.as_str());
        let said = self.state.turns.iter().flat_map(|turn| terms(&turn.text)).collect();
        [terms(&self.state.spec.topic).collect(), terms(synthesis).collect(), said]
    }
}

/// The discussions that match, best first.
fn found<'d>(roots: &[&'d Discussion], query: &Query) -> Vec<(&'d Discussion, f64)> {
    let pages: Vec<[Vec<String>; 3]> = roots.iter().map(|it| it.words()).collect();
    let has = |page: &[Vec<String>; 3], word: &String| {
        let matched_in = if query.recalling.is_some() { &page[..2] } else { &page[..] };
        matched_in.iter().any(|words| words.contains(word))
    };
    let count = |word: &String| pages.iter().filter(|page| has(page, word)).count();
    let counts: Vec<usize> = query.words.iter().map(count).collect();
    let are_looked_up = looked_up(&counts, pages.len());
    let words: Vec<&String> =
        query.words.iter().zip(are_looked_up).filter(|it| it.1).map(|it| it.0).collect();
    let weighted: Vec<Weighted> = pages.iter().map(|page| weighted(page, &words)).collect();
    let scored = roots.iter().zip(&pages).zip(bm25(&weighted));
    let matches = scored.filter_map(|((it, page), relevance)| {
        let same_topic = query.recalling.as_ref().is_some_and(|by| by.key == key(&it.state.spec.topic));
        let words = words.iter().filter(|word| has(page, word)).count();
        let ended_at = it.state.transitions.last().map_or(it.state.opened_at, |it| it.at);
        (same_topic || words > 0).then_some(Match { of: *it, words, relevance, same_topic, ended_at })
    });
    let rules = Rules { words: words.len(), recalled_at: query.recalling.as_ref().map(|it| it.at) };
    ranked(matches.collect(), rules)
}

fn weighted(page: &[Vec<String>; 3], words: &[&String]) -> Weighted {
    let count = |words: &[String], wanted: &String| words.iter().filter(|it| *it == wanted).count() as f64;
    let weight = |word: &&String| page.iter().zip(WEIGHTS).map(|(it, weight)| count(it, word) * weight).sum();
    Weighted {
        length: page.iter().map(Vec::len).sum::<usize>() as f64,
        words: words.iter().map(weight).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn f15_the_audit_log_in_memory_grew_without_end() {
        let (store, tenant) = (MemoryStore::default(), Tenant::default());
        for number in 0..MOST_AUDIT_ENTRIES + 10 {
            let (who, action, result) = ("ann".to_owned(), format!("{number}"), String::new());
            let discussion = crate::model::id::DiscussionId::fresh();
            let at = Timestamp(0);
            store
                .log(AuditEntry { at, tenant: tenant.clone(), who, action, discussion, result })
                .await
                .unwrap();
        }
        let wanted = AuditWanted { tenant, limit: usize::MAX, ..AuditWanted::default() };
        let entries = store.audit_entries(wanted).await.unwrap();
        let (newest, oldest) = (entries.first().unwrap(), entries.last().unwrap());
        assert_eq!(entries.len(), MOST_AUDIT_ENTRIES);
        assert_eq!([&newest.1.action, &oldest.1.action], ["10009", "10"]);
    }
}
