//! Whether a dialogue has reached consensus, in the form of requirement A07.

use quorum_core::call::Shape;

use crate::{mind::Mind, table::Heard};

/// So many rounds after the first even two of middling stubbornness have come together.
const ROUNDS_APART: f64 = 3.0;

pub(super) fn consensus_check(mind: &Mind<'_>, _: &Shape) -> String {
    let partner = mind.table.others.last();
    let agrees = partner.is_some_and(|it| has_come_together(mind, it));
    let confidence = (mind.confidence() * 100.0).round();
    let (reasoning, solution) = reasons(mind, partner, agrees);
    let answer = if agrees { "YES" } else { "NO" };
    format!(
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n\n[CONFIDENCE]\n{confidence}\n\n\
         [REASONING]\n{reasoning}\n\n[PROPOSED_SOLUTION]\n{solution}"
    )
}

/// With the same answer at once or after a round, else the later the more stubborn; whoever never gives in never does.
fn has_come_together(mind: &Mind<'_>, partner: &Heard<'_>) -> bool {
    let round = f64::from(mind.call.round);
    if mind.held_by(partner) == Some(mind.holds) {
        return round >= 1.0 + mind.stubbornness.ceil();
    }
    let gives_in = mind.stubbornness < 1.0 && mind.held_by(partner).is_some();
    gives_in && round >= 1.0 + (mind.stubbornness * ROUNDS_APART).ceil()
}

fn reasons(mind: &Mind<'_>, partner: Option<&Heard<'_>>, agrees: bool) -> (String, String) {
    let check = &mind.bank.check;
    let Some(partner) = partner else { return (mind.fill(&check.alone, &[]), check.none.clone()) };
    let held = mind.held_by(partner).map(|it| &mind.question.answers[it]);
    let with = [("name", partner.name), ("theirs", held.map_or(&*mind.bank.nothing, |it| &*it.view))];
    let same = mind.held_by(partner) == Some(mind.holds);
    match (agrees, same) {
        (true, true) => {
            let argument = mind.argument();
            (mind.fill(&check.same, &with), mind.fill(&check.solution, &[("argument", &argument)]))
        }
        (true, false) => (mind.fill(&check.near, &with), blend(mind, partner)),
        (false, true) => (mind.fill(&check.same, &with), check.none.clone()),
        (false, false) => (mind.fill(&check.apart, &with), check.none.clone()),
    }
}

/// Both name the same answer first: the one that everyone here finds stronger.
fn blend(mind: &Mind<'_>, partner: &Heard<'_>) -> String {
    let (mine, other) = (mind.holds, mind.held_by(partner).unwrap_or(mind.holds));
    let theirs_first = mind.strength(other) > mind.strength(mine);
    let (first, second) = if theirs_first { (other, mine) } else { (mine, other) };
    let (first, second) = (&mind.question.answers[first].position, &mind.question.answers[second].view);
    mind.fill(&mind.bank.check.blend, &[("position", first), ("theirs", second)])
}
