//! The result as Markdown: the content of `out.md` after `ax discuss q > out.md`.

use quorum::{
    Snapshot,
    model::{
        outcome::{Outcome, Response, Round},
        state::Transition,
    },
    text,
};

use crate::render::{course, fields, role_name};

/// How much of the result to print.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The answer, and what qualifies it.
    Answer,
    /// The same, and how the discussion went.
    Course,
    /// The same, preceded by everything that was said.
    Everything,
}

/// The notes after the sentences of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notes {
    /// Nothing.
    None,
    /// Who said what each of them rests on.
    Sources,
}

/// The result for people.
pub(crate) fn markdown(state: &Snapshot, detail: Detail, notes: Notes) -> String {
    let outcome = &state.outcome();
    let mut parts = Vec::new();
    if detail == Detail::Everything {
        parts.push(format!("# {}", outcome.topic));
        parts.extend(outcome.rounds.iter().map(round));
    }
    if detail == Detail::Everything || !is_answer(outcome) {
        parts.extend((!outcome.synthesis.is_empty()).then(|| format!("## {}", text::heading(outcome))));
    }
    parts.push(match notes {
        Notes::None => outcome.synthesis.clone(),
        Notes::Sources => text::with_sources(outcome),
    });
    parts.extend(dissent(outcome));
    parts.extend(dropped(outcome));
    parts.extend(text::support(outcome).map(|line| match notes {
        Notes::None => format!("*{line}.*"),
        Notes::Sources => format!("*{line}. Headings, transitions and short sentences don't count.*"),
    }));
    parts.extend(outcome.consensus.structure.told().map(|line| format!("*{line}.*")));
    if detail == Detail::Answer {
        parts.extend(fields::of_answer(state, outcome));
    } else {
        parts.extend(fields::in_full(state, outcome));
        parts.extend(course::parts(outcome));
    }
    parts.retain(|part| !part.trim().is_empty());
    if !parts.is_empty() && detail != Detail::Answer {
        parts.extend(fields::agents(outcome));
    }
    if !parts.is_empty() {
        parts.splice(0..0, text::standing(outcome).map(|line| format!("> {line}")));
    }
    parts.join("\n\n")
}

/// Whether the text is the panel's answer, and not a rejected or a disputed one, or one
/// participant's last words.
fn is_answer(outcome: &Outcome) -> bool {
    outcome.integrity.stand_in.is_none() && outcome.outcome.is_none_or(|it| it.standing.kind.is_answer())
}

/// What happened to a discussion as a whole, with the times (A03).
pub(crate) fn timeline(transitions: &[Transition]) -> String {
    let moves = transitions.iter().filter_map(|it| {
        let at = text::local_second(it.at);
        Some(format!("- {at} {}", became(it)?.replace('-', " ")))
    });
    std::iter::once("## Timeline\n".to_owned()).chain(moves).collect::<Vec<_>>().join("\n")
}

/// A state transition in words; `None` if the one after it says the same.
fn became(transition: &Transition) -> Option<&str> {
    Some(match (transition.from.as_str(), transition.to.as_str()) {
        (_, "configuring" | "validating") => return None,
        ("error", "ready") => "retried",
        (_, "ready") => "recorded",
        (_, "initializing") => "the participants are checked",
        ("paused", "running") => "resumed",
        (_, "running") => "the talk begins",
        (_, "completing") => "the decision begins",
        (_, "error") => "failed",
        (_, other) => other,
    })
}

fn round(round: &Round) -> String {
    let heading = format!("## Round {}", round.round_number);
    let summary = round.summary.clone();
    let responses = round.responses.iter().map(response);
    std::iter::once(heading).chain(summary).chain(responses).collect::<Vec<_>>().join("\n\n")
}

fn response(response: &Response) -> String {
    let role = response.role.iter().map(|it| role_name(it));
    let phase = response.phase.replace('-', " ");
    let part: Vec<&str> = role.chain([phase.as_str()]).collect();
    let said = match (&response.error, response.cut_reason()) {
        (Some(error), _) => format!("*failed: {error}*"),
        (None, Some(reason)) => format!("{}\n\n*cut off here: {reason}*", response.content.trim()),
        (None, None) => response.content.trim().to_owned(),
    };
    let figures = text::response_figures(response).join(", ");
    let figures = if figures.is_empty() { figures } else { format!("*{figures}*\n\n") };
    format!("### {} ({})\n\n{figures}{said}", response.provider, part.join(", "))
}

/// The views that the answer leaves out.
fn dropped(outcome: &Outcome) -> Option<String> {
    let views = outcome.consensus.dropped.iter();
    let views: Vec<String> =
        views.map(|it| format!("- {} (round {}): {}", it.participant, it.round, it.text)).collect();
    (!views.is_empty()).then(|| format!("## Left out of the answer\n\n{}", views.join("\n")))
}

fn dissent(outcome: &Outcome) -> Option<String> {
    let views = outcome.consensus.dissent.iter().flatten();
    let views: Vec<String> = views.map(|it| format!("- {}: {}", it.provider, it.position)).collect();
    let heading = text::dissent_heading(outcome);
    (!views.is_empty()).then(|| format!("## {heading}\n\n{}", views.join("\n")))
}

#[cfg(test)]
mod tests {
    use quorum::model::time::Timestamp;

    use super::*;

    #[test]
    fn the_states_of_a_discussion_are_listed_in_plain_words() {
        let check = |from: &str, to: &str, expected: Option<&str>| {
            let (from, to) = (from.to_owned(), to.to_owned());
            assert_eq!(became(&Transition { from, to, at: Timestamp(0) }), expected);
        };
        check("configuring", "validating", None);
        check("validating", "ready", Some("recorded"));
        check("ready", "initializing", Some("the participants are checked"));
        check("initializing", "running", Some("the talk begins"));
        check("running", "paused", Some("paused"));
        check("paused", "running", Some("resumed"));
        check("running", "completing", Some("the decision begins"));
        check("running", "error", Some("failed"));
        check("error", "ready", Some("retried"));
        check("completing", "completed", Some("completed"));
    }
}
