//! Builds the result from the state of a discussion, finished or not.

mod costs;
mod lists;

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use crate::{
    model::{
        error::Problem,
        event::{Awaited, FailedTurn},
        flips,
        money::Usd,
        outcome::{
            AbilitiesReport, AgentReport, AwaitingReport, ConsensusReport, Decision, DissentReport,
            Integrity, Missing, Outcome, Response, Round, RulingReport, StandingReport, SubReport,
        },
        participant::Role,
        phase::DECIDING,
        reading::Source,
        state::State,
        time::{Timestamp, iso},
        transcript::Turn,
    },
    registry::{InTurn, Pattern, Registry},
};

use costs::metadata;
use lists::Lists;

impl Registry {
    /// The result of this discussion, finished or not.
    #[must_use]
    pub fn outcome(&self, state: &State) -> Outcome {
        let conclusion = state.conclusion.as_ref();
        let decision = state.decision.as_deref().cloned().unwrap_or_default();
        let lists = Lists::of(state);
        Outcome {
            discussion_id: state.id,
            status: state.lifecycle,
            awaiting: awaiting(state),
            ruling_awaited: ruling_awaited(state),
            success: conclusion.is_some_and(|it| it.success),
            simulated: state.spec.simulation.is_some(),
            pattern: state.spec.pattern.clone(),
            topic: state.spec.topic.clone(),
            participating_providers: lists.participating,
            failed_providers: lists.failed,
            dropped: lists.dropped,
            seats: lists.seats,
            agents: AgentReport::all(state),
            rounds: self.with_parts(rounds(state, self.in_turn(state))),
            outcome: state.decision.as_deref().map(|it| StandingReport {
                standing: it.standing,
                degraded: is_degraded(state),
                simulated: state.spec.simulation.is_some(),
            }),
            synthesis: decision.synthesis.clone(),
            provenance: decision.provenance.clone(),
            consensus: consensus(state, &decision),
            positions_by_round: flips::positions_by_round(state),
            flips: flips::flips(state),
            agreement_by_round: flips::agreement_by_round(state),
            sub_discussions: subs(state),
            ended: state.ended.clone(),
            stopping_reason: conclusion.map(|it| it.stopping.clone()),
            total_duration_ms: state.active_ms,
            metadata: metadata(state),
            integrity: integrity(state, self.lacks(state)),
            error: error(state),
            fields: self.fields(state),
        }
    }

    /// The order in which the pattern has its participants speak.
    fn in_turn(&self, state: &State) -> InTurn {
        self.pattern(&state.spec.pattern).map_or(Pattern::PLAIN.in_turn, |it| it.in_turn)
    }

    /// The rounds without the roles of seats that have no part in the talk.
    fn with_parts(&self, mut rounds: Vec<Round>) -> Vec<Round> {
        let roles = self.roles();
        let has_part = |role: &String| roles.iter().all(|it| it.has_part || it.name != role);
        for response in rounds.iter_mut().flat_map(|it| &mut it.responses) {
            response.role = response.role.take().filter(has_part);
        }
        rounds
    }

    /// What the pattern reports as missing, by name.
    fn lacks(&self, state: &State) -> Map<String, Value> {
        self.pattern(&state.spec.pattern).map(|it| (it.lacks)(state)).unwrap_or_default()
    }

    fn fields(&self, state: &State) -> Map<String, Value> {
        let declared = self.results_of(&state.spec).into_iter();
        declared.filter_map(|field| Some((field.name.to_owned(), (field.of)(state)?))).collect()
    }
}

fn awaiting(state: &State) -> Vec<AwaitingReport> {
    let awaited = state.awaiting.iter().filter(|_| !state.lifecycle.is_terminal());
    let report = |it: &Awaited| AwaitingReport {
        participant: it.participant.clone(),
        round: it.round,
        phase: it.phase.clone(),
        shape: it.shape.clone(),
    };
    awaited.map(report).collect()
}

fn ruling_awaited(state: &State) -> Option<RulingReport> {
    state.ruling.as_ref().filter(|_| !state.lifecycle.is_terminal()).map(RulingReport::of)
}

fn seats(state: &State) -> impl Iterator<Item = &str> {
    state.spec.participants.iter().map(|it| it.name.as_str())
}

fn speakers(state: &State) -> Vec<String> {
    let spoke: BTreeSet<&str> = state.turns.iter().map(|turn| turn.participant.as_str()).collect();
    seats(state).filter(|name| spoke.contains(name)).map(str::to_owned).collect()
}

