//! Gemini CLI: a line for every piece of the answer, and one with the result.

use quorum_core::model::{error::ProviderError, money::Usage};
use serde_json::Value;

use super::{Dialect, Output, heard::Heard, trouble};

pub(super) const DIALECT: Dialect = Dialect {
    name: "gemini",
    summary: "Gemini CLI, by its own login",
    arguments: &["--output-format", "stream-json", "-m", "{model}"],
    probe: &["--version"],
    // A login with Google may need the project that is to be charged.
    environment: &["GEMINI_CLI_HOME", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"],
    output: Output::Words(read),
};

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
