//! Whether a dialogue has reached consensus, in the form of requirement A07.

use quorum_core::vocabulary::sample::{Mind, Voice};
use serde_json::Value;

/// The round by which two voices of medium stubbornness agree.
const ROUNDS_APART: f64 = 3.0;

pub(crate) fn sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let partner = mind.others().pop();
    let agrees = partner.as_ref().is_some_and(|it| has_come_together(mind, it));
    let confidence = (mind.confidence() * 100.0).round();
    let (reasoning, solution) = reasons(mind, partner.as_ref(), agrees);
    let answer = if agrees { "YES" } else { "NO" };
    format!(
        "[REASONING]\n{reasoning}\n\n[PROPOSED_SOLUTION]\n{solution}\n\n\
         [CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n\n[CONFIDENCE]\n{confidence}"
    )
}

/// Whether it agrees with its partner: with the same answer at once or after a round, otherwise
/// later the more stubborn it is, and never if it never changes its mind.
fn has_come_together(mind: &dyn Mind, partner: &Voice) -> bool {
    let (round, stubbornness) = (f64::from(mind.round()), mind.stubbornness());
    if partner.holds == Some(mind.holds()) {
        return round >= 1.0 + stubbornness.ceil();
    }
    let gives_in = stubbornness < 1.0 && partner.holds.is_some();
    gives_in && round >= 1.0 + (stubbornness * ROUNDS_APART).ceil()
}

fn reasons(mind: &dyn Mind, partner: Option<&Voice>, agrees: bool) -> (String, String) {
    let none = || mind.phrase("check.none", &[]);
    let Some(partner) = partner else { return (mind.phrase("check.alone", &[]), none()) };
    let answers = mind.answers();
    let held = partner.holds.and_then(|it| answers.get(it)).map(|it| it.view.clone());
    let theirs = held.unwrap_or_else(|| mind.phrase("nothing", &[]));
    let with = [("name", partner.name.as_str()), ("theirs", theirs.as_str())];
    let same = partner.holds == Some(mind.holds());
    match (agrees, same) {
        (true, true) => {
            let solution = mind.phrase("check.solution", &[("argument", &mind.argument())]);
            (mind.phrase("check.same", &with), solution)
        }
        (true, false) => (mind.phrase("check.near", &with), blend(mind, partner)),
        (false, true) => (mind.phrase("check.same", &with), none()),
        (false, false) => (mind.phrase("check.apart", &with), none()),
    }
}

/// A compromise. Both partners name the same answer first: the stronger one.
fn blend(mind: &dyn Mind, partner: &Voice) -> String {
    let answers = mind.answers();
    let mine = mind.holds();
    let (Some(mine), Some(other)) = (answers.get(mine), answers.get(partner.holds.unwrap_or(mine))) else {
        return mind.phrase("check.none", &[]);
    };
    let (first, second) = if other.strength > mine.strength { (other, mine) } else { (mine, other) };
    mind.phrase("check.blend", &[("position", &first.position), ("theirs", &second.view)])
}
