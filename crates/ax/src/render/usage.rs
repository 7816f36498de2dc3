//! A table of each participant's usage and cost.

use quorum::{
    model::outcome::{Outcome, ProviderCost},
    text::grouped,
};

/// The usage table, with a total at the bottom.
pub(crate) fn table(outcome: &Outcome) -> String {
    let costs = &outcome.metadata.cost_summary;
    let head = ["", "calls", "read", "written", "cost"].map(str::to_owned);
    let each = costs.by_provider.iter().map(|(name, cost)| row(name, cost));
    let sum = |field: fn(&ProviderCost) -> u64| costs.by_provider.values().map(field).sum();
    let all = ProviderCost {
        calls: costs.total_calls,
        prompt_tokens: sum(|it| it.prompt_tokens),
        completion_tokens: sum(|it| it.completion_tokens),
        tokens: costs.total_tokens,
        cost_usd: (costs.unpriced.len() < costs.by_provider.len()).then_some(costs.estimated_cost_usd),
    };
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(each).chain([row("all", &all)]).collect();
    columns(&rows)
}

fn row(name: &str, cost: &ProviderCost) -> [String; 5] {
    [
        name.to_owned(),
        grouped(u64::from(cost.calls)),
        grouped(cost.prompt_tokens),
        grouped(cost.completion_tokens),
        cost.cost_usd.map_or("unpriced".to_owned(), |usd| format!("${usd:.4}")),
    ]
}

/// Aligns the first column left and the others right.
pub(crate) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let cell = |column: usize, text: &String| match column {
        0 => format!("{text:<0$}", width(column)),
        _ => format!("{text:>0$}", width(column)),
    };
    let line = |row: &[String; N]| {
        let cells: Vec<String> = row.iter().enumerate().map(|(column, text)| cell(column, text)).collect();
        cells.join("  ").trim_end().to_owned()
    };
    rows.iter().map(line).collect::<Vec<_>>().join("\n")
}
