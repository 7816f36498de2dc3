//! How votes are weighed: by heads, by stated confidence, or by what earlier outcomes say about the
//! voters.

use quorum_core::{
    choices,
    model::{known_voices::KnownVoices, spec::Spec},
    vocabulary::option::{Opt, Picked},
};

use crate::{
    consensus,
    evidence::{LEAST_FOR_INDEPENDENCE, LEAST_TO_LEARN, calibration, odds},
    pattern,
};

choices! {
    /// What a vote weighs.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub(crate) enum Weights {
        Stated = "stated": "stated confidence times the agent's weight",
        Learned = "learned": "the log-odds that earlier outcomes give the voter; by heads below 30 outcomes",
        Off = "off": "every vote counts the same",
    }
}

/// What a vote weighs, if not as the pattern has it.
pub(crate) const WEIGHTS: Opt<Option<Picked<Weights>>> =
    Opt::choice_or_none("weights", "What a vote weighs; learned from outcomes where blind answers settle it");

/// How the votes of a discussion are weighed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Weighing<'s> {
    /// One vote each.
    Heads,
    /// One vote each; confidence times the participant's weight breaks a tie.
    HeadsThenStated,
    /// Confidence times the participant's weight.
    Stated,
    /// The log-odds of the chance that outcomes give the voter.
    Learned(&'s KnownVoices),
}

impl Weighing<'_> {
    /// The weighing of this spec: as it says, otherwise as its pattern has it.
    pub(crate) fn of(spec: &Spec) -> Weighing<'_> {
        let usual = if pattern::settle::is(spec) { Weights::Learned } else { Weights::Stated };
        match spec.option(&WEIGHTS).map_or(usual, |it| it.0) {
            Weights::Stated => Weighing::Stated,
            Weights::Off => Weighing::Heads,
            Weights::Learned => known(spec).map_or(Weighing::HeadsThenStated, Weighing::Learned),
        }
    }

    /// The weight of this participant's vote with this confidence, among the options of the spec.
    pub(crate) fn weight(self, spec: &Spec, participant: &str, confidence: f64) -> f64 {
        match self {
            Weighing::Heads | Weighing::HeadsThenStated => 1.0,
            Weighing::Stated => stated(spec, participant, confidence),
            Weighing::Learned(known) => learned(spec, known, participant, confidence),
        }
    }

    /// The most that a vote of this participant can weigh, whatever it states.
    pub(crate) fn most(self, spec: &Spec, participant: &str) -> f64 {
        [0.0, 1.0].map(|stated| self.weight(spec, participant, stated)).into_iter().fold(0.0, f64::max)
    }
}

/// The confidence times the participant's weight.
pub(crate) fn stated(spec: &Spec, participant: &str, confidence: f64) -> f64 {
    spec.seat(participant).map_or(1.0, |it| it.weight) * confidence
}

fn learned(spec: &Spec, known: &KnownVoices, participant: &str, confidence: f64) -> f64 {
    let weight = odds::weight(chance(known, participant, confidence), spec.options.len());
    weight * independence(known)
}

/// The chance that this participant is right with this confidence, by earlier outcomes.
pub(crate) fn chance(known: &KnownVoices, participant: &str, confidence: f64) -> f64 {
    let offset = known.offsets.get(participant).copied().unwrap_or_default();
    calibration::chance(known.slope, offset, confidence)
}

/// The share of the panel's voices that counts as independent, from enough outcomes on.
fn independence(known: &KnownVoices) -> f64 {
    let enough = known.independence.filter(|it| LEAST_FOR_INDEPENDENCE <= it.outcomes as usize);
    enough.map_or(1.0, |it| it.effective / f64::from(it.voices.max(1)))
}

/// What is known of the voters, from enough outcomes on.
pub(crate) fn known(spec: &Spec) -> Option<&KnownVoices> {
    spec.known_voices.as_ref().filter(|it| LEAST_TO_LEARN <= it.outcomes as usize)
}

/// The remark that weights are given where the method counts heads.
pub(crate) fn remark(spec: &Spec) -> Option<quorum_core::model::error::Refusal> {
    consensus::no_effect(spec, WEIGHTS.name(), "every vote counts the same with this method")
}
