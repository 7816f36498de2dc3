//! Calls for tests, with the turns before them: small, complete, easy to change.

use std::sync::Arc;

use quorum_core::{
    call::{Call, Effort, Message},
    model::{
        id::{DiscussionId, Step},
        participant::Participant,
        time::Timestamp,
        transcript::{Bill, Finish, Turn},
    },
};

use crate::spec::spec;

/// A call to Ann, who spoke first and is asked again after Bob.
#[must_use]
pub fn call() -> Call {
    Call {
        discussion: DiscussionId::fresh(),
        step: Step::new(2, "speaking", "ann"),
        attempt: 1,
        round: 2,
        participant: Arc::new(Participant::of("ann")),
        spec: Arc::new(spec("synthesis")),
        system: "Be brief.".into(),
        messages: vec![
            shown("ann", "ann", "Tabs."),
            shown("ann", "bob", "Spaces."),
            Message::Ask("Who is right?".into()),
        ],
        shape: None,
        quoted_forms: Vec::new(),
        mark: None,
        cited: Arc::default(),
        effort: Effort::ModelDefault,
        continues: false,
        temperature: 0.5,
        max_tokens: 300,
        stop: Vec::new(),
        may_convene: false,
        names_phases: false,
        nonce: "7d5e".to_owned(),
        labels: Arc::default(),
    }
}

/// A participant's turn in the first round, as shown to another one.
#[must_use]
pub fn shown(to: &str, who: &str, text: &str) -> Message {
    Message::Said { turn: Arc::new(turn(1, "speaking", who, text)), own: who == to }
}

/// A turn without duration and cost.
#[must_use]
pub fn turn(round: u32, phase: &str, who: &str, text: &str) -> Turn {
    Turn {
        step: Step::new(round, phase, who),
        participant: who.to_owned(),
        round,
        phase: phase.to_owned(),
        form: None,
        text: text.into(),
        prose: None,
        started_at: Timestamp(0),
        duration_ms: 0,
        finish: Finish::Stop,
        bill: Bill::default(),
        model: None,
        answered_by: None,
        reused: false,
    }
}
