//! Repetition: somebody says again what it said in an earlier turn, by shared word trigrams, or by similarity: of what is meant where
//! an embedding model was ordered, else of the words.

use quorum_core::model::debate::Detection;

use super::{Course, Detector, Ends, Speech, lexical::Profile};

/// So alike to an earlier turn is a repetition (D08).
const ALIKE: f64 = 0.85;

/// So many of the trigrams of both turns together shared is one as well: about three quarters of each.
const OVERLAPPING: f64 = 0.6;

/// How many of the speaker's own turns are looked back at, so that a debate of a thousand rounds stays quick and small.
pub(super) const LOOKS_BACK: usize = 20;

pub(crate) const DETECTOR: Detector = Detector {
    name: "repetition",
    summary: "A speech says again what the same speaker said before",
    detect,
    ends: Ends::WhenOfAll,
};

fn detect(course: &Course) -> Vec<Detection> {
    let round = course.latest_round();
    let latest = course.speeches.iter().rev().take_while(|it| it.round == round);
    let mut found: Vec<Detection> = latest.flat_map(repeated).collect();
    found.reverse();
    found
}

/// How much of a speech its speaker said before, by each measure; the most there is.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Repeats {
    alike: f64,
    overlap: f64,
    /// By what is meant, where an embedding model said so.
    pub(super) meant: Option<f64>,
}

impl Repeats {
    pub(super) fn of<'p>(profile: &Profile, earlier: impl Iterator<Item = &'p Profile>) -> Repeats {
        let mut repeats = Repeats::default();
        for before in earlier.filter(|it| profile.may_be_alike(it)) {
            repeats.alike = repeats.alike.max(profile.similarity(before, ALIKE));
            repeats.overlap = repeats.overlap.max(profile.trigram_overlap(before));
        }
        repeats
    }
}

fn repeated(speech: &Speech) -> impl Iterator<Item = Detection> {
    let Repeats { alike, overlap, meant } = speech.repeats;
    let alike = meant.map_or(("lexical", alike, ALIKE), |meant| ("embeddings", meant, ALIKE));
    let measured = [alike, ("trigrams", overlap, OVERLAPPING)];
    let (participant, round) = (speech.participant.clone(), speech.round);
    measured.into_iter().filter(|(_, value, least)| least <= value).map(move |(measure, value, _)| {
        Detection {
            round,
            detector: DETECTOR.name.to_owned(),
            measure: measure.to_owned(),
            value: (value * 1_000.0).round() / 1_000.0,
            participant: Some(participant.clone()),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::super::tests::spoken;
    use super::*;

    const FIRST: &str = "Tabs let every reader choose a width. A person with weak eyes can widen them, and nobody else is \
                         troubled by that choice.";
    const OTHER: &str =
        "Alignment breaks as soon as two editors disagree, which is why formatters settled on spaces.";

    fn found(speeches: &[(&str, u32, &str)]) -> Vec<String> {
        let told = |it: &Detection| {
            format!(
                "{} {} {} {:.1}",
                it.round,
                it.participant.as_deref().unwrap_or("-"),
                it.measure,
                it.value
            )
        };
        detect(&spoken(speeches)).iter().map(told).collect()
    }

    #[test]
    fn d08_saying_the_same_again_is_a_repetition_by_both_measures() {
        let speeches = [("ann", 1, FIRST), ("bob", 1, OTHER), ("ann", 2, FIRST)];
        assert_eq!(found(&speeches), ["2 ann trigrams 1.0", "2 ann lexical 1.0"]);
    }

    #[test]
    fn d08_something_new_is_none_and_neither_is_what_another_said() {
        assert_eq!(found(&[("ann", 1, FIRST), ("bob", 1, OTHER), ("ann", 2, OTHER)]), [""; 0]);
        assert_eq!(found(&[("ann", 1, FIRST), ("bob", 1, FIRST)]), [""; 0]);
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn d08_only_the_latest_round_is_looked_at() {
        assert_eq!(found(&[("ann", 1, FIRST), ("ann", 2, FIRST), ("ann", 3, OTHER)]), [""; 0]);
    }
}
