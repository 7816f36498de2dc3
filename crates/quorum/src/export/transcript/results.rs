//! The sections on the decision: dissent, arguments, costs.

use quorum_core::model::outcome::{Claim, DroppedView, Outcome, ProviderCost, SubReport};

use super::{Block, Item, Part, Table};
use crate::text;

pub(super) fn dissent(outcome: &Outcome) -> Option<Part> {
    let views = outcome.consensus.dissent.iter().flatten();
    let views: Vec<Item> =
        views.map(|it| Item { who: Some(it.provider.clone()), text: it.position.clone() }).collect();
    (!views.is_empty()).then(|| Part::new(text::dissent_heading(outcome), vec![Block::Items(views)]))
}

/// The views that the answer leaves out.
pub(super) fn dropped(outcome: &Outcome) -> Option<Part> {
    let item = |it: &DroppedView| Item {
        who: Some(format!("{} R{}", it.participant, it.round)),
        text: it.text.clone(),
    };
    let views: Vec<Item> = outcome.consensus.dropped.iter().map(item).collect();
    (!views.is_empty()).then(|| Part::new("Left out of the answer", vec![Block::Items(views)]))
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
    let each = costs.by_provider.iter().map(|(name, share)| row(name, share));
    let rows: Vec<Vec<String>> = each.chain([row("all", &text::total_cost(costs))]).collect();
    let head = ["participant", "model", "calls", "input tokens", "output tokens", "cost"];
    let mut blocks = vec![Block::Table(Table::new(&head, &rows))];
    let is_estimated = costs.by_provider.values().any(|it| it.estimated);
    blocks.extend(is_estimated.then(|| Block::Line(ESTIMATED.to_owned())));
    if outcome.integrity.retries > 0 {
        blocks.push(Block::Line(format!("Attempts repeated after a failure: {}", outcome.integrity.retries)));
    }
    Part::new("Cost", blocks)
}

/// The note below costs that are not all the provider's own figures.
const ESTIMATED: &str =
    "≈ marks figures that are estimated in part: a provider reported none, or a call was given up";

fn row(name: &str, share: &ProviderCost) -> Vec<String> {
    let model = share.model.clone().unwrap_or_default();
    let counts =
        [u64::from(share.calls), share.prompt_tokens, share.completion_tokens].map(|it| it.to_string());
    [name.to_owned(), model].into_iter().chain(counts).chain([text::cost(share)]).collect()
}
