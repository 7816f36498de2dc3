//! What all calls used, in OpenAI's terms, with OpenRouter's for the cost.

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
    with_cost(told, usage)
}

/// The usage of a response.
pub(super) fn of_response(usage: &Usage) -> Value {
    let told = json!({
        "input_tokens": usage.prompt, "output_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
    });
    with_cost(told, usage)
}

/// An unknown price is left out, never told as 0. OpenRouter's own client refuses details of which
/// one is missing.
fn with_cost(mut told: Value, usage: &Usage) -> Value {
    if let Some((cost, of_completions)) = usage.cost {
        told["cost"] = cost.into();
        told["cost_details"] = json!({
            "upstream_inference_cost": cost, "upstream_inference_prompt_cost": cost - of_completions,
            "upstream_inference_completions_cost": of_completions,
        });
    }
    told
}
