//! A judge's assessment of one round (D06): six criteria, our weighted score, and the comparison of
//! two orders.

use quorum_core::model::flips::rounded;
use serde::{Deserialize, Serialize};

/// A judge's assessment of one round (D06).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assessment {
    /// Whether another round would be worth it.
    pub should_continue: bool,
    /// The quality of the round, 0 to 10.
    pub quality_score: f64,
    /// The assessment of each debater.
    pub assessments: Vec<Rated>,
    /// What the judge noticed.
    pub flags: Flags,
    /// The judge's reasons.
    pub reasoning: String,
    /// What should happen next.
    pub recommendations: String,
}

/// The assessment of one debater in a round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rated {
    /// The participant's name.
    pub participant: String,
    /// Its strengths.
    pub strengths: Vec<String>,
    /// Its weaknesses.
    pub weaknesses: Vec<String>,
    /// The score, 0 to 10: our weighted sum of the criteria if the judge gave them, else the
    /// judge's own number.
    pub score: f64,
    /// The six criteria, if the judge gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
}

/// The criteria of a judge, each 0 to 10.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Criteria {
    /// Whether the argument is logical and free of contradictions.
    pub logic: f64,
    /// Whether claims are supported.
    pub evidence: f64,
    /// Whether it answers the others' points.
    pub engagement: f64,
    /// Whether it is new.
    pub novelty: f64,
    /// Whether it is clear and convincing.
    pub clarity: f64,
    /// Whether it is about the topic.
    pub relevance: f64,
}

impl Criteria {
    /// The criteria's names and weights in per cent, in order.
    pub const WEIGHTS: [(&'static str, f64); 6] = [
        ("logic", 20.0),
        ("evidence", 20.0),
        ("engagement", 20.0),
        ("novelty", 15.0),
        ("clarity", 15.0),
        ("relevance", 10.0),
    ];

    /// The weighted sum, 0 to 10.
    #[must_use]
    pub fn score(&self) -> f64 {
        let weighted = Criteria::WEIGHTS.iter().zip(self.values()).map(|((_, weight), value)| weight * value);
        rounded(weighted.sum::<f64>() / 100.0)
    }

    /// The six values, in the order of the weights.
    #[must_use]
    pub fn values(&self) -> [f64; 6] {
        [self.logic, self.evidence, self.engagement, self.novelty, self.clarity, self.relevance]
    }

    fn mean(one: Criteria, other: Criteria) -> Criteria {
        let between = |one: f64, other: f64| f64::midpoint(one, other);
        Criteria {
            logic: between(one.logic, other.logic),
            evidence: between(one.evidence, other.evidence),
            engagement: between(one.engagement, other.engagement),
            novelty: between(one.novelty, other.novelty),
            clarity: between(one.clarity, other.clarity),
            relevance: between(one.relevance, other.relevance),
        }
    }
}

/// What a judge noticed about a round.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Flags {
    /// Arguments are repeated.
    pub repetitive: bool,
    /// The round is no longer about the topic.
    pub drifting: bool,
    /// Each round adds less than the one before.
    pub diminishing_returns: bool,
    /// The debaters have converged.
    pub convergence_reached: bool,
}

/// A smaller lead than this, on the scale of ten, doesn't count.
const LEVEL: f64 = 0.5;

impl Assessment {
    /// The mean novelty of the round; `None` if no criteria were given.
    #[must_use]
    pub fn novelty(&self) -> Option<f64> {
        self.mean_of(|criteria| criteria.novelty)
    }

    /// The mean relevance of the round; `None` if no criteria were given.
    #[must_use]
    pub fn relevance(&self) -> Option<f64> {
        self.mean_of(|criteria| criteria.relevance)
    }

    /// Whether `other`, made in the swapped order, ranks two debaters the other way round. Equal
    /// scores don't count.
    #[must_use]
    pub fn contradicts(&self, other: &Assessment) -> bool {
        let pairs = self.assessments.iter().enumerate().flat_map(|(place, one)| {
            self.assessments[place + 1..].iter().map(move |two| (&one.participant, &two.participant))
        });
        pairs.into_iter().any(|(one, two)| {
            let here = self.lead(one, two);
            let there = other.lead(one, two);
            here * there < 0.0 && LEVEL <= here.abs() && LEVEL <= there.abs()
        })
    }

    /// The combination of both assessments, unless they contradict each other: mean scores, and
    /// only flags that both set. Ending the debate needs both.
    #[must_use]
    pub fn confirmed_by(&self, other: &Assessment) -> Option<Assessment> {
        if self.contradicts(other) {
            return None;
        }
        let assessments = self.assessments.iter().map(|it| match other.of(&it.participant) {
            Some(again) => it.with(again),
            None => it.clone(),
        });
        Some(Assessment {
            should_continue: self.should_continue || other.should_continue,
            quality_score: rounded(f64::midpoint(self.quality_score, other.quality_score)),
            assessments: assessments.collect(),
            flags: self.flags.and(other.flags),
            ..self.clone()
        })
    }

    fn of(&self, participant: &str) -> Option<&Rated> {
        self.assessments.iter().find(|it| it.participant == participant)
    }

