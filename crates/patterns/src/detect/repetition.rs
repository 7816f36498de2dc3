//! Repetition: somebody says again what it said in an earlier turn, by shared word trigrams or by lexical similarity.

use quorum_core::model::debate::Detection;

use super::{Course, Detector, Ends, Speech};

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
    let mut found: Vec<Detection> = latest.flat_map(|speech| repeated(course, speech)).collect();
    found.reverse();
    found
}

fn repeated(course: &Course, speech: &Speech) -> impl Iterator<Item = Detection> {
    let own = course.speeches.iter().rev().filter(|it| it.participant == speech.participant);
    let earlier = own.filter(|it| it.round < speech.round).take(LOOKS_BACK);
    let (mut alike, mut overlap) = (0.0_f64, 0.0_f64);
    for before in earlier.filter(|it| speech.profile.may_be_alike(&it.profile)) {
        alike = alike.max(speech.profile.similarity(&before.profile, ALIKE));
        overlap = overlap.max(speech.profile.trigram_overlap(&before.profile));
    }
    let measured = [("lexical", alike, ALIKE), ("trigrams", overlap, OVERLAPPING)];
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
    use super::super::tests::speech;
    use super::*;

    const FIRST: &str = "Tabs let every reader choose a width. A person with weak eyes can widen them, and nobody else is \
                         troubled by that choice.";
    const OTHER: &str =
        "Alignment breaks as soon as two editors disagree, which is why formatters settled on spaces.";

    fn found(speeches: Vec<Speech>) -> Vec<String> {
        let course = Course { speeches, ..Course::default() };
        let told = |it: &Detection| {
            format!(
                "{} {} {} {:.1}",
                it.round,
                it.participant.as_deref().unwrap_or("-"),
                it.measure,
                it.value
            )
        };
        detect(&course).iter().map(told).collect()
    }

    #[test]
    fn d08_saying_the_same_again_is_a_repetition_by_both_measures() {
        let speeches = vec![speech("ann", 1, FIRST), speech("bob", 1, OTHER), speech("ann", 2, FIRST)];
        assert_eq!(found(speeches), ["2 ann trigrams 1.0", "2 ann lexical 1.0"]);
    }

    #[test]
    fn d08_something_new_is_none_and_neither_is_what_another_said() {
        let speeches = vec![speech("ann", 1, FIRST), speech("bob", 1, OTHER), speech("ann", 2, OTHER)];
        assert_eq!(found(speeches), [""; 0]);
        assert_eq!(found(vec![speech("ann", 1, FIRST), speech("bob", 1, FIRST)]), [""; 0]);
        assert_eq!(found(Vec::new()), [""; 0]);
    }

    #[test]
    fn d08_only_the_latest_round_is_looked_at() {
        let speeches = vec![speech("ann", 1, FIRST), speech("ann", 2, FIRST), speech("ann", 3, OTHER)];
        assert_eq!(found(speeches), [""; 0]);
    }
}
