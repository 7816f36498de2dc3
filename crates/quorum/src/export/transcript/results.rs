//! The parts of a document that come from the decision: views, votes, verdict, arguments, checks, costs.

use std::collections::BTreeMap;

use quorum_core::model::{
    event::Check,
    judgement::Claim,
    outcome::{CostSummary, Outcome, ProviderCost, StoppingReason, SubReport, VotingResults},
};

use super::{Block, Item, Part, Table, items};

/// What makes the result less than it was meant to be.
pub(super) fn shortfall(outcome: &Outcome) -> Vec<Block> {
    let mut blocks = Vec::new();
    if outcome.integrity.degraded || outcome.stopping_reason == Some(StoppingReason::UserStop) {
        blocks.push(Block::Line("Less went into the result than was meant to".into()));
    }
    blocks.extend(outcome.error.as_ref().map(|it| Block::Line(format!("{}: {}", it.code, it.message))));
    blocks
}

pub(super) fn dissent(outcome: &Outcome) -> Option<Part> {
    let views = outcome.consensus.dissent.iter().flatten();
    let views: Vec<Item> =
        views.map(|it| Item { who: Some(it.provider.clone()), text: it.position.clone() }).collect();
    (!views.is_empty()).then(|| Part::new("Dissent", vec![Block::Items(views)]))
}

pub(super) fn votes(outcome: &Outcome) -> Option<Part> {
    let results = outcome.voting_results.as_ref()?;
    let weight = |option: &str| results.weighted_votes.get(option).copied().unwrap_or_default();
    let mut options: Vec<(&String, &u32)> = results.votes.iter().collect();
    options.sort_by(|one, other| weight(other.0).total_cmp(&weight(one.0)).then(one.0.cmp(other.0)));
    let row = |(option, heads): (&String, &u32)| {
        vec![option.clone(), heads.to_string(), format!("{:.2}", weight(option))]
    };
    let rows: Vec<_> = options.into_iter().map(row).collect();
    let blocks = vec![
        Block::Line(winner(results)),
        Block::Table(Table::new(&["option", "votes", "weight"], &rows)),
        Block::Table(ballots(results)),
    ];
    Some(Part::new("Votes", blocks))
}

fn winner(results: &VotingResults) -> String {
    match &results.winner {
        Some(winner) => format!("Winner: {winner}"),
        None if results.tie.is_empty() => "There is no winner".to_owned(),
        None => format!("A tie between {}", results.tie.join(" and ")),
    }
}

fn ballots(results: &VotingResults) -> Table {
    let rows = results.ballots.iter().map(|it| {
        vec![
            it.provider.clone(),
            it.round.to_string(),
            it.choice.clone(),
            format!("{:.2}", it.confidence),
            it.reasoning.clone(),
        ]
    });
    Table::new(&["voter", "round", "choice", "confidence", "why"], &rows.collect::<Vec<_>>())
}

pub(super) fn verdict(outcome: &Outcome) -> Option<Part> {
    let verdict = outcome.verdict.as_ref()?;
    let mut blocks = vec![Block::Said(verdict.summary.clone())];
    let winner = verdict.winner.as_ref();
    let said = |who: &str, text: &str| Item { who: Some(who.to_owned()), text: text.to_owned() };
    blocks.extend(winner.map(|it| Block::Line(format!("Winner: {}", it.participant))));
    blocks.extend(winner.map(|it| Block::Said(it.reasoning.clone())));
    blocks.push(Block::Line(format!("The debate as a whole: {:.0} of 100", verdict.quality_score)));
    let points = verdict.key_points.iter();
    let points = points.flat_map(|it| it.main_arguments.iter().map(|text| said(&it.participant, text)));
    let lists = [
        ("Agreement", &verdict.areas_of_agreement),
        ("Disagreement", &verdict.areas_of_disagreement),
        ("Insights", &verdict.insights),
    ];
    let lists = lists.into_iter().map(|(title, texts)| Part::new(title, texts_of(texts)));
    let points = Part::new("Main arguments", not_none(points.collect()));
    let parts = std::iter::once(points).chain(lists).filter_map(Part::unless_empty).collect();
    Some(Part { parts, ..Part::new("Verdict", blocks) })
}

