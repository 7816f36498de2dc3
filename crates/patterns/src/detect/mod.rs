//! Detectors: findings about a talk that need no model (D08). They are recorded, shown to the
//! judge, and can end a debate if the spec says so. Each is one file and one line in a list.

pub(crate) mod diminishing_returns;
pub(crate) mod drift;
pub(crate) mod lexical;
pub(crate) mod repetition;
pub(crate) mod words;

#[cfg(test)]
mod tests {
    use quorum_core::registry::{Course, RoundMarks};

    /// A round's scores: quality, and novelty and relevance if given.
    pub(super) fn marked(quality: f64, criteria: Option<(f64, f64)>, repetitive: bool) -> RoundMarks {
        let (novelty, relevance) = criteria.unzip();
        RoundMarks { round: 0, quality, novelty, relevance, repetitive }
    }

    pub(super) fn course(rounds: Vec<RoundMarks>) -> Course {
        let marks = rounds.into_iter().zip(1..).map(|(it, round)| RoundMarks { round, ..it }).collect();
        Course { marks, ..Course::default() }
    }
}
