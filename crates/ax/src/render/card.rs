//! The card at the end of a discussion: how it was decided, how it went, what each participant
//! used, and how to look at it again.

use quorum::{
    Snapshot,
    model::{
        flips::Flip,
        outcome::{Outcome, ProviderCost},
    },
    text::{cost, grouped},
    vocabulary::view::View,
};
use serde_json::Value;

use crate::{
    exit::needed,
    render::{
        closing,
        line::{BAD, BOLD, DIM, Line, PLAIN, WORRY, width},
        listing::SHORT_ID,
        scores,
    },
};

/// How much of the result is on the same terminal already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum AlreadyShown {
    /// Nothing: the result went elsewhere.
    Nothing,
    /// The answer, with votes and dissent.
    Answer,
    /// All of it.
    Everything,
}

/// What the card's commands call the discussion, if it has commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Naming {
    /// `last`: it was started just now.
    Last,
    /// The beginning of its id: there may be newer ones.
    ById,
    /// Nothing: the verb names the next steps itself.
    Nowhere,
}

/// The column at which the text after a label begins.
const LABEL: usize = 12;
/// The most changes of mind that are listed.
const FLIPS: usize = 6;

/// The card of a finished discussion.
pub(crate) fn lines(state: &Snapshot, shown: AlreadyShown, naming: Naming, columns: usize) -> Vec<Line> {
    let outcome = &state.outcome();
    let mut lines = if shown == AlreadyShown::Nothing { Vec::new() } else { vec![Line::default()] };
    lines.push(rule("", columns));
    lines.extend(closing(outcome, columns));
    let mut parts = Vec::new();
    if shown == AlreadyShown::Nothing {
        parts.extend(votes(state, outcome));
        parts.extend(dissent(outcome));
    }
    if shown != AlreadyShown::Everything {
        parts.extend(marks(state, outcome));
        parts.extend(agreement(outcome, needed(state.registry(), state)));
        parts.extend(flips(&outcome.flips));
    }
    let parts = parts.iter().flat_map(|part| hanging(part, columns));
    lines.extend(parts);
    lines.push(Line::default());
    let costs = costs(outcome);
    if !costs.is_empty() {
        lines.extend(costs.into_iter().map(|line| line.cut(columns)));
        lines.push(Line::default());
    }
    lines.extend(again(state, outcome, naming).iter().flat_map(|part| hanging(part, columns)));
    lines
}

/// A horizontal rule with a word in it.
pub(crate) fn rule(word: &str, columns: usize) -> Line {
    let columns = columns.min(super::WIDEST);
    if word.is_empty() {
        return Line::of(&"─".repeat(columns), DIM);
    }
    let rest = columns.saturating_sub(width(word) + 4);
    Line::of("── ", DIM).and(word, BOLD).and(&format!(" {}", "─".repeat(rest)), DIM).cut(columns)
}

fn closing(outcome: &Outcome, columns: usize) -> Vec<Line> {
    let failed = outcome.error.is_some();
    let style = |at: usize| match at {
        0 => BOLD,
        _ if failed => BAD,
        _ => WORRY,
    };
    let lines = closing::lines(outcome).into_iter().enumerate();
    lines
        .flat_map(|(at, text)| Line::of(&text, style(at)).wrapped(columns.saturating_sub(1)))
        .map(indented)
        .collect()
}

fn indented(line: Line) -> Line {
    Line::of(" ", PLAIN).then(line)
}

/// A label and its text.
struct Part {
    label: String,
    rows: Vec<Line>,
}

fn part(label: &str, rows: Vec<Line>) -> Option<Part> {
    (!rows.is_empty()).then(|| Part { label: label.to_owned(), rows })
}

fn hanging(part: &Part, columns: usize) -> Vec<Line> {
    let room = columns.min(super::WIDEST).saturating_sub(LABEL).max(1);
    let rows = part.rows.iter().flat_map(|row| row.wrapped(room)).enumerate();
    let label = |at: usize| {
        let label = Line::of(&format!(" {}", if at == 0 { &part.label } else { "" }), DIM);
        label.cut(LABEL - 1).padded(LABEL)
    };
    rows.map(|(at, row)| label(at).then(row).cut(columns.max(1))).collect()
}

/// The votes, for each field drawn as votes.
fn votes(state: &Snapshot, outcome: &Outcome) -> Vec<Part> {
    let fields = state.registry().results_of(&state.spec).into_iter();
    let fields = fields.filter(|it| it.view == View::Ballots);
    let drawn =
        fields.filter_map(|it| part(&it.title.to_lowercase(), vote_lines(outcome.fields.get(it.name)?)));
    drawn.collect()
}

fn vote_lines(results: &Value) -> Vec<Line> {
    let weight = |option: &str| {
        let weights = results.get("weightedVotes");
        weights.and_then(|it| it.get(option)?.as_f64()).unwrap_or_default()
    };
    let votes = results.get("votes").and_then(Value::as_object);
    let mut options: Vec<(&String, u64)> =
        votes.into_iter().flatten().map(|(name, heads)| (name, heads.as_u64().unwrap_or_default())).collect();
    options.sort_by(|one, other| weight(other.0).total_cmp(&weight(one.0)).then(one.0.cmp(other.0)));
    let option = |(name, heads): (&String, u64)| {
        let won = results.get("winner").and_then(Value::as_str) == Some(name);
        let end = if won { " leads" } else { "" };
        Line::of(name, if won { BOLD } else { PLAIN })
            .and(&format!(" {heads} ({:.2}){end}", weight(name)), PLAIN)
    };
    let tie = results.get("tie").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
    let tie: Vec<&str> = tie.collect();
    let tie = (!tie.is_empty()).then(|| Line::of(&format!("a tie between {}", tie.join(" and ")), WORRY));
    options.into_iter().map(option).chain(tie).collect()
}

