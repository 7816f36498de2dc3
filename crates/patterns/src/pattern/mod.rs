//! Patterns, one file each.

pub(crate) mod critique;
pub(crate) mod debate;
pub(crate) mod dialogue;
pub mod prompt;
pub(crate) mod round_robin;
pub(crate) mod roundtable;
pub(crate) mod settle;
pub(crate) mod synthesis;
pub(crate) mod voting;

use quorum_core::model::{
    error::{Code, Refusal},
    spec::Spec,
};

/// Requires at least two speakers (INV-DISC-005).
fn two_speakers(spec: &Spec) -> Vec<Refusal> {
    let speakers = spec.speakers().len();
    let message = format!("a {} needs at least 2 participants that speak, not {speakers}", spec.pattern);
    let refusal = Refusal::new("providers", Code::InsufficientProviders, message);
    if speakers < 2 { vec![refusal] } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use quorum_testkit::spec::spec;

    use crate::PATTERNS;

    #[test]
    fn every_pattern_accepts_its_own_sample_spec() {
        for pattern in PATTERNS {
            assert_eq!((pattern.check)(&spec(pattern.name)), [], "{}", pattern.name);
        }
    }

    #[test]
    fn inv_disc_005_no_pattern_accepts_a_single_speaker() {
        for pattern in PATTERNS {
            let mut spec = spec(pattern.name);
            spec.participants.truncate(1);
            assert!(!(pattern.check)(&spec).is_empty(), "{}", pattern.name);
        }
    }
}
