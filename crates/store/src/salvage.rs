//! Salvage: brings what can be read of a damaged database into a new one. The damaged one is only read.
//!
//! A record is saved up to its first fact that can't be read: facts follow from those before them. A
//! discussion that lost its end is parked, so that nothing runs, and nothing is paid, before somebody
//! resumes it.

mod damaged;

use std::{collections::BTreeMap, path::Path};

use quorum_core::{
    model::{
        command::CommandId,
        event::{Event, Fact},
        id::{DiscussionId, Seq},
        spec::Spec,
    },
    seams::{Append, Archive, Claim, Session, Store, StoreError, Then},
};

use crate::{SqliteStore, salvage::damaged::Damaged};

/// How many facts are written at once.
const AT_ONCE: usize = 500;

/// Long enough to write one discussion.
const LEASE_MS: u64 = 3_600_000;

/// Later than every command: nothing that was sent wakes a discussion that is saved.
const ANY_COMMAND: CommandId = CommandId(i64::MAX as u64);

/// What was saved and what was lost. Sub-discussions count, too.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Discussions that are in the new database.
    pub discussions: u64,
    /// How many of them lack facts at their end.
    pub cut_short: u64,
    /// Discussions of which not even the beginning could be read.
    pub lost_discussions: u64,
    /// Facts that are in the new database.
    pub facts: u64,
    /// Facts that are known to have been there and are not in the new database.
    pub lost_facts: u64,
}

/// Writes what can be read of the damaged database into a new file, which must not be there yet.
pub async fn salvage(damaged: &Path, new: &Path) -> Result<Salvaged, StoreError> {
    if new.exists() {
        let name = new.display();
        return Err(StoreError::Unusable(format!("{name} is there already; move it away, then try again")));
    }
    let (found, damaged) = in_background(Damaged::open(damaged)?, Damaged::survey).await?;
    let store = SqliteStore::open(new)?;
    for session in found.sessions {
        store.create_session(session).await?;
    }
    for entry in found.audit {
        store.log(entry).await?;
    }
    let mut salvage = Salvage { store, damaged: Some(damaged), saved: Salvaged::default() };
    let families = salvage.families(found.discussions).await?;
    for family in families.into_values() {
        salvage.save_family(family).await?;
    }
    Ok(salvage.saved)
}

/// Reading takes long, and must not hold up the thread that asks for it.
async fn in_background<T: Send + 'static>(
    damaged: Damaged,
    work: impl FnOnce(&Damaged) -> T + Send + 'static,
) -> Result<(T, Damaged), StoreError> {
    let done = tokio::task::spawn_blocking(move || (work(&damaged), damaged));
    let gone = |_| StoreError::Unavailable("the program is ending; nothing is saved any more".to_owned());
    done.await.map_err(gone)
}

/// A discussion in the damaged database.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Lead {
    id: DiscussionId,
    /// The rows of its facts, by number.
    rows: BTreeMap<u64, i64>,
    /// The highest number that was seen anywhere.
    last: u64,
}

impl Lead {
    fn new(id: DiscussionId) -> Self {
        Lead { id, rows: BTreeMap::new(), last: 0 }
    }

    /// A fact of this number was there, in this row where it can be reached.
    fn add(&mut self, seq: u64, row: Option<i64>) {
        self.last = self.last.max(seq);
        self.rows.extend(row.map(|row| (seq, row)));
    }
}

/// A root and the discussions below it, in the order they were begun.
#[derive(Default)]
struct Family {
    root: Option<Lead>,
    below: Vec<Lead>,
}

struct Salvage {
    store: SqliteStore,
    /// `None` only while it is being read.
    damaged: Option<Damaged>,
    saved: Salvaged,
}

impl Salvage {
    /// Which discussions belong together. What has no readable beginning is lost.
    async fn families(&mut self, leads: Vec<Lead>) -> Result<BTreeMap<DiscussionId, Family>, StoreError> {
        let mut families: BTreeMap<DiscussionId, Family> = BTreeMap::new();
        for lead in leads {
            match self.facts(&lead, 1).await?.first().map(|fact| &fact.event) {
                Some(Event::Opened { lineage: Some(lineage), .. }) => {
                    families.entry(lineage.root).or_default().below.push(lead);
                }
                Some(Event::Opened { lineage: None, .. }) => {
                    let family = families.entry(lead.id).or_default();
                    family.root = Some(lead);
                }
                Some(_) | None => self.lose(&lead),
            }
        }
        Ok(families)
    }