fn missing(state: &State) -> Vec<Missing> {
    let absent = state.absent.iter().map(|it| Missing {
        provider: it.participant.clone(),
        reason: format!("not available: {} ({})", it.message, it.class.advice()),
        deciding: false,
    });
    let spoke = |name: &str| state.turns.iter().any(|it| it.participant == name && it.phase != DECIDING);
    let failed = state.failures.iter().map(|it| Missing {
        provider: it.participant.clone(),
        reason: failed(it),
        deciding: it.phase == DECIDING && spoke(&it.participant),
    });
    absent.chain(failed).collect()
}

fn failed(FailedTurn { round, attempts: tries, message, .. }: &FailedTurn) -> String {
    if *tries == 0 {
        return format!("was not asked in round {round}: {message}");
    }
    format!("failed in round {round} after {}: {message}", attempts(*tries))
}

fn attempts(number: u32) -> String {
    if number == 1 { "1 attempt".to_owned() } else { format!("{number} attempts") }
}

/// The rounds in order; within a round, responses by phase and then in the order of the talk,
/// whatever order they arrived in.
fn rounds(state: &State, in_turn: InTurn) -> Vec<Round> {
    let mut rounds = Vec::new();
    for span in &state.rounds {
        let turn_of = |name: &str| turn_of(state, in_turn, span.round, name);
        let mut responses: Vec<(usize, usize, Response)> = Vec::new();
        let mut phases: Vec<&str> = Vec::new();
        for turn in final_turns(state, span.round) {
            let place = place_of(&mut phases, &turn.phase);
            responses.push((place, turn_of(&turn.participant), response(state, turn)));
        }
        for failed in state.failures.iter().filter(|it| it.round == span.round && it.phase != DECIDING) {
            let place = place_of(&mut phases, &failed.phase);
            let began = state.opened_at.plus_ms(span.from_ms);
            responses.push((place, turn_of(&failed.participant), failed_response(state, failed, began)));
        }
        responses.sort_by_key(|(phase, turn, _)| (*phase, *turn));
        rounds.push(Round {
            round_number: span.round,
            responses: responses.into_iter().map(|it| it.2).collect(),
            summary: None,
            duration_ms: span.to_ms.unwrap_or(state.active_ms).saturating_sub(span.from_ms),
        });
    }
    rounds
}

/// Every turn by round, phase and then the order of the talk, whatever order they arrived in.
pub(crate) fn turns_in_order(state: &State, in_turn: InTurn) -> Vec<&Turn> {
    let mut phases: Vec<&str> = Vec::new();
    let placed = state.turns.iter().map(|turn| {
        let place = place_of(&mut phases, &turn.phase);
        ((turn.round, place, turn_of(state, in_turn, turn.round, &turn.participant)), &**turn)
    });
    let mut turns: Vec<((u32, usize, usize), &Turn)> = placed.collect();
    turns.sort_by_key(|(place, _)| *place);
    turns.into_iter().map(|(_, turn)| turn).collect()
}

/// The place of a participant in the order of a round; one that has no turn in it comes last.
fn turn_of(state: &State, in_turn: InTurn, round: u32, name: &str) -> usize {
    let speakers = in_turn(&state.spec, round);
    let turn = speakers.iter().position(|it| it.name == name);
    turn.unwrap_or_else(|| speakers.len().saturating_add(seat_of(state, name)))
}

/// The turns of a round, without those that a reminder replaced.
fn final_turns(state: &State, round: u32) -> Vec<&Turn> {
    let of_round = state.turns.iter().filter(|turn| turn.round == round && turn.phase != DECIDING);
    let mut turns: Vec<&Turn> = Vec::new();
    for turn in of_round {
        turns.retain(|it| it.step.without_reminder() != turn.step.without_reminder());
        turns.push(turn);
    }
    turns
}

fn place_of<'p>(phases: &mut Vec<&'p str>, phase: &'p str) -> usize {
    phases.iter().position(|it| *it == phase).unwrap_or_else(|| {
        phases.push(phase);
        phases.len() - 1
    })
}

fn seat_of(state: &State, name: &str) -> usize {
    seats(state).position(|it| it == name).unwrap_or(usize::MAX)
}

fn role(state: &State, name: &str) -> Option<String> {
    let role = state.spec.seat(name).map(|it| &it.role).filter(|role| **role != Role::SPEAKER);
    role.map(|role| role.name().to_owned())
}

fn agent_id(state: &State, name: &str) -> Option<String> {
    state.spec.seat(name)?.agent.as_ref().map(|it| it.id.clone())
}

