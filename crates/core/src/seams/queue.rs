//! The queue of discussions that no node runs: what may be claimed, by which node, and when.

use crate::model::{
    id::{NodeId, Tenant},
    participant::Participant,
    spec::Spec,
};

use super::{Claim, StoreError};

/// How many runs in a row may end without progress before a discussion is put aside as stuck.
pub const MOST_ATTEMPTS: u32 = 8;

/// The longest wait before a discussion may be claimed: longer ones are errors of a clock.
pub const LONGEST_WAIT_MS: u64 = 10 * 60_000;

const FIRST_BACKOFF_MS: u64 = 1_000;
const LONGEST_BACKOFF_MS: u64 = 5 * 60_000;

/// The wait after this many runs in a row without progress: 1 s, 3 s, 9 s … 5 min.
#[must_use]
pub fn backoff_ms(attempts: u32) -> u64 {
    let doubled = 3_u64.saturating_pow(attempts.saturating_sub(1));
    FIRST_BACKOFF_MS.saturating_mul(doubled).min(LONGEST_BACKOFF_MS)
}

/// How an order waits for a node.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Queueing {
    /// How long only a claim by its id may take it; at most [`LONGEST_WAIT_MS`].
    pub ready_in_ms: u64,
    /// How many orders of its tenant may wait at the same time; `None` means any number.
    pub most: Option<u64>,
}

/// The node that begins a discussion, and how many its tenant may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Runner {
    /// The node.
    pub node: NodeId,
    /// How many discussions of one tenant may run on all nodes together; `None` means any number.
    pub most_of_tenant: Option<u64>,
}

impl From<NodeId> for Runner {
    fn from(node: NodeId) -> Self {
        Runner { node, most_of_tenant: None }
    }
}

impl Runner {
    /// Fails if this many discussions of the tenant run and no more may.
    pub fn check_room(&self, running: u64) -> Result<(), StoreError> {
        match self.most_of_tenant.filter(|most| *most <= running) {
            Some(most) => Err(StoreError::TenantFull { running, most }),
            None => Ok(()),
        }
    }
}

/// A request of a node for discussions to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClaimRequest {
    /// The node.
    pub node: NodeId,
    /// How many it takes at most.
    pub max: usize,
    /// What it can run.
    pub able: Abilities,
    /// How many discussions of one tenant may run on all nodes together; `None` means any number.
    pub most_of_tenant: Option<u64>,
}

impl ClaimRequest {
    /// A request for anything.
    #[must_use]
    pub fn any(node: NodeId, max: usize) -> Self {
        ClaimRequest { node, max, able: Abilities::default(), most_of_tenant: None }
    }
}

/// What a node can run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Abilities {
    /// The patterns and their flow versions; `None` means any.
    pub patterns: Option<Vec<(String, u32)>>,
    /// The providers; `None` means any.
    pub providers: Option<Vec<String>>,
}

impl Abilities {
    /// Whether it can run a discussion of this pattern and flow version with these providers.
    #[must_use]
    pub fn include(&self, pattern: &str, flow: u32, needs: &[String]) -> bool {
        let knows = |all: &Vec<(String, u32)>| all.iter().any(|it| it.0 == pattern && it.1 == flow);
        let has = |all: &Vec<String>| needs.iter().all(|it| all.contains(it));
        self.patterns.as_ref().is_none_or(knows) && self.providers.as_ref().is_none_or(has)
    }
}

/// The providers without which a discussion can't go on. An agent may speak through any of several,
/// so it needs none in particular.
#[must_use]
pub fn needs(spec: &Spec) -> Vec<String> {
    let is_needed = |it: &&Participant| spec.simulation.is_none() && !it.is_person() && it.agent.is_none();
    let mut names: Vec<String> =
        spec.participants.iter().filter(is_needed).map(|it| it.provider.clone()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A discussion that a node was given to run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Taken {
    /// The claim.
    pub claim: Claim,
    /// Whose discussion it is.
    pub tenant: Tenant,
    /// Whether it was run before, by a node that died.
    pub is_takeover: bool,
}

/// Why a claim is given up, and when other nodes may claim the discussion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Release {
    /// At once: another node is to go on.
    Now,
    /// After this many milliseconds, at most [`LONGEST_WAIT_MS`]: until then only a claim by its id
    /// takes it.
    After(u64),
    /// The run failed. If it added no fact, others wait for [`backoff_ms`], and after
    /// [`MOST_ATTEMPTS`] such runs in a row it is put aside as stuck, until a command arrives or it
    /// is claimed by its id.
    Failed,
}

/// Whether a discussion is run, and by what it is held up if it isn't.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunStatus {
    /// It waits for a node.
    Queued,
    /// A node runs it.
    Running,
    /// It waits for a person.
    Waiting,
    /// It was put aside: every run failed without progress.
    Stuck,
    /// It is over.
    Over,
}

impl RunStatus {
    /// Every status.
    pub const ALL: [RunStatus; 5] =
        [RunStatus::Queued, RunStatus::Running, RunStatus::Waiting, RunStatus::Stuck, RunStatus::Over];

    /// The name in lists.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            RunStatus::Queued => "queued",
            RunStatus::Running => "running",
            RunStatus::Waiting => "waiting",
            RunStatus::Stuck => "stuck",
            RunStatus::Over => "over",
        }
    }
}

/// The queue in figures.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Backlog {
    /// How many discussions wait for a node.
    pub queued: u64,
    /// How long the oldest of them has waited since it could be claimed.
    pub oldest_ms: u64,
    /// How many a node runs.
    pub running: u64,
    /// How many were put aside.
    pub stuck: u64,
}

/// Fails if this many orders of a tenant wait and no more may.
pub fn check_room(waiting: u64, queueing: &Queueing) -> Result<(), StoreError> {
    match queueing.most.filter(|most| waiting >= *most) {
        Some(most) => Err(StoreError::QueueFull { waiting, most }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_wait_grows_from_a_second_to_five_minutes() {
        let waits: Vec<u64> = (0..=MOST_ATTEMPTS).map(|it| backoff_ms(it) / 1_000).collect();
        assert_eq!(waits, [1, 1, 3, 9, 27, 81, 243, 300, 300]);
        assert_eq!(backoff_ms(u32::MAX), LONGEST_BACKOFF_MS);
    }

    #[test]
    fn a_node_is_able_if_it_has_the_flow_and_every_provider() {
        let able = Abilities {
            patterns: Some(vec![("debate".to_owned(), 2)]),
            providers: Some(vec!["claude".to_owned()]),
        };
        let check = |pattern, flow, needs: &[&str], expected| {
            let needs: Vec<String> = needs.iter().map(|it| (*it).to_owned()).collect();
            assert_eq!(able.include(pattern, flow, &needs), expected, "{pattern} {flow} {needs:?}");
            assert!(Abilities::default().include(pattern, flow, &needs));
        };
        check("debate", 2, &["claude"], true);
        check("debate", 2, &[], true);
        check("debate", 1, &["claude"], false);
        check("delphi", 2, &["claude"], false);
        check("debate", 2, &["claude", "gemini"], false);
    }
}
