//! The result as Markdown: what `ax discuss q > out.md` holds.

use quorum::model::{
    judgement::Verdict,
    outcome::{DissentReport, Outcome, Response, Round, VotingResults},
    state::Transition,
};

use crate::render::course;

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// The answer, and what qualifies it.
    Answer,
    /// The same, and how it was come to.
    Course,
    /// Before that, everything that was said.
    Everything,
}

/// The result for people.
pub(crate) fn markdown(outcome: &Outcome, detail: Detail) -> String {
    let mut parts = Vec::new();
    if detail == Detail::Everything {
        parts.push(format!("# {}", outcome.topic));
        parts.extend(outcome.rounds.iter().map(round));
        parts.extend((!outcome.synthesis.is_empty()).then(|| "## Synthesis".to_owned()));
    }
    parts.push(outcome.synthesis.clone());
    parts.extend(outcome.consensus.dissent.as_deref().and_then(dissent));
    parts.extend(outcome.voting_results.as_ref().map(votes));
    parts.extend(outcome.verdict.as_ref().map(verdict));
    if detail != Detail::Answer {
        parts.extend(course::parts(outcome));
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n\n")
}

/// Every move a discussion made, with its time (A03).
pub(crate) fn moves(transitions: &[Transition]) -> String {
    let moves = transitions.iter().map(|it| {
        let at = quorum::model::report::iso(it.at);
        format!("- {at} {} → {}", it.from, it.to)
    });
    std::iter::once("## Moves\n".to_owned()).chain(moves).collect::<Vec<_>>().join("\n")
}

fn round(round: &Round) -> String {
    let heading = format!("## Round {}", round.round_number);
    let summary = round.summary.clone();
    let responses = round.responses.iter().map(response);
    std::iter::once(heading).chain(summary).chain(responses).collect::<Vec<_>>().join("\n\n")
}

fn response(response: &Response) -> String {
    let role = response.role.iter().map(String::as_str);
    let part: Vec<&str> = role.chain([response.phase.as_str()]).collect();
    let said = match &response.error {
        Some(error) => format!("*failed: {error}*"),
        None => response.content.trim().to_owned(),
    };
    format!("### {} ({})\n\n{said}", response.provider, part.join(", "))
}

fn dissent(views: &[DissentReport]) -> Option<String> {
    let views: Vec<String> = views.iter().map(|it| format!("- {}: {}", it.provider, it.position)).collect();
    (!views.is_empty()).then(|| format!("## Dissent\n\n{}", views.join("\n")))
}

fn votes(results: &VotingResults) -> String {
    let weight = |option: &str| results.weighted_votes.get(option).copied().unwrap_or_default();
    let mut options: Vec<(&String, u32)> =
        results.votes.iter().map(|(option, heads)| (option, *heads)).collect();
    options.sort_by(|one, other| weight(other.0).total_cmp(&weight(one.0)).then(one.0.cmp(other.0)));
    let lines: Vec<String> = options
        .into_iter()
        .map(|(option, heads)| {
            let plural = if heads == 1 { "" } else { "s" };
            format!("- {option}: {heads} vote{plural}, weight {:.2}", weight(option))
        })
        .collect();
    let end = match &results.winner {
        Some(winner) => format!("Winner: {winner}"),
        None if results.tie.is_empty() => "No winner".to_owned(),
        None => format!("A tie between {}", results.tie.join(" and ")),
    };
    format!("## Votes\n\n{}\n\n{end}", lines.join("\n"))
}

fn verdict(verdict: &Verdict) -> String {
    let mut parts = vec![format!("## Verdict\n\n{}", verdict.summary)];
    parts.extend(bullets("Agreement", &verdict.areas_of_agreement));
    parts.extend(bullets("Disagreement", &verdict.areas_of_disagreement));
    parts.extend(bullets("Insights", &verdict.insights));
    parts.extend(verdict.winner.as_ref().map(|it| format!("Winner: {}. {}", it.participant, it.reasoning)));
    parts.join("\n\n")
}

fn bullets(heading: &str, items: &[String]) -> Option<String> {
    let items: Vec<String> = items.iter().map(|item| format!("- {item}")).collect();
    (!items.is_empty()).then(|| format!("{heading}:\n\n{}", items.join("\n")))
}
