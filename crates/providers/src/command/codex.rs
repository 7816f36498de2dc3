//! Dialect of Codex: one line per finished message, and one for the end of the turn. Text isn't
//! streamed word by word.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, decode::Decoded, failure};

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
    // No file on disk with this conversation, and no servers, hooks and rules of the user. The
    // user's choice of model and provider is lost with that.
    "--ephemeral",
    "--ignore-user-config",
    "--ignore-rules",
    // A sandbox that forbids writing still lets a model read everything. An unknown name is an
    // error here, so a version without these switches is not used.
    "-s",
    "read-only",
    "--disable",
    "shell_tool",
    "--disable",
    "unified_exec",
    // Unknown names are ignored here.
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

fn read(line: &Value, decoded: &mut Decoded) -> Result<(), ProviderError> {
    match (line["type"].as_str(), line["item"]["type"].as_str()) {
        (Some("item.completed"), Some("agent_message")) => {
            if decoded.has_spoken {
                decoded.push_text("\n\n");
            }
            decoded.push_text(line["item"]["text"].as_str().unwrap_or_default());
        }
        (Some("turn.completed"), _) => decoded.end(usage(&line["usage"]), None),
        (Some("turn.failed"), _) => {
            let earlier = decoded.complaint.take().unwrap_or_default();
            return Err(failure::reported(line["error"]["message"].as_str().unwrap_or(&earlier)));
        }
        // It also reports connections that it is about to re-establish in this way.
        (Some("error"), _) => decoded.note_complaint(line["message"].as_str().unwrap_or_default()),
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
