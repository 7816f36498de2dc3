//! A table of each participant's usage and cost.

use quorum::{
    model::outcome::{Outcome, ProviderCost},
    text::{cost, grouped, total_cost},
};

/// The usage table, with a total at the bottom.
pub(crate) fn table(outcome: &Outcome) -> String {
    let costs = &outcome.metadata.cost_summary;
    let head = ["", "model", "calls", "tokens read", "written", "cost"].map(str::to_owned);
    let each = costs.by_provider.iter().map(|(name, cost)| row(name, cost));
    let all = row("all", &total_cost(costs));
    let rows: Vec<[String; 6]> = std::iter::once(head).chain(each).chain([all]).collect();
    if costs.by_provider.values().any(|it| it.model.is_some()) {
        return columns(&rows);
    }
    // Simulated voices have no model.
    let without_models =
        |[name, _, calls, read, written, cost]: [String; 6]| [name, calls, read, written, cost];
    columns(&rows.into_iter().map(without_models).collect::<Vec<_>>())
}

fn row(name: &str, share: &ProviderCost) -> [String; 6] {
    [
        name.to_owned(),
        share.model.clone().unwrap_or_default(),
        grouped(u64::from(share.calls)),
        grouped(share.prompt_tokens),
        grouped(share.completion_tokens),
        cost(share),
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
