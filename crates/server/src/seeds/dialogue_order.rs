//! `POST /api/discussion`: two models, a prompt, options (A15). Problems are reported under the
//! names of these fields.

use std::collections::BTreeMap;

use quorum::{
    Complaint, ProviderEntry, Request,
    model::{error::Code, spec::Spec},
    request::{
        Seating,
        limits::{BUDGET_MS, LONGEST_TOPIC, PROVIDER_TIMEOUT, ROUNDS, TEMPERATURE, TOKENS_PER_TURN},
        written::{named, whole_number},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

use crate::wire::bounds::{Field, name, optional_name, range, text};

/// The longest name of a seat, which is made of its provider and its model.
const LONGEST_SEAT: usize = 64;

/// Two models that talk until they agree.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({
    "prompt": "What is the best programming language for web development?",
    "modelA": { "modelId": "gpt-4o", "providerId": "openai" },
    "modelB": { "modelId": "claude-sonnet-4-20250514", "providerId": "anthropic" },
}))]
pub(crate) struct Dialogue {
    /// The question.
    #[serde(default)]
    #[schema(required = true, value_type = String)]
    prompt: Option<String>,
    /// The model that opens.
    #[serde(default, deserialize_with = "named")]
    #[schema(required = true, value_type = Model)]
    model_a: Option<Model>,
    /// The model that answers.
    #[serde(default, deserialize_with = "named")]
    #[schema(required = true, value_type = Model)]
    model_b: Option<Model>,
    /// Options of the dialogue.
    #[serde(default, deserialize_with = "named")]
    #[schema(value_type = Option<Options>)]
    options: Option<Options>,
    /// Whether the discussion continues after the client has left.
    #[serde(default)]
    pub(crate) detach: bool,
}

/// One of the two models.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Model {
    /// The model: `gpt-4o`.
    #[serde(default)]
    #[schema(required = true, value_type = String, min_length = 1, max_length = 62, pattern = r"^[-\w.:/]*[-\w.:]$")]
    model_id: Option<String>,
    /// The provider: `openai`.
    #[serde(default)]
    #[schema(required = true, value_type = String, example = "openai")]
    provider_id: Option<String>,
    /// The name that the other model sees.
    #[serde(default)]
    display_name: Option<String>,
}

/// Options of the dialogue; each has a default.
#[derive(Debug, Clone, Default, Deserialize, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Options {
    /// The maximum number of rounds.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u32>)]
    max_iterations: Option<u64>,
    /// The sampling temperature.
    #[serde(default)]
    #[schema(value_type = Option<f64>)]
    temperature: Option<f64>,
    /// The maximum length of a turn, in tokens.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u32>)]
    max_tokens_per_turn: Option<u64>,
    /// The time limit for a turn, in milliseconds.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u64>)]
    turn_timeout_ms: Option<u64>,
    /// The total time budget, in milliseconds.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u64>)]
    total_timeout_ms: Option<u64>,
    /// Whether both must agree.
    #[serde(default)]
    #[schema(value_type = Option<bool>)]
    require_both_consensus: Option<bool>,
    /// The number of rounds before they are first asked whether they agree.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u32>, minimum = 0, maximum = 10)]
    min_rounds_before_consensus: Option<u64>,
    /// The seed of simulated voices: the same seed gives the same discussion.
    #[serde(default, deserialize_with = "whole_number")]
    #[schema(value_type = Option<u64>, minimum = 0, maximum = 18_446_744_073_709_551_615_u64)]
    seed: Option<u64>,
}

/// The limits of these fields in the OpenAPI document.
pub(crate) fn limits() -> [Field; 8] {
    [
        ("Dialogue", "prompt", text(LONGEST_TOPIC)),
        ("Model", "providerId", name()),
        ("Model", "displayName", optional_name()),
        ("Options", "maxIterations", range(&ROUNDS)),
        ("Options", "temperature", range(&TEMPERATURE)),
        ("Options", "maxTokensPerTurn", range(&TOKENS_PER_TURN)),
        ("Options", "turnTimeoutMs", range(&PROVIDER_TIMEOUT)),
        ("Options", "totalTimeoutMs", range(&BUDGET_MS)),
    ]
}

