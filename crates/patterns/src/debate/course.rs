//! The course of a debate: its speeches, how much each repeats, and the assessments of rounds.

use std::sync::Arc;

use quorum_core::{
    floor::compare::{Compare, Earlier},
    model::{likeness::Similarity, transcript::Turn},
    registry::{Course, Detection, Detector, Ends, RoundMarks, Speech},
};

use crate::{
    debate::{Assessment, Concession},
    detect::{
        lexical::Profile,
        repetition::{EMBEDDINGS, LEXICAL, LOOK_BACK, SIMILAR, TRIGRAMS},
    },
    readers::unquoted::own_words,
};

/// A debate so far: what detectors see, and what is needed to measure the next speech.
#[derive(Default)]
pub(crate) struct DebateCourse {
    seen: Course,
    /// The profile of each speech, in the same order.
    profiles: Vec<Profile>,
    assessed: Vec<(u32, Assessment)>,
    conceded: Vec<Concession>,
}

impl DebateCourse {
    /// Adds a speech, without its quotations. The speaker's oldest speeches are dropped.
    pub(crate) fn add_speech(&mut self, turn: &Turn) {
        self.add_text(&turn.participant, turn.round, &own_words(&turn.text));
    }

    fn add_text(&mut self, participant: &str, round: u32, text: &str) {
        let profile = Profile::of(text);
        // Measured once here rather than for every question about the round.
        let earlier = self.earlier(participant, round).map(|place| &self.profiles[place]);
        let repeats = repeats(&profile, earlier);
        let own = |it: &Speech| it.participant == participant;
        if LOOK_BACK < self.seen.speeches.iter().filter(|it| own(it)).count()
            && let Some(oldest) = self.seen.speeches.iter().position(own)
        {
            self.seen.speeches.remove(oldest);
            self.profiles.remove(oldest);
        }
        let participant = participant.to_owned();
        self.seen.speeches.push(Speech { participant, round, text: text.into(), repeats });
        self.profiles.push(profile);
    }

    /// The speeches of this round with their speakers' earlier ones, for an embedding model to
    /// compare.
    pub(crate) fn to_compare(&self, round: u32) -> Vec<Compare> {
        let places = 0..self.seen.speeches.len();
        let latest = places.filter(|place| self.seen.speeches[*place].round == round);
        let beside = latest.filter_map(|place| self.with_earlier(place));
        beside.filter(|it| !it.earlier.is_empty()).collect()
    }

    fn with_earlier(&self, place: usize) -> Option<Compare> {
        let (speech, profile) = (&self.seen.speeches[place], &self.profiles[place]);
        let text = nonblank_text(speech)?;
        let earlier = self.earlier(&speech.participant, speech.round).filter_map(|before| {
            let text = nonblank_text(&self.seen.speeches[before])?;
            Some(Earlier { text, standing: profile.uncontradicted_share(&self.profiles[before]) })
        });
        Some(Compare { participant: speech.participant.clone(), text, earlier: earlier.collect() })
    }

    /// Adds an embedding model's similarities for the speeches of this round.
    pub(crate) fn add_similarities(&mut self, round: u32, found: &[Similarity]) {
        for speech in self.seen.speeches.iter_mut().filter(|it| it.round == round) {
            let of = found.iter().find(|it| it.participant == speech.participant);
            speech.repeats.extend(of.map(|it| (EMBEDDINGS, it.value)));
        }
    }

    /// The indexes of this participant's speeches before this round, newest first.
    fn earlier(&self, participant: &str, round: u32) -> impl Iterator<Item = usize> {
        let speeches = self.seen.speeches.iter().enumerate().rev();
        let own = speeches.filter(move |(_, it)| it.participant == participant && it.round < round);
        own.map(|it| it.0).take(LOOK_BACK)
    }

    /// Adds a valid assessment.
    pub(crate) fn add_assessment(&mut self, round: u32, assessment: Assessment) {
        // Without a score there is nothing for the detectors to compare.
        let marks = assessment.quality_score.map(|quality| RoundMarks {
            round,
            quality,
            novelty: assessment.novelty(),
            relevance: assessment.relevance(),
            repetitive: assessment.flags.repetitive,
        });
        self.seen.marks.extend(marks);
        self.assessed.push((round, assessment));
    }

    /// Adds a concession.
    pub(crate) fn add_concession(&mut self, concession: Concession) {
        self.conceded.push(concession);
    }

    /// The concessions so far.
    pub(crate) fn conceded(&self) -> &[Concession] {
        &self.conceded
    }

    /// The speakers of this round.
    pub(crate) fn speakers(&self, round: u32) -> impl Iterator<Item = &str> {
        self.seen.of_round(round).map(|it| it.participant.as_str())
    }

    /// The valid assessment of this round, if any.
    pub(crate) fn assessment(&self, round: u32) -> Option<&Assessment> {
        self.assessed.iter().find(|it| it.0 == round).map(|it| &it.1)
    }

    /// The findings of these detectors about the latest round.
    pub(crate) fn detections(&self, detectors: &[&Detector]) -> Vec<Detection> {
        detectors.iter().flat_map(|it| (it.detect)(&self.seen)).collect()
    }

    /// The first of these detectors whose findings about this round end the debate.
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

fn nonblank_text(speech: &Speech) -> Option<Arc<str>> {
    (!speech.text.trim().is_empty()).then(|| speech.text.clone())
}

/// How much of a speech repeats earlier ones, by each measure; the maximum over all of them.
fn repeats<'p>(profile: &Profile, earlier: impl Iterator<Item = &'p Profile>) -> Vec<(&'static str, f64)> {
    let (mut alike, mut overlap) = (0.0_f64, 0.0_f64);
    for before in earlier.filter(|it| profile.may_be_similar(it)) {
        alike = alike.max(profile.similarity(before, SIMILAR));
        overlap = overlap.max(profile.trigram_overlap(before));
    }
    vec![(LEXICAL, alike), (TRIGRAMS, overlap)]
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::DETECTORS;

    /// A debate with these speeches: speaker, round, text.
    pub(crate) fn spoken(speeches: &[(&str, u32, &str)]) -> DebateCourse {
        let mut course = DebateCourse::default();
        speeches.iter().for_each(|(who, round, text)| course.add_text(who, *round, text));
        course
    }

    impl DebateCourse {
        pub(crate) fn seen(&self) -> &Course {
            &self.seen
        }
    }

    #[test]
    fn d08_a_single_debater_that_repeats_itself_does_not_end_a_debate() {
        let detectors: Vec<&'static Detector> = DETECTORS.iter().collect();
        let text = "Tabs adapt to every reader, and that settles the matter for good.";
        let (one, other) = ("Spaces look the same everywhere.", "Diffs are cleaner without them.");
        let mut debate = spoken(&[("ann", 1, text), ("bob", 1, one), ("ann", 2, text), ("bob", 2, other)]);
        let allowed = ["repetition".to_owned()];
        let noticed = debate.detections(&detectors);
        assert!(noticed.iter().any(|it| it.participant.as_deref() == Some("ann") && it.round == 2));
        assert!(debate.ended_by(&detectors, &allowed, 2).is_none());
        debate.add_text("ann", 3, text);
        debate.add_text("bob", 3, other);
        let ended = debate.ended_by(&detectors, &allowed, 3);
        assert_eq!(ended.map(|it| it.name), Some("repetition"));
        assert!(debate.ended_by(&detectors, &[], 3).is_none(), "only if the spec lists it");
    }
}
