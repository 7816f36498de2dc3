//! Learns the reliability of a panel's voices from outcomes, and caches it.

use std::{
    collections::{BTreeMap, HashMap},
    sync::{Mutex, PoisonError},
};

use quorum_core::{
    model::{
        id::{DiscussionId, Tenant},
        known_voices::{Independence, KnownVoices, ResultCorrection},
        participant::Participant,
        time::Timestamp,
    },
    seams::{KnownOutcome, ScoredAnswer},
};
use quorum_patterns::evidence::{
    KnownAnswer, KnownQuestion, LEAST_TO_LEARN,
    calibration::{Calibration, Correction},
    independence::effective_voices,
    odds::{posterior, weight},
    score::Stated,
    weight_at_age,
};

/// The number of days after which an outcome counts half.
pub(super) const HALF_LIFE_DAYS: f64 = 180.0;

const DAY_MICROS: f64 = 86_400e6;

/// How many panels are kept.
const MOST_KEPT: usize = 200;

/// A voice as outcomes name it: its provider, and the model that answers, where that is known.
pub(super) fn voice(seat: &Participant, answering: Option<&str>) -> String {
    match seat.model.as_deref().or(answering) {
        Some(model) => format!("{}/{model}", seat.provider),
        None => seat.provider.clone(),
    }
}

/// The outcomes as questions to learn from.
pub(super) fn questions(known: &[KnownOutcome], now: Timestamp) -> Vec<KnownQuestion> {
    let answer = |it: &ScoredAnswer| KnownAnswer {
        voice: it.voice.clone(),
        choice: it.choice.clone(),
        confidence: it.confidence,
        is_right: it.is_right,
    };
    let question = |it: &KnownOutcome| {
        let days = (now.0 - it.at.0) as f64 / DAY_MICROS;
        let options = it.scored.options as usize;
        let weight = weight_at_age(days, HALF_LIFE_DAYS);
        KnownQuestion { weight, options, answers: it.scored.answers.iter().map(answer).collect() }
    };
    known.iter().map(question).filter(|it| !it.answers.is_empty()).collect()
}

/// What these outcomes say about a panel of participants and their voices; `None` while there are
/// too few to learn from.
pub(super) fn known_voices(
    known: &[KnownOutcome],
    panel: &[(String, String)],
    now: Timestamp,
) -> Option<KnownVoices> {
    let questions = questions(known, now);
    let sits = |voice: &str| panel.iter().any(|it| is_voice(voice, &it.1));
    let of_panel = questions.iter().filter(|it| it.answers.iter().any(|answer| sits(&answer.voice))).count();
    if of_panel < LEAST_TO_LEARN {
        return None;
    }
    let calibration = Calibration::learned(&questions)?;
    let offset = |voice: &str| {
        let same = calibration.offsets.iter().find(|it| is_voice(it.0, voice));
        same.map_or(calibration.common, |it| *it.1)
    };
    let offsets: BTreeMap<String, f64> =
        panel.iter().map(|(name, voice)| (name.clone(), offset(voice))).collect();
    let independence = independence(&questions, panel);
    let factor = independence.map_or(1.0, |it| it.effective / f64::from(it.voices.max(1)));
    let correction = Correction::learned(&stated(&questions, &calibration, factor));
    Some(KnownVoices {
        outcomes: of_panel as u32,
        slope: calibration.slope,
        offsets,
        correction: ResultCorrection { slope: correction.slope, offset: correction.offset },
        independence,
    })
}

/// Whether an outcome's voice is this one. A seat without a model of its own is its provider's,
/// with whichever model that answered with.
fn is_voice(known: &str, voice: &str) -> bool {
    known == voice || known.split_once('/').is_some_and(|it| it.0 == voice)
}

fn independence(questions: &[KnownQuestion], panel: &[(String, String)]) -> Option<Independence> {
    // Outcomes name a voice with the model that answered; here each is that of its seat.
    let voices: Vec<String> = panel.iter().map(|it| it.1.clone()).collect();
    let seat_of = |known: &str| voices.iter().find(|it| is_voice(known, it)).cloned();
    let of_panel = questions.iter().map(|it| KnownQuestion {
        answers: it
            .answers
            .iter()
            .filter_map(|answer| Some(KnownAnswer { voice: seat_of(&answer.voice)?, ..answer.clone() }))
            .collect(),
        ..it.clone()
    });
    let found = effective_voices(&of_panel.collect::<Vec<_>>(), &voices)?;
    Some(Independence {
        voices: found.voices as u32,
        effective: found.effective,
        low: found.interval.0,
        high: found.interval.1,
        outcomes: found.outcomes as u32,
    })
}

/// The probability that each past question's leading answer would have been given, and whether it
/// was right.
fn stated(questions: &[KnownQuestion], calibration: &Calibration, factor: f64) -> Vec<Stated> {
    let of_question = |question: &KnownQuestion| {
        let mut sums: BTreeMap<&str, (f64, bool)> = BTreeMap::new();
        for it in &question.answers {
            let sum = sums.entry(&it.choice).or_insert((0.0, it.is_right));
            sum.0 += factor * weight(calibration.chance(&it.voice, it.confidence), question.options.max(2));
        }
        let others = question.options.max(2).saturating_sub(sums.len());
        let all: Vec<f64> = sums.values().map(|it| it.0).chain(std::iter::repeat_n(0.0, others)).collect();
        let chances = posterior(&all);
        let best = sums.values().zip(&chances).max_by(|one, other| one.1.total_cmp(other.1))?;
        Some(Stated { chance: *best.1, is_right: best.0.1, weight: question.weight })
    };
    questions.iter().filter_map(of_question).collect()
}

/// A panel of a tenant.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) tenant: Tenant,
    pub(super) simulated: bool,
    pub(super) voices: Vec<(String, String)>,
}

/// The cached evidence about panels, valid until a newer outcome is recorded.
#[derive(Default)]
pub(in crate::facade) struct Learned(Mutex<HashMap<Key, (Newest, Option<KnownVoices>)>>);

/// The newest outcome that was learned from.
type Newest = (DiscussionId, Timestamp);

impl Learned {
    /// The cached evidence about this panel, if the newest outcome is still this one.
    pub(super) fn get(&self, key: &Key, newest: &KnownOutcome) -> Option<Option<KnownVoices>> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, found) = kept.get(key)?;
        (*last == (newest.discussion, newest.at)).then(|| found.clone())
    }

    /// Keeps what was learned about this panel.
    pub(super) fn cache(&self, key: Key, newest: &KnownOutcome, found: Option<KnownVoices>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.len() >= MOST_KEPT {
            kept.clear();
        }
        kept.insert(key, ((newest.discussion, newest.at), found));
    }
}
