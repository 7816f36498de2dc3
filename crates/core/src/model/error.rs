//! Error codes and error types. One table says which codes are worth a retry.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::model::window::TooLong;

/// A transition that the lifecycle or the pattern's phase table doesn't allow.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a discussion can't go from {from} to {to}")]
pub struct StateInvalid {
    /// The state it was in.
    pub from: String,
    /// The state it should have entered.
    pub to: String,
}

/// Every error code of a result or a refusal.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Code {
    /// A field of the request is out of bounds.
    #[serde(rename = "DISCUSSION_INVALID_REQUEST")]
    InvalidRequest,
    /// No such pattern.
    #[serde(rename = "DISCUSSION_INVALID_PATTERN")]
    InvalidPattern,
    /// A debate without participants for its required roles.
    #[serde(rename = "DISCUSSION_INVALID_ROLES")]
    InvalidRoles,
    /// Too few providers were available or stayed available.
    #[serde(rename = "DISCUSSION_INSUFFICIENT_PROVIDERS")]
    InsufficientProviders,
    /// A provider that was needed timed out.
    #[serde(rename = "DISCUSSION_PROVIDER_TIMEOUT")]
    ProviderTimeout,
    /// A provider failed, and the spec tolerates no failure.
    #[serde(rename = "DISCUSSION_PROVIDER_FAILED")]
    ProviderFailed,
    /// Every provider failed.
    #[serde(rename = "DISCUSSION_ALL_PROVIDERS_FAILED")]
    AllProvidersFailed,
    /// The method found no consensus.
    #[serde(rename = "DISCUSSION_CONSENSUS_FAILED")]
    ConsensusFailed,
    /// No participant could write the synthesis.
    #[serde(rename = "DISCUSSION_SYNTHESIS_FAILED")]
    SynthesisFailed,
    /// A sub-discussion has the same topic as one above it.
    #[serde(rename = "DISCUSSION_CIRCULAR_DISCUSSION")]
    CircularDiscussion,
    /// A sub-discussion is nested too deeply.
    #[serde(rename = "DISCUSSION_MAX_DEPTH_EXCEEDED")]
    MaxDepthExceeded,
    /// The cost budget is used up.
    #[serde(rename = "DISCUSSION_COST_BUDGET_EXCEEDED")]
    CostBudgetExceeded,
    /// A spending cap has no room for the discussion until it renews.
    #[serde(rename = "DISCUSSION_SPENDING_CAP_REACHED")]
    SpendingCapReached,
    /// The call budget is used up.
    #[serde(rename = "DISCUSSION_CALL_BUDGET_EXCEEDED")]
    CallBudgetExceeded,
    /// The token budget is used up.
    #[serde(rename = "DISCUSSION_TOKEN_BUDGET_EXCEEDED")]
    TokenBudgetExceeded,
    /// The discussion ran out of time.
    #[serde(rename = "DISCUSSION_TIMEOUT")]
    DiscussionTimeout,
    /// A person aborted it.
    #[serde(rename = "DISCUSSION_ABORTED")]
    Aborted,
    /// The session doesn't exist.
    #[serde(rename = "DISCUSSION_UNKNOWN_SESSION")]
    UnknownSession,
    /// The discussion couldn't be started.
    #[serde(rename = "INITIALIZATION_FAILED")]
    InitializationFailed,
    /// A dialogue's turn failed.
    #[serde(rename = "TURN_FAILED")]
    TurnFailed,
    /// A dialogue's turn timed out.
    #[serde(rename = "TURN_TIMEOUT")]
    TurnTimeout,
    /// A consensus reply could not be read.
    #[serde(rename = "CONSENSUS_PARSE_FAILED")]
    ConsensusParseFailed,
    /// A provider refused a dialogue's turn: its key, or its model.
    #[serde(rename = "PROVIDER_ERROR")]
    ProviderError,
    /// An illegal transition.
    #[serde(rename = "STATE_INVALID")]
    StateInvalid,
    /// The record has a step that the pattern no longer takes.
    #[serde(rename = "RECORD_DIVERGED")]
    RecordDiverged,
    /// A step of a workflow failed.
    #[serde(rename = "WORKFLOW_STEP_FAILED")]
    StepFailed,
    /// Anything else.
    #[serde(rename = "UNKNOWN")]
    Unknown,
}

