//! The summary of a discussion for lists, so that no list has to read its facts.

use serde::{Deserialize, Serialize};

use crate::model::{money::Usd, outcome::StandingReport, ruling::RulingAwaited, state::State};

/// Whom a discussion waits for, what it cost so far, and what its result is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// The people whose turn it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<AwaitedTurn>,
    /// The decision that is awaited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<RulingAwaited>,
    /// The tokens of all calls, including those of sub-discussions.
    pub tokens: u64,
    /// Their cost; absent if a participant without a known price was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Usd>,
    /// What the result is; absent until it is over, and if there was no decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<StandingReport>,
}

/// A person whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitedTurn {
    /// The participant's name.
    pub participant: String,
    /// The round of the turn.
    pub round: u32,
    /// The phase of the turn.
    pub phase: String,
}

impl Digest {
    /// The digest of a discussion that has just been created.
    #[must_use]
    pub fn opened() -> Self {
        Digest { cost: Some(Usd::ZERO), ..Digest::default() }
    }

    /// The digest of this state.
    #[must_use]
    pub fn of(state: &State) -> Self {
        let awaiting = state.awaiting.iter().map(|it| AwaitedTurn {
            participant: it.participant.clone(),
            round: it.round,
            phase: it.phase.clone(),
        });
        let (mut tokens, mut cost, mut is_priced) = (0, Usd::ZERO, true);
        for spending in state.spending.values() {
            tokens += spending.usage.total();
            cost += spending.cost;
            is_priced &= !spending.unpriced;
        }
        for below in state.subs.values().filter_map(|sub| sub.end.as_ref()) {
            tokens += below.spent.tokens;
            cost += below.spent.usd;
        }
        let over = state.decision.as_deref().zip(state.conclusion.as_ref());
        Digest {
            awaiting: awaiting.collect(),
            ruling: state.ruling.clone(),
            tokens,
            cost: is_priced.then_some(cost),
            result: over.map(|(decision, end)| StandingReport {
                standing: decision.standing,
                degraded: end.degraded,
                simulated: state.spec.simulation.is_some(),
            }),
        }
    }
}
