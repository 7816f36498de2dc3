//! When enough have voted: the votes that are missing can no longer change the outcome.

/// The votes for each option, by heads or by weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lead {
    /// The option that leads, by its place; `None` on a tie.
    pub leader: Option<usize>,
    /// How far it is ahead of the next one.
    pub ahead: f64,
}

/// Sums closer together than this are equal: they differ by the order of their addition alone.
const EQUAL: f64 = 1e-9;

/// Who leads, and how far.
#[must_use]
pub fn lead(votes: &[f64]) -> Lead {
    let best = (0..votes.len()).reduce(|best, it| if votes[it] > votes[best] { it } else { best });
    let Some(best) = best else { return Lead { leader: None, ahead: 0.0 } };
    let others = votes.iter().enumerate().filter(|it| it.0 != best).map(|it| *it.1);
    let ahead = votes[best] - others.fold(0.0, f64::max);
    Lead { leader: (ahead > EQUAL).then_some(best), ahead }
}

impl Lead {
    /// Whether the outcome can't change any more, if those that have not voted can add at most
    /// `left` to one option: the leader is further ahead than that. At exactly as much there could
    /// still be a tie.
    #[must_use]
    pub fn is_safe(&self, left: f64) -> bool {
        self.leader.is_some() && self.ahead > left + EQUAL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(votes: &[f64], leader: Option<usize>, ahead: f64) {
        assert_eq!(lead(votes), Lead { leader, ahead }, "{votes:?}");
    }

    #[test]
    fn the_leader_and_its_lead() {
        check(&[], None, 0.0);
        check(&[0.0, 0.0], None, 0.0);
        check(&[2.0, 0.0, 1.0], Some(0), 1.0);
        check(&[1.0, 3.0, 3.0], None, 0.0);
        check(&[0.0, 2.5], Some(1), 2.5);
    }

    #[test]
    fn sums_that_differ_by_rounding_alone_are_a_tie() {
        assert_eq!(lead(&[0.1 + 0.2, 0.3]).leader, None);
    }

    #[test]
    fn a_lead_is_safe_if_it_is_more_than_what_is_left() {
        assert!(lead(&[2.0, 0.0]).is_safe(1.0));
        assert!(!lead(&[2.0, 0.0]).is_safe(2.0), "the two that are left could tie it");
        assert!(!lead(&[2.0, 1.0]).is_safe(1.0));
        assert!(lead(&[3.0, 0.0]).is_safe(1.0));
        assert!(!lead(&[1.0, 1.0]).is_safe(0.0));
        assert!(lead(&[2.0, 1.0]).is_safe(0.0));
    }
}
