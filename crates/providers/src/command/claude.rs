//! Claude Code: a line for every event of the model's own stream, and one with the result.

use quorum_core::model::{
    error::ProviderError,
    money::{Usage, Usd},
    transcript::Finish,
};
use serde_json::Value;

use super::{Dialect, Output, heard::Heard, trouble};

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    summary: "Claude Code, by its own login",
    arguments: &[
        "-p",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
        "--verbose",
        // What other participants say must not be able to make it do anything: no tools, and no servers that bring some.
        "--tools",
        "",
        "--strict-mcp-config",
        // Neither the user's instructions, hooks, skills and commands, nor a file on disk with what was said here.
        "--safe-mode",
        "--disable-slash-commands",
        "--no-session-persistence",
        // Without tools it still reads files itself whose names follow an @ in the prompt.
        "--settings",
        r#"{"permissions":{"deny":["Read","Read(//**)","Read(~/**)"]}}"#,
        // Takes the place of thousands of tokens about writing code. What this discussion is about is in the prompt: arguments can
        // be seen by everyone on the machine.
        "--system-prompt",
        "You take part in a discussion. Follow the instructions in the message.",
        "--model",
        "{model}",
    ],
    probe: &["auth", "status"],
    login: "run `claude`, then /login",
    tells_cost: true,
    environment: &["CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN"],
    variables: &[
        ("CLAUDE_CODE_DISABLE_ATTACHMENTS", "1"),
        // Else it has the model think of a title for every question.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ],
    files: &[],
    codes: &[],
    output: Output::Words(read),
};

fn read(line: &Value, heard: &mut Heard) -> Result<(), ProviderError> {
    match line["type"].as_str() {
        Some("stream_event") if line["parent_tool_use_id"].is_null() => read_event(&line["event"], heard),
        Some("result") => return read_result(line, heard),
        Some("system") if line["subtype"] == "api_retry" => heard.complain(&retry(line)),
        _ => {}
    }
    Ok(())
}

/// What it tells of an attempt that failed, while it goes on trying.
fn retry(line: &Value) -> String {
    let (attempt, error) = (&line["attempt"], line["error"].as_str().unwrap_or("unknown"));
    let status = line["error_status"].as_u64().map(|it| format!(" with status {it}")).unwrap_or_default();
    format!("attempt {attempt} failed{status} ({error})")
}

fn read_event(event: &Value, heard: &mut Heard) {
    let delta = &event["delta"];
    match (event["type"].as_str(), delta["type"].as_str()) {
        (Some("content_block_delta"), Some("text_delta")) => {
            heard.say(delta["text"].as_str().unwrap_or_default());
        }
        (Some("message_delta"), _) => match delta["stop_reason"].as_str() {
            Some("max_tokens" | "model_context_window_exceeded") => heard.stops_for(Finish::Length),
            Some("refusal") => heard.stops_for(Finish::Refused),
            _ => {}
        },
        _ => {}
    }
}

fn read_result(line: &Value, heard: &mut Heard) -> Result<(), ProviderError> {
    let result = line["result"].as_str().unwrap_or_default();
    let subtype = line["subtype"].as_str().unwrap_or_default();
    // A refused login comes as a success with `is_error` set, and other failures only show in the subtype.
    if line["is_error"] == true || subtype.starts_with("error") {
        let told = line["errors"][0].as_str().unwrap_or(subtype);
        return Err(trouble::told(if result.is_empty() { told } else { result }));
    }
    if !heard.has_spoken {
        heard.say(result);
    }
    let usage = line["usage"].is_object().then(|| usage(&line["usage"]));
    heard.end(usage, line["total_cost_usd"].as_f64().and_then(Usd::from_dollars));
    Ok(())
}

/// What it read anew, what it put into its memory and what it found there are counted apart.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let cached = count("cache_read_input_tokens");
    let prompt =
        count("input_tokens").saturating_add(count("cache_creation_input_tokens")).saturating_add(cached);
    Usage { cached, ..Usage::new(prompt, count("output_tokens")) }
}