fn response(state: &State, turn: &Turn) -> Response {
    let reply = turn.step.purpose("read");
    let read = state.readings.iter().find(|it| it.step.as_ref() == Some(&reply));
    // A finding that there is no agreement is not a vote.
    let stance = read.and_then(|it| it.reading.stance.as_ref()).filter(|it| it.chooses);
    let is_model = state.spec.seat(&turn.participant).is_some_and(|it| !it.is_person());
    let agent_id = agent_id(state, &turn.participant);
    Response {
        provider: turn.participant.clone(),
        is_agent: agent_id.is_some(),
        agent_id,
        content: state.shown(turn),
        round: turn.round,
        phase: turn.phase.clone(),
        role: role(state, &turn.participant),
        confidence: stance.map(|it| it.confidence),
        vote: stance.map(|it| it.position.chars().take(LONGEST_VOTE).collect()),
        timestamp: iso(turn.started_at),
        duration_ms: turn.duration_ms,
        model: turn.model.clone(),
        answered_by: turn.answered_by.clone(),
        token_count: is_model.then(|| turn.bill.usage.total()),
        completion_tokens: is_model.then_some(turn.bill.usage.completion),
        cost_usd: turn.bill.cost.filter(|_| is_model).map(Usd::dollars),
        estimated: turn.bill.estimated,
        truncated: turn.finish.is_cut_off(),
        finish_reason: Some(turn.finish.name().to_owned()),
        error: None,
    }
}

/// The response of a participant that failed for good, with the cost of what had arrived.
fn failed_response(state: &State, failed: &FailedTurn, began: Timestamp) -> Response {
    let bill = failed.broken.as_ref().map(|it| it.bill);
    let agent_id = agent_id(state, &failed.participant);
    Response {
        provider: failed.participant.clone(),
        is_agent: agent_id.is_some(),
        agent_id,
        content: String::new(),
        round: failed.round,
        phase: failed.phase.clone(),
        model: state.models.get(&failed.participant).cloned(),
        answered_by: None,
        role: role(state, &failed.participant),
        confidence: None,
        vote: None,
        timestamp: iso(began),
        duration_ms: failed.duration_ms,
        token_count: bill.map(|it| it.usage.total()),
        completion_tokens: bill.map(|it| it.usage.completion),
        cost_usd: bill.and_then(|it| it.cost).map(Usd::dollars),
        estimated: bill.is_some_and(|it| it.estimated),
        truncated: false,
        finish_reason: None,
        error: Some(format!("{}: {}", failed.class.name(), failed.message)),
    }
}

/// The error, if it failed.
fn error(state: &State) -> Option<Problem> {
    let of_conclusion = state.conclusion.as_ref().and_then(|it| it.problem.as_ref());
    of_conclusion.or(state.failed.as_ref()).map(|it| state.weighed(it))
}

/// The most characters of a vote in a response; the voting results have it whole.
const LONGEST_VOTE: usize = 200;

fn consensus(state: &State, decision: &Decision) -> ConsensusReport {
    let spec = &state.spec.consensus;
    let dissent = decision
        .dissent
        .iter()
        .map(|it| DissentReport { provider: it.participant.clone(), position: it.position.clone() });
    ConsensusReport {
        method: spec.method.clone(),
        synthesizer: decision.synthesizer.clone(),
        agreement_score: decision.agreement,
        agreements: decision.agreements.clone(),
        structure: decision.structure,
        dissent: spec.include_dissent.then(|| dissent.collect()),
        dropped: decision.dropped.clone(),
        claims: decision.claims.clone(),
    }
}

fn subs(state: &State) -> Vec<SubReport> {
    let report = |sub: &crate::model::state::Sub| SubReport {
        discussion_id: sub.end.as_ref().and_then(|end| end.child),
        requested_by: sub.participant.clone(),
        topic: sub.topic.clone(),
        synthesis: sub.end.as_ref().and_then(|end| end.synthesis.clone()),
        error: sub.end.as_ref().and_then(|end| end.problem.clone()),
    };
    state.subs.values().map(report).collect()
}

fn is_degraded(state: &State) -> bool {
    state.conclusion.as_ref().map_or(!missing(state).is_empty(), |it| it.degraded)
}

fn integrity(state: &State, lacks: Map<String, Value>) -> Integrity {
    let readings = |source| state.readings.iter().filter(|it| it.source == source).count() as u32;
    Integrity {
        expected: seats(state).map(str::to_owned).collect(),
        spoke: speakers(state),
        missing: missing(state),
        retries: state.wear.retries,
        repeated_calls: state.wear.repeated,
        abandoned_calls: state.wear.abandoned,
        inferred_readings: readings(Source::Inferred),
        unread_replies: readings(Source::Assumed) + state.unread.len() as u32,
        truncations: state.wear.unheard,
        summaries: state.summaries.iter().filter(|it| it.turn.is_some()).count() as u32,
        tight_windows: state.tight.clone(),
        cut_views: state.cut_views.clone(),
        abilities: AbilitiesReport::all(state),
        stand_in: state.decision.as_ref().and_then(|it| it.stand_in.clone()),
        cut_short: state.cut_short(),
        lacks,
        degraded: is_degraded(state),
    }
}
