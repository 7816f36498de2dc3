//! The names of spans and attributes. Pinned to version 1.41.0 of the OpenTelemetry semantic
//! conventions, whose names for generative AI are all in development: a later version is a change
//! of this file alone.

/// The schema that the names belong to.
pub(crate) const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

/// The name of our instrumentation, and the service's name unless the environment has one.
pub(crate) const QUORUM: &str = "quorum";

/// What describes the process that sends spans.
pub(crate) const SERVICE_NAME: &str = "service.name";
pub(crate) const SERVICE_VERSION: &str = "service.version";
pub(crate) const SERVICE_INSTANCE: &str = "service.instance.id";

/// The kinds of work: values of [`OPERATION`], and the first word of a span's name.
pub(crate) mod operation {
    pub(crate) const WORKFLOW: &str = "invoke_workflow";
    pub(crate) const AGENT: &str = "invoke_agent";
    pub(crate) const CHAT: &str = "chat";
    pub(crate) const EMBEDDINGS: &str = "embeddings";
    pub(crate) const TOOL: &str = "execute_tool";
}

pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const CONVERSATION: &str = "gen_ai.conversation.id";
pub(crate) const WORKFLOW_NAME: &str = "gen_ai.workflow.name";
pub(crate) const AGENT_NAME: &str = "gen_ai.agent.name";
pub(crate) const PROVIDER: &str = "gen_ai.provider.name";
pub(crate) const REQUEST_MODEL: &str = "gen_ai.request.model";
pub(crate) const REQUEST_MAX_TOKENS: &str = "gen_ai.request.max_tokens";
pub(crate) const RESPONSE_MODEL: &str = "gen_ai.response.model";
pub(crate) const FINISH_REASONS: &str = "gen_ai.response.finish_reasons";
pub(crate) const INPUT_TOKENS: &str = "gen_ai.usage.input_tokens";
pub(crate) const OUTPUT_TOKENS: &str = "gen_ai.usage.output_tokens";
pub(crate) const CACHE_READ_TOKENS: &str = "gen_ai.usage.cache_read.input_tokens";
pub(crate) const CACHE_WRITE_TOKENS: &str = "gen_ai.usage.cache_creation.input_tokens";
pub(crate) const TOOL_NAME: &str = "gen_ai.tool.name";
pub(crate) const ERROR_TYPE: &str = "error.type";

/// Content: only if it is asked for.
pub(crate) const INPUT_MESSAGES: &str = "gen_ai.input.messages";
pub(crate) const OUTPUT_MESSAGES: &str = "gen_ai.output.messages";

/// Our own, where the conventions have nothing.
pub(crate) const ROUND: &str = "quorum.round";
pub(crate) const PHASE: &str = "quorum.phase";
pub(crate) const STEP: &str = "quorum.step";
pub(crate) const ATTEMPT: &str = "quorum.attempt";
pub(crate) const ESTIMATED: &str = "quorum.usage.estimated";
pub(crate) const COST: &str = "quorum.cost.usd";
pub(crate) const ABANDONED: &str = "quorum.abandoned";
pub(crate) const STOPPING: &str = "quorum.stopping_reason";
pub(crate) const SUCCESS: &str = "quorum.success";

/// Values of [`ERROR_TYPE`] that no provider has reported.
pub(crate) mod error {
    /// The process that made the call ended before the answer.
    pub(crate) const INTERRUPTED: &str = "interrupted";
    /// The discussion ran out of time.
    pub(crate) const TIMEOUT: &str = "timeout";
}

/// The providers that the conventions call by another name than we do.
const PROVIDERS: &[(&str, &str)] = &[
    ("claude", "anthropic"),
    ("gemini", "gcp.gemini"),
    ("codex", "openai"),
    ("grok", "x_ai"),
    ("mistral", "mistral_ai"),
];

/// The conventions' name of a provider; its own if they have none.
pub(crate) fn provider(name: &str) -> &str {
    PROVIDERS.iter().find(|(ours, _)| *ours == name).map_or(name, |(_, theirs)| theirs)
}
