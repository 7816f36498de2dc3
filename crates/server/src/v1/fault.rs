//! Errors in the vendors' own forms. Nothing under `/v1` is ever answered with a problem document.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderValue, StatusCode, header},
    middleware::Next,
    response::{IntoResponse, Response},
};
use quorum::{Error, Registry, StoreError, model::id::DiscussionId};
use serde_json::{Value, json};

use crate::{
    problem::Problem,
    v1::{stream::name_discussion, wanted::field_of},
};

/// An error in response to a request under `/v1`. The layer around the routes converts it to the
/// format of the vendor that the path belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fault {
    status: StatusCode,
    code: String,
    param: Option<String>,
    message: String,
    retry_after_s: Option<u64>,
    /// Whether clients that retry failed requests by themselves are told not to.
    is_final: bool,
    /// The discussion that failed, if one was started.
    discussion: Option<DiscussionId>,
}

/// A vendor's format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    OpenAi,
    Anthropic,
}

impl Dialect {
    /// The format of a path; `None` outside of `/v1`.
    pub(crate) fn of(path: &str) -> Option<Dialect> {
        let below = path.strip_prefix("/v1/").or((path == "/v1").then_some(""))?;
        let is_anthropic = below == "messages" || below.starts_with("messages/");
        Some(if is_anthropic { Dialect::Anthropic } else { Dialect::OpenAi })
    }
}

impl Fault {
    pub(crate) fn new(status: StatusCode, code: &str, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        let (param, retry_after_s, is_final, discussion) = (None, None, false, None);
        Fault { status, code, param, message, retry_after_s, is_final, discussion }
    }

    /// A value of the body that is not acceptable.
    pub(crate) fn invalid(param: &str, message: impl Into<String>) -> Self {
        Fault::new(StatusCode::BAD_REQUEST, "invalid_value", message).at(param)
    }

    /// A known parameter that has no meaning here.
    pub(crate) fn unsupported(param: &str, message: impl Into<String>) -> Self {
        Fault::new(StatusCode::BAD_REQUEST, "unsupported_parameter", message).at(param)
    }

    /// A response that is not there, or is another tenant's.
    pub(crate) fn no_response() -> Self {
        Fault::new(StatusCode::NOT_FOUND, "not_found", "there is no response with that id")
    }

    pub(crate) fn at(self, param: &str) -> Self {
        Fault { param: Some(param.to_owned()), ..self }
    }

    /// The same with the path of the parameter, if it is a declared option.
    pub(crate) fn in_panel(self, registry: &Registry) -> Self {
        let option = self.param.as_deref().and_then(|it| registry.option(it));
        match option {
            Some(option) => self.at(&format!("quorum.{}", field_of(option.name))),
            None => self,
        }
    }

    pub(crate) fn after(self, seconds: u64) -> Self {
        Fault { retry_after_s: Some(seconds), ..self }
    }

    /// Tells clients not to repeat the request by themselves.
    pub(crate) fn not_to_be_repeated(self) -> Self {
        Fault { is_final: true, ..self }
    }

    /// The same with the id of the discussion that failed.
    pub(crate) fn in_discussion(self, id: DiscussionId) -> Self {
        Fault { discussion: Some(id), ..self }
    }

    pub(crate) fn code(&self) -> &str {
        &self.code
    }

    pub(crate) fn param(&self) -> Option<&str> {
        self.param.as_deref()
    }

    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// OpenAI's error object.
    pub(crate) fn openai(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({ "error": {
            "message": self.placed(), "type": kind, "param": self.param, "code": self.code,
        } })
    }

    /// Anthropic's error object.
    pub(crate) fn anthropic(&self) -> Value {
        let kind = match self.status.as_u16() {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            503 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({ "type": "error", "error": {
            "type": kind, "message": self.placed(), "code": self.code, "param": self.param,
        } })
    }

    /// The message after the parameter that it is about: many clients show nothing else.
    fn placed(&self) -> String {
        let place = self.param.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
        format!("{place}{}", self.message)
    }

    /// Gives the response this error's status, headers and body. Headers that other parts of the
    /// server have added are kept, such as the CORS headers.
    fn rendered(&self, dialect: Dialect, mut response: Response) -> Response {
        let body = match dialect {
            Dialect::OpenAi => self.openai(),
            Dialect::Anthropic => self.anthropic(),
        };
        *response.body_mut() = Body::from(body.to_string());
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.remove(header::CONTENT_LENGTH);
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.is_final {
            headers.insert("x-should-retry", HeaderValue::from_static("false"));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"quorum\""));
        }
        if let Some(id) = self.discussion {
            name_discussion(&mut response, id);
        }
        response
    }
}

/// The form is given by [`envelopes`], which knows the path.
impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        response.extensions_mut().insert(self);
        response
    }
}

