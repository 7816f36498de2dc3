//! Gemini CLI: a line for every piece of the answer, and one with the result.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, heard::Heard, trouble};

pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini",
    summary: "Gemini CLI, by its own login",
    arguments: &[
        "--output-format",
        "stream-json",
        // No extension and no server has this name.
        "-e",
        "none",
        "--allowed-mcp-server-names",
        "none",
        "-m",
        "{model}",
    ],
    // It has no such question, and its version alone takes seconds.
    probe: &[],
    login: "run `gemini` and choose how",
    tells_cost: false,
    // A login with Google may need the project that is to be charged.
    environment: &["GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    variables: &[
        // It refuses to work in a folder nobody has vouched for. This one has nothing in it but the two files below.
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        ("GEMINI_SYSTEM_MD", SYSTEM.0),
    ],
    files: &[SETTINGS, SYSTEM],
    // A missing login, a bad argument, bad settings, and a folder that isn't trusted.
    codes: &[(41, 401), (42, 400), (52, 400), (55, 400)],
    output: Output::Words(read),
};

/// The settings of the folder come before the user's: no tools, no skills, no hooks, and nobody is told how it is used.
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

/// Takes the place of thousands of tokens about writing code.
const SYSTEM: (&str, &str) =
    (".gemini/system.md", "You take part in a discussion. Follow the instructions in the message.\n");

fn read(line: &Value, heard: &mut Heard) -> Result<(), ProviderError> {
    let words = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    match line["type"].as_str() {
        // The prompt comes back as a message of the user's.
        Some("message") if line["role"] == "assistant" => heard.say(&words(&line["content"])),
        Some("error") => heard.complain(&words(&line["message"])),
        Some("result") if line["status"] == "success" => heard.end(usage(&line["stats"]), None),
        Some("result") => {
            let earlier = heard.complaint.take().unwrap_or_default();
            return Err(trouble::told(line["error"]["message"].as_str().unwrap_or(&earlier)));
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
