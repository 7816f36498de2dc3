//! The calibration of voices as people and programs read it.

use std::collections::BTreeMap;

use quorum_core::{model::time::Timestamp, seams::KnownOutcome};
use quorum_patterns::evidence::{
    KnownQuestion, LEAST_TO_LEARN,
    calibration::Calibration,
    independence::{effective_voices, pairs},
    odds,
    score::{LEAST_FOR_ERROR, Stated, accuracy, brier, calibration_error},
};
use serde::Serialize;

use super::learning::questions;

/// The evidence of outcomes about voices.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CalibrationReport {
    /// Whether these are outcomes of simulated voices.
    pub simulated: bool,
    /// How many outcomes there are to learn from.
    pub outcomes: usize,
    /// How many are needed before votes are weighed by them.
    pub needed: usize,
    /// How much a stated confidence says: 1 if it is a chance, 0 if nothing, negative if it
    /// misleads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slope: Option<f64>,
    /// The voices, those with the most outcomes first.
    pub voices: Vec<VoiceReport>,
    /// How alike two voices err, for each pair with enough common questions.
    pub pairs: Vec<PairReport>,
    /// How many independent voices all of them are worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_eff: Option<f64>,
    /// The 90 % interval of that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub n_eff_interval: Option<[f64; 2]>,
    /// How often results were right, of those of which it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub results_right: Option<f64>,
    /// How many results that is.
    pub results: usize,
}

/// The evidence of outcomes about one voice.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VoiceReport {
    /// The voice: provider and model.
    pub voice: String,
    /// How many of its answers are known to be right or wrong.
    pub outcomes: usize,
    /// The share that was right.
    pub accuracy: f64,
    /// The Brier score of its stated confidence: 0 is best.
    pub brier: f64,
    /// The calibration error of its stated confidence; absent with too few outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ece: Option<f64>,
    /// What its vote among four options weighs at its usual confidence, once there are enough
    /// outcomes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// How alike two voices err.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PairReport {
    /// The voices.
    pub voices: [String; 2],
    /// The correlation of their errors, -1 to 1.
    pub phi: f64,
    /// How many questions both answered.
    pub outcomes: usize,
}

/// The options that a weight is told for.
const TOLD_OPTIONS: usize = 4;

pub(super) fn report(known: &[KnownOutcome], simulated: bool, now: Timestamp) -> CalibrationReport {
    let questions = questions(known, now);
    let calibration = Calibration::learned(&questions);
    let is_enough = LEAST_TO_LEARN <= questions.len();
    let mut by_voice: BTreeMap<&str, Vec<Stated>> = BTreeMap::new();
    for (weight, it) in questions.iter().flat_map(|it| it.answers.iter().map(|answer| (it.weight, answer))) {
        let stated = Stated { weight, ..Stated::new(it.confidence, it.is_right) };
        by_voice.entry(&it.voice).or_default().push(stated);
    }
    let weight = |voice: &str, stated: &[Stated]| {
        calibration
            .as_ref()
            .filter(|_| is_enough)
            .map(|it| rounded(odds::weight(it.chance(voice, usual_confidence(stated)), TOLD_OPTIONS)))
    };
    let mut voices: Vec<VoiceReport> =
        by_voice.iter().map(|(voice, stated)| voice_report(voice, stated, weight(voice, stated))).collect();
    voices.sort_by_key(|it| std::cmp::Reverse(it.outcomes));
    let names: Vec<String> = voices.iter().map(|it| it.voice.clone()).collect();
    let independence = effective_voices(&questions, &names);
    let right: Vec<bool> = known.iter().filter_map(|it| it.scored.was_right).collect();
    CalibrationReport {
        simulated,
        outcomes: questions.len(),
        needed: LEAST_TO_LEARN,
        slope: calibration.as_ref().map(|it| rounded(it.slope)),
        pairs: pair_reports(&questions, &names),
        n_eff: independence.map(|it| rounded(it.effective)),
        n_eff_interval: independence.map(|it| [rounded(it.interval.0), rounded(it.interval.1)]),
        results_right: (!right.is_empty())
            .then(|| rounded(right.iter().filter(|it| **it).count() as f64 / right.len() as f64)),
        results: right.len(),
        voices,
    }
}

fn voice_report(voice: &str, stated: &[Stated], weight: Option<f64>) -> VoiceReport {
    let enough = LEAST_FOR_ERROR <= stated.len();
    VoiceReport {
        voice: voice.to_owned(),
        outcomes: stated.len(),
        accuracy: rounded(accuracy(stated).unwrap_or_default()),
        brier: rounded(brier(stated).unwrap_or_default()),
        ece: calibration_error(stated).filter(|_| enough).map(rounded),
        weight,
    }
}

fn pair_reports(questions: &[KnownQuestion], names: &[String]) -> Vec<PairReport> {
    let report = |it: quorum_patterns::evidence::independence::PairCorrelation| PairReport {
        voices: [it.voices.0, it.voices.1],
        phi: rounded(it.correlation),
        outcomes: it.outcomes,
    };
    pairs(questions, names).into_iter().map(report).collect()
}

/// The mean confidence that a voice stated.
fn usual_confidence(stated: &[Stated]) -> f64 {
    let all: f64 = stated.iter().map(|it| it.weight).sum();
    let sum: f64 = stated.iter().map(|it| it.weight * it.chance).sum();
    if all > 0.0 { sum / all } else { 0.5 }
}

/// Rounds to three decimals, as people read figures.
fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}
