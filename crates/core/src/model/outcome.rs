//! Results: the decision, and the result document with the field names of requirement B04.

mod agents;
mod consensus;
mod integrity;
mod metadata;
mod provenance;
mod standing;

use std::{borrow::Cow, collections::BTreeMap};

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::model::{
    error::Problem,
    event::TalkEnd,
    flips::{Flip, Position, RoundAgreement},
    id::DiscussionId,
    lifecycle::Lifecycle,
    ruling::RulingAwaited,
    transcript::Finish,
};

pub use agents::{AbilitiesReport, AgentReport, ShownAbility};
pub use consensus::{ConsensusReport, DissentReport, Structure};
pub use integrity::{Integrity, Missing};
pub use metadata::{CostSummary, EarlyExit, Metadata, ProviderCost, RecallReport};
pub use provenance::{DroppedView, FoundBy, SentenceSource, SourcedSentence, Support, SupportCount, Traced};
pub use standing::{ResultKind, Standing, StandingReport};

/// The decision that a consensus method or the pattern itself made.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// The considered answer; never empty if anyone said anything.
    pub synthesis: String,
    /// The participant that wrote it, if one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesizer: Option<String>,
    /// The participant whose last words are used instead, if no one wrote a synthesis.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stand_in: Option<String>,
    /// How far the panel supports it.
    #[serde(default, skip_serializing_if = "Standing::is_plain_answer")]
    pub standing: Standing,
    /// The degree of agreement by recorded votes and positions, 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// The points they agree on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreements: Vec<String>,
    /// Whether the synthesizer's agreements, dissent and claims could be read.
    #[serde(default, skip_serializing_if = "Structure::is_given")]
    pub structure: Structure,
    /// The minority views (INV-DISC-201).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dissent: Vec<Dissent>,
    /// The arguments on the table.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub claims: Vec<Claim>,
    /// The sentences of the answer with what they rest on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<SourcedSentence>,
    /// The dissenting views and arguments that it leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<DroppedView>,
    /// Further findings of the method, by name.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub found: Map<String, Value>,
    /// Why this is not the consensus that the method requires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Whether less went into it than was meant to.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub degraded: bool,
}

/// A minority view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Dissent {
    /// The participant that holds it.
    pub participant: String,
    /// The position it holds.
    pub position: String,
}

impl Dissent {
    /// The view of a participant that holds this position for this reason; the position comes
    /// first.
    #[must_use]
    pub fn of_position(participant: &str, position: &str, reason: &str) -> Self {
        let reason = reason.trim();
        let position = if reason.is_empty() { position.to_owned() } else { format!("{position}: {reason}") };
        Dissent { participant: participant.to_owned(), position }
    }
}

/// One argument made in the discussion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Claim {
    /// The claim.
    pub text: String,
    /// The participants that support it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supported_by: Vec<String>,
    /// The participants that attack it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attacked_by: Vec<String>,
    /// Whether it was never answered.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unanswered: bool,
}

/// Why a discussion ended: the reasons of requirement A04 and our own. Patterns may add more.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct StoppingReason(Cow<'static, str>);

impl StoppingReason {
    /// The pattern ran to its end.
    pub const COMPLETED: StoppingReason = StoppingReason::named("completed");
    /// A person asked for the conclusion.
    pub const USER_STOP: StoppingReason = StoppingReason::named("user_stop");
    /// A person ended it.
    pub const USER_ABORT: StoppingReason = StoppingReason::named("user_abort");
    /// A budget is used up.
    pub const BUDGET: StoppingReason = StoppingReason::named("budget");
    /// The time is up.
    pub const TIMEOUT: StoppingReason = StoppingReason::named("timeout");
    /// Too few participants are left.
    pub const MODEL_UNAVAILABLE: StoppingReason = StoppingReason::named("model_unavailable");
    /// The discussion failed.
    pub const ERROR: StoppingReason = StoppingReason::named("error");

    /// The reason with this name.
    #[must_use]
    pub const fn named(name: &'static str) -> Self {
        StoppingReason(Cow::Borrowed(name))
    }

    /// The name in results.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.0
    }
}

/// A person whose turn it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AwaitingReport {
    /// The person's name in the discussion.
    pub participant: String,
    /// The round of the turn.
    pub round: u32,
    /// The phase of the turn.
    pub phase: String,
    /// The form the answer should have, if any: `ballot`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shape: Option<String>,
}

/// A decision by people that a discussion waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RulingReport {
    /// The kind of decision: `window`.
    pub kind: String,
    /// The participant it is about.
    pub about: String,
    /// The round in which it came up.
    pub round: u32,
    /// Why it is needed.
    pub reason: String,
    /// The names of the choices.
    pub choices: Vec<String>,
    /// The participants that a choice may name, best first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub candidates: Vec<String>,
}

impl RulingReport {
    /// The report of this decision.
    #[must_use]
    pub fn of(awaited: &RulingAwaited) -> Self {
        let RulingAwaited { kind, about, round, reason, choices, candidates, .. } = awaited.clone();
        let choices = choices.into_iter().map(|it| it.name).collect();
        RulingReport { kind, about, round, reason, choices, candidates }
    }
}

