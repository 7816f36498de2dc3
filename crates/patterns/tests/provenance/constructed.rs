//! The figures of P1, computed from the constructed set.

use std::collections::BTreeSet;

use quorum_core::model::outcome::{SourcedSentence, Support};
use quorum_patterns::provenance::dropped;

use super::{
    corpus::{Sentence, all},
    cut, of_marked,
};

/// How many of the cases were found, and how many of what was found is right.
#[derive(Debug, Default, Clone, Copy)]
struct Score {
    right: usize,
    found: usize,
    wanted: usize,
}

impl Score {
    fn add(&mut self, found: &BTreeSet<String>, wanted: &BTreeSet<String>) {
        self.right += found.intersection(wanted).count();
        (self.found, self.wanted) = (self.found + found.len(), self.wanted + wanted.len());
    }

    fn precision(&self) -> f64 {
        self.right as f64 / self.found as f64
    }

    fn recall(&self) -> f64 {
        self.right as f64 / self.wanted as f64
    }
}

/// How often sentences of a kind have a level.
#[derive(Debug, Default, Clone, Copy)]
struct Rate {
    hits: usize,
    all: usize,
}

impl Rate {
    fn add(&mut self, is_hit: bool) {
        (self.hits, self.all) = (self.hits + usize::from(is_hit), self.all + 1);
    }

    fn share(&self) -> f64 {
        self.hits as f64 / self.all as f64
    }
}

/// The marker that a writer puts after a sentence: usually right, sometimes missing, sometimes of
/// somebody else; after every second invented sentence a forged one.
fn marker(at: usize, sentence: &Sentence) -> String {
    let cites = |turns: &[(&str, u32)]| {
        turns.iter().map(|(name, round)| format!("{name}:{round}")).collect::<Vec<_>>().join(", ")
    };
    let letters = sentence.text.chars().count() + at;
    let others: Vec<(&str, u32)> = ["ann", "bob", "cyd"]
        .into_iter()
        .filter(|name| !sentence.rests_on.iter().any(|it| it.0 == *name))
        .map(|name| (name, 1))
        .collect();
    match sentence.kind {
        'i' if letters.is_multiple_of(2) => format!(" [{}]", cites(&others[..1])),
        'i' => String::new(),
        _ if letters % 10 == 4 => String::new(),
        _ if letters % 12 == 7 => format!(" [{}]", cites(&others[..1])),
        _ => format!(" [{}]", cites(&sentence.rests_on)),
    }
}

fn no_marker(_: usize, _: &Sentence) -> String {
    String::new()
}

/// Calls `look` with every sentence of the set and what was found of it.
fn each(marker: fn(usize, &Sentence) -> String, mut look: impl FnMut(&Sentence, &SourcedSentence)) {
    for discussion in all() {
        let talk = discussion.talk();
        for synthesis in &discussion.syntheses {
            let (text, found) = of_marked(&synthesis.text(marker), &talk);
            assert_eq!(found.len(), synthesis.sentences.len(), "{text}");
            for (sentence, found) in synthesis.sentences.iter().zip(&found) {
                assert_eq!(cut(&text, found.start, found.end), sentence.text);
                look(sentence, found);
            }
        }
    }
}

fn who_said_it(marker: fn(usize, &Sentence) -> String) -> Score {
    let mut score = Score::default();
    each(marker, |sentence, found| {
        if sentence.is_true_to_talk() {
            let named: BTreeSet<String> = found.sources.iter().map(|it| it.participant.clone()).collect();
            let wanted: BTreeSet<String> = sentence.rests_on.iter().map(|it| it.0.to_owned()).collect();
            score.add(&named, &wanted);
        }
    });
    score
}

#[test]
fn the_set_has_60_syntheses_and_400_sentences() {
    let discussions = all();
    let syntheses: Vec<_> = discussions.iter().flat_map(|it| &it.syntheses).collect();
    let sentences = syntheses.iter().map(|it| it.sentences.len()).sum::<usize>();
    assert!(syntheses.len() == 60 && 400 <= sentences, "{} and {sentences}", syntheses.len());
}

#[test]
fn p1_who_said_it_is_found_with_markers() {
    let score = who_said_it(marker);
    println!("with markers: precision {:.3}, recall {:.3}", score.precision(), score.recall());
    assert!(0.95 <= score.precision() && 0.80 <= score.recall(), "{score:?}");
}

#[test]
fn p1_who_said_it_is_found_without_markers() {
    let score = who_said_it(no_marker);
    println!("without markers: precision {:.3}, recall {:.3}", score.precision(), score.recall());
    assert!(0.90 <= score.precision() && 0.60 <= score.recall(), "{score:?}");
}

#[test]
fn p1_invented_sentences_and_altered_numbers_are_flagged() {
    for marker in [marker, no_marker] {
        let [mut invented, mut altered, mut alarms, mut number_alarms, mut negated, mut denied] =
            [Rate::default(); 6];
        each(marker, |sentence, found| {
            let is_flagged = found.level == Support::Unsupported;
            match sentence.kind {
                'i' => invented.add(is_flagged),
                'n' => altered.add(is_flagged),
                'x' => negated.add(found.level == Support::Contradicted),
                _ => {
                    alarms.add(is_flagged);
                    denied.add(found.level == Support::Contradicted);
                    if sentence.text.contains(|it: char| it.is_ascii_digit()) {
                        number_alarms.add(is_flagged);
                    }
                }
            }
        });
        println!("invented {:.3} at {:.3}", invented.share(), alarms.share());
        println!("altered numbers {:.3} at {:.3}", altered.share(), number_alarms.share());
        println!("negated {:.3} at {:.3}", negated.share(), denied.share());
        assert!(0.75 <= invented.share() && alarms.share() <= 0.10, "{invented:?} {alarms:?}");
        assert!(0.90 <= altered.share() && number_alarms.share() <= 0.06, "{altered:?} {number_alarms:?}");
    }
}

#[test]
fn p1_dropped_dissent_is_found() {
    let mut score = Score::default();
    for discussion in all() {
        let talk = discussion.talk();
        for synthesis in &discussion.syntheses {
            let found = dropped(&synthesis.text(no_marker), &synthesis.views(), &talk);
            let found: BTreeSet<String> = found.into_iter().map(|it| it.text).collect();
            let left_out = synthesis.views.iter().filter(|it| !it.2).map(|it| it.1.to_owned()).collect();
            score.add(&found, &left_out);
        }
    }
    println!("dropped: precision {:.3}, recall {:.3}", score.precision(), score.recall());
    assert!(0.90 <= score.precision() && 0.90 <= score.recall(), "{score:?}");
}