/// Gives every error under `/v1` its vendor's form, whichever part of the server it comes from.
pub(crate) async fn envelopes(request: Request, next: Next) -> Response {
    let dialect = Dialect::of(request.uri().path());
    let mut response = next.run(request).await;
    let Some(dialect) = dialect else { return response };
    let extensions = response.extensions_mut();
    let of_problem = |it: Problem| Fault::from(it);
    match extensions.remove::<Fault>().or_else(|| extensions.remove::<Problem>().map(of_problem)) {
        Some(fault) => fault.rendered(dialect, response),
        None if response.status().is_client_error() => {
            unreadable(response.status()).rendered(dialect, response)
        }
        None => response,
    }
}

/// The error of a request that no endpoint has seen, because its path or query can't be decoded.
fn unreadable(status: StatusCode) -> Fault {
    Fault::new(status, "invalid_request_error", "the path or the query can't be read: is it valid UTF-8?")
}

/// The code of a spent cap. Clients are told not to retry, because the cap renews long after their
/// last attempt.
const CAP_REACHED: &str = "DISCUSSION_SPENDING_CAP_REACHED";

/// OpenAI's names for our codes.
const CODES: &[(&str, &str)] = &[
    ("UNAUTHORIZED", "invalid_api_key"),
    ("FOREIGN_ORIGIN", "origin_not_allowed"),
    ("FOREIGN_HOST", "host_not_allowed"),
    ("NOT_FOUND", "not_found"),
    ("METHOD_NOT_ALLOWED", "method_not_allowed"),
    ("REQUEST_TIMEOUT", "request_timeout"),
    ("PAYLOAD_TOO_LARGE", "request_too_large"),
    ("UNSUPPORTED_MEDIA_TYPE", "unsupported_media_type"),
    ("IDEMPOTENCY_KEY_REUSED", "idempotency_key_reused"),
    ("TOO_MANY_REQUESTS", "rate_limit_exceeded"),
    ("TOO_MANY_DISCUSSIONS", "too_many_running"),
    (CAP_REACHED, "insufficient_quota"),
    ("DISCUSSION_INSUFFICIENT_PROVIDERS", "model_not_available"),
    ("DISCUSSIONS_SWITCHED_OFF", "discussions_switched_off"),
    ("DISCUSSION_RUNNING", "discussion_running"),
    ("DISCUSSION_OVER", "discussion_over"),
    ("INTERNAL", "internal_error"),
    ("UNAVAILABLE", "unavailable"),
];

/// The parameters of a request under `/v1`, by the names of our fields.
const PARAMS: &[(&str, &str)] = &[
    ("topic", "messages"),
    ("context", "messages"),
    ("providers", "quorum.providers"),
    ("participants", "quorum.participants"),
    ("rounds", "quorum.rounds"),
    ("maxCost", "quorum.max_cost"),
    ("maxCalls", "quorum.max_calls"),
    ("votingOptions", "quorum.options"),
    ("sessionId", "metadata.session_id"),
    ("temperature", "temperature"),
    ("pattern", "model"),
    ("preset", "model"),
    ("body", "body"),
];

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Self {
        let (status, code, message) = (problem.status(), problem.code(), problem.detail());
        let known = CODES.iter().find(|(ours, _)| *ours == code).map(|it| it.1);
        let field = problem.first_field();
        let param = field.map(|it| PARAMS.iter().find(|(ours, _)| *ours == it).map_or(it, |it| it.1));
        // Removes our field's name from the message: the parameter, which has another name, is put
        // before it later.
        let message = field.and_then(|it| message.strip_prefix(it)?.strip_prefix(": ")).unwrap_or(message);
        // These clients retry a 409, so a conflict between fields is a 400 for them.
        let status = match (status.as_u16(), code) {
            (409, _) if field.is_some() || code == "DISCUSSION_INSUFFICIENT_PROVIDERS" => {
                StatusCode::BAD_REQUEST
            }
            _ => status,
        };
        let fault = Fault::new(status, known.unwrap_or("invalid_request"), message);
        let is_final = code == CAP_REACHED;
        Fault { param: param.map(str::to_owned), retry_after_s: problem.retry_after(), is_final, ..fault }
    }
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Store(StoreError::Unknown(_)) | Error::NotFound(_) => Fault::no_response(),
            error => Fault::from(Problem::from(error)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_messages_of_anthropic_have_its_form() {
        let check = |path: &str, expected: Option<Dialect>| assert_eq!(Dialect::of(path), expected, "{path}");
        check("/v1/messages", Some(Dialect::Anthropic));
        check("/v1/messages/count_tokens", Some(Dialect::Anthropic));
        check("/v1/models", Some(Dialect::OpenAi));
        check("/v1/messagesx", Some(Dialect::OpenAi));
        check("/v1", Some(Dialect::OpenAi));
        check("/v10", None);
        check("/api/discussions", None);
    }
}