fn texts_of(texts: &[String]) -> Vec<Block> {
    if texts.is_empty() { Vec::new() } else { vec![items(texts)] }
}

fn not_none(items: Vec<Item>) -> Vec<Block> {
    if items.is_empty() { Vec::new() } else { vec![Block::Items(items)] }
}

pub(super) fn arguments(outcome: &Outcome) -> Option<Part> {
    let row = |claim: &Claim| {
        let answer = match (claim.attacked_by.is_empty(), claim.unanswered) {
            (false, _) => claim.attacked_by.join(", "),
            (true, true) => "nobody answered".to_owned(),
            (true, false) => String::new(),
        };
        vec![claim.text.clone(), claim.supported_by.join(", "), answer]
    };
    let rows: Vec<Vec<String>> = outcome.consensus.claims.iter().map(row).collect();
    let table = Table::new(&["claim", "supported by", "attacked by"], &rows);
    (!table.rows.is_empty()).then(|| Part::new("Arguments", vec![Block::Table(table)]))
}

pub(super) fn checks(outcome: &Outcome) -> Option<Part> {
    let asked = outcome.consensus_checks.iter().filter(|check| !check.skipped);
    let rows: Vec<Vec<String>> = asked.flat_map(rows_of).collect();
    let table = Table::new(&["round", "participant", "agrees", "confidence", "why"], &rows);
    (!table.rows.is_empty()).then(|| Part::new("Consensus checks", vec![Block::Table(table)]))
}

fn rows_of(check: &Check) -> impl Iterator<Item = Vec<String>> + '_ {
    check.votes.iter().map(|(who, vote)| {
        let agrees = if vote.agrees { "yes" } else { "no" };
        let confidence = format!("{} %", vote.confidence);
        vec![check.round.to_string(), who.clone(), agrees.to_owned(), confidence, vote.reasoning.clone()]
    })
}

pub(super) fn subs(outcome: &Outcome) -> Option<Part> {
    let part = |sub: &SubReport| {
        let found = sub.synthesis.clone().map(Block::Said);
        let wrong = sub.error.as_ref().map(|it| Block::Line(format!("{}: {}", it.code, it.message)));
        let aside = Some(format!("for {}", sub.requested_by));
        Part { aside, ..Part::new(sub.topic.clone(), found.into_iter().chain(wrong).collect()) }
    };
    let parts = outcome.sub_discussions.iter().map(part).collect();
    Part { parts, ..Part::new("Sub-discussions", Vec::new()) }.unless_empty()
}

pub(super) fn costs(outcome: &Outcome) -> Part {
    let costs = &outcome.metadata.cost_summary;
    let mut rows = shares(&costs.by_provider);
    rows.push(total(costs));
    let head = ["participant", "calls", "tokens read", "tokens written", "USD"];
    let mut blocks = vec![Block::Table(Table::new(&head, &rows))];
    if outcome.integrity.retries > 0 {
        blocks.push(Block::Line(format!("Attempts repeated after a failure: {}", outcome.integrity.retries)));
    }
    Part::new("Cost", blocks)
}

fn shares(by_provider: &BTreeMap<String, ProviderCost>) -> Vec<Vec<String>> {
    let row = |(name, share): (&String, &ProviderCost)| {
        let cost = share.cost_usd.map_or_else(|| "unpriced".to_owned(), |usd| format!("{usd:.4}"));
        let numbers = [share.prompt_tokens.to_string(), share.completion_tokens.to_string(), cost];
        [name.clone(), share.calls.to_string()].into_iter().chain(numbers).collect()
    };
    by_provider.iter().map(row).collect()
}

fn total(costs: &CostSummary) -> Vec<String> {
    let sum = |part: fn(&ProviderCost) -> u64| costs.by_provider.values().map(part).sum::<u64>().to_string();
    let (read, written) = (sum(|it| it.prompt_tokens), sum(|it| it.completion_tokens));
    let usd = format!("{:.4}", costs.estimated_cost_usd);
    vec!["all".to_owned(), costs.total_calls.to_string(), read, written, usd]
}