impl Code {
    /// Whether the same request may succeed later (INV-DISC-402).
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Code::InsufficientProviders
            | Code::ProviderTimeout
            | Code::ProviderFailed
            | Code::AllProvidersFailed
            | Code::SynthesisFailed
            | Code::DiscussionTimeout
            | Code::SpendingCapReached
            | Code::InitializationFailed
            | Code::TurnFailed
            | Code::TurnTimeout
            | Code::ConsensusParseFailed
            | Code::ProviderError => true,
            Code::InvalidRequest
            | Code::InvalidPattern
            | Code::InvalidRoles
            | Code::ConsensusFailed
            | Code::CircularDiscussion
            | Code::MaxDepthExceeded
            | Code::CostBudgetExceeded
            | Code::CallBudgetExceeded
            | Code::TokenBudgetExceeded
            | Code::Aborted
            | Code::UnknownSession
            | Code::StateInvalid
            | Code::RecordDiverged
            | Code::StepFailed
            | Code::Unknown => false,
        }
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The names in `serde(rename)` are the only list of them.
        self.serialize(f)
    }
}

/// The error of a discussion: the `error` field of its result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// The error code.
    pub code: Code,
    /// What happened, as a sentence.
    pub message: String,
    /// Whether a retry may help: not if a key is missing or refused, a model unknown, or a request
    /// too long.
    pub retryable: bool,
    /// The participant it happened to, if any; `provider` in results (B04).
    #[serde(default, rename = "provider", alias = "participant", skip_serializing_if = "Option::is_none")]
    pub participant: Option<String>,
    /// The round it happened in, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
}

impl Problem {
    /// A problem that concerns no particular participant.
    #[must_use]
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Problem {
            code,
            message: message.into(),
            retryable: code.is_retryable(),
            participant: None,
            round: None,
        }
    }
}

impl Problem {
    /// A problem that is due to these lost participants; a retry helps only if one of them was lost
    /// to a transient error.
    #[must_use]
    pub fn of_losses(
        code: Code,
        message: impl Into<String>,
        classes: impl IntoIterator<Item = ErrorClass>,
    ) -> Self {
        let retryable = code.is_retryable() && classes.into_iter().any(ErrorClass::is_transient);
        Problem { retryable, ..Problem::new(code, message) }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)
    }
}

/// One thing wrong with a request. All refusals of a request are returned together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refusal {
    /// The field's name in the request.
    pub field: String,
    /// The error code.
    pub code: Code,
    /// What is wrong, and what would be right.
    pub message: String,
}

impl Refusal {
    /// A refusal for this field.
    #[must_use]
    pub fn new(field: &str, code: Code, message: impl Into<String>) -> Self {
        Refusal { field: field.to_owned(), code, message: message.into() }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.message)
    }
}

/// The classes of provider errors (D12).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ErrorClass {
    /// The connection failed or broke.
    Network,
    /// Too many requests.
    RateLimit,
    /// The provider had an internal error.
    ApiError,
    /// No answer in time.
    Timeout,
    /// The request is too long for the model.
    ContextOverflow,
    /// The key is missing or refused.
    Authentication,
    /// The provider rejected the request.
    Validation,
    /// The response couldn't be understood.
    InvalidResponse,
}

impl ErrorClass {
    /// All classes.
    pub const ALL: [ErrorClass; 8] = [
        ErrorClass::Network,
        ErrorClass::RateLimit,
        ErrorClass::ApiError,
        ErrorClass::Timeout,
        ErrorClass::ContextOverflow,
        ErrorClass::Authentication,
        ErrorClass::Validation,
        ErrorClass::InvalidResponse,
    ];

    /// Whether the same request may succeed at another time. A retry doesn't help with a missing
    /// key, an unknown model or a request that is too long.
    #[must_use]
    pub fn is_transient(self) -> bool {
        match self {
            ErrorClass::Network
            | ErrorClass::RateLimit
            | ErrorClass::ApiError
            | ErrorClass::Timeout
            | ErrorClass::InvalidResponse => true,
            ErrorClass::ContextOverflow | ErrorClass::Authentication | ErrorClass::Validation => false,
        }
    }

    /// How many retries follow an error of this class (D12).
    #[must_use]
    pub fn retries(self) -> u32 {
        match self {
            ErrorClass::Network => 3,
            ErrorClass::RateLimit => 5,
            ErrorClass::ApiError | ErrorClass::Timeout => 2,
            ErrorClass::InvalidResponse => 1,
            ErrorClass::ContextOverflow | ErrorClass::Authentication | ErrorClass::Validation => 0,
        }
    }

