//! Who is asked next, and when enough have answered: pure functions of the votes so far.

use quorum_core::model::{participant::Participant, spec::Spec};
use serde::{Deserialize, Serialize};

use crate::{
    evidence::{
        odds,
        stopping::{Lead, lead},
    },
    prompts::listed,
    weighing::Weighing,
};

/// How many are asked at once at first.
const FIRST_ASKED: usize = 2;

/// The probability of the leading answer at which nobody else is asked.
const SURE: f64 = 0.95;

/// The probability of the leading answer below which the outcome is open.
const OPEN: f64 = 0.6;

/// The votes so far.
pub(super) struct Course<'s> {
    spec: &'s Spec,
    weighing: Weighing<'s>,
    /// The weight of each option.
    weights: Vec<f64>,
    votes: usize,
}

/// What happens next.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Next {
    /// The given number of those that are left are asked, in order.
    Ask(usize),
    /// Nobody is asked any more, although some could be, or there is nobody left.
    Stop(Option<Stop>),
}

/// Why nobody else is asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stop {
    /// How far the leading answer is ahead.
    pub(super) ahead: f64,
    /// The most that those that are left could add to another one.
    pub(super) left: f64,
    /// The probability of the leading answer, where outcomes tell it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) probability: Option<f64>,
    /// Those that are not asked.
    pub(super) spared: Vec<String>,
    /// The same in words: `2 ahead, 1 left`.
    pub(super) told: String,
}

impl<'s> Course<'s> {
    /// The course after these votes, each with its voter, the option's place and the confidence.
    pub(super) fn of<'v>(spec: &'s Spec, votes: impl Iterator<Item = (&'v str, usize, f64)>) -> Self {
        let weighing = Weighing::of(spec);
        let (mut weights, mut count) = (vec![0.0; spec.options.len()], 0);
        for (voter, option, confidence) in votes {
            weights[option] += weighing.weight(spec, voter, confidence);
            count += 1;
        }
        Course { spec, weighing, weights, votes: count }
    }

    fn lead(&self) -> Lead {
        lead(&self.weights)
    }

    /// The probability of the leading answer, where outcomes tell it.
    fn probability(&self) -> Option<f64> {
        let is_known = matches!(self.weighing, Weighing::Learned(_));
        let all = odds::posterior(&self.weights);
        is_known.then(|| all.into_iter().fold(0.0, f64::max))
    }

    /// Whether the outcome is open: a tie, or an answer that is not probable enough.
    pub(super) fn is_open(&self) -> bool {
        self.lead().leader.is_none() || self.probability().is_some_and(|it| it < OPEN)
    }

    /// Who is asked next of those that are left, after these were asked in this round.
    pub(super) fn next(&self, left: &[Participant], asked: &[String]) -> Next {
        if left.is_empty() {
            return Next::Stop(None);
        }
        if asked.is_empty() {
            // A discussion needs as many participants as it is told to.
            let needed = if self.votes == 0 { self.spec.tolerance.min_providers as usize } else { 0 };
            return Next::Ask(FIRST_ASKED.max(needed).min(left.len()));
        }
        let most: f64 = left.iter().map(|it| self.weighing.most(self.spec, &it.name)).sum();
        let is_sure = self.probability().is_some_and(|it| SURE <= it);
        match self.lead().is_safe(most) || is_sure {
            true => Next::Stop(Some(self.stop(left, most))),
            false => Next::Ask(1),
        }
    }

    fn stop(&self, left: &[Participant], most: f64) -> Stop {
        let (ahead, probability) = (self.lead().ahead, self.probability());
        let spared: Vec<String> = left.iter().map(|it| it.name.clone()).collect();
        let lead = match self.weighing {
            Weighing::Heads | Weighing::HeadsThenStated => format!("{ahead:.0} ahead, {most:.0} left"),
            Weighing::Stated | Weighing::Learned(_) => format!("{ahead:.2} ahead, at most {most:.2} left"),
        };
        let sure = probability.filter(|it| SURE <= *it && ahead <= most);
        let why = sure.map_or(lead.clone(), |it| format!("{:.0} % sure; {lead}", 100.0 * it));
        let told = format!("{why}: {} not asked", listed(&spared));
        Stop { ahead, left: most, probability, spared, told }
    }
}

#[cfg(test)]
mod tests;
