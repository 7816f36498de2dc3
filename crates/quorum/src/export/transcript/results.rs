//! The sections on the decision: dissent, arguments, costs.

use std::collections::BTreeMap;

use quorum_core::model::outcome::{Claim, CostSummary, Outcome, ProviderCost, SubReport};

use super::{Block, Item, Part, Table};

pub(super) fn dissent(outcome: &Outcome) -> Option<Part> {
    let views = outcome.consensus.dissent.iter().flatten();
    let views: Vec<Item> =
        views.map(|it| Item { who: Some(it.provider.clone()), text: it.position.clone() }).collect();
    (!views.is_empty()).then(|| Part::new("Dissent", vec![Block::Items(views)]))
}

pub(super) fn arguments(outcome: &Outcome) -> Option<Part> {
    let row = |claim: &Claim| {
        let answer = match (claim.attacked_by.is_empty(), claim.unanswered) {
            (false, _) => claim.attacked_by.join(", "),
            (true, true) => "no one".to_owned(),
            (true, false) => String::new(),
        };
        vec![claim.text.clone(), claim.supported_by.join(", "), answer]
    };
    let rows: Vec<Vec<String>> = outcome.consensus.claims.iter().map(row).collect();
    let table = Table::new(&["claim", "supported by", "attacked by"], &rows);
    (!table.rows.is_empty()).then(|| Part::new("Arguments", vec![Block::Table(table)]))
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
    let head = ["participant", "calls", "input tokens", "output tokens", "USD"];
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
