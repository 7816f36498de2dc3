//! The course of a debate: what was said, how much of it was said before, and how rounds were judged.

use std::sync::Arc;

use quorum_core::{
    floor::compare::{Compare, Earlier},
    model::{likeness::Similarity, transcript::Turn},
    registry::{Course, Detection, Detector, Ends, RoundMarks, Speech},
};

use crate::{
    debate::Assessment,
    detect::{
        lexical::Profile,
        repetition::{ALIKE, EMBEDDINGS, LEXICAL, LOOKS_BACK, TRIGRAMS},
    },
    readers::unquoted::own_words,
};

/// A debate up to now: what detectors see, and what is needed to measure the next speech.
#[derive(Default)]
pub(crate) struct DebateCourse {
    seen: Course,
    /// The profile of each speech, in the same order.
    profiles: Vec<Profile>,
    assessed: Vec<(u32, Assessment)>,
}

impl DebateCourse {
    /// Takes in a speech. What it quotes is not the speaker's, and what it said long ago is forgotten.
    pub(crate) fn hear(&mut self, turn: &Turn) {
        self.take(&turn.participant, turn.round, &own_words(&turn.text));
    }

    fn take(&mut self, participant: &str, round: u32, text: &str) {
        let profile = Profile::of(text);
        // Measured once, and not again with everything that is asked about the round.
        let earlier = self.earlier(participant, round).map(|place| &self.profiles[place]);
        let repeats = repeats(&profile, earlier);
        let own = |it: &Speech| it.participant == participant;
        if LOOKS_BACK < self.seen.speeches.iter().filter(|it| own(it)).count()
            && let Some(oldest) = self.seen.speeches.iter().position(own)
        {
            self.seen.speeches.remove(oldest);
            self.profiles.remove(oldest);
        }
        let participant = participant.to_owned();
        self.seen.speeches.push(Speech { participant, round, text: text.into(), repeats });
        self.profiles.push(profile);
    }

    /// The speeches of this round beside what their speakers said before, for a model that can tell
    /// what they mean.
    pub(crate) fn to_compare(&self, round: u32) -> Vec<Compare> {
        let places = 0..self.seen.speeches.len();
        let latest = places.filter(|place| self.seen.speeches[*place].round == round);
        let beside = latest.filter_map(|place| self.beside_earlier(place));
        beside.filter(|it| !it.earlier.is_empty()).collect()
    }

    fn beside_earlier(&self, place: usize) -> Option<Compare> {
        let (speech, profile) = (&self.seen.speeches[place], &self.profiles[place]);
        let text = said(speech)?;
        let earlier = self.earlier(&speech.participant, speech.round).filter_map(|before| {
            let text = said(&self.seen.speeches[before])?;
            Some(Earlier { text, standing: profile.standing(&self.profiles[before]) })
        });
        Some(Compare { participant: speech.participant.clone(), text, earlier: earlier.collect() })
    }

    /// Takes in how much of the speeches of this round was said before, by what they mean.
    pub(crate) fn compared(&mut self, round: u32, found: &[Similarity]) {
        for speech in self.seen.speeches.iter_mut().filter(|it| it.round == round) {
            let of = found.iter().find(|it| it.participant == speech.participant);
            speech.repeats.extend(of.map(|it| (EMBEDDINGS, it.value)));
        }
    }

    /// The places of what this one said before this round, the newest first.
    fn earlier(&self, participant: &str, round: u32) -> impl Iterator<Item = usize> {
        let speeches = self.seen.speeches.iter().enumerate().rev();
        let own = speeches.filter(move |(_, it)| it.participant == participant && it.round < round);
        own.map(|it| it.0).take(LOOKS_BACK)
    }

    /// Takes in an assessment that counts.
    pub(crate) fn judge(&mut self, round: u32, assessment: Assessment) {
        self.seen.marks.push(RoundMarks {
            round,
            quality: assessment.quality_score,
            novelty: assessment.novelty(),
            relevance: assessment.relevance(),
            repetitive: assessment.flags.repetitive,
        });
        self.assessed.push((round, assessment));
    }

