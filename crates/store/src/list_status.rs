//! The status of a discussion, as lists show it.

use quorum_core::model::{
    event::{Event, Fact},
    lifecycle::Lifecycle,
    time::Timestamp,
};

/// The status of a discussion, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct ListStatus {
    pub(crate) status: Lifecycle,
    pub(crate) success: Option<bool>,
    pub(crate) ended_at: Option<Timestamp>,
}

impl ListStatus {
    pub(crate) const OPENED: ListStatus =
        ListStatus { status: Lifecycle::Configuring, success: None, ended_at: None };

    /// The status after these facts.
    pub(crate) fn after(self, facts: &[Fact]) -> Self {
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
    pub(crate) fn is_over(self) -> bool {
        matches!(self.status, Lifecycle::Completed | Lifecycle::Aborted)
    }
}

/// The synthesis of the last decision, if any.
pub(crate) fn synthesis(facts: &[Fact]) -> Option<&str> {
    facts.iter().rev().find_map(|fact| match &fact.event {
        Event::Decided { decision } => Some(decision.synthesis.as_str()),
        _ => None,
    })
}
