//! The plan of an evaluation in words.

use quorum::{
    Figures,
    eval::{
        Planned,
        formats::Questions,
        run::{PlannedGrader, PlannedProtocol},
    },
    text::{count, grouped},
};

/// The plan, for `--dry-run`.
pub(super) fn plan(plan: &Planned, questions: &Questions) -> String {
    let times = if plan.repeat > 1 { format!(", each {} times", plan.repeat) } else { String::new() };
    let simulated = if plan.simulated { ", simulated" } else { "" };
    let mut parts = vec![format!(
        "{} ({}){times}; panel {}{simulated}",
        count(plan.questions as u64, "question"),
        questions.format,
        plan.panel.join(", ")
    )];
    let rows: Vec<String> = plan.protocols.iter().map(|it| protocol(it, plan.questions)).collect();
    parts.push(format!("Protocols, with calls for one question\n{}", rows.join("\n")));
    parts.push(format!(
        "{} in all: {}.\nWithout shared first answers: {}.",
        count(plan.discussions as u64, "discussion"),
        figures(plan.most),
        figures(plan.without_sharing)
    ));
    parts.extend(plan.grader.as_ref().map(grader));
    match &plan.unpriced[..] {
        [] => {}
        [one] => parts.push(format!("The price of {one} is unknown; the sums leave its cost out.")),
        several => {
            let several = several.join(", ");
            parts.push(format!("The prices of {several} are unknown; the sums leave their cost out."));
        }
    }
    parts.join("\n\n")
}

fn grader(it: &PlannedGrader) -> String {
    let cost = if it.cost_usd > 0.0 { format!(", about ${:.4}", it.cost_usd) } else { String::new() };
    let calls = count(u64::from(it.calls), "call");
    format!("Grading by {} comes on top: at most {calls}, both orders included{cost}.", it.name)
}

fn protocol(it: &PlannedProtocol, all: usize) -> String {
    let only =
        if it.questions < all { format!(" (for {} of the questions)", it.questions) } else { String::new() };
    let new = match it.calls {
        0 => "from the first answers".to_owned(),
        calls => format!("{} beyond the first answers", count(u64::from(calls), "call")),
    };
    let each = format!("{:.1}", it.calls_each);
    let each = each.strip_suffix(".0").unwrap_or(&each);
    format!("  {:<28} at most {each:<5} {new}{only}", it.name)
}

fn figures(it: Figures) -> String {
    let cost = if it.cost_usd > 0.0 { format!(", at most ${:.4}", it.cost_usd) } else { String::new() };
    format!("at most {} and {} tokens{cost}", count(u64::from(it.calls), "call"), grouped(it.tokens))
}

/// What was learned for later discussions.
pub(super) fn recorded(outcomes: usize) -> String {
    let outcomes = count(outcomes as u64, "outcome");
    format!("{outcomes} recorded: `ax calibration` shows what they say, and `settle` learns from them.")
}

/// The plan in one line, before it begins.
pub(super) fn plan_line(plan: &Planned) -> String {
    let saved = plan.without_sharing.calls.saturating_sub(plan.most.calls);
    let shared = if saved > 0 {
        format!(" Shared first answers save {}.", count(u64::from(saved), "call"))
    } else {
        String::new()
    };
    format!(
        "{} in {}: {}.{shared}",
        count(plan.questions as u64, "question"),
        count(plan.discussions as u64, "discussion"),
        figures(plan.most)
    )
}