    /// The speakers of this round.
    pub(crate) fn speakers(&self, round: u32) -> impl Iterator<Item = &str> {
        self.seen.of_round(round).map(|it| it.participant.as_str())
    }

    /// The assessment of this round, if one counts.
    pub(crate) fn assessment(&self, round: u32) -> Option<&Assessment> {
        self.assessed.iter().find(|it| it.0 == round).map(|it| &it.1)
    }

    /// Everything these detectors notice about the latest round.
    pub(crate) fn noticed(&self, detectors: &[&Detector]) -> Vec<Detection> {
        detectors.iter().flat_map(|it| (it.detect)(&self.seen)).collect()
    }

    /// The first of these detectors that has noticed enough about this round to end it.
    pub(crate) fn ended_by(
        &self,
        detectors: &[&'static Detector],
        names: &[String],
        round: u32,
    ) -> Option<&'static Detector> {
        let allowed = detectors.iter().copied().filter(|it| names.iter().any(|name| name == it.name));
        allowed.into_iter().find(|it| {
            let found = (it.detect)(&self.seen).into_iter().filter(|it| it.round == round);
            let found: Vec<Detection> = found.collect();
            let of = |who: &str| found.iter().any(|it| it.participant.as_deref() == Some(who));
            match it.ends {
                Ends::AtOnce => !found.is_empty(),
                Ends::WhenOfAll => !found.is_empty() && self.speakers(round).all(of),
            }
        })
    }
}

fn said(speech: &Speech) -> Option<Arc<str>> {
    (!speech.text.trim().is_empty()).then(|| speech.text.clone())
}

/// How much of a speech its speaker said before, by each measure; the most there is.
fn repeats<'p>(profile: &Profile, earlier: impl Iterator<Item = &'p Profile>) -> Vec<(&'static str, f64)> {
    let (mut alike, mut overlap) = (0.0_f64, 0.0_f64);
    for before in earlier.filter(|it| profile.may_be_alike(it)) {
        alike = alike.max(profile.similarity(before, ALIKE));
        overlap = overlap.max(profile.trigram_overlap(before));
    }
    vec![(LEXICAL, alike), (TRIGRAMS, overlap)]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::DETECTORS;

    /// A debate of these speeches: the speaker, the round, the text.
    pub(crate) fn spoken(speeches: &[(&str, u32, &str)]) -> DebateCourse {
        let mut course = DebateCourse::default();
        speeches.iter().for_each(|(who, round, text)| course.take(who, *round, text));
        course
    }

    impl DebateCourse {
        pub(crate) fn seen(&self) -> &Course {
            &self.seen
        }
    }

    #[test]
    fn d08_one_who_repeats_itself_does_not_end_a_debate() {
        let detectors: Vec<&'static Detector> = DETECTORS.iter().collect();
        let text = "Tabs adapt to every reader, and that settles the matter for good.";
        let (one, other) = ("Spaces look the same everywhere.", "Diffs are cleaner without them.");
        let mut debate = spoken(&[("ann", 1, text), ("bob", 1, one), ("ann", 2, text), ("bob", 2, other)]);
        let allowed = ["repetition".to_owned()];
        let noticed = debate.noticed(&detectors);
        assert!(noticed.iter().any(|it| it.participant.as_deref() == Some("ann") && it.round == 2));
        assert!(debate.ended_by(&detectors, &allowed, 2).is_none());
        debate.take("ann", 3, text);
        debate.take("bob", 3, other);
        let ended = debate.ended_by(&detectors, &allowed, 3);
        assert_eq!(ended.map(|it| it.name), Some("repetition"));
        assert!(debate.ended_by(&detectors, &[], 3).is_none(), "only where it was ordered");
    }
}