    fn lead(&self, one: &str, two: &str) -> f64 {
        match (self.of(one), self.of(two)) {
            (Some(one), Some(two)) => one.score - two.score,
            _ => 0.0,
        }
    }

    fn mean_of(&self, criterion: impl Fn(&Criteria) -> f64) -> Option<f64> {
        let values: Vec<f64> =
            self.assessments.iter().filter_map(|it| it.criteria.as_ref().map(&criterion)).collect();
        (!values.is_empty()).then(|| rounded(values.iter().sum::<f64>() / values.len() as f64))
    }
}

impl Rated {
    fn with(&self, again: &Rated) -> Rated {
        let criteria = match (self.criteria, again.criteria) {
            (Some(one), Some(other)) => Some(Criteria::mean(one, other)),
            (one, other) => one.or(other),
        };
        Rated { score: rounded(f64::midpoint(self.score, again.score)), criteria, ..self.clone() }
    }
}

impl Flags {
    fn and(self, other: Flags) -> Flags {
        Flags {
            repetitive: self.repetitive && other.repetitive,
            drifting: self.drifting && other.drifting,
            diminishing_returns: self.diminishing_returns && other.diminishing_returns,
            convergence_reached: self.convergence_reached && other.convergence_reached,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(value: f64) -> Criteria {
        Criteria {
            logic: value,
            evidence: value,
            engagement: value,
            novelty: value,
            clarity: value,
            relevance: value,
        }
    }

    fn rated(participant: &str, score: f64) -> Rated {
        let (strengths, weaknesses) = (Vec::new(), Vec::new());
        Rated { participant: participant.into(), strengths, weaknesses, score, criteria: None }
    }

    fn assessment(scores: &[(&str, f64)]) -> Assessment {
        Assessment {
            should_continue: false,
            quality_score: 6.0,
            assessments: scores.iter().map(|(name, score)| rated(name, *score)).collect(),
            flags: Flags { repetitive: true, ..Flags::default() },
            reasoning: "so".into(),
            recommendations: "end".into(),
        }
    }

    #[test]
    fn d06_the_score_is_our_weighted_sum_of_six_criteria() {
        assert_eq!(Criteria::WEIGHTS.iter().map(|it| it.1).sum::<f64>(), 100.0);
        assert_eq!(all(10.0).score(), 10.0);
        let mixed = Criteria {
            logic: 8.0,
            evidence: 6.0,
            engagement: 7.0,
            novelty: 4.0,
            clarity: 9.0,
            relevance: 10.0,
        };
        assert_eq!(mixed.score(), 7.15);
    }

    #[test]
    fn d06_novelty_and_relevance_are_means_where_criteria_were_given() {
        let mut round = assessment(&[("ann", 7.0), ("bob", 6.0)]);
        assert_eq!((round.novelty(), round.relevance()), (None, None));
        round.assessments[0].criteria = Some(Criteria { novelty: 2.0, ..all(8.0) });
        assert_eq!((round.novelty(), round.relevance()), (Some(2.0), Some(8.0)));
        round.assessments[1].criteria = Some(all(5.0));
        assert_eq!((round.novelty(), round.relevance()), (Some(3.5), Some(6.5)));
    }

    #[track_caller]
    fn swapped(one: &[(&str, f64)], other: &[(&str, f64)], flips: bool) {
        assert_eq!(assessment(one).contradicts(&assessment(other)), flips, "{one:?} {other:?}");
        assert_eq!(assessment(one).confirmed_by(&assessment(other)).is_none(), flips);
    }

    #[test]
    fn a_swapped_judgement_contradicts_if_it_reverses_a_ranking() {
        swapped(&[("ann", 8.0), ("bob", 6.0)], &[("bob", 6.5), ("ann", 7.0)], false);
        swapped(&[("ann", 8.0), ("bob", 6.0)], &[("bob", 8.0), ("ann", 6.0)], true);
        swapped(&[("ann", 8.0), ("bob", 6.0)], &[("bob", 7.2), ("ann", 7.0)], false);
        swapped(&[("ann", 8.0), ("bob", 6.0)], &[("bob", 7.0), ("ann", 7.0)], false);
        let three = [("ann", 8.0), ("bob", 6.0), ("cyd", 4.0)];
        swapped(&three, &[("ann", 8.0), ("bob", 4.0), ("cyd", 6.0)], true);
        swapped(&three, &three, false);
    }

    #[test]
    fn only_what_both_orders_say_counts_and_ending_needs_both() {
        let one = assessment(&[("ann", 8.0), ("bob", 6.0)]);
        let mut other = assessment(&[("ann", 7.0), ("bob", 6.0)]);
        other.should_continue = true;
        other.flags = Flags { drifting: true, ..Flags::default() };
        other.quality_score = 7.0;
        let both = one.confirmed_by(&other).unwrap();
        assert!(both.should_continue);
        assert_eq!((both.flags, both.quality_score), (Flags::default(), 6.5));
        assert_eq!(both.assessments.iter().map(|it| it.score).collect::<Vec<_>>(), [7.5, 6.0]);
    }
}
