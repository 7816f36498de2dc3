//! Salvage: copies what can be read of a damaged database into a new one. The damaged one is only
//! read.
//!
//! A record is recovered up to its first unreadable fact, because facts depend on earlier ones. A
//! discussion that lost its end is parked, so that nothing runs and costs money before somebody
//! resumes it.

mod damaged;

use std::{collections::BTreeMap, path::Path};

use quorum_core::{
    model::{
        command::CommandId,
        event::{Event, Fact},
        id::{DiscussionId, NodeId, Seq},
        spec::Spec,
    },
    seams::{Append, Archive, Claim, Node, Nodes, Release, Session, Store, StoreError, Then},
};

use crate::{SqliteStore, salvage::damaged::Damaged};

/// How many facts are written per append.
const BATCH: usize = 500;

/// Later than every command, so that no old command wakes a recovered discussion.
const ANY_COMMAND: CommandId = CommandId(i64::MAX as u64);

/// What was recovered and what was lost, including sub-discussions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Salvaged {
    /// Discussions in the new database.
    pub discussions: u64,
    /// How many of them lack facts at their end.
    pub cut_short: u64,
    /// Discussions whose first fact couldn't be read.
    pub lost_discussions: u64,
    /// Facts in the new database.
    pub facts: u64,
    /// Facts that are known to have existed and are not in the new database.
    pub lost_facts: u64,
}

/// Copies what can be read of the damaged database into a new file, which must not exist yet.
pub async fn salvage(damaged: &Path, new: &Path) -> Result<Salvaged, StoreError> {
    if new.exists() {
        let name = new.display();
        return Err(StoreError::Unusable(format!("{name} exists already; move it away, then try again")));
    }
    let (found, damaged) = in_background(Damaged::open(damaged)?, Damaged::survey).await?;
    let store = SqliteStore::open(new)?;
    for session in found.sessions {
        store.create_session(session).await?;
    }
    for entry in found.audit {
        store.log(entry).await?;
    }
    let node = Node::fresh("salvage");
    store.join(node.clone()).await?;
    let mut salvage = Salvage { store, node: node.id, damaged: Some(damaged), saved: Salvaged::default() };
    let trees = salvage.trees(found.discussions).await?;
    for tree in trees.into_values() {
        salvage.save_tree(tree).await?;
    }
    for outcome in found.outcomes {
        match salvage.store.resolve(outcome).await {
            // Its discussion is lost.
            Err(StoreError::Unknown(_)) => {}
            done => done?,
        }
    }
    Ok(salvage.saved)
}

/// Runs a read on a blocking thread, because it takes long.
async fn in_background<T: Send + 'static>(
    damaged: Damaged,
    work: impl FnOnce(&Damaged) -> T + Send + 'static,
) -> Result<(T, Damaged), StoreError> {
    let done = tokio::task::spawn_blocking(move || (work(&damaged), damaged));
    let gone = |_| StoreError::Unavailable("the program is ending; nothing more is recovered".to_owned());
    done.await.map_err(gone)
}

/// A discussion found in the damaged database.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FoundDiscussion {
    id: DiscussionId,
    /// The rows of its facts, by fact number.
    rows: BTreeMap<u64, i64>,
    /// The highest fact number seen anywhere.
    last: u64,
}

impl FoundDiscussion {
    fn new(id: DiscussionId) -> Self {
        FoundDiscussion { id, rows: BTreeMap::new(), last: 0 }
    }

    /// Records that a fact with this number existed, and its row if that can be read.
    fn add(&mut self, seq: u64, row: Option<i64>) {
        self.last = self.last.max(seq);
        self.rows.extend(row.map(|row| (seq, row)));
    }
}

/// A root and the discussions below it, in the order they were started.
#[derive(Default)]
struct Tree {
    root: Option<FoundDiscussion>,
    below: Vec<FoundDiscussion>,
}

struct Salvage {
    store: SqliteStore,
    node: NodeId,
    /// `None` only during a read.
    damaged: Option<Damaged>,
    saved: Salvaged,
}

