//! Completes arguments of prompts and resource templates: ids, patterns and providers.

use quorum::{Error, Scope};
use rmcp::model::{ArgumentInfo, CompleteResult, CompletionInfo};

use crate::app::App;

/// How many recent discussions are offered.
const RECENT: usize = 50;

pub(crate) async fn complete(
    app: &App,
    scope: &Scope,
    argument: &ArgumentInfo,
) -> Result<CompleteResult, Error> {
    let (before, begun) = last_item(&argument.value);
    let known: Vec<String> = match argument.name.as_str() {
        "id" => scope.list(RECENT, None).await?.iter().map(|it| it.discussion_id.to_string()).collect(),
        "pattern" => app.registry().patterns().iter().map(|it| it.name.to_owned()).collect(),
        "providers" => app.usable_providers().into_iter().map(|it| it.name).collect(),
        _ => Vec::new(),
    };
    let matching = known.into_iter().filter(|it| it.starts_with(begun)).map(|it| format!("{before}{it}"));
    let values = matching.take(CompletionInfo::MAX_VALUES).collect();
    Ok(CompletionInfo::with_all_values(values).map(CompleteResult::new).unwrap_or_default())
}

/// What stands before the last item of a list, and what was typed of it: `claude, ` and `ge`.
fn last_item(value: &str) -> (&str, &str) {
    let from = value.rfind(',').map_or(0, |at| at + 1);
    let begun = value[from..].trim_start();
    value.split_at(value.len() - begun.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b10_the_last_item_of_a_list_is_completed() {
        assert_eq!(last_item("claude, ge"), ("claude, ", "ge"));
        assert_eq!(last_item("ge"), ("", "ge"));
        assert_eq!(last_item(""), ("", ""));
        assert_eq!(last_item("claude,"), ("claude,", ""));
    }
}
