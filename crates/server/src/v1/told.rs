//! The talk and the answer as they come: one speaker at a time, then the answer.

use std::{collections::VecDeque, sync::Arc};

use quorum::{
    Registry,
    model::{
        client::Thinking,
        event::{Event, Fact},
        id::{DiscussionId, Step},
        outcome::{ResultKind, Standing, StandingReport},
        state::State,
        transcript::Turn,
    },
    text::standing,
};

use crate::live::{channel::Spoken, listener::Heard};

/// The kind of form in which an answer is written.
const SYNTHESIS: &str = "synthesis";

/// What a client is told.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Said {
    /// Some of the talk.
    Talk(String),
    /// The line before the answer that says what it is.
    Opening(String),
    /// Some of the answer.
    Answer(String),
    /// The discussion is over.
    Over,
}

/// Makes what clients are told of what is heard of a discussion.
pub(crate) struct Teller {
    id: DiscussionId,
    registry: Registry,
    thinking: Thinking,
    state: Option<State>,
    /// Everyone that is speaking, in the order in which they began. The first one is told live.
    speakers: VecDeque<Speaker>,
    /// What others said meanwhile.
    ended: VecDeque<String>,
    answer: Answer,
    said: Vec<Said>,
}

struct Speaker {
    step: Step,
    name: String,
    attempt: u32,
    text: String,
    /// How much of the text was told; `None` before its heading.
    told: Option<usize>,
}

/// How far the answer was told.
#[derive(Default)]
struct Answer {
    /// The step that writes it, and the attempt.
    step: Option<(Step, u32)>,
    text: String,
    /// Whether what comes can't be what was told so far, so that nothing more is told live.
    is_broken: bool,
}

impl Teller {
    pub(crate) fn new(id: DiscussionId, registry: Registry, thinking: Thinking) -> Self {
        let (speakers, ended, said) = (VecDeque::new(), VecDeque::new(), Vec::new());
        Teller { id, registry, thinking, state: None, speakers, ended, answer: Answer::default(), said }
    }

    /// The state after the facts so far.
    pub(crate) fn state(&self) -> Option<&State> {
        self.state.as_ref()
    }

    /// Takes what was heard, and returns what is told of it.
    pub(crate) fn hear(&mut self, heard: &Heard) -> Vec<Said> {
        match heard {
            Heard::Fact(fact) => self.fact(fact),
            Heard::Text { spoken, offset } => self.text(spoken, *offset),
        }
        self.tell_speakers();
        std::mem::take(&mut self.said)
    }

    fn fact(&mut self, fact: &Arc<Fact>) {
        match &mut self.state {
            Some(state) => state.apply(fact),
            none => *none = State::opened(self.id, fact),
        }
        let Some(step) = &fact.step else {
            if self.state.as_ref().is_some_and(|it| it.lifecycle.is_terminal()) {
                self.over();
            }
            return;
        };
        match &fact.event {
            Event::CallPlaced(placed) if !step.is_aside() => {
                self.begin(step, &placed.participant, placed.form.as_deref(), placed.attempt);
            }
            Event::TurnCompleted { turn } => self.complete(turn),
            Event::TurnFailed(failed) => {
                self.leave(step);
                self.tell_block(&failed.participant, failed.round, &format!("failed: {}", failed.message));
            }
            Event::CallAbandoned { .. } => self.leave(step),
            Event::ReplyRead { participant, round, reading, .. } if reading.kind != SYNTHESIS => {
                if let Some(told) = &reading.told {
                    self.tell_block(participant, *round, told);
                }
            }
            _ => {}
        }
    }

    /// Whether a call writes the answer, so that it can be told as it is written.
    fn is_answer(&self, step: &Step, form: Option<&str>) -> bool {
        let Some(state) = &self.state else { return false };
        let is_alone = state.spec.participants.len() == 1 && form.is_none();
        let method = self.registry.method(&state.spec.consensus.method);
        let is_written = step.is_deciding() && form == Some(SYNTHESIS);
        state.spec.answer_schema().is_none()
            && (is_alone || (is_written && method.is_some_and(|it| it.writes_answer)))
    }

    fn begin(&mut self, step: &Step, name: &str, form: Option<&str>, attempt: u32) {
        if self.is_answer(step, form) {
            match &mut self.answer.step {
                none @ None => *none = Some((step.clone(), attempt)),
                // What was told can't be taken back, so another try is told when it is the answer.
                Some(_) if !self.answer.text.is_empty() => self.answer.is_broken = true,
                Some(before) => *before = (step.clone(), attempt),
            }
            return;
        }
        if form.is_some() {
            return;
        }
        match self.speakers.iter_mut().find(|it| it.step == *step) {
            Some(speaker) => speaker.restart(attempt),
            None => self.speakers.push_back(Speaker {
                step: step.clone(),
                name: self.label(name),
                attempt,
                text: String::new(),
                told: None,
            }),
        }
    }

    /// The heading of a speaker: `R1 claude`.
    fn label(&self, name: &str) -> String {
        format!("R{} {name}", self.state.as_ref().map_or(0, |it| it.round).max(1))
    }

