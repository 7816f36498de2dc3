//! Proposing, criticising and refining: numbered points, objections to single points, and revised
//! proposals.

use super::{
    mind::Mind,
    speech::{answer, finished, speak, stated},
    table::{Speaker, points},
};

/// The speech for the phase in the step's name.
pub(super) fn speech_for(mind: &Mind<'_>) -> String {
    match mind.call.step.as_str().split('/').nth(1) {
        Some("proposing") => propose(mind),
        Some("critiquing") => criticise(mind),
        Some("refining") => refine(mind),
        _ => speak(mind),
    }
}

fn propose(mind: &Mind<'_>) -> String {
    let critique = &mind.bank.critique;
    let plan = mind.sentence(&critique.plan, &[]);
    let points = numbered(&[mind.argument(), mind.observation(), plan]);
    finished(mind, &[stated(mind), mind.sentence(&critique.propose, &[]), points])
}

fn criticise(mind: &Mind<'_>) -> String {
    let objections: Vec<String> = mind.table.others.iter().filter_map(|it| objection(mind, it)).collect();
    if objections.is_empty() {
        return speak(mind);
    }
    let mut paragraphs = vec![stated(mind)];
    paragraphs.extend(objections);
    paragraphs.push(mind.observation());
    finished(mind, &paragraphs)
}

/// An objection to one point of a proposal, with praise for another; a plain answer if it has no
/// numbered points.
fn objection(mind: &Mind<'_>, speaker: &Speaker<'_>) -> Option<String> {
    let critique = &mind.bank.critique;
    let points = speaker.said.iter().rev().map(|text| points(text)).find(|it| !it.is_empty());
    let Some(points) = points else { return answer(mind, speaker) };
    let at = mind.chance("objection").derive(speaker.seat).below(points.len());
    let (number, quote) = &points[at];
    let objection = mind.sentence(
        &critique.objection,
        &[("name", speaker.name), ("number", &number.to_string()), ("quote", quote)],
    );
    let kept = &points[(at + 1) % points.len()].0.to_string();
    let praise = mind.sentence(&critique.praise, &[("name", speaker.name), ("number", kept)]);
    let space = &mind.bank.space;
    Some(if points.len() > 1 { format!("{objection}{space}{praise}") } else { objection })
}

fn refine(mind: &Mind<'_>) -> String {
    let critique = &mind.bank.critique;
    let took = |speaker: &Speaker<'_>| {
        let quote = speaker.quote(mind.chance("took").derive(speaker.seat))?;
        Some(mind.sentence(&critique.took, &[("name", speaker.name), ("quote", &quote)]))
    };
    let own = mind.label();
    let critics = mind.table.others.iter().filter(|it| it.mentions(own));
    let answers: Vec<String> = critics.filter_map(took).collect();
    let unmoved = answers.is_empty();
    let lead = if unmoved { critique.unmoved.clone() } else { mind.sentence(&critique.revised, &[]) };
    let mut paragraphs = vec![stated(mind), lead, numbered(&repaired(mind))];
    paragraphs.extend((!unmoved).then(|| LINE.to_owned()));
    paragraphs.extend(answers);
    finished(mind, &paragraphs)
}

/// Stands between a proposal and the answers to its critics.
const LINE: &str = "---";

/// Its own proposal with the middle replaced by a repaired point; a new proposal if it had none.
fn repaired(mind: &Mind<'_>) -> Vec<String> {
    let critique = &mind.bank.critique;
    let repair = mind.sentence(&critique.repair, &[]);
    let own = mind.table.own.iter().rev().map(|text| points(text)).find(|it| it.len() > 1);
    match own.as_deref() {
        Some([(_, first), .., (_, last)]) => vec![first.clone(), repair, last.clone()],
        _ => vec![mind.argument(), repair, mind.sentence(&critique.plan, &[])],
    }
}

fn numbered(points: &[String]) -> String {
    let lines: Vec<String> = points.iter().zip(1..).map(|(point, at)| format!("{at}. {point}")).collect();
    lines.join("\n")
}
