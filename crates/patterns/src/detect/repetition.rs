//! Repetition: a speech repeats what its speaker said in an earlier turn, by shared word trigrams
//! or by similarity (of meaning if an embedding model is set, otherwise of words).

use quorum_core::registry::{Course, Detection, Detector, Ends, Speech};

/// The similarity at which a speech counts as a repetition (D08).
pub(crate) const SIMILAR: f64 = 0.85;

/// The trigram overlap at which a speech counts as a repetition: about three quarters of each
/// speech.
const OVERLAPPING: f64 = 0.6;

/// How many of the speaker's earlier turns are compared, so that a debate of a thousand rounds
/// stays fast and small.
pub(crate) const LOOK_BACK: usize = 20;

/// The measures of repetition.
pub(crate) const LEXICAL: &str = "lexical";
pub(crate) const TRIGRAMS: &str = "trigrams";
pub(crate) const EMBEDDINGS: &str = "embeddings";

pub(crate) const DETECTOR: Detector = Detector {
    name: "repetition",
    summary: "A speech repeats what the same speaker said before",
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

/// The detections for one speech. An embedding similarity, if there is one, replaces the lexical
/// one.
fn repeated(speech: &Speech) -> impl Iterator<Item = Detection> {
    let by = |measure| speech.repeats.iter().find(|it| it.0 == measure).map(|it| it.1);
    let meant = by(EMBEDDINGS).map(|value| (EMBEDDINGS, value, SIMILAR));
    let alike = meant.unwrap_or((LEXICAL, by(LEXICAL).unwrap_or_default(), SIMILAR));
    let measured = [alike, (TRIGRAMS, by(TRIGRAMS).unwrap_or_default(), OVERLAPPING)];
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
    use super::*;
    use crate::debate::course::tests::spoken;

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
        detect(spoken(speeches).seen()).iter().map(told).collect()
    }

    #[test]
    fn d08_saying_the_same_again_is_a_repetition_by_both_measures() {
        let speeches = [("ann", 1, FIRST), ("bob", 1, OTHER), ("ann", 2, FIRST)];
        assert_eq!(found(&speeches), ["2 ann trigrams 1.0", "2 ann lexical 1.0"]);
    }

    #[test]
    fn d08_a_new_speech_is_not_a_repetition_and_neither_is_repeating_another_speaker() {
        assert_eq!(found(&[("ann", 1, FIRST), ("bob", 1, OTHER), ("ann", 2, OTHER)]), [""; 0]);
        assert_eq!(found(&[("ann", 1, FIRST), ("bob", 1, FIRST)]), [""; 0]);
        assert_eq!(found(&[]), [""; 0]);
    }

    #[test]
    fn d08_only_the_latest_round_is_looked_at() {
        assert_eq!(found(&[("ann", 1, FIRST), ("ann", 2, FIRST), ("ann", 3, OTHER)]), [""; 0]);
    }
}
