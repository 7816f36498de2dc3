//! A small discussion made of facts, with fixed times and texts.

use std::sync::Arc;

use quorum::{
    Request, Snapshot, built_in,
    export::{Extras, named},
    model::{
        event::{Conclusion, Event, Fact},
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        money::Usage,
        outcome::{Claim, Decision, Dissent, StoppingReason},
        reading::Source,
        spec::Spec,
        state::State,
        time::Timestamp,
        transcript::{Bill, Finish, Turn},
    },
    patterns::readers::{Ballot, CastBallot, Confidence, Tally},
    request::{Setting, Voicing, check},
};
use quorum_testkit::call::turn;
use serde_json::json;

/// A discussion in which every text is this one.
pub(crate) struct Talk<'t> {
    pub(crate) topic: &'t str,
    pub(crate) words: &'t str,
}

impl Talk<'_> {
    pub(crate) fn export(&self, format: &str) -> String {
        written(&self.facts(), format)
    }

    /// The same with every answer truncated at its limit.
    pub(crate) fn export_cut_off(&self, format: &str) -> String {
        let mut facts = self.facts();
        for fact in &mut facts {
            if let Event::TurnCompleted { turn } = &mut fact.event {
                *turn = Arc::new(Turn { finish: Finish::Truncated, ..Turn::clone(turn) });
            }
        }
        written(&facts, format)
    }

    fn facts(&self) -> Vec<Fact> {
        let moved = |from, to| Event::LifecycleChanged { from, to };
        let events = [
            Event::Opened { spec: Arc::new(self.spec()), flow: 1, lineage: None, fork: None, caller: None },
            Event::PanelSeated {
                seated: vec!["claude".into(), "gemini".into()],
                absent: vec![],
                models: Default::default(),
                labels: Default::default(),
                agents: Default::default(),
            },
            moved(Lifecycle::Initializing, Lifecycle::Running),
            Event::RoundOpened { round: 1 },
            Event::PhaseEntered { phase: "speaking".into(), round: 1 },
            self.turn("claude"),
            self.turn("gemini"),
            Event::RoundClosed { round: 1 },
            moved(Lifecycle::Running, Lifecycle::Completing),
            Event::Decided { decision: Arc::new(self.decision()) },
            Event::Concluded(Conclusion {
                success: true,
                stopping: StoppingReason::COMPLETED,
                degraded: false,
                problem: None,
            }),
            moved(Lifecycle::Completing, Lifecycle::Completed),
        ];
        let fact = |(number, event): (usize, Event)| {
            let (ms, step) = (number as u64 * 250, None);
            Fact { seq: Seq(number as u64 + 1), at: moment().plus_ms(ms), active_ms: ms, step, event }
        };
        events.into_iter().enumerate().map(fact).collect()
    }

    fn spec(&self) -> Spec {
        let request = Request {
            pattern: Some("round-robin".into()),
            providers: Some(vec!["claude".into(), "gemini".into()]),
            context: Some(self.words.to_owned()),
            ..Request::on(self.topic)
        };
        let setting = Setting { voicing: Voicing::Simulated, ..Setting::default() };
        check(&request, &setting).unwrap()
    }

    fn turn(&self, participant: &str) -> Event {
        let bill = Bill { usage: Usage::new(120, 34), ..Bill::default() };
        let said = turn(1, "speaking", participant, self.words);
        let turn = Turn { started_at: moment(), duration_ms: 1_200, bill, ..said };
        Event::TurnCompleted { turn: Arc::new(turn) }
    }

    fn decision(&self) -> Decision {
        let words = || self.words.to_owned();
        let ballot = Ballot { choice: words(), confidence: Confidence::clamped(0.8), reasoning: words() };
        let ballots =
            vec![CastBallot { participant: "claude".into(), round: 1, source: Source::Stated, ballot }];
        let tally = Tally {
            winner: Some(words()),
            votes: [(words(), 1)].into(),
            weighted: [(words(), 0.8)].into(),
            ballots,
            ..Tally::default()
        };
        Decision {
            synthesis: words(),
            synthesizer: Some("claude".into()),
            agreement: Some(0.72),
            agreements: vec![words()],
            dissent: vec![Dissent { participant: "gemini".into(), position: words() }],
            claims: vec![Claim {
                text: words(),
                supported_by: vec!["claude".into()],
                attacked_by: vec![],
                unanswered: true,
            }],
            found: [("tally".to_owned(), json!(tally))].into_iter().collect(),
            ..Decision::default()
        }
    }
}

fn moment() -> Timestamp {
    Timestamp(1_790_000_000_000_000)
}

fn written(facts: &[Fact], format: &str) -> String {
    let id: DiscussionId = "01890000-0000-7000-8000-000000000000".parse().unwrap();
    let state = Snapshot::new(Box::new(State::of(id, facts).unwrap()), built_in());
    let commands = [
        format!("ax replay {id}"),
        format!("ax export {id} --as html -o discussion.html"),
        format!("ax discuss --again {id}"),
    ];
    (named(format).unwrap().write)(&state, facts, &Extras::commands(&commands))
}
