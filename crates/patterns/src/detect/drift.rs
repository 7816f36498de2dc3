//! Drift: according to the judge, the last round was hardly about the topic.

use quorum_core::registry::{Course, Detection, Detector, Ends};

/// Below this mean relevance (0 to 10), a round has drifted.
const DRIFTING: f64 = 5.0;

pub(crate) const DETECTOR: Detector = Detector {
    name: "drift",
    summary: "The round's mean relevance is under 5 of 10",
    detect,
    ends: Ends::AtOnce,
};

fn detect(course: &Course) -> Vec<Detection> {
    let Some(marks) = course.marks.last() else { return Vec::new() };
    let drifted = marks.relevance.filter(|it| *it < DRIFTING);
    let found = drifted.map(|value| Detection {
        round: marks.round,
        detector: DETECTOR.name.to_owned(),
        measure: "judge".to_owned(),
        value,
        participant: None,
    });
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{course, marked};
    use super::*;

    #[track_caller]
    fn check(relevance: Option<f64>, drifted: bool) {
        let round = marked(8.0, relevance.map(|it| (5.0, it)), false);
        assert_eq!(!detect(&course(vec![round])).is_empty(), drifted, "{relevance:?}");
    }

    #[test]
    fn d08_a_round_drifts_under_a_mean_relevance_of_5() {
        check(Some(4.9), true);
        check(Some(5.0), false);
        check(Some(9.0), false);
        check(None, false);
        assert!(detect(&course(Vec::new())).is_empty());
    }
}
