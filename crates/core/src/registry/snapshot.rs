//! A discussion's state together with the registry that its result is built with.

use std::ops::Deref;

use crate::{
    model::{outcome::Outcome, state::State},
    registry::Registry,
};

/// The state of a discussion at some moment, able to build its result.
#[derive(Clone)]
pub struct Snapshot {
    state: Box<State>,
    registry: Registry,
}

impl Snapshot {
    /// A snapshot of this state, read with this registry.
    #[must_use]
    pub fn new(state: Box<State>, registry: Registry) -> Self {
        Snapshot { state, registry }
    }

    /// The result so far.
    #[must_use]
    pub fn outcome(&self) -> Outcome {
        self.registry.outcome(&self.state)
    }

    /// The registry it is read with.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }
}

impl Deref for Snapshot {
    type Target = State;

    fn deref(&self) -> &State {
        &self.state
    }
}

impl PartialEq for Snapshot {
    fn eq(&self, other: &Self) -> bool {
        self.state == other.state
    }
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.state.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        model::{
            error::{Code, Problem},
            event::{Event, Noted, TalkEnd},
            flips::{Flip, Position, RoundAgreement},
            outcome::{
                AgentReport, AwaitingReport, RulingReport, SourcedSentence, Standing, StandingReport,
                StoppingReason, SubReport, Support,
            },
            spec::tests::order,
            state::tests::after,
        },
        registry::{Consensus, Pattern},
        vocabulary::{result::ResultField, view::View},
    };

    const TEMPO: ResultField = ResultField {
        name: "tempo",
        title: "Tempo",
        view: View::Hidden,
        of: |state| state.noted::<u32>("tempo").last().map(|it| json!(it)),
    };
    const SPEED: ResultField = ResultField { of: |_| Some(json!("method")), ..TEMPO };
    const TOPIC: ResultField =
        ResultField { name: "inCapitals", of: |state| Some(json!(state.spec.topic.to_uppercase())), ..TEMPO };

    static PATTERNS: &[Pattern] = &[Pattern {
        name: "talk",
        results: &[TEMPO],
        lacks: |state| [("rests".to_owned(), json!(state.noted.len()))].into_iter().collect(),
        ..Pattern::PLAIN
    }];
    static METHODS: &[Consensus] =
        &[Consensus { name: "vote", results: &[TOPIC, SPEED], ..Consensus::PLAIN }];

    fn noted(tempo: Option<u32>) -> Box<State> {
        let note = |it: u32| {
            let noted = Noted { kind: "tempo".to_owned(), round: 1, value: json!(it), told: None };
            (None, Event::Noted(noted))
        };
        Box::new(after(order(), tempo.map(note).into_iter().collect()))
    }

    fn registry() -> Registry {
        Registry::default().with_patterns(PATTERNS).with_methods(METHODS)
    }

    #[test]
    fn a_result_has_the_fields_of_its_pattern_and_method_once_each() {
        let outcome = Snapshot::new(noted(Some(72)), registry()).outcome();
        let expected = json!({ "tempo": 72, "inCapitals": "TABS OR SPACES?" });
        assert_eq!(
            json!(outcome.fields),
            expected,
            "the pattern's field wins over the method's field of the same name"
        );
        assert_eq!(json!(outcome.integrity.lacks), json!({ "rests": 1 }));
        let written = json!(outcome);
        assert_eq!((&written["tempo"], &written["integrity"]["rests"]), (&json!(72), &json!(1)));
        assert_eq!(serde_json::from_value::<Outcome>(written).ok(), Some(outcome));
    }

    #[test]
    fn a_field_without_a_value_is_left_out() {
        let outcome = Snapshot::new(noted(None), registry()).outcome();
        assert_eq!(json!(outcome.fields), json!({ "inCapitals": "TABS OR SPACES?" }));
    }

    #[test]
    fn the_built_in_fields_of_a_result_are_the_reserved_names() {
        let mut outcome = Snapshot::new(noted(None), Registry::default()).outcome();
        outcome.positions_by_round =
            vec![Position { round: 1, participant: String::new(), position: String::new() }];
        let nothing = String::new;
        outcome.awaiting =
            vec![AwaitingReport { participant: nothing(), round: 1, phase: nothing(), shape: None }];
        outcome.ruling_awaited = Some(RulingReport {
            kind: nothing(),
            about: nothing(),
            round: 1,
            reason: nothing(),
            choices: Vec::new(),
            candidates: Vec::new(),
        });
        outcome.dropped = vec![nothing()];
        outcome.provenance = vec![SourcedSentence {
            start: 0,
            end: 1,
            level: Support::Own,
            sources: Vec::new(),
            unconfirmed: Vec::new(),
        }];
        outcome.seats = [(nothing(), Vec::new())].into();
        outcome.agents = vec![AgentReport {
            participant: nothing(),
            agent_id: nothing(),
            display_name: None,
            provider: None,
            reason: None,
            passed_over: Vec::new(),
            weight: 1.5,
        }];
        outcome.flips = vec![Flip {
            participant: nothing(),
            round: 1,
            from: nothing(),
            to: nothing(),
            reason: nothing(),
        }];
        outcome.agreement_by_round = vec![RoundAgreement { round: 1, leading: nothing(), agreement: 1.0 }];
        outcome.sub_discussions = vec![SubReport {
            discussion_id: None,
            requested_by: nothing(),
            topic: nothing(),
            synthesis: None,
            error: None,
        }];
        let stopping = StoppingReason::COMPLETED;
        outcome.ended = Some(TalkEnd { round: 1, why: nothing(), detail: None, stopping: stopping.clone() });
        outcome.stopping_reason = Some(stopping);
        outcome.error = Some(Problem {
            code: Code::InvalidRequest,
            message: nothing(),
            retryable: false,
            participant: None,
            round: None,
        });
        outcome.outcome =
            Some(StandingReport { standing: Standing::default(), degraded: false, simulated: false });
        let written = json!(outcome);
        let names: Vec<&str> = written.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(names, Outcome::FIELDS);
    }

    #[test]
    fn snapshots_are_compared_by_state_alone() {
        let (one, other) = (noted(Some(72)), noted(Some(96)));
        let snapshot = Snapshot::new(one.clone(), registry());
        assert_eq!((snapshot.id, snapshot.noted.len()), (one.id, 1));
        assert_eq!(snapshot, Snapshot::new(one, Registry::default()));
        assert_ne!(snapshot, Snapshot::new(other, registry()));
        assert_eq!(snapshot.registry().patterns().len(), 1);
        let unknown = Snapshot::new(noted(Some(72)), Registry::default()).outcome();
        assert_eq!((unknown.pattern.as_str(), unknown.fields.len()), ("talk", 0), "it can still be shown");
    }
}
