//! Detectors: what can be noticed about a debate without asking anyone (D08). They inform the judge, are recorded, and
//! end a debate where that was ordered. Each is one file and one line in a list.

pub(crate) mod diminishing_returns;
pub(crate) mod drift;
mod lexical;
pub(crate) mod repetition;
mod words;

use std::sync::Arc;

use quorum_core::{
    floor::compare::{Compare, Earlier},
    model::{assessment::Assessment, debate::Detection, likeness::Similarity, transcript::Turn},
};

use crate::{DETECTORS, own::own_words};
use lexical::Profile;
use repetition::Repeats;

/// Something that can be noticed about a debate.
#[derive(Clone, Copy)]
pub struct Detector {
    /// What users call it.
    pub name: &'static str,
    /// One line for help, schemas and docs.
    pub summary: &'static str,
    detect: fn(&Course) -> Vec<Detection>,
    ends: Ends,
}

/// When what a detector noticed is enough to end a debate that it may end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ends {
    /// As soon as it notices anything.
    AtOnce,
    /// When it notices it of everyone who spoke in the round.
    WhenOfAll,
}

/// A debate as detectors see it: the speeches and the assessments that count, up to now.
#[derive(Default)]
pub(crate) struct Course {
    speeches: Vec<Speech>,
    assessed: Vec<(u32, Assessment)>,
}

struct Speech {
    participant: String,
    round: u32,
    /// In the speaker's own words.
    text: Arc<str>,
    profile: Profile,
    repeats: Repeats,
}

impl Course {
    /// Takes in a speech. What it quotes is not the speaker's, and what it said long ago is forgotten.
    pub(crate) fn hear(&mut self, turn: &Turn) {
        self.take(&turn.participant, turn.round, &own_words(&turn.text));
    }

    fn take(&mut self, participant: &str, round: u32, text: &str) {
        let profile = Profile::of(text);
        // Looked at once, and not again with everything that is asked about the round.
        let repeats = Repeats::of(&profile, self.earlier(participant, round).map(|it| &it.profile));
        let own = |it: &Speech| it.participant == participant;
        if repetition::LOOKS_BACK < self.speeches.iter().filter(|it| own(it)).count() {
            let oldest = self.speeches.iter().position(own);
            oldest.into_iter().for_each(|place| drop(self.speeches.remove(place)));
        }
        let participant = participant.to_owned();
        self.speeches.push(Speech { participant, round, text: text.into(), profile, repeats });
    }

    /// The speeches of this round beside what their speakers said before, for who can tell what they mean.
    pub(crate) fn to_compare(&self, round: u32) -> Vec<Compare> {
        let said = |it: &&Speech| !it.text.trim().is_empty();
        let latest = self.speeches.iter().filter(|it| it.round == round).filter(said);
        let beside = latest.map(|speech| {
            let earlier = self
                .earlier(&speech.participant, round)
                .filter(said)
                .map(|it| Earlier { text: it.text.clone(), standing: speech.profile.standing(&it.profile) });
            let (participant, text) = (speech.participant.clone(), speech.text.clone());
            Compare { participant, text, earlier: earlier.collect() }
        });
        beside.filter(|it| !it.earlier.is_empty()).collect()
    }

    /// Takes in how much of the speeches of this round was said before, by what they mean.
    pub(crate) fn compared(&mut self, round: u32, found: &[Similarity]) {
        for speech in self.speeches.iter_mut().filter(|it| it.round == round) {
            let of = found.iter().find(|it| it.participant == speech.participant);
            speech.repeats.meant = of.map(|it| it.value).or(speech.repeats.meant);
        }
    }

    /// What this one said before this round, the newest first.
    fn earlier(&self, participant: &str, round: u32) -> impl Iterator<Item = &Speech> {
        let own = self.speeches.iter().rev().filter(move |it| it.participant == participant);
        own.filter(move |it| it.round < round).take(repetition::LOOKS_BACK)
    }

    /// Takes in an assessment that counts.
    pub(crate) fn judge(&mut self, round: u32, assessment: Assessment) {
        self.assessed.push((round, assessment));
    }

