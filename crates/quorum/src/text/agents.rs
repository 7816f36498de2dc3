//! Words about agents.

use quorum_core::model::agent::Reason;

/// Why an agent speaks through a provider.
#[must_use]
pub fn reason(reason: &Reason) -> String {
    match reason {
        Reason::Task(task) => format!("for the task {task}"),
        Reason::Preferred => "preferred".to_owned(),
        Reason::Fallback => "its fallback".to_owned(),
        Reason::Any => "as any available provider".to_owned(),
        Reason::Usual => "as the default provider of agents".to_owned(),
    }
}
