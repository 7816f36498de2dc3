//! Diminishing returns: quality and novelty fell over three judged rounds, or the judge found the
//! last two repetitive.

use quorum_core::registry::{Course, Detection, Detector, Ends};

pub(crate) const DETECTOR: Detector = Detector {
    name: "diminishing-returns",
    summary: "Quality and novelty fall over three rounds, or two rounds in a row are repetitive",
    detect,
    ends: Ends::AtOnce,
};

fn detect(course: &Course) -> Vec<Detection> {
    let [.., one, two, three] = &course.marks[..] else { return Vec::new() };
    let last_three = [one, two, three];
    let falling = falls(last_three.map(|it| Some(it.quality))) && falls(last_three.map(|it| it.novelty));
    let repetitive = two.repetitive && three.repetitive;
    let found = Detection {
        round: three.round,
        detector: DETECTOR.name.to_owned(),
        measure: "judge".to_owned(),
        value: three.quality,
        participant: None,
    };
    if falling || repetitive { vec![found] } else { Vec::new() }
}

/// Whether each value is lower than the one before; `false` if any was not measured.
fn falls(values: [Option<f64>; 3]) -> bool {
    matches!(values, [Some(one), Some(two), Some(three)] if two < one && three < two)
}

#[cfg(test)]
mod tests {
    use super::super::tests::{course, marked};
    use quorum_core::registry::RoundMarks;

    use super::*;

    #[track_caller]
    fn check(rounds: Vec<RoundMarks>, expected: &[(u32, f64)]) {
        let found = detect(&course(rounds));
        let found: Vec<(u32, f64)> = found.iter().map(|it| (it.round, it.value)).collect();
        assert_eq!(found, expected);
    }

    fn fresh(quality: f64, novelty: f64) -> RoundMarks {
        marked(quality, Some((novelty, 8.0)), false)
    }

    fn stale(quality: f64) -> RoundMarks {
        marked(quality, None, true)
    }

    #[test]
    fn d08_quality_and_novelty_must_both_fall_over_three_rounds() {
        check(vec![fresh(8.0, 8.0), fresh(7.0, 6.0), fresh(6.0, 4.0)], &[(3, 6.0)]);
        check(vec![fresh(9.0, 9.0), fresh(8.0, 8.0), fresh(7.0, 6.0), fresh(6.0, 4.0)], &[(4, 6.0)]);
        check(vec![fresh(8.0, 8.0), fresh(7.0, 6.0), fresh(6.0, 6.0)], &[]);
        check(vec![fresh(8.0, 8.0), fresh(8.0, 6.0), fresh(6.0, 4.0)], &[]);
        check(vec![fresh(8.0, 8.0), fresh(6.0, 4.0)], &[]);
    }

    #[test]
    fn d_seed_bug_numbers_are_compared_and_not_objects() {
        // The seed compared whole quality objects, of which none is ever less than another.
        check(vec![fresh(9.5, 3.0), fresh(9.25, 2.0), fresh(9.0, 1.0)], &[(3, 9.0)]);
    }

    #[test]
    fn d08_repetitive_twice_running_is_enough() {
        check(vec![fresh(5.0, 5.0), stale(6.0), stale(7.0)], &[(3, 7.0)]);
        check(vec![stale(6.0), fresh(5.0, 5.0), stale(7.0)], &[]);
        check(vec![stale(6.0), stale(7.0)], &[]);
    }

    #[test]
    fn d08_a_round_without_criteria_has_no_novelty_that_could_fall() {
        let bare = |quality| marked(quality, None, false);
        check(vec![bare(8.0), bare(7.0), bare(6.0)], &[]);
    }
}