    /// The facts from the first on, as many as can be read without a gap, at most `limit`.
    async fn facts(&mut self, lead: &Lead, limit: usize) -> Result<Vec<Fact>, StoreError> {
        let Some(damaged) = self.damaged.take() else { return Ok(Vec::new()) };
        let unbroken = lead.rows.iter().zip(1..).take_while(|((seq, _), number)| *seq == number);
        let rows: Vec<i64> = unbroken.map(|((_, row), _)| *row).take(limit).collect();
        let id = lead.id;
        let (facts, damaged) = in_background(damaged, move |damaged| damaged.facts(id, &rows)).await?;
        self.damaged = Some(damaged);
        Ok(facts)
    }

    /// Saves a root with everything below it, which is written under its claim.
    async fn save_family(&mut self, family: Family) -> Result<(), StoreError> {
        let Some(root) = family.root else {
            family.below.iter().for_each(|lead| self.lose(lead));
            return Ok(());
        };
        let facts = self.facts(&root, usize::MAX).await?;
        let Some(claim) = self.begin(&root, &facts).await? else {
            [&root].into_iter().chain(&family.below).for_each(|lead| self.lose(lead));
            return Ok(());
        };
        for lead in &family.below {
            let below = self.facts(lead, usize::MAX).await?;
            match self.store.create(lead.id, below.iter().take(1).cloned().collect()).await {
                Ok(_) => self.append(&claim, lead, &below, Then::Continue).await?,
                Err(StoreError::UnknownSession(_)) => self.lose(lead),
                Err(error) => return Err(error),
            }
        }
        self.append(&claim, &root, &facts, Then::Park { seen: ANY_COMMAND }).await?;
        // Facts that end a discussion end it here, too, and leave the claim.
        self.store.release(claim).await
    }

    /// Puts a root there; `None` where another has its id.
    async fn begin(&self, root: &Lead, facts: &[Fact]) -> Result<Option<Claim>, StoreError> {
        let Some(Fact { event: Event::Opened { spec, .. }, at, .. }) = facts.first() else { return Ok(None) };
        if let Some(id) = spec.session {
            let Spec { tenant, .. } = &**spec;
            // One that is there stays as it is.
            let name = "recovered".to_owned();
            self.store.create_session(Session { id, name, created_at: *at, tenant: tenant.clone() }).await?;
        }
        self.store.begin(root.id, vec![facts[0].clone()], "salvage", LEASE_MS).await
    }

    /// Writes the facts after the first, and counts all of them.
    async fn append(
        &mut self,
        claim: &Claim,
        lead: &Lead,
        facts: &[Fact],
        then: Then,
    ) -> Result<(), StoreError> {
        let mut expected = Seq(1);
        // What becomes of the claim is said last, without facts: there may be none.
        let chunks = facts.get(1..).unwrap_or_default().chunks(AT_ONCE).map(|facts| (facts, Then::Continue));
        for (facts, then) in chunks.chain([(&facts[..0], then)]) {
            let (claim, facts) = (claim.clone(), facts.to_vec().into());
            match self.store.append(Append { claim, id: lead.id, expected, facts, then }).await {
                Ok(last) => expected = last,
                // It ended with the facts before; what comes after its end is no part of it.
                Err(StoreError::Over(_)) => break,
                Err(error) => return Err(error),
            }
        }
        let lost = lead.last.saturating_sub(expected.0);
        self.saved.discussions += 1;
        self.saved.cut_short += u64::from(lost > 0);
        self.saved.facts += expected.0;
        self.saved.lost_facts += lost;
        Ok(())
    }

    fn lose(&mut self, lead: &Lead) {
        self.saved.lost_discussions += 1;
        self.saved.lost_facts += lead.last;
    }
}