impl Options {
    /// The options that the pattern declares.
    fn settings(&self) -> BTreeMap<String, Value> {
        let both = self.require_both_consensus.map(|it| ("requireBothConsensus", Value::from(it)));
        let rounds = self.min_rounds_before_consensus.map(|it| ("minRoundsBeforeConsensus", Value::from(it)));
        [both, rounds].into_iter().flatten().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

impl Dialogue {
    /// Converts it to a request for a discussion, or returns what is missing.
    pub(crate) fn request(&self, providers: &[ProviderEntry]) -> Result<Request, Vec<Complaint>> {
        let mut wrong = Vec::new();
        let prompt = self.prompt.as_deref().unwrap_or_default();
        if prompt.trim().is_empty() {
            wrong.push(Complaint::new("prompt", Code::InvalidRequest, "Prompt is required"));
        }
        let seats: Vec<Seating> = [("modelA", &self.model_a), ("modelB", &self.model_b)]
            .into_iter()
            .filter_map(|(field, model)| seat(field, model.as_ref(), providers, &mut wrong))
            .map(Seating::Written)
            .collect();
        if !wrong.is_empty() {
            return Err(wrong);
        }
        let options = self.options.clone().unwrap_or_default();
        Ok(Request {
            pattern: Some("dialogue".to_owned()),
            participants: Some(seats),
            rounds: options.max_iterations.map(small),
            temperature: options.temperature,
            max_tokens_per_turn: options.max_tokens_per_turn.map(small),
            provider_timeout: options.turn_timeout_ms,
            budget_ms: options.total_timeout_ms,
            seed: options.seed,
            settings: options.settings(),
            ..Request::on(prompt)
        })
    }

    /// Gives the two models their requested names, if these differ, and keeps the names as written.
    pub(crate) fn name(&self, mut spec: Spec) -> Spec {
        for (place, model) in [&self.model_a, &self.model_b].into_iter().enumerate() {
            let Some(model) = model else { continue };
            let written = model.display_name.as_deref().map(str::trim).filter(|it| !it.is_empty());
            let given = written.or(model.model_id.as_deref()).map(plain).unwrap_or_default();
            let is_free = !given.is_empty() && !spec.participants.iter().any(|it| it.name == given);
            let Some(seat) = spec.participants.get_mut(place) else { continue };
            if is_free {
                seat.name = given;
            }
            seat.name_as_written = written.filter(|it| *it != seat.name).map(str::to_owned);
            let provider = model.provider_id.as_deref().map(str::trim).filter(|it| *it != seat.provider);
            seat.provider_as_written = provider.map(str::to_owned);
        }
        spec
    }
}

/// Converts to `u32`; a number out of bounds stays out of bounds.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// A name that is allowed in a step: letters, digits and a few symbols.
fn plain(name: &str) -> String {
    let kept = |it: char| if it.is_alphanumeric() || "-_.".contains(it) { it } else { '-' };
    name.trim().chars().take(48).map(kept).collect::<String>().trim_matches('-').to_owned()
}

fn seat(
    field: &str,
    model: Option<&Model>,
    providers: &[ProviderEntry],
    wrong: &mut Vec<Complaint>,
) -> Option<String> {
    let mut miss = |field: String, message: String| {
        wrong.push(Complaint::new(&field, Code::InvalidRequest, message));
        None
    };
    let Some(model) = model else {
        return miss(field.to_owned(), "Both models must be specified".to_owned());
    };
    let given = |text: &Option<String>| text.as_deref().map(str::trim).unwrap_or_default().to_owned();
    let (id, provider) = (given(&model.model_id), given(&model.provider_id));
    if id.ends_with('/') || !id.chars().all(|it| it.is_alphanumeric() || "-_.:/".contains(it)) {
        let message = format!("{id:?} is not a model's name; use letters, digits and - _ . : /");
        return miss(format!("{field}.modelId"), message);
    }
    if id.is_empty() {
        return miss(format!("{field}.modelId"), "Both models must be specified".to_owned());
    }
    if !providers.iter().any(|it| is_called(it, &provider)) {
        let names: Vec<&str> = providers.iter().map(|it| it.name.as_str()).collect();
        let message = format!("Provider not available: {provider:?}; there are {}", names.join(", "));
        return miss(format!("{field}.providerId"), message);
    }
    let seat = format!("{provider}/{id}");
    if seat.len() > LONGEST_SEAT {
        let most = LONGEST_SEAT - provider.len() - 1;
        // The limit depends on the provider, whose name is part of the seat's.
        let message = format!("has at most {most} characters with this provider");
        let complaint = Complaint::new(&format!("{field}.modelId"), Code::InvalidRequest, message);
        wrong.push(complaint.in_combination());
        return None;
    }
    Some(seat)
}

fn is_called(provider: &ProviderEntry, name: &str) -> bool {
    let is = |it: &str| it.eq_ignore_ascii_case(name);
    is(&provider.name) || provider.aliases.iter().any(|it| is(it))
}

/// Renames the fields of a complaint to those used here.
pub(crate) fn in_its_words(complaint: Complaint) -> Complaint {
    let field = match complaint.field.as_str() {
        "topic" => "prompt",
        "rounds" => "options.maxIterations",
        "temperature" => "options.temperature",
        "maxTokensPerTurn" => "options.maxTokensPerTurn",
        "providerTimeout" => "options.turnTimeoutMs",
        "budgetMs" => "options.totalTimeoutMs",
        "requireBothConsensus" => "options.requireBothConsensus",
        "minRoundsBeforeConsensus" => "options.minRoundsBeforeConsensus",
        "seed" => "options.seed",
        "participants" => "modelA.modelId",
        other => other,
    };
    Complaint { field: field.to_owned(), ..complaint }
}
