//! An awaited decision, as shown in responses.

use quorum::model::ruling::{self, RulingAwaited};
use serde::Serialize;
use utoipa::ToSchema;

/// A decision that a discussion waits for.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = AwaitedDecision)]
pub(crate) struct Awaited {
    /// The kind of decision, as `/api/patterns` describes it.
    kind: String,
    /// The participant it is about.
    about: String,
    round: u32,
    /// Why it is needed.
    reason: String,
    /// The choices.
    choices: Vec<Choice>,
    /// The participants that a choice may name, best first.
    candidates: Vec<String>,
}

/// One choice of a decision.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DecisionChoice)]
struct Choice {
    name: String,
    /// Whether the choice names one of the candidates.
    takes_candidate: bool,
}

impl Awaited {
    pub(crate) fn of(awaited: &RulingAwaited) -> Self {
        let RulingAwaited { kind, about, round, reason, choices, candidates, .. } = awaited.clone();
        let choices = choices.into_iter().map(Choice::of).collect();
        Awaited { kind, about, round, reason, choices, candidates }
    }
}

impl Choice {
    fn of(choice: ruling::AwaitedChoice) -> Self {
        Choice { name: choice.name, takes_candidate: choice.takes_candidate }
    }
}
