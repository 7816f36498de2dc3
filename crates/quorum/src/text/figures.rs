//! Formats numbers for people.

use quorum_core::model::outcome::{CostSummary, EarlyExit, ProviderCost, Response};

/// Formats a duration: `0.3 s`, `12.0 s`, `2 min 5 s`, `30 min`, `1 h 5 min`.
#[must_use]
pub fn time(ms: u64) -> String {
    let (hours, minutes, seconds) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60);
    match (hours, minutes, seconds) {
        (0, 0, _) => format!("{:.1} s", ms as f64 / 1_000.0),
        (0, _, 0) => format!("{minutes} min"),
        (0, _, _) => format!("{minutes} min {seconds} s"),
        (_, 0, _) => format!("{hours} h"),
        (_, _, _) => format!("{hours} h {minutes} min"),
    }
}

/// Formats a count with its noun: `1 call`, `12,345 calls`.
#[must_use]
pub fn count(number: u64, one: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{} {one}{plural}", grouped(number))
}

/// Formats a number with separators: `12,345`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Formats what a participant cost: `$0.0120`, `≈ $0.0120` where part of it is our estimate,
/// `unpriced` or `$0.0120 + unpriced` where a price is unknown.
#[must_use]
pub fn cost(cost: &ProviderCost) -> String {
    let about = if cost.estimated { "≈ " } else { "" };
    let usd = format!("{about}${:.4}", cost.cost);
    match (cost.unpriced, cost.cost > 0.0) {
        (true, false) => UNPRICED.to_owned(),
        (true, true) => format!("{usd} + {UNPRICED}"),
        (false, _) => usd,
    }
}

/// The cost of everyone together, as one participant's.
#[must_use]
pub fn total_cost(summary: &CostSummary) -> ProviderCost {
    let each = || summary.by_provider.values();
    ProviderCost {
        model: None,
        calls: summary.total_calls,
        prompt_tokens: each().map(|it| it.prompt_tokens).sum(),
        cached_tokens: each().map(|it| it.cached_tokens).sum(),
        cache_write_tokens: each().map(|it| it.cache_write_tokens).sum(),
        completion_tokens: each().map(|it| it.completion_tokens).sum(),
        tokens: summary.total_tokens,
        cost: summary.estimated_cost_usd,
        unpriced: !summary.unpriced.is_empty(),
        estimated: each().any(|it| it.estimated),
    }
}

/// Says that a group ended early, and who was left out. Without a full stop.
#[must_use]
pub fn early_exit(exit: &EarlyExit) -> String {
    format!("Early exit in round {}: {}", exit.round, exit.reason)
}

/// What is shown in place of a cost whose price is unknown.
const UNPRICED: &str = "unpriced";

/// Formats the figures of a response: its model, the one that answered if that is another, its
/// tokens, its cost.
#[must_use]
pub fn response_figures(response: &Response) -> Vec<String> {
    let answered = response.answered_by.as_ref().filter(|it| response.model.as_ref() != Some(it));
    let model = match (&response.model, answered) {
        (Some(model), Some(other)) => Some(format!("{model} (answered by {other})")),
        (Some(model), None) => Some(model.clone()),
        (None, other) => other.cloned(),
    };
    let about = if response.estimated { "≈ " } else { "" };
    let tokens = response.token_count.map(|all| {
        let written = response.completion_tokens.unwrap_or_default();
        format!("{about}{} read, {} written", count(all.saturating_sub(written), "token"), grouped(written))
    });
    let cost = match (response.cost_usd, response.token_count) {
        // A voice that is known to be free needs no figure.
        (Some(usd), _) => (usd > 0.0).then(|| format!("{about}${usd:.4}")),
        (None, Some(_)) => Some(UNPRICED.to_owned()),
        (None, None) => None,
    };
    model.into_iter().chain(tokens).chain(cost).collect()
}

/// An estimate of the tokens of a text, shown until the provider reports the number.
#[must_use]
pub fn tokens(text: &str) -> u64 {
    quorum_core::call::tokens::estimate(text)
}

/// The beginning of a text, on one line.
#[must_use]
pub fn line(text: &str, longest: usize) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if one_line.chars().count() <= longest {
        return one_line;
    }
    let cut: String = one_line.chars().take(longest - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        assert_eq!([time(0), time(340), time(125_999)], ["0.0 s", "0.3 s", "2 min 5 s"]);
        let long = [1_800_000, 3_600_000, 3_900_000].map(time);
        assert_eq!(long, ["30 min", "1 h", "1 h 5 min"], "no zeros");
        assert_eq!(count(1, "call"), "1 call");
        assert_eq!(count(1_234_567, "token"), "1,234,567 tokens");
        assert_eq!([grouped(0), grouped(999), grouped(1_000)], ["0", "999", "1,000"]);
        assert_eq!([tokens(""), tokens("a word or two")], [0, 4]);
        assert_eq!(line("two\n lines  of text", 9), "two line…");
    }
}
