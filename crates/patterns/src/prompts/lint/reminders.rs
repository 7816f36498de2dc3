//! Checks of the reminders for replies that could not be read.

use std::{fs, path::Path};

use quorum_core::{
    floor::reading::{Misread, Reader, Reminder, reminding},
    model::spec::Spec,
};
use quorum_testkit::spec::spec;

use super::{ENGLISH, JAPANESE, samples::mask, tokens};
use crate::{
    debate::{assessment_reader::Assessments, casting, rubric::Rubric, verdict_reader::Verdicts},
    prompts::{debating, deciding, talk},
    readers::{
        ballot::Ballots, draft_check::Checks, json_value, markers::ConsensusChecks,
        short_answer::ShortAnswers, synthesis_reader::Syntheses,
    },
};

/// The most words of a reminder as it is sent.
const WORDS: usize = 45;

/// The most tokens of the words that follow what was wrong.
const TOKENS: u64 = 70;

/// The reminders of forms in lines.
const OF_LINES: [&str; 5] = [
    debating::ASSESSMENT_LINES,
    debating::VERDICT_LINES,
    debating::CASTING_LINES,
    talk::CHECK_LINES,
    deciding::BALLOT_LINES,
];

/// The reminders of the usual forms.
fn usual() -> Vec<Reminder> {
    let spec = spec("debate");
    let mask = mask(&spec);
    [
        Ballots::on(&["tabs".to_owned()]).reminders(),
        ShortAnswers.reminders(),
        Checks.reminders(),
        Verdicts::on(&[], &mask).reminders(),
        Assessments::of(vec!["ann".to_owned()], &mask, Rubric::of(&[])).reminders(),
        ConsensusChecks.reminders(),
        Syntheses::of(&spec, "ann").reminders(),
        json_value::REMINDERS,
        casting::REMINDERS,
    ]
    .concat()
}

#[test]
fn reminders_as_they_are_sent_have_few_words() {
    let long = Misread::new("none of the options is a word that goes on and on ".repeat(20));
    for words in usual().iter().map(|it| it.words).chain(OF_LINES) {
        let sent = reminding(&long, words);
        let count = sent.split_whitespace().count();
        assert!(count <= WORDS, "{count} words: {sent}");
        assert!(tokens(words) <= TOKENS, "{} tokens: {words}", tokens(words));
        let repeats = ["in this order", "fill", "the JSON value itself"].iter().any(|it| words.contains(it));
        assert!(repeats && !sent.contains(ENGLISH), "{sent}");
    }
    for words in OF_LINES {
        assert!(words.contains("in this order") && !words.contains("JSON"), "{words}");
    }
}

/// The crate's sources with forms declare as many reminders as are checked here.
#[test]
fn no_reminder_goes_unchecked() {
    let declared = |folder: &str| -> usize {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src").join(folder);
        let files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()).filter(|it| it.is_file());
        files.map(|it| fs::read_to_string(it).unwrap().matches("Reminder {\n").count()).sum()
    };
    assert_eq!(declared("readers") + declared("debate"), usual().len());
}

#[test]
fn a_synthesis_that_was_cut_off_is_finished_in_a_told_length() {
    let finishing = |topic: &str| {
        let spec = Spec { topic: topic.to_owned(), ..spec("synthesis") };
        let words = Syntheses::of(&spec, "ann").finishing();
        assert!(words.split_whitespace().count() <= WORDS, "{words}");
        words
    };
    assert!(finishing(ENGLISH).contains("at most 120 words"));
    assert!(finishing(JAPANESE).contains("at most 240 characters"));
}