/// The result document. Absent values are omitted, never null.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Outcome {
    /// The discussion's id.
    pub discussion_id: DiscussionId,
    /// The lifecycle state.
    pub status: Lifecycle,
    /// The people whose turn it is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub awaiting: Vec<AwaitingReport>,
    /// The decision by people that it waits for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling_awaited: Option<RulingReport>,
    /// Whether the discussion achieved what was asked.
    pub success: bool,
    /// Whether the voices were simulated.
    pub simulated: bool,
    /// The pattern used.
    pub pattern: String,
    /// The question.
    pub topic: String,
    /// The providers that took part, in seating order. A second seat of a provider is listed under
    /// the name of the first.
    pub participating_providers: Vec<String>,
    /// The providers that were absent or failed during the talk, in seating order.
    pub failed_providers: Vec<String>,
    /// The providers that neither spoke nor failed: they were not waited for, or never asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dropped: Vec<String>,
    /// The seats of each provider that has more than one, under its name in the lists above.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seats: BTreeMap<String, Vec<String>>,
    /// The agents among the participants: through whom they spoke, and the weight of each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<AgentReport>,
    /// Every round with its responses.
    pub rounds: Vec<Round>,
    /// What the result is: an answer, an adopted or rejected one, a tie; absent until there is a
    /// decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<StandingReport>,
    /// The considered answer.
    pub synthesis: String,
    /// The sources of each sentence of the answer; absent where nobody wrote an answer from the
    /// talk, and where it is a JSON value.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub provenance: Vec<SourcedSentence>,
    /// How the answer was reached.
    pub consensus: ConsensusReport,
    /// Everyone's position in each round, for patterns with positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub positions_by_round: Vec<Position>,
    /// Every change of mind, for patterns with positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub flips: Vec<Flip>,
    /// The agreement after each round, for patterns with positions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agreement_by_round: Vec<RoundAgreement>,
    /// Its sub-discussions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sub_discussions: Vec<SubReport>,
    /// How the talk ended, if it ended by its pattern's own rules.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<TalkEnd>,
    /// Why the discussion ended; absent while it runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stopping_reason: Option<StoppingReason>,
    /// Active time in milliseconds.
    pub total_duration_ms: u64,
    /// Times, tokens and costs.
    pub metadata: Metadata,
    /// Whether anything is missing from the result, and what.
    pub integrity: Integrity,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
    /// Fields added by the pattern and the method, by name.
    #[serde(flatten)]
    pub fields: Map<String, Value>,
}

impl Outcome {
    /// The names of the built-in fields. A pattern or method can't reuse them.
    pub const FIELDS: &[&str] = &[
        "discussionId",
        "status",
        "awaiting",
        "rulingAwaited",
        "success",
        "simulated",
        "pattern",
        "topic",
        "participatingProviders",
        "failedProviders",
        "dropped",
        "seats",
        "agents",
        "rounds",
        "outcome",
        "synthesis",
        "provenance",
        "consensus",
        "positionsByRound",
        "flips",
        "agreementByRound",
        "subDiscussions",
        "ended",
        "stoppingReason",
        "totalDurationMs",
        "metadata",
        "integrity",
        "error",
    ];
}

/// One round with all its responses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Round {
    /// The round's number, from 1.
    pub round_number: u32,
    /// The responses in the order of the talk; in seating order where they were parallel.
    pub responses: Vec<Response>,
    /// A summary, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// How long the round took (INV-DISC-501).
    pub duration_ms: u64,
}

/// One participant's response.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Response {
    /// The participant's name.
    pub provider: String,
    /// Whether the participant is an agent.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_agent: bool,
    /// The agent's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The text; empty if the participant failed.
    pub content: String,
    /// The round's number.
    pub round: u32,
    /// The phase of the pattern.
    pub phase: String,
    /// The exact model that was asked; absent for a person, and where a program chose its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The model that answered, where the provider named it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
    /// The participant's role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its stated confidence, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confidence: Option<f64>,
    /// Its vote, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub vote: Option<String>,
    /// When the answering call was placed; ISO 8601, UTC.
    pub timestamp: String,
    /// How long it took.
    pub duration_ms: u64,
    /// Tokens read and written; absent for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub token_count: Option<u64>,
    /// How many of them were written; absent for a person.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completion_tokens: Option<u64>,
    /// The cost in USD; absent for a person, and where the price is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
    /// Whether tokens and cost are our estimate.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub estimated: bool,
    /// Whether the content is only the beginning of an answer.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Why the model stopped: `stop`, `length` (it reached its token limit), `truncated` (it went
    /// past its token limit and was cut there), `refused` or `convene`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finish_reason: Option<String>,
    /// The error, if it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

impl Response {
    /// Why the content is only the beginning of an answer, where it is.
    #[must_use]
    pub fn cut_reason(&self) -> Option<&'static str> {
        let given = |finish: &Finish| self.finish_reason.as_deref() == Some(finish.name());
        [Finish::Length, Finish::Truncated].into_iter().find(given)?.cut_reason()
    }
}

/// A sub-discussion as its parent reports it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SubReport {
    /// Its id; absent if it was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discussion_id: Option<DiscussionId>,
    /// The participant that asked for it.
    pub requested_by: String,
    /// Its topic.
    pub topic: String,
    /// Its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub synthesis: Option<String>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Problem>,
}
