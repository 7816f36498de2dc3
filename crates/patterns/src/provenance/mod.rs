//! Provenance: which participants each sentence of an answer rests on, by the markers of its writer
//! where the record confirms them, otherwise by common words; and which dissent it leaves out.
//!
//! All of it is computed from the record alone, so a replay finds the same. It says who said
//! something, not whether it is true.

mod dropped;
mod index;
mod markers;
mod numbers;
mod quotes;
mod scan;
mod sentence;
mod units;

use std::borrow::Cow;

use quorum_core::{
    model::{
        id::Step,
        outcome::{Decision, DroppedView, SourcedSentence, Traced},
        phase::DECIDING,
        state::{RecordedReading, State},
        transcript::Turn,
    },
    vocabulary::prose::Marker,
};

use crate::readers::{Synthesis, synthesis_reader::SYNTHESIS};

/// The least share of a sentence that a turn must cover for it to rest on the turn at all.
const PARTLY: f64 = 0.30;

/// The least share that was said, for a sentence to be supported.
const SUPPORTED: f64 = 0.55;

/// A turn of the talk, as people are shown it.
#[derive(Debug, Clone)]
pub struct Said<'t> {
    /// The participant.
    pub participant: Cow<'t, str>,
    /// The round.
    pub round: u32,
    /// The step.
    pub step: Step,
    /// The text.
    pub text: Cow<'t, str>,
}

/// The talk that an answer may rest on.
#[derive(Debug, Clone, Default)]
pub struct Talk<'t> {
    /// The turns, in order.
    pub turns: Vec<Said<'t>>,
    /// Other texts that everyone was given: the question, the background, the options.
    pub given: Vec<Cow<'t, str>>,
}

impl Talk<'_> {
    /// The name of each turn's participant.
    fn names(&self) -> impl Iterator<Item = &str> {
        self.turns.iter().map(|it| &*it.participant)
    }
}

/// An answer, and what its writer said about it.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'t> {
    /// The text, without markers.
    pub text: &'t str,
    /// The markers of its writer.
    pub markers: &'t [Marker],
}

/// A view that an answer must not leave out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct View {
    /// The participant that holds it, if it is known.
    pub holder: Option<String>,
    /// The view.
    pub text: String,
}

/// The views that an answer is checked for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Views {
    /// Those that the answer must mention.
    pub held: Vec<View>,
    /// The dissent that is reported beside the answer.
    pub reported: Vec<String>,
}

/// Finds the sources of each sentence of an answer.
#[must_use]
pub fn sources(answer: Answer<'_>, talk: &Talk<'_>) -> Vec<SourcedSentence> {
    sentence::sources(answer, talk)
}

/// The views that neither the answer nor the reported dissent mentions.
#[must_use]
pub fn dropped(answer: &str, views: &Views, talk: &Talk<'_>) -> Vec<DroppedView> {
    dropped::dropped(answer, views, talk)
}

/// The sources of a decision that a participant wrote as text, and the views that it leaves out.
pub(crate) fn trace(state: &State, turns: &[&Turn], decision: &Decision) -> Traced {
    let Some(writer) = decision.synthesizer.as_deref() else { return Traced::default() };
    if state.spec.answer_schema().is_some() || decision.synthesis.trim().is_empty() {
        return Traced::default();
    }
    let talk = talk(state, turns, writer, &decision.synthesis);
    let markers = markers_of(state, writer, &decision.synthesis);
    let answer = Answer { text: &decision.synthesis, markers: &markers };
    let views = dropped::views(state, decision);
    Traced { provenance: sources(answer, &talk), dropped: dropped(answer.text, &views, &talk) }
}

/// Everything that was said before the decision, except for a turn that is the answer itself.
fn talk<'s>(state: &'s State, turns: &[&'s Turn], writer: &str, answer: &str) -> Talk<'s> {
    let turns = turns.iter().filter(|turn| turn.phase != DECIDING);
    let said = turns.map(|turn| Said {
        participant: turn.participant.as_str().into(),
        round: turn.round,
        step: turn.step.clone(),
        text: state.shown(turn).into(),
    });
    let is_answer = |it: &Said<'_>| it.participant == writer && it.text.contains(answer.trim());
    let found = state.subs.values().filter_map(|sub| sub.end.as_ref()?.synthesis.as_deref());
    let given = state.spec.given().chain(found).map(Cow::from);
    Talk { turns: said.filter(|it| !is_answer(it)).collect(), given: given.collect() }
}

/// The markers in the reply that this answer was read from.
fn markers_of(state: &State, writer: &str, answer: &str) -> Vec<Marker> {
    let is_by_writer = |it: &&RecordedReading| it.is_deciding() && it.participant == writer;
    let readings = state.readings.iter().rev().filter(is_by_writer);
    let mut read = readings.filter_map(|it| it.reading.read::<Synthesis>(SYNTHESIS));
    read.find(|it| it.synthesis == answer).map(|it| it.markers).unwrap_or_default()
}
