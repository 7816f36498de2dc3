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
    with_cost(told, usage, ["prompt", "completions"])
}

/// The usage of a response.
pub(super) fn of_response(usage: &Usage) -> Value {
    let told = json!({
        "input_tokens": usage.prompt, "output_tokens": usage.completion,
        "total_tokens": usage.prompt + usage.completion,
        "input_tokens_details": { "cached_tokens": usage.cached },
        "output_tokens_details": { "reasoning_tokens": usage.reasoning },
    });
    with_cost(told, usage, ["input", "output"])
}

/// An unknown price is left out, never told as 0. OpenRouter's own clients refuse details of which
/// one is missing, and name the two parts after the tokens of each format.
fn with_cost(mut told: Value, usage: &Usage, [read, written]: [&str; 2]) -> Value {
    if let Some((cost, of_written)) = usage.cost {
        // Amounts are exact to a billionth of a dollar.
        let rounded = |dollars: f64| (dollars * 1e9).round() / 1e9;
        told["cost"] = rounded(cost).into();
        told["cost_details"] = json!({
            "upstream_inference_cost": rounded(cost),
            format!("upstream_inference_{read}_cost"): rounded(cost - of_written),
            format!("upstream_inference_{written}_cost"): rounded(of_written),
        });
    }
    told
}
