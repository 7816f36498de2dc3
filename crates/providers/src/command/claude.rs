//! Dialect of Claude Code: one line per event of the model's own stream, and one with the result.

use quorum_core::model::{
    error::ProviderError,
    money::{Usage, Usd},
    transcript::Finish,
};
use serde_json::Value;

use super::{Dialect, Output, decode::Decoded, failure};

pub(super) const DIALECT: Dialect = Dialect {
    name: "claude",
    summary: "Claude Code, by its own login",
    arguments: &[
        "-p",
        "--output-format",
        "stream-json",
        "--include-partial-messages",
        "--verbose",
        // Other participants' text must not be able to trigger anything: no tools, and no MCP
        // servers that add some.
        "--tools",
        "",
        "--strict-mcp-config",
        // No instructions, hooks, skills and commands of the user, and no file on disk with this
        // conversation.
        "--safe-mode",
        "--disable-slash-commands",
        "--no-session-persistence",
        // Even without tools it reads files whose names follow an @ in the prompt.
        "--settings",
        r#"{"permissions":{"deny":["Read","Read(//**)","Read(~/**)"]}}"#,
        // Replaces thousands of tokens about writing code. The discussion's own instructions are in
        // the prompt, since arguments are visible to everyone on the machine.
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
        // Otherwise it asks the model to make up a title for every question.
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ],
    files: &[],
    codes: &[],
    output: Output::Words(read),
};

fn read(line: &Value, decoded: &mut Decoded) -> Result<(), ProviderError> {
    match line["type"].as_str() {
        Some("stream_event") if line["parent_tool_use_id"].is_null() => read_event(&line["event"], decoded),
        Some("result") => return read_result(line, decoded),
        Some("system") if line["subtype"] == "init" => decoded.note_model(&line["model"]),
        Some("system") if line["subtype"] == "api_retry" => decoded.note_complaint(&retry(line)),
        _ => {}
    }
    Ok(())
}

/// The message for a failed attempt that it is going to retry.
fn retry(line: &Value) -> String {
    let (attempt, error) = (&line["attempt"], line["error"].as_str().unwrap_or("unknown"));
    let status = line["error_status"].as_u64().map(|it| format!(" with status {it}")).unwrap_or_default();
    format!("attempt {attempt} failed{status} ({error})")
}

fn read_event(event: &Value, decoded: &mut Decoded) {
    let delta = &event["delta"];
    match (event["type"].as_str(), delta["type"].as_str()) {
        (Some("message_start"), _) => decoded.note_model(&event["message"]["model"]),
        (Some("content_block_delta"), Some("text_delta")) => {
            decoded.push_text(delta["text"].as_str().unwrap_or_default());
        }
        (Some("message_delta"), _) => match delta["stop_reason"].as_str() {
            Some("max_tokens" | "model_context_window_exceeded") => decoded.set_finish(Finish::Length),
            Some("refusal") => decoded.set_finish(Finish::Refused),
            _ => {}
        },
        _ => {}
    }
}

fn read_result(line: &Value, decoded: &mut Decoded) -> Result<(), ProviderError> {
    let result = line["result"].as_str().unwrap_or_default();
    let subtype = line["subtype"].as_str().unwrap_or_default();
    // A refused login is reported as a success with `is_error` set; other failures show only in the
    // subtype.
    if line["is_error"] == true || subtype.starts_with("error") {
        let told = line["errors"][0].as_str().unwrap_or(subtype);
        return Err(failure::reported(if result.is_empty() { told } else { result }));
    }
    if !decoded.has_spoken {
        decoded.push_text(result);
    }
    let usage = line["usage"].is_object().then(|| usage(&line["usage"]));
    decoded.end(usage, line["total_cost_usd"].as_f64().and_then(Usd::from_dollars));
    Ok(())
}

/// Sums its three separate counts of prompt tokens: uncached, written to the cache, and read from
/// it.
fn usage(usage: &Value) -> Usage {
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let (cached, written) = (count("cache_read_input_tokens"), count("cache_creation_input_tokens"));
    let prompt = count("input_tokens").saturating_add(written).saturating_add(cached);
    Usage { cached, written, ..Usage::new(prompt, count("output_tokens")) }
}
