//! Identifiers: of a discussion, a node, a tenant, a fact, a step.

use std::{fmt, str::FromStr, sync::Arc};

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::model::phase::{DECIDING, FIRST, REDRAW};

/// A discussion's id. Always a UUIDv7, so ids sort by creation time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct DiscussionId(Uuid);

impl DiscussionId {
    /// A new id from the current time and random bits.
    #[must_use]
    pub fn fresh() -> Self {
        DiscussionId(Uuid::now_v7())
    }

    /// The id of something that belongs to this discussion, such as a sub-discussion or a turn. The
    /// same name always gives the same id, so a restart finds what it started. The result keeps the
    /// parent's timestamp and the UUIDv7 format.
    #[must_use]
    pub fn derived(self, name: &str) -> Self {
        let hashed = Uuid::new_v5(&self.0, name.as_bytes());
        let mut bytes = *hashed.as_bytes();
        bytes[..6].copy_from_slice(&self.0.as_bytes()[..6]);
        bytes[6] = 0x70 | (bytes[6] & 0x0f);
        DiscussionId(Uuid::from_bytes(bytes))
    }
}

impl From<DiscussionId> for Uuid {
    fn from(id: DiscussionId) -> Uuid {
        id.0
    }
}

impl From<Uuid> for DiscussionId {
    fn from(id: Uuid) -> Self {
        DiscussionId(id)
    }
}

impl fmt::Display for DiscussionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for DiscussionId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(DiscussionId)
    }
}

/// The id of a node: a process that runs discussions, from its start to its end. A process that was
/// considered dead continues under a new one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NodeId(Uuid);

impl NodeId {
    /// A new id that no other node has.
    #[must_use]
    pub fn fresh() -> Self {
        NodeId(Uuid::new_v4())
    }

    /// The id that follows from this name, for tests that play one process twice.
    #[must_use]
    pub fn named(name: &str) -> Self {
        NodeId(Uuid::new_v5(&Uuid::NAMESPACE_OID, name.as_bytes()))
    }
}

impl From<NodeId> for Uuid {
    fn from(id: NodeId) -> Uuid {
        id.0
    }
}

impl From<Uuid> for NodeId {
    fn from(id: Uuid) -> Self {
        NodeId(id)
    }
}

impl fmt::Display for NodeId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl FromStr for NodeId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::parse_str(text).map(NodeId)
    }
}

/// The owner of a discussion, where several share one server. The local user has no name.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tenant(String);

impl Tenant {
    /// The tenant of that name.
    #[must_use]
    pub fn named(name: &str) -> Self {
        Tenant(name.to_owned())
    }

    /// The name; empty for the local user.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Whether it is the local user.
    #[must_use]
    pub fn is_own(&self) -> bool {
        self.0.is_empty()
    }
}

/// A fact's number in its discussion; the first is 1.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seq(pub u64);

impl Seq {
    /// Before the first fact.
    pub const START: Seq = Seq(0);

    /// The number after this one.
    #[must_use]
    pub fn next(self) -> Seq {
        Seq(self.0 + 1)
    }
}

impl fmt::Display for Seq {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The first part of a summary's step, in place of the round.
const SUMMARY: &str = "summary";

/// The phase part of a comparison's step.
const COMPARING: &str = "comparing";

/// The beginning of a job's step.
const JOB: &str = "0/working/";

/// The name of one effect, the same on every replay: `round/phase/participant[/purpose]`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Step(Arc<str>);

impl Step {
    /// The step in this phase of this round; `what` is a participant or an action.
    #[must_use]
    pub fn new(round: u32, phase: &str, what: &str) -> Self {
        // A participant may be called `claude/opus`; its slash must not look like a purpose.
        Step(format!("{round}/{phase}/{}", what.replace('/', ":")).into())
    }

    /// The step of a participant's first answer, whatever the pattern and the round that it counts
    /// for: a fork with another pattern finds the same answer under the same name.
    #[must_use]
    pub fn first(who: &str) -> Self {
        Step::new(0, FIRST, who)
    }

