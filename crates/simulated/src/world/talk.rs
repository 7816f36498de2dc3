//! What one round of talk does to a voice's answer.

use super::{Lots, Talk};

/// The answers that a voice has heard, and its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Its own answer.
    pub own: usize,
    /// The answers of the others.
    pub others: Vec<usize>,
}

/// The voice's answer after a round: with the chance of conformity it follows the others if they
/// are at least two ahead of its own answer; otherwise it hears one of them at random, and adopts
/// its answer with a chance that depends on whether it is right.
#[must_use]
pub fn persuaded(talk: &Talk, heard: &Heard, right: usize, lots: &mut Lots) -> usize {
    let Heard { own, others } = heard;
    if others.is_empty() {
        return *own;
    }
    let (conforms, place, adopts) = (lots.share(), lots.below(others.len()), lots.share());
    if conforms < talk.conformity
        && let Some(crowd) = ahead(*own, others)
    {
        return crowd;
    }
    let other = others[place];
    let chance = if other == right { talk.by_truth } else { talk.by_error };
    if adopts < chance { other } else { *own }
}

/// The answer of most of the others, if it has at least two heads more than the voice's own.
fn ahead(own: usize, others: &[usize]) -> Option<usize> {
    let count = |option: usize| others.iter().filter(|it| **it == option).count();
    let most = others.iter().map(|it| count(*it)).max()?;
    let mut leading: Vec<usize> = others.iter().copied().filter(|it| count(*it) == most).collect();
    leading.sort_unstable();
    leading.dedup();
    let own_heads = 1 + count(own);
    match leading[..] {
        [crowd] if crowd != own && most >= own_heads + 2 => Some(crowd),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::world::TALKS;

    /// How often a voice goes over to option 1, which is right or not.
    fn share_of_one(talk: &Talk, heard: &Heard, right: usize) -> f64 {
        let after = |seed: u64| persuaded(talk, heard, right, &mut Lots::of(seed, &["talk"]));
        (0..10_000).filter(|it| after(*it) == 1).count() as f64 / 10_000.0
    }

    #[track_caller]
    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 0.02, "{found} is not {expected}");
    }

    #[test]
    fn a_right_answer_persuades_as_the_world_says() {
        let heard = Heard { own: 0, others: vec![1, 2, 3] };
        near(share_of_one(&TALKS[1], &heard, 1), 0.6 / 3.0);
        near(share_of_one(&TALKS[1], &heard, 2), 0.15 / 3.0);
        near(share_of_one(&TALKS[0], &heard, 1), 0.4 / 3.0);
    }

    #[test]
    fn a_conformist_follows_three_against_one() {
        let crowd = Heard { own: 0, others: vec![1, 1, 1] };
        near(share_of_one(&TALKS[3], &crowd, 2), 0.7 + 0.3 * 0.1);
        // Two against one is no more than one head ahead.
        let two = Heard { own: 0, others: vec![1, 1, 2] };
        near(share_of_one(&TALKS[3], &two, 2), 0.1 * 2.0 / 3.0);
    }

    #[test]
    fn a_voice_that_hears_no_other_keeps_its_answer() {
        let alone = Heard { own: 2, others: Vec::new() };
        assert_eq!(persuaded(&TALKS[4], &alone, 0, &mut Lots::of(1, &[])), 2);
    }
}