fn dissent(outcome: &Outcome) -> Option<Part> {
    let views = outcome.consensus.dissent.iter().flatten();
    part(
        &quorum::text::dissent_heading(outcome).to_lowercase(),
        views.map(|it| Line::of(&it.provider, BOLD).and(&format!(": {}", it.position), PLAIN)).collect(),
    )
}

/// The scores, grouped by name.
fn marks(state: &Snapshot, outcome: &Outcome) -> Vec<Part> {
    let rows = scores::of_outcome(state.registry(), &state.spec, outcome);
    let groups = rows.chunk_by(|one, other| one.label == other.label);
    groups.filter_map(|rows| part(&rows[0].label, rows.iter().map(|it| it.line()).collect())).collect()
}

fn agreement(outcome: &Outcome, needed: Option<f64>) -> Option<Part> {
    let after: Vec<String> =
        outcome.agreement_by_round.iter().map(|it| format!("R{} {:.2}", it.round, it.agreement)).collect();
    let need = needed.map(|it| format!(" (need {it:.2})")).unwrap_or_default();
    let row = Line::of(&after.join(" → "), PLAIN).and(&need, DIM);
    part("agreement", if after.is_empty() { Vec::new() } else { vec![row] })
}

fn flips(flips: &[Flip]) -> Option<Part> {
    let row = |it: &Flip| {
        let Flip { participant, round, from, to, reason } = it;
        Line::of(&format!("R{round} "), DIM)
            .and(participant, BOLD)
            .and(&format!(" {from} → {to}: {reason}"), PLAIN)
    };
    let more = flips.len().saturating_sub(FLIPS);
    let more = (0 < more).then(|| Line::of(&format!("and {more} more"), DIM));
    part("flips", flips.iter().take(FLIPS).map(row).chain(more).collect())
}

fn costs(outcome: &Outcome) -> Vec<Line> {
    let summary = &outcome.metadata.cost_summary;
    let seats = &outcome.integrity.expected;
    let others = summary.by_provider.keys().filter(|it| !seats.contains(it));
    // People have no calls.
    let asked = |it: &&String| summary.by_provider.get(*it).is_some_and(|cost| 0 < cost.calls);
    let names: Vec<&String> = seats.iter().chain(others).filter(asked).collect();
    if names.is_empty() {
        return Vec::new();
    }
    let widest = names.iter().map(|it| width(it)).max().unwrap_or_default().max(LABEL - 2);
    let row = |name: &str, cells: [String; 5], style| {
        let [calls, read, written, cost, model] = cells;
        let figures = format!("  {calls:>5} {read:>11}  {written:>8}  {cost}  {model}");
        Line::of(" ", PLAIN).then(Line::of(name, style)).padded(widest + 1).and(figures.trim_end(), style)
    };
    // Simulated voices cost nothing, and no model is asked.
    let priced =
        |it: &ProviderCost| if outcome.simulated { String::new() } else { format!("{:>9}", cost(it)) };
    let model = |it: &ProviderCost| it.model.clone().filter(|_| !outcome.simulated).unwrap_or_default();
    let cells = |it: &ProviderCost| {
        let [read, written] = [it.prompt_tokens, it.completion_tokens].map(grouped);
        [it.calls.to_string(), read, written, priced(it), model(it)]
    };
    let has_models = summary.by_provider.values().any(|it| !model(it).is_empty());
    let cost = if outcome.simulated { "" } else { "     cost" };
    let model = if has_models { "model" } else { "" };
    let head = row("", ["calls", "tokens read", "written", cost, model].map(str::to_owned), DIM);
    let shares =
        names.into_iter().filter_map(|name| Some(row(name, cells(summary.by_provider.get(name)?), PLAIN)));
    [head].into_iter().chain(shares).collect()
}

fn again(state: &Snapshot, outcome: &Outcome, naming: Naming) -> Vec<Part> {
    let id = outcome.discussion_id.to_string();
    let (name, which) = match naming {
        Naming::Last => ("last", String::new()),
        Naming::ById => (&id[..SHORT_ID], format!("{} ", &id[..SHORT_ID])),
        Naming::Nowhere => return part("id", vec![Line::of(&id, DIM)]).into_iter().collect(),
    };
    let commands = format!("ax replay {name} · ax show {name} -v · ax export {name} -o discussion.html");
    // A run of a workflow has no panel that could be asked the next question.
    let can_follow = outcome.success && state.spec.plan.is_none();
    let next =
        can_follow.then(|| ("next", format!("ax follow {which}\"And what then?\" asks the same panel")));
    let rows = [("again", commands), ("id", id.clone())];
    next.into_iter().chain(rows).filter_map(|(label, text)| part(label, vec![Line::of(&text, DIM)])).collect()
}