    /// The same step with a further purpose: `remind1`, `strict`, `sub1`, `after1`.
    #[must_use]
    pub fn purpose(&self, purpose: &str) -> Self {
        Step(format!("{}/{purpose}", self.0).into())
    }

    /// The step of a summary of the first `turns` turns. It belongs to no participant and no round.
    #[must_use]
    pub fn summary(turns: usize) -> Self {
        Step(format!("{SUMMARY}/{turns}").into())
    }

    /// The step at which the speeches of a round are compared with earlier ones.
    #[must_use]
    pub fn comparison(round: u32) -> Self {
        // No participant's name begins with a star.
        Step(format!("{round}/{COMPARING}/*").into())
    }

    /// The step of a job: a discussion or a tool that the pattern calls by this name.
    #[must_use]
    pub fn job(name: &str) -> Self {
        Step(format!("{JOB}{name}").into())
    }

    /// The name of the job whose step this is.
    #[must_use]
    pub fn job_name(&self) -> Option<&str> {
        self.0.strip_prefix(JOB)
    }

    /// Whether this step is a side call (a summary or a comparison) rather than a participant's
    /// turn.
    #[must_use]
    pub fn is_aside(&self) -> bool {
        self.is_summary() || self.0.split('/').nth(1) == Some(COMPARING)
    }

    /// Whether this is the step of a summary.
    #[must_use]
    pub fn is_summary(&self) -> bool {
        self.0.split('/').next() == Some(SUMMARY)
    }

    /// Whether this is a step of the consensus method, after the talk.
    #[must_use]
    pub fn is_deciding(&self) -> bool {
        self.0.split('/').nth(1) == Some(DECIDING)
    }

    /// Whether this is a step of a second blind draw.
    #[must_use]
    pub fn is_redraw(&self) -> bool {
        self.0.split('/').nth(1) == Some(REDRAW.0)
    }

    /// Whether this is the step of a first answer, or of a reminder of one.
    #[must_use]
    pub fn is_first(&self) -> bool {
        let mut parts = self.0.split('/');
        parts.next() == Some("0") && parts.next() == Some(FIRST)
    }

    /// The step of the original question, for that of a reminder or of a turn after a
    /// sub-discussion.
    pub(crate) fn without_reminder(&self) -> &str {
        let is_reminder = |purpose: &str| {
            purpose == "strict" || purpose.starts_with("remind") || purpose.starts_with("after")
        };
        match self.0.rsplit_once('/') {
            Some((base, last)) if is_reminder(last) && 2 <= base.matches('/').count() => base,
            _ => &self.0,
        }
    }

    /// The name as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Step {
    fn from(name: &str) -> Self {
        Step(name.into())
    }
}

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_ids_are_stable_distinct_and_version_7() {
        let parent = DiscussionId::fresh();
        let child = parent.derived("1/answering/ann/sub1");
        assert_eq!(child, parent.derived("1/answering/ann/sub1"));
        assert_ne!(child, parent.derived("1/answering/ann/sub2"));
        assert_eq!(child.0.get_version_num(), 7);
        assert_eq!(child.0.get_variant(), uuid::Variant::RFC4122);
    }

    #[test]
    fn the_step_of_a_first_answer_is_known_by_its_name() {
        assert_eq!(Step::first("ann").as_str(), "0/first/ann");
        assert!(Step::first("ann").is_first() && Step::first("ann").purpose("remind1").is_first());
        assert!(!Step::new(1, FIRST, "ann").is_first() && !Step::new(0, "working", "ann").is_first());
    }

    #[test]
    fn the_step_of_a_redraw_is_known_by_its_phase() {
        let step = Step::new(2, REDRAW.0, "ann");
        assert!(step.is_redraw() && step.purpose("remind1").is_redraw());
        assert!(!Step::new(2, "settling", "redraw").is_redraw() && !Step::first("ann").is_redraw());
    }

    #[test]
    fn a_slash_in_a_name_does_not_start_a_purpose() {
        assert_eq!(Step::new(1, "speaking", "claude/opus").as_str(), "1/speaking/claude:opus");
    }
}
