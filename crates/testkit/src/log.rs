//! The event log as text, one line per fact, for readable tests.

use quorum_core::model::event::{Absent, Conclusion, Event, Fact, ToolUsed};

/// All facts as lines.
#[must_use]
pub fn log(facts: &[Fact]) -> String {
    facts.iter().map(|fact| line(fact) + "\n").collect()
}

/// The main events as lines: turns, failures, readings and lifecycle changes, without the
/// machinery.
#[must_use]
pub fn story(facts: &[Fact]) -> String {
    let telling = facts.iter().filter(|fact| {
        !matches!(
            fact.event,
            Event::Opened { .. }
                | Event::CallPlaced(_)
                | Event::RoundOpened { .. }
                | Event::RoundClosed { .. }
        )
    });
    telling.map(|fact| described(&fact.event) + "\n").collect()
}

fn line(fact: &Fact) -> String {
    let step = fact.step.as_ref().map(|step| format!(" {step}")).unwrap_or_default();
    format!("{:>3}{step} {}", fact.seq.0, described(&fact.event))
}

fn described(event: &Event) -> String {
    match event {
        Event::Opened { spec, lineage, .. } => {
            let depth = lineage.as_ref().map_or(0, |it| it.depth);
            format!("opened {} at depth {depth}", spec.pattern)
        }
        Event::LifecycleChanged { from, to } => format!("{from} -> {to}"),
        Event::PanelSeated { seated, absent, .. } => panel(seated, absent),
        Event::RoundOpened { round } => format!("round {round} opened"),
        Event::RoundClosed { round } => format!("round {round} closed"),
        Event::PhaseEntered { phase, round } => format!("round {round}: {phase}"),
        Event::CallPlaced(placed) => {
            let repeats = if placed.repeats { " again" } else { "" };
            format!("calls {} #{}{repeats}", placed.participant, placed.attempt)
        }
        Event::CallFailed { participant, class, retry_in_ms, .. } => {
            let then = retry_in_ms.map_or("gives up".to_owned(), |ms| format!("again in {ms} ms"));
            format!("{participant} failed ({}), {then}", class.name())
        }
        Event::CallAbandoned { participant, why, .. } => format!("{participant} left behind: {why:?}"),
        Event::TurnCompleted { turn } => format!("{}: {}", turn.participant, turn.text),
        Event::TurnFailed(failed) => format!("{} is out ({})", failed.participant, failed.class.name()),
        Event::GroupClosed { taken, dropped } => {
            format!("enough of {}, without {}", taken.join(" "), dropped.join(" "))
        }
        Event::ReplyRead { participant, source, reading, .. } => {
            let said = reading.told.as_ref().map(|it| format!(": {it}")).unwrap_or_default();
            format!("read {participant} ({source:?}){said}")
        }
        Event::ReplyUnread(unread) => format!("{}'s {} can't be read", unread.participant, unread.kind),
        Event::Noted(noted) => {
            let value = || noted.value.to_string();
            format!("noted {}: {}", noted.kind, noted.told.clone().unwrap_or_else(value))
        }
        Event::OrderDrawn { order } => format!("drew the order {order:?}"),
        Event::Compared(comparison) => {
            let each = comparison.similarities.iter().map(|it| format!("{} {}", it.participant, it.value));
            let found = comparison.problem.clone().unwrap_or_else(|| each.collect::<Vec<_>>().join(", "));
            format!("compared by {}: {found}", comparison.model)
        }
        Event::RulingAwaited(awaited) => format!("asks for a ruling ({}) on {}", awaited.kind, awaited.about),
        Event::Ruled(ruled) => {
            let named = ruled.ruling.candidate.as_ref().map(|it| format!(" {it}")).unwrap_or_default();
            format!("ruled ({}) on {}: {}{named}", ruled.ruling.kind, ruled.about, ruled.ruling.choice)
        }
        Event::TalkEnded(end) => {
            let detail = end.detail.as_ref().map(|it| format!(" ({it})")).unwrap_or_default();
            format!("ended after round {}: {}{detail}", end.round, end.why)
        }
        Event::WindowTight(tight) => format!("{}'s window is {} % full", tight.participant, tight.percent),
        Event::Summarised(summary) => {
            let text = summary.turn.as_ref().map_or("nothing", |turn| &turn.text);
            format!("summed up {} of {}: {text}", summary.covers, summary.heard)
        }
        Event::PersonAwaited(awaited) => format!("waits for {}", awaited.participant),
        Event::SubRequested { turn, topic } => format!("{} convenes: {topic}", turn.participant),
        Event::SubConcluded(end) => {
            let problem = end.problem.as_ref().map(|it| format!(" ({})", it.code)).unwrap_or_default();
            format!("{} hears: {}{problem}", end.participant, end.synthesis.as_deref().unwrap_or("nothing"))
        }
        Event::ChildConvened(it) => format!("begins {} ({})", it.name, it.pattern),
        Event::ToolPlaced(it) => format!("uses {} for {} #{}", it.tool, it.name, it.attempt),
        Event::ToolUsed(used) => tool_used(used),
        Event::CommandTaken { command, .. } => format!("told to {command}"),
        Event::WoundUp { reason } => format!("winds up: {reason:?}"),
        Event::Decided { decision } => format!("decided: {}", decision.synthesis),
        Event::Concluded(end) => concluded(end),
        Event::Failed { problem, .. } => format!("failed: {problem}"),
        Event::Retried(retried) => {
            let with: String = retried.reseated.iter().map(|name| format!(" {name}")).collect();
            format!("tried again{}{with}", if with.is_empty() { "" } else { " with" })
        }
        Event::Unknown => "something unknown".to_owned(),
    }
}

fn tool_used(used: &ToolUsed) -> String {
    let output = || used.output.to_string();
    format!("{} returned {}", used.name, used.error.as_ref().map_or_else(output, |it| it.code.clone()))
}

fn concluded(end: &Conclusion) -> String {
    let problem = end.problem.as_ref().map(|it| format!(" {}", it.code)).unwrap_or_default();
    let success = if end.success { "success" } else { "no success" };
    format!("concluded: {success} {}{problem}", end.stopping.name())
}

fn panel(seated: &[String], absent: &[Absent]) -> String {
    let absent: Vec<&str> = absent.iter().map(|it| it.participant.as_str()).collect();
    let without = if absent.is_empty() { String::new() } else { format!(" without {}", absent.join(" ")) };
    format!("seated {}{without}", seated.join(" "))
}
