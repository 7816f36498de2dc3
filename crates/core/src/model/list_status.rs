//! The status of a discussion, as lists show it.

use crate::model::{
    event::{Event, Fact},
    lifecycle::Lifecycle,
    time::Timestamp,
};

/// The status of a discussion, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ListStatus {
    /// The lifecycle state.
    pub status: Lifecycle,
    /// Whether it achieved what was asked; `None` while it runs.
    pub success: Option<bool>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
}

impl ListStatus {
    /// The status of a discussion that has just been opened.
    pub const OPENED: ListStatus =
        ListStatus { status: Lifecycle::Configuring, success: None, ended_at: None };

    /// The status after these facts.
    #[must_use]
    pub fn after(self, facts: &[Fact]) -> Self {
        facts.iter().fold(self, |list_status, fact| match &fact.event {
            Event::LifecycleChanged { to, .. } => {
                ListStatus { status: *to, ended_at: to.is_terminal().then_some(fact.at), ..list_status }
            }
            Event::Concluded(conclusion) => ListStatus { success: Some(conclusion.success), ..list_status },
            Event::Failed { .. } => ListStatus { success: Some(false), ..list_status },
            Event::Retried(_) => ListStatus { success: None, ..list_status },
            _ => list_status,
        })
    }

    /// Whether no more facts can follow. After an error, a retry can.
    #[must_use]
    pub fn is_over(self) -> bool {
        matches!(self.status, Lifecycle::Completed | Lifecycle::Aborted)
    }
}

/// The synthesis of the last decision, if any.
#[must_use]
pub fn synthesis(facts: &[Fact]) -> Option<&str> {
    facts.iter().rev().find_map(|fact| match &fact.event {
        Event::Decided { decision } => Some(decision.synthesis.as_str()),
        _ => None,
    })
}