    /// What the user can do about it. Names no command, flag or page, so every surface can show it.
    #[must_use]
    pub fn advice(self) -> &'static str {
        match self {
            ErrorClass::Network => "check the connection",
            ErrorClass::RateLimit => "wait, or raise the provider's limit",
            ErrorClass::ApiError => "the provider has trouble; try again later",
            ErrorClass::Timeout => "give it more time, or use a faster model",
            ErrorClass::ContextOverflow => "shorten the question, or use a model with a larger window",
            ErrorClass::Authentication => "check the provider's API key or login",
            ErrorClass::Validation => "check the model's name and the request",
            ErrorClass::InvalidResponse => "try again, or use another model",
        }
    }

    /// The name in messages.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            ErrorClass::Network => "network",
            ErrorClass::RateLimit => "rate_limit",
            ErrorClass::ApiError => "api_error",
            ErrorClass::Timeout => "timeout",
            ErrorClass::ContextOverflow => "context_overflow",
            ErrorClass::Authentication => "authentication",
            ErrorClass::Validation => "validation",
            ErrorClass::InvalidResponse => "invalid_response",
        }
    }
}

/// An error of a provider.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ProviderError {
    /// The error class.
    pub class: ErrorClass,
    /// The provider's message, without keys and addresses.
    pub message: String,
    /// The wait that the provider asked for, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The limit that the provider named, if the request was too long.
    pub limit: Option<TooLong>,
}

impl ProviderError {
    /// An error of this class.
    #[must_use]
    pub fn new(class: ErrorClass, message: impl Into<String>) -> Self {
        ProviderError { class, message: message.into(), retry_after_ms: None, limit: None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d12_retries_by_class() {
        let counts = ErrorClass::ALL.map(|class| (class.name(), class.retries()));
        assert_eq!(
            counts,
            [
                ("network", 3),
                ("rate_limit", 5),
                ("api_error", 2),
                ("timeout", 2),
                ("context_overflow", 0),
                ("authentication", 0),
                ("validation", 0),
                ("invalid_response", 1),
            ]
        );
    }

    /// The codes that requirements A14, B06 and INV-DISC-6xx name. Their clients know only these
    /// codes, so none may be removed.
    const STANDARD: &str = "
        INITIALIZATION_FAILED TURN_FAILED TURN_TIMEOUT CONSENSUS_PARSE_FAILED PROVIDER_ERROR STATE_INVALID
        DISCUSSION_TIMEOUT UNKNOWN DISCUSSION_INSUFFICIENT_PROVIDERS DISCUSSION_PROVIDER_TIMEOUT
        DISCUSSION_ALL_PROVIDERS_FAILED DISCUSSION_CONSENSUS_FAILED DISCUSSION_INVALID_PATTERN
        DISCUSSION_INVALID_ROLES DISCUSSION_SYNTHESIS_FAILED DISCUSSION_CIRCULAR_DISCUSSION
        DISCUSSION_COST_BUDGET_EXCEEDED";

    #[test]
    fn inv_disc_401_every_standard_code_is_read_and_written_under_its_name() {
        for name in STANDARD.split_whitespace() {
            let code: Code = serde_json::from_value(name.into()).unwrap_or_else(|error| panic!("{error}"));
            let problem = serde_json::to_value(Problem::new(code, "why")).unwrap();
            assert_eq!((problem["code"].as_str(), code.to_string().as_str()), (Some(name), name));
        }
    }

    #[test]
    fn inv_disc_402_trouble_of_the_moment_may_be_tried_again_and_a_wrong_order_may_not() {
        let retryable = |names: &str| -> Vec<bool> {
            let code = |name: &str| serde_json::from_value::<Code>(name.into()).unwrap();
            names.split_whitespace().map(|name| Problem::new(code(name), "why").retryable).collect()
        };
        let of_the_moment = "DISCUSSION_INSUFFICIENT_PROVIDERS DISCUSSION_PROVIDER_TIMEOUT \
            DISCUSSION_ALL_PROVIDERS_FAILED DISCUSSION_SYNTHESIS_FAILED DISCUSSION_TIMEOUT INITIALIZATION_FAILED \
            TURN_FAILED TURN_TIMEOUT CONSENSUS_PARSE_FAILED PROVIDER_ERROR";
        assert_eq!(retryable(of_the_moment), [true; 10]);
        let for_good = "DISCUSSION_INVALID_PATTERN DISCUSSION_INVALID_ROLES DISCUSSION_CONSENSUS_FAILED \
            DISCUSSION_CIRCULAR_DISCUSSION DISCUSSION_COST_BUDGET_EXCEEDED STATE_INVALID UNKNOWN";
        assert_eq!(retryable(for_good), [false; 7]);
    }
}