impl Salvage {
    /// Groups discussions by root. Those without a readable first fact are lost.
    async fn trees(
        &mut self,
        discussions: Vec<FoundDiscussion>,
    ) -> Result<BTreeMap<DiscussionId, Tree>, StoreError> {
        let mut trees: BTreeMap<DiscussionId, Tree> = BTreeMap::new();
        for discussion in discussions {
            match self.facts(&discussion, 1).await?.first().map(|fact| &fact.event) {
                Some(Event::Opened { lineage: Some(lineage), .. }) => {
                    trees.entry(lineage.root).or_default().below.push(discussion);
                }
                Some(Event::Opened { lineage: None, .. }) => {
                    let tree = trees.entry(discussion.id).or_default();
                    tree.root = Some(discussion);
                }
                Some(_) | None => self.count_lost(&discussion),
            }
        }
        Ok(trees)
    }

    /// The facts from the first one on, as many as can be read without a gap, at most `limit`.
    async fn facts(&mut self, discussion: &FoundDiscussion, limit: usize) -> Result<Vec<Fact>, StoreError> {
        let Some(damaged) = self.damaged.take() else { return Ok(Vec::new()) };
        let unbroken = discussion.rows.iter().zip(1..).take_while(|((seq, _), number)| *seq == number);
        let rows: Vec<i64> = unbroken.map(|((_, row), _)| *row).take(limit).collect();
        let id = discussion.id;
        let (facts, damaged) = in_background(damaged, move |damaged| damaged.facts(id, &rows)).await?;
        self.damaged = Some(damaged);
        Ok(facts)
    }

    /// Recovers a root and everything below it, which is written under the root's claim.
    async fn save_tree(&mut self, tree: Tree) -> Result<(), StoreError> {
        let Some(root) = tree.root else {
            tree.below.iter().for_each(|discussion| self.count_lost(discussion));
            return Ok(());
        };
        let facts = self.facts(&root, usize::MAX).await?;
        let Some(claim) = self.begin(&root, &facts).await? else {
            [&root].into_iter().chain(&tree.below).for_each(|discussion| self.count_lost(discussion));
            return Ok(());
        };
        for discussion in &tree.below {
            let below = self.facts(discussion, usize::MAX).await?;
            match self.store.create(discussion.id, below.iter().take(1).cloned().collect()).await {
                Ok(_) => self.append(&claim, discussion, &below, Then::Continue).await?,
                Err(StoreError::UnknownSession(_)) => self.count_lost(discussion),
                Err(error) => return Err(error),
            }
        }
        self.append(&claim, &root, &facts, Then::Park { seen: ANY_COMMAND }).await?;
        // If the facts end the discussion, the claim is still there.
        self.store.release(claim, Release::Now).await
    }

    /// Creates a root; `None` if the id exists already.
    async fn begin(&self, root: &FoundDiscussion, facts: &[Fact]) -> Result<Option<Claim>, StoreError> {
        let Some(Fact { event: Event::Opened { spec, .. }, at, .. }) = facts.first() else { return Ok(None) };
        if let Some(id) = spec.session {
            let Spec { tenant, .. } = &**spec;
            // An existing session is not changed.
            let name = "recovered".to_owned();
            self.store.create_session(Session { id, name, created_at: *at, tenant: tenant.clone() }).await?;
        }
        self.store.begin(root.id, vec![facts[0].clone()], self.node.into()).await
    }

    /// Writes the facts after the first, and counts all of them.
    async fn append(
        &mut self,
        claim: &Claim,
        discussion: &FoundDiscussion,
        facts: &[Fact],
        then: Then,
    ) -> Result<(), StoreError> {
        let mut expected = Seq(1);
        // The claim's end is a separate append without facts, because there may be no facts.
        let chunks = facts.get(1..).unwrap_or_default().chunks(BATCH).map(|facts| (facts, Then::Continue));
        for (facts, then) in chunks.chain([(&facts[..0], then)]) {
            let (claim, facts) = (claim.clone(), facts.to_vec().into());
            let append = Append { claim, id: discussion.id, expected, facts, then, digest: None };
            match self.store.append(append).await {
                Ok(last) => expected = last,
                // The facts so far ended the discussion; anything after its end doesn't belong to
                // it.
                Err(StoreError::Over(_)) => break,
                Err(error) => return Err(error),
            }
        }
        let lost = discussion.last.saturating_sub(expected.0);
        self.saved.discussions += 1;
        self.saved.cut_short += u64::from(lost > 0);
        self.saved.facts += expected.0;
        self.saved.lost_facts += lost;
        Ok(())
    }

    fn count_lost(&mut self, discussion: &FoundDiscussion) {
        self.saved.lost_discussions += 1;
        self.saved.lost_facts += discussion.last;
    }
}