    /// Who spoke in this round.
    pub(crate) fn speakers(&self, round: u32) -> impl Iterator<Item = &str> {
        self.speeches.iter().filter(move |it| it.round == round).map(|it| it.participant.as_str())
    }

    /// The assessment of this round, if one counts.
    pub(crate) fn assessment(&self, round: u32) -> Option<&Assessment> {
        self.assessed.iter().find(|it| it.0 == round).map(|it| &it.1)
    }

    /// Everything noticed about the latest round that can be told about.
    pub(crate) fn noticed(&self) -> Vec<Detection> {
        DETECTORS.iter().flat_map(|it| (it.detect)(self)).collect()
    }

    /// The first of these detectors that has noticed enough about this round to end it.
    pub(crate) fn ended_by(&self, names: &[String], round: u32) -> Option<&'static Detector> {
        let allowed = DETECTORS.iter().filter(|it| names.iter().any(|name| name == it.name));
        allowed.into_iter().find(|it| {
            let found: Vec<Detection> =
                (it.detect)(self).into_iter().filter(|it| it.round == round).collect();
            let of = |who: &str| found.iter().any(|it| it.participant.as_deref() == Some(who));
            match it.ends {
                Ends::AtOnce => !found.is_empty(),
                Ends::WhenOfAll => !found.is_empty() && self.speakers(round).all(of),
            }
        })
    }

    fn latest_round(&self) -> u32 {
        self.speeches.last().map_or(0, |it| it.round)
    }
}

#[cfg(test)]
mod tests {
    use quorum_core::model::assessment::{Criteria, Flags, Rated};

    use super::*;

    /// A round as a judge saw it: quality, then novelty and relevance where they were given.
    pub(super) fn assessed(quality_score: f64, criteria: Option<(f64, f64)>, repetitive: bool) -> Assessment {
        let criteria = criteria.map(|(novelty, relevance)| Criteria {
            logic: 5.0,
            evidence: 5.0,
            engagement: 5.0,
            novelty,
            clarity: 5.0,
            relevance,
        });
        let (strengths, weaknesses) = (Vec::new(), Vec::new());
        Assessment {
            should_continue: true,
            quality_score,
            assessments: vec![Rated {
                participant: "ann".into(),
                strengths,
                weaknesses,
                score: 5.0,
                criteria,
            }],
            flags: Flags { repetitive, ..Flags::default() },
            reasoning: String::new(),
            recommendations: String::new(),
        }
    }

    pub(super) fn course(rounds: Vec<Assessment>) -> Course {
        let assessed = rounds.into_iter().enumerate().map(|(before, it)| (before as u32 + 1, it)).collect();
        Course { assessed, ..Course::default() }
    }

    /// A debate of these speeches: who, in which round, what.
    pub(super) fn spoken(speeches: &[(&str, u32, &str)]) -> Course {
        let mut course = Course::default();
        speeches.iter().for_each(|(who, round, text)| course.take(who, *round, text));
        course
    }

    #[test]
    fn d08_the_three_detectors_are_registered() {
        let names: Vec<&str> = DETECTORS.iter().map(|it| it.name).collect();
        assert_eq!(names, ["repetition", "diminishing-returns", "drift"]);
    }

    #[test]
    fn d08_one_who_repeats_itself_does_not_end_a_debate() {
        let text = "Tabs adapt to every reader, and that settles the matter for good.";
        let (one, other) = ("Spaces look the same everywhere.", "Diffs are cleaner without them.");
        let mut debate = spoken(&[("ann", 1, text), ("bob", 1, one), ("ann", 2, text), ("bob", 2, other)]);
        let allowed = ["repetition".to_owned()];
        assert!(debate.noticed().iter().any(|it| it.participant.as_deref() == Some("ann") && it.round == 2));
        assert!(debate.ended_by(&allowed, 2).is_none());
        debate.take("ann", 3, text);
        debate.take("bob", 3, other);
        assert_eq!(debate.ended_by(&allowed, 3).map(|it| it.name), Some("repetition"));
        assert!(debate.ended_by(&[], 3).is_none(), "only where it was ordered");
    }
}
