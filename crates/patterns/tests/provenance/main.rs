//! Provenance: who-said-it on a constructed set (P1), forged markers (P3), its speed (P4), offsets
//! of random texts (P5), and bad input.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod bad_input;
mod constructed;
mod corpus;
mod forged;
mod offsets;
mod speed;

use quorum_core::{model::id::Step, model::outcome::SourcedSentence, vocabulary::prose::Unmarked};
use quorum_patterns::provenance::{Answer, Said, Talk, sources};

/// A turn of a talk.
pub(crate) fn said<'t>(participant: &'t str, round: u32, text: &'t str) -> Said<'t> {
    Said {
        participant: participant.into(),
        round,
        step: Step::new(round, "speaking", participant),
        text: text.into(),
    }
}

/// The names of everyone that spoke.
pub(crate) fn names(talk: &Talk<'_>) -> Vec<String> {
    let mut names: Vec<String> = talk.turns.iter().map(|it| it.participant.to_string()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// The sources of a text as its writer sent it, with markers; and the text without them.
pub(crate) fn of_marked(text: &str, talk: &Talk<'_>) -> (String, Vec<SourcedSentence>) {
    let Unmarked { text, markers } = Unmarked::of(text, &names(talk));
    let found = sources(Answer { text: &text, markers: &markers }, talk);
    (text, found)
}

/// The text of a sentence.
pub(crate) fn cut(text: &str, start: usize, end: usize) -> String {
    text.chars().skip(start).take(end - start).collect()
}
