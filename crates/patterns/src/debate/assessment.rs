//! A judge's assessment of one round (D06), and the comparison of two orders.

use std::collections::BTreeMap;

use quorum_core::model::flips::rounded;
use serde::{Deserialize, Serialize};

/// A judge's assessment of one round (D06).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assessment {
    /// Whether another round would be worth it.
    pub should_continue: bool,
    /// The quality of the round, 0 to 10; absent if a person stated none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quality_score: Option<f64>,
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
    /// The marks by criterion, if the judge gave them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub criteria: Option<Criteria>,
}

/// A judge's marks by criterion, each 0 to 10.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Criteria(pub BTreeMap<String, f64>);

impl Criteria {
    /// The mark for this criterion.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.0.get(name).copied()
    }

    fn mean(one: &Criteria, other: &Criteria) -> Criteria {
        let both = one
            .0
            .iter()
            .filter_map(|(name, mark)| Some((name.clone(), f64::midpoint(*mark, other.get(name)?))));
        Criteria(both.collect())
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
pub(super) const LEVEL: f64 = 0.5;

impl Assessment {
    /// The mean novelty of the round; `None` if no criteria were given.
    #[must_use]
    pub fn novelty(&self) -> Option<f64> {
        self.mean_of("novelty")
    }

    /// The mean relevance of the round; `None` if no criteria were given.
    #[must_use]
    pub fn relevance(&self) -> Option<f64> {
        self.mean_of("relevance")
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

    /// What both orders found: mean scores, and only flags that both set. Ending the debate needs
    /// both. If they contradict each other, no score and no reasons remain, but what both found
    /// about the debate stands.
    #[must_use]
    pub fn in_both_orders(&self, other: &Assessment) -> Assessment {
        let should_continue = self.should_continue || other.should_continue;
        let flags = self.flags.and(other.flags);
        if self.contradicts(other) {
            let (reasoning, recommendations) = (String::new(), String::new());
            let (quality_score, assessments) = (None, Vec::new());
            return Assessment {
                should_continue,
                quality_score,
                assessments,
                flags,
                reasoning,
                recommendations,
            };
        }
        let assessments = self.assessments.iter().map(|it| match other.of(&it.participant) {
            Some(again) => it.with(again),
            None => it.clone(),
        });
        Assessment {
            should_continue,
            quality_score: midpoint(self.quality_score, other.quality_score),
            assessments: assessments.collect(),
            flags,
            ..self.clone()
        }
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

    fn mean_of(&self, criterion: &str) -> Option<f64> {
        let values: Vec<f64> =
            self.assessments.iter().filter_map(|it| it.criteria.as_ref()?.get(criterion)).collect();
        (!values.is_empty()).then(|| rounded(values.iter().sum::<f64>() / values.len() as f64))
    }
}

impl Rated {
    fn with(&self, again: &Rated) -> Rated {
        let criteria = match (&self.criteria, &again.criteria) {
            (Some(one), Some(other)) => Some(Criteria::mean(one, other)),
            (one, other) => one.as_ref().or(other.as_ref()).cloned(),
        };
        Rated { score: rounded(f64::midpoint(self.score, again.score)), criteria, ..self.clone() }
    }
}

fn midpoint(one: Option<f64>, other: Option<f64>) -> Option<f64> {
    match (one, other) {
        (Some(one), Some(other)) => Some(rounded(f64::midpoint(one, other))),
        (one, other) => one.or(other),
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
        let six = ["logic", "evidence", "engagement", "novelty", "clarity", "relevance"];
        Criteria(six.map(|name| (name.to_owned(), value)).into())
    }

    fn with(criterion: &str, value: f64, others: f64) -> Criteria {
        let mut criteria = all(others);
        criteria.0.insert(criterion.to_owned(), value);
        criteria
    }

    fn rated(participant: &str, score: f64) -> Rated {
        let (strengths, weaknesses) = (Vec::new(), Vec::new());
        Rated { participant: participant.into(), strengths, weaknesses, score, criteria: None }
    }

    fn assessment(scores: &[(&str, f64)]) -> Assessment {
        Assessment {
            should_continue: false,
            quality_score: Some(6.0),
            assessments: scores.iter().map(|(name, score)| rated(name, *score)).collect(),
            flags: Flags { repetitive: true, ..Flags::default() },
            reasoning: "so".into(),
            recommendations: "end".into(),
        }
    }

    #[test]
    fn d06_novelty_and_relevance_are_means_where_criteria_were_given() {
        let mut round = assessment(&[("ann", 7.0), ("bob", 6.0)]);
        assert_eq!((round.novelty(), round.relevance()), (None, None));
        round.assessments[0].criteria = Some(with("novelty", 2.0, 8.0));
        assert_eq!((round.novelty(), round.relevance()), (Some(2.0), Some(8.0)));
        round.assessments[1].criteria = Some(all(5.0));
        assert_eq!((round.novelty(), round.relevance()), (Some(3.5), Some(6.5)));
    }

    #[track_caller]
    fn swapped(one: &[(&str, f64)], other: &[(&str, f64)], flips: bool) {
        assert_eq!(assessment(one).contradicts(&assessment(other)), flips, "{one:?} {other:?}");
        let both = assessment(one).in_both_orders(&assessment(other));
        assert_eq!((both.assessments.is_empty(), both.quality_score.is_none()), (flips, flips));
        let found = Flags { repetitive: true, ..Flags::default() };
        assert_eq!((both.should_continue, both.flags), (false, found), "what both found stands");
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
        other.quality_score = Some(7.0);
        let both = one.in_both_orders(&other);
        assert!(both.should_continue);
        assert_eq!((both.flags, both.quality_score), (Flags::default(), Some(6.5)));
        assert_eq!(both.assessments.iter().map(|it| it.score).collect::<Vec<_>>(), [7.5, 6.0]);
    }
}
