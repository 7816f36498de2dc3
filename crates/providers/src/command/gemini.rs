//! Dialect of Gemini CLI: one line per piece of the answer, and one with the result.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, decode::Decoded, failure};

pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini",
    summary: "Gemini CLI, by its own login",
    arguments: &[
        "--output-format",
        "stream-json",
        // No extension and no server has the name `none`.
        "-e",
        "none",
        "--allowed-mcp-server-names",
        "none",
        "-m",
        "{model}",
    ],
    // It has no login check, and even printing its version takes seconds.
    probe: &[],
    login: "run `gemini` and choose how",
    tells_cost: false,
    // A Google login may need the project to bill.
    environment: &["GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    variables: &[
        // It refuses to work in an untrusted folder. This one contains only the two files below.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_SYSTEM_MD", SYSTEM.0),
    ],
    files: &[SETTINGS, SYSTEM],
    // Missing login, bad argument, bad settings, untrusted folder.
    codes: &[(41, 401), (42, 400), (52, 400), (55, 400)],
    output: Output::Words(read),
};

/// The folder's settings, which override the user's: no tools, no skills, no hooks, no usage
/// statistics.
const SETTINGS: (&str, &str) = (
    ".gemini/settings.json",
    r#"{
  "tools": { "core": [] },
  "skills": { "enabled": false },
  "hooksConfig": { "enabled": false },
  "experimental": { "enableAgents": false },
  "context": { "includeDirectoryTree": false },
  "privacy": { "usageStatisticsEnabled": false },
  "telemetry": { "enabled": false }
}
"#,
);

/// Replaces thousands of tokens about writing code.
const SYSTEM: (&str, &str) =
    (".gemini/system.md", "You take part in a discussion. Follow the instructions in the message.\n");

fn read(line: &Value, decoded: &mut Decoded) -> Result<(), ProviderError> {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match line["type"].as_str() {
        Some("init") => decoded.note_model(&line["model"]),
        // It also echoes the prompt, as a message with the role `user`.
        Some("message") if line["role"] == "assistant" => decoded.push_text(&words(&line["content"])),
        Some("error") => decoded.note_complaint(&words(&line["message"])),
        Some("result") if line["status"] == "success" => decoded.end(usage(&line["stats"]), None),
        Some("result") => {
            let earlier = decoded.complaint.take().unwrap_or_default();
            return Err(failure::reported(line["error"]["message"].as_str().unwrap_or(&earlier)));
        }
        _ => {}
    }
    Ok(())
}

fn usage(stats: &Value) -> Option<Usage> {
    let count = |name: &str| stats[name].as_u64();
    let cached = count("cached").unwrap_or_default();
    Some(Usage { cached, ..Usage::new(count("input_tokens")?, count("output_tokens")?) })
}