    fn text(&mut self, spoken: &Spoken, offset: usize) {
        let Spoken { step, attempt, text } = spoken;
        if self.answer.step.as_ref().is_some_and(|it| it.0 == *step && it.1 == *attempt) {
            // A piece that was missed comes with the whole answer.
            let end = self.answer.text.len();
            if !self.answer.is_broken && offset <= end && end < offset + text.len() {
                self.tell_answer(&text[end - offset..]);
            }
            return;
        }
        let speaker = self.speakers.iter_mut().find(|it| it.step == *step);
        if let Some(speaker) = speaker {
            speaker.hear(*attempt, offset, text);
        }
    }

    fn complete(&mut self, turn: &Turn) {
        if self.answer.step.as_ref().is_some_and(|it| it.0 == turn.step) {
            return;
        }
        let Some(place) = self.speakers.iter().position(|it| it.step == turn.step) else { return };
        if place == 0 && self.speakers[0].told.is_some() {
            let speaker = &mut self.speakers[0];
            speaker.complete(turn.prose());
            self.tell_speakers();
            self.talk("\n\n".to_owned());
            self.speakers.pop_front();
        } else if let Some(speaker) = self.speakers.remove(place) {
            self.ended.push_back(format!("[{}] {}\n\n", speaker.name, turn.prose()));
        }
        if self.thinking == Thinking::Progress {
            let words = turn.prose().split_whitespace().count();
            let line = format!("[{}] spoke, {words} words\n", self.label(&turn.participant));
            self.said.push(Said::Talk(line));
        }
    }

    /// Removes a speaker that will not be heard.
    fn leave(&mut self, step: &Step) {
        let Some(place) = self.speakers.iter().position(|it| it.step == *step) else { return };
        let speaker = self.speakers.remove(place);
        if speaker.is_some_and(|it| it.told.is_some()) {
            self.talk(" …\n\n".to_owned());
        }
    }

    fn tell_block(&mut self, name: &str, round: u32, text: &str) {
        self.ended.push_back(format!("[R{round} {name}] {text}\n\n"));
    }

    /// Tells what is new of the first speaker, after what others said before it began.
    fn tell_speakers(&mut self) {
        if self.speakers.front().is_none_or(|it| it.told.is_none()) {
            while let Some(block) = self.ended.pop_front() {
                self.talk(block);
            }
        }
        if let Some(text) = self.speakers.front_mut().and_then(Speaker::news) {
            self.talk(text);
        }
    }

    fn talk(&mut self, text: String) {
        if self.thinking == Thinking::Full && !text.is_empty() {
            self.said.push(Said::Talk(text));
        }
    }

    fn tell_answer(&mut self, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.answer.text.is_empty() {
            let opening = self.state.as_ref().and_then(|it| opening(it, &self.registry));
            self.said.extend(opening.map(|it| Said::Opening(format!("{it}\n\n"))));
        }
        self.answer.text.push_str(text);
        self.said.push(Said::Answer(text.to_owned()));
    }

    fn over(&mut self) {
        self.speakers.clear();
        self.tell_speakers();
        self.said.push(Said::Over);
    }
}

impl Speaker {
    fn restart(&mut self, attempt: u32) {
        if self.told.is_some_and(|it| 0 < it) {
            self.name.push_str(", again");
        }
        (self.attempt, self.text) = (attempt, String::new());
        self.told = None;
    }

    fn hear(&mut self, attempt: u32, offset: usize, text: &str) {
        let end = self.text.len();
        if attempt == self.attempt && offset <= end && end < offset + text.len() {
            self.text.push_str(&text[end - offset..]);
        }
    }

    /// Takes the whole text, which may have more than was heard.
    fn complete(&mut self, whole: &str) {
        if whole.starts_with(&self.text) {
            self.text = whole.to_owned();
        }
    }

    /// What was not told yet, with the heading before the first of it.
    fn news(&mut self) -> Option<String> {
        let from = self.told.unwrap_or(0);
        if self.text.len() <= from {
            return None;
        }
        let heading = if self.told.is_none() { format!("[{}] ", self.name) } else { String::new() };
        self.told = Some(self.text.len());
        Some(format!("{heading}{}", &self.text[from..]))
    }
}

/// The line on what the answer is, as far as that is known while it is written.
fn opening(state: &State, registry: &Registry) -> Option<String> {
    let mut outcome = registry.outcome(state);
    let degraded = !outcome.failed_providers.is_empty() || state.wound_up.is_some();
    let simulated = state.spec.simulation.is_some();
    let standing = Standing::plain(ResultKind::Answered);
    outcome.outcome = Some(StandingReport { standing, degraded, simulated });
    status_line(&outcome)
}

/// The line that says what a result is; none for a plain or adopted answer that lacks nothing.
pub(crate) fn status_line(outcome: &quorum::model::outcome::Outcome) -> Option<String> {
    let report = outcome.outcome?;
    let is_plain = report.standing.kind.is_answer() && !report.degraded && !report.simulated;
    if is_plain { None } else { standing(outcome) }
}
