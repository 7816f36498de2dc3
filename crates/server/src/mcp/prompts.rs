//! Prompts: the ready-made orders that patterns declare.

use quorum::{Registry, vocabulary::starter::Starter};
use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, ListPromptsResult, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::{Value, json};

use crate::mcp::ToolNames;

/// A blank that every order has: who takes part.
const PROVIDERS: &str = "providers";

pub(crate) fn list(registry: &Registry) -> ListPromptsResult {
    let prompts = registry.starters().into_iter().map(|(_, it)| prompt(it)).collect();
    ListPromptsResult::with_all_items(prompts)
}

fn prompt(starter: &Starter) -> Prompt {
    let blank = |name: &str, summary: &str, is_required| {
        PromptArgument::new(name).with_description(summary).with_required(is_required)
    };
    let own = starter.blanks.iter().map(|it| blank(it.name, it.summary, true));
    let panel = blank(PROVIDERS, "The models that take part, separated by commas", false);
    Prompt::new(starter.name, Some(starter.summary), Some(own.chain([panel]).collect()))
}

/// The order in words, with the tool that takes it.
pub(crate) fn get(
    registry: &Registry,
    names: &ToolNames,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let all = registry.starters();
    let Some((_, starter)) = all.iter().find(|(_, it)| it.name == name) else {
        let known: Vec<&str> = all.iter().map(|(_, it)| it.name).collect();
        return Err(ErrorData::invalid_params("there is no such prompt", Some(json!({ "prompts": known }))));
    };
    let value = |name: &str| arguments.get(name).and_then(Value::as_str).filter(|it| !it.trim().is_empty());
    let missing: Vec<&str> =
        starter.blanks.iter().map(|it| it.name).filter(|name| value(name).is_none()).collect();
    if !missing.is_empty() {
        let message = format!("fill in {}", missing.join(" and "));
        return Err(ErrorData::invalid_params(message, Some(json!({ "missing": missing }))));
    }
    let panel = value(PROVIDERS).map(|it| format!("\n\nThese models take part: {it}")).unwrap_or_default();
    let tool = names.of("discuss");
    let text = format!("{}{panel}\n\nUse the tool {tool}.", starter.filled(value));
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(starter.summary))
}
