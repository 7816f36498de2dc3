//! The usage of all calls, in OpenAI's format.

use serde_json::{Value, json};

use crate::v1::answer::Usage;

/// The usage of a chat completion.
pub(super) fn of_chat(usage: &Usage) -> Value {
    let told = json!({
        "prompt_tokens": usage.prompt, "completion_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "prompt_tokens_details": { "cached_tokens": usage.cached },
        "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
    });
    usage.with_cost(told, ["prompt", "completions"])
}

/// The usage of a response.
pub(super) fn of_response(usage: &Usage) -> Value {
    let told = json!({
        "input_tokens": usage.prompt, "output_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
    });
    usage.with_cost(told, ["input", "output"])
}
