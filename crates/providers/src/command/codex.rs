//! Codex: a line for every finished message, and one for the end of the turn. Words don't come one by one.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, heard::Heard, trouble};

pub(super) const DIALECT: Dialect = Dialect {
    name: "codex",
    summary: "Codex, by its own login",
    // The dash makes it read the prompt from the standard input.
    arguments: &["exec", "--json", "--skip-git-repo-check", "-s", "read-only", "-m", "{model}", "-"],
    probe: &["--version"],
    environment: &["CODEX_HOME"],
    output: Output::Messages(read),
};

fn read(line: &Value, heard: &mut Heard) -> Result<(), ProviderError> {
    match (line["type"].as_str(), line["item"]["type"].as_str()) {
        (Some("item.completed"), Some("agent_message")) => {
            if heard.has_spoken {
                heard.say("\n\n");
            }
            heard.say(line["item"]["text"].as_str().unwrap_or_default());
        }
        (Some("turn.completed"), _) => heard.end(usage(&line["usage"]), None),
        (Some("turn.failed"), _) => {
            let earlier = heard.complaint.take().unwrap_or_default();
            return Err(trouble::told(line["error"]["message"].as_str().unwrap_or(&earlier)));
        }
        // It also tells so of a connection that it is about to make again.
        (Some("error"), _) => heard.complain(line["message"].as_str().unwrap_or_default()),
        _ => {}
    }
    Ok(())
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |name: &str| usage[name].as_u64();
    let reasoning = count("reasoning_output_tokens").unwrap_or_default();
    let cached = count("cached_input_tokens").unwrap_or_default();
    Some(Usage { cached, reasoning, ..Usage::new(count("input_tokens")?, count("output_tokens")?) })
}
