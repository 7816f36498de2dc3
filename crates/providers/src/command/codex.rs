//! Codex: a line for every finished message, and one for the end of the turn. Words don't come one by one.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, heard::Heard, trouble};

pub(super) const DIALECT: Dialect = Dialect {
    name: "codex",
    summary: "Codex, by its own login",
    arguments: ARGUMENTS,
    probe: &["login", "status"],
    login: "run `codex login`",
    tells_cost: false,
    environment: &["CODEX_HOME"],
    variables: &[],
    files: &[],
    codes: &[],
    output: Output::Messages(read),
};

const ARGUMENTS: &[&str] = &[
    "exec",
    "--json",
    "--skip-git-repo-check",
    // No file on disk with what was said here, and neither the user's servers and hooks nor their rules. The user's model and
    // provider are lost with that.
    "--ephemeral",
    "--ignore-user-config",
    "--ignore-rules",
    // A sandbox that forbids writing still lets a model read everything. A name it doesn't know is an error here: a version
    // without these switches must not be seated.
    "-s",
    "read-only",
    "--disable",
    "shell_tool",
    "--disable",
    "unified_exec",
    // Names it doesn't know are passed over here.
    "-c",
    "web_search=disabled",
    "-c",
    "project_doc_max_bytes=0",
    "-c",
    "skills.include_instructions=false",
    "-c",
    "include_environment_context=false",
    "-c",
    "features.code_mode_host=false",
    "-c",
    "features.view_image=false",
    "-c",
    "features.image_generation=false",
    "-c",
    "features.multi_agent=false",
    "-c",
    "features.apps=false",
    "-c",
    "features.plugins=false",
    "-c",
    "features.hooks=false",
    "-c",
    "features.memories=false",
    "-c",
    "features.goals=false",
    "-c",
    "features.browser_use=false",
    "-c",
    "features.computer_use=false",
    "-c",
    "features.shell_snapshot=false",
    "-m",
    "{model}",
    // Makes it read the prompt from the standard input.
    "-",
];

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
