//! How a discussion stands after its facts, as lists show it.

use quorum_core::model::{
    event::{Event, Fact},
    lifecycle::Lifecycle,
    time::Timestamp,
};

/// How a discussion stands, as lists show it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Standing {
    pub(crate) status: Lifecycle,
    pub(crate) success: Option<bool>,
    pub(crate) ended_at: Option<Timestamp>,
}

impl Standing {
    pub(crate) const OPENED: Standing =
        Standing { status: Lifecycle::Configuring, success: None, ended_at: None };

    /// How it stands after these facts.
    pub(crate) fn after(self, facts: &[Fact]) -> Self {
        facts.iter().fold(self, |standing, fact| match &fact.event {
            Event::LifecycleChanged { to, .. } => {
                Standing { status: *to, ended_at: to.is_terminal().then_some(fact.at), ..standing }
            }
            Event::Concluded(conclusion) => Standing { success: Some(conclusion.success), ..standing },
            Event::Failed { .. } => Standing { success: Some(false), ..standing },
            Event::Retried => Standing { success: None, ..standing },
            _ => standing,
        })
    }

    /// Whether nothing can follow. An error may be tried again.
    pub(crate) fn is_over(self) -> bool {
        matches!(self.status, Lifecycle::Completed | Lifecycle::Aborted)
    }
}

/// What was decided, where something was.
pub(crate) fn synthesis(facts: &[Fact]) -> Option<&str> {
    facts.iter().rev().find_map(|fact| match &fact.event {
        Event::Decided { decision } => Some(decision.synthesis.as_str()),
        _ => None,
    })
}
