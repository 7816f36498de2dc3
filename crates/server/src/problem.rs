//! Errors as RFC 9457 problem documents. One table maps each kind to its status and code.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{Complaint, Error, Fault, StoreError, model::error::Code, request::limits::MOST_COMPLAINTS};
use serde::Serialize;
use utoipa::ToSchema;

use crate::{wire::spending::CapState, wording};

/// The field name for the body as a whole.
pub(crate) const BODY: &str = "body";

/// Limits on a problem document, in characters: its detail, a field's message, and a field's name.
/// No request is answered with more than a few KiB of complaints.
const LONGEST_DETAIL: usize = 2_000;
const LONGEST_MESSAGE: usize = 600;
const LONGEST_FIELD: usize = 300;

/// An error in response to a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Problem(Box<Document>);

/// A problem document.
#[derive(Debug, Clone, PartialEq, Serialize, ToSchema)]
pub(crate) struct Document {
    /// A URI for this kind of problem.
    #[serde(rename = "type")]
    uri: String,
    /// A title for this kind of problem.
    title: String,
    /// The HTTP status.
    pub(crate) status: u16,
    /// What happened, and what to do about it.
    pub(crate) detail: String,
    /// A code for this kind of problem, for programs.
    pub(crate) code: String,
    /// The same as `detail`, for older clients.
    error: String,
    /// The problems with the request, field by field.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) fields: Vec<Field>,
    /// The spending cap that has too little left.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = CapState)]
    cap: Option<CapState>,
    #[serde(skip)]
    pub(crate) retry_after_s: Option<u64>,
}

/// A problem with one field of a request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
pub(crate) struct Field {
    /// The field: `options.temperature`, or the name of a parameter or a header.
    pub(crate) field: String,
    /// The position in the body, as a JSON pointer: `#/options/temperature`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String)]
    pointer: Option<String>,
    /// A code for this kind of problem.
    code: String,
    /// What is wrong and what would be accepted.
    pub(crate) message: String,
}

/// A kind of problem.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Kind {
    status: StatusCode,
    code: &'static str,
    title: &'static str,
}

macro_rules! kinds {
    ($($name:ident = $status:ident $code:literal $title:literal;)*) => {
        $(pub(crate) const $name: Kind = Kind { status: StatusCode::$status, code: $code, title: $title };)*
        /// The statuses in which a problem can be sent.
        #[cfg(test)]
        pub(crate) const STATUSES: &[StatusCode] = &[$(StatusCode::$status),*];
    };
}

kinds! {
    INVALID = BAD_REQUEST "DISCUSSION_INVALID_REQUEST" "The request is not acceptable";
    UNKNOWN_CALLER = UNAUTHORIZED "UNAUTHORIZED" "Authentication required";
    FOREIGN_ORIGIN = FORBIDDEN "FOREIGN_ORIGIN" "Pages of another origin may not do this";
    SWITCHED_OFF = FORBIDDEN "DISCUSSIONS_SWITCHED_OFF" "Discussions are switched off";
    NOT_YOUR_SEAT = FORBIDDEN "NOT_YOUR_SEAT" "The seat belongs to another user";
    NOT_FOUND = NOT_FOUND "NOT_FOUND" "Not found";
    WRONG_METHOD = METHOD_NOT_ALLOWED "METHOD_NOT_ALLOWED" "Method not allowed";
    TOO_SLOW = REQUEST_TIMEOUT "REQUEST_TIMEOUT" "The request did not arrive in time";
    OVER = CONFLICT "DISCUSSION_OVER" "The discussion is over";
    RUNNING = CONFLICT "DISCUSSION_RUNNING" "The discussion is running";
    NOT_AWAITED = CONFLICT "NOT_AWAITED" "That is not awaited now";
    MISSING_VOICES = CONFLICT "DISCUSSION_INSUFFICIENT_PROVIDERS" "Some participants are not available";
    WRONG_STATE = CONFLICT "STATE_INVALID" "The discussion's state does not allow this";
    SESSION_IN_USE = CONFLICT "SESSION_IN_USE" "The session has discussions";
    IN_FLIGHT = CONFLICT "REQUEST_IN_FLIGHT" "The same request is in progress";
    TOO_LARGE = PAYLOAD_TOO_LARGE "PAYLOAD_TOO_LARGE" "The request is too large";
    NOT_JSON = UNSUPPORTED_MEDIA_TYPE "UNSUPPORTED_MEDIA_TYPE" "The body must be JSON";
    CONFLICTING_FIELDS = CONFLICT "DISCUSSION_CONFLICTING_REQUEST" "The fields don't go together";
    FOREIGN_HOST = MISDIRECTED_REQUEST "FOREIGN_HOST" "Unknown host name";
    KEY_REUSED = UNPROCESSABLE_ENTITY "IDEMPOTENCY_KEY_REUSED" "The key belongs to another request";
    TOO_MANY = TOO_MANY_REQUESTS "TOO_MANY_REQUESTS" "Too many requests";
    QUEUE_FULL = TOO_MANY_REQUESTS "TOO_MANY_DISCUSSIONS" "Too many discussions are waiting to be run";
    SPENDING_CAP = TOO_MANY_REQUESTS "DISCUSSION_SPENDING_CAP_REACHED" "The spending cap is reached";
    INTERNAL = INTERNAL_SERVER_ERROR "INTERNAL" "Internal error";
    TOO_MANY_RUNNING = TOO_MANY_REQUESTS "TOO_MANY_DISCUSSIONS" "Too many discussions are running";
    UNAVAILABLE = SERVICE_UNAVAILABLE "UNAVAILABLE" "Temporarily unavailable";
}

impl Kind {
    pub(crate) fn code(self) -> &'static str {
        self.code
    }
}

impl Problem {
    pub(crate) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        let (detail, code) = (cut(detail.into(), LONGEST_DETAIL), kind.code.to_owned());
        Problem(Box::new(Document {
            uri: format!("urn:quorum:problem:{}", kind.code.to_lowercase().replace('_', "-")),
            title: kind.title.to_owned(),
            status: kind.status.as_u16(),
            error: detail.clone(),
            detail,
            code,
            fields: Vec::new(),
            cap: None,
            retry_after_s: None,
        }))
    }

    /// The document, for surfaces that word it in another form.
    pub(crate) fn document(&self) -> &Document {
        &self.0
    }

    /// Replaces the code.
    fn coded(mut self, code: impl Into<String>) -> Self {
        self.0.code = code.into();
        self
    }

    /// A problem with one field of the body.
    pub(crate) fn field(field: &str, message: impl Into<String>) -> Self {
        Problem::refused(&[Complaint::new(field, Code::InvalidRequest, message)])
    }

    /// A clash of one field of the body with what is available.
    fn clash(field: &str, message: impl Into<String>) -> Self {
        Problem::refused(&[Complaint::new(field, Code::InvalidRequest, message).in_combination()])
    }

    /// A problem with a query parameter or a header.
    pub(crate) fn parameter(name: &str, message: impl Into<String>) -> Self {
        let mut problem = Problem::field(name, message);
        problem.0.fields.iter_mut().for_each(|it| it.pointer = None);
        problem
    }

    /// Prefixes the field names with the field that contains them in the body.
    pub(crate) fn within(mut self, outer: &str) -> Self {
        for it in &mut self.0.fields {
            it.field = if it.field == BODY { outer.to_owned() } else { format!("{outer}.{}", it.field) };
            it.pointer = Some(pointer(&it.field));
        }
        self.retold()
    }

    /// The problem with other names of fields: each is replaced by the one beside it.
    pub(crate) fn renamed(mut self, names: &[(&str, &str)]) -> Self {
        if self.0.fields.is_empty() {
            return self;
        }
        for it in &mut self.0.fields {
            if let Some((_, name)) = names.iter().find(|(field, _)| it.field == *field) {
                (it.field, it.pointer) = ((*name).to_owned(), Some(pointer(name)));
            }
        }
        self.retold()
    }

    /// All problems with a request; the first decides the code.
    pub(crate) fn refused(complaints: &[Complaint]) -> Self {
        let fields = complaints.iter().take(MOST_COMPLAINTS + 1).map(|it| {
            let field = cut(it.field.clone(), LONGEST_FIELD);
            let message = cut(wording::complaint(it), LONGEST_MESSAGE);
            Field { pointer: Some(pointer(&field)), field, code: it.code.to_string(), message }
        });
        let fields: Vec<Field> = fields.collect();
        let told = |it: &Field| format!("{}: {}", it.field, it.message);
        let detail = fields.iter().map(told).collect::<Vec<_>>().join("; ");
        let code = complaints.first().map_or_else(|| INVALID.code.to_owned(), |it| it.code.to_string());
        // If another request may have each of these values, the schema can't have ruled them out.
        let is_clash = !complaints.is_empty() && complaints.iter().all(|it| it.fault == Fault::Combination);
        let kind = if is_clash { CONFLICTING_FIELDS } else { INVALID };
        let mut problem = Problem::new(kind, detail).coded(code);
        problem.0.fields = fields;
        problem
    }

    /// Adds complaints about further fields of the body.
    pub(crate) fn and(mut self, complaints: &[Complaint]) -> Self {
        for field in Problem::refused(complaints).0.fields {
            if !self.0.fields.iter().any(|it| it.field == field.field) {
                self.0.fields.push(field);
            }
        }
        self.retold()
    }

    /// The same for parameters, which have no place in the body.
    pub(crate) fn and_parameters(self, complaints: &[Complaint]) -> Self {
        let mut problem = self.and(complaints);
        problem.0.fields.iter_mut().for_each(|it| it.pointer = None);
        problem
    }

    /// The detail, made from the fields.
    fn retold(mut self) -> Self {
        let told: Vec<String> =
            self.0.fields.iter().map(|it| format!("{}: {}", it.field, it.message)).collect();
        self.0.detail = cut(told.join("; "), LONGEST_DETAIL);
        self.0.error.clone_from(&self.0.detail);
        self
    }

    /// A problem with the session that a path names: one that is unknown is not found.
    pub(crate) fn of_session(error: Error) -> Self {
        match error {
            Error::Store(StoreError::UnknownSession(_)) => Problem::new(NOT_FOUND, error.to_string()),
            other => Problem::from(other),
        }
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    pub(crate) fn code(&self) -> &str {
        &self.0.code
    }

    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    pub(crate) fn first_field(&self) -> Option<&str> {
        self.0.fields.first().map(|it| it.field.as_str())
    }

    pub(crate) fn retry_after(&self) -> Option<u64> {
        self.0.retry_after_s
    }

    /// Adds a `Retry-After` of this many seconds.
    pub(crate) fn after(mut self, seconds: u64) -> Self {
        self.0.retry_after_s = Some(seconds);
        self
    }
}

/// The text, truncated if it is too long.
fn cut(mut text: String, longest: usize) -> String {
    if let Some((end, _)) = text.char_indices().nth(longest) {
        text.truncate(end);
        text.push('…');
    }
    text
}

/// `a.b[0]` as a JSON pointer.
fn pointer(field: &str) -> String {
    if field == BODY {
        return "#".to_owned();
    }
    let places = field.split(['.', '[']).map(|it| it.trim_end_matches(']')).filter(|it| !it.is_empty());
    places.fold("#".to_owned(), |pointer, place| pointer + "/" + &place.replace('~', "~0").replace('/', "~1"))
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let status = self.status();
        let body = serde_json::to_string(&self.0).unwrap_or_default();
        let mut response =
            (status, [(header::CONTENT_TYPE, "application/problem+json")], body).into_response();
        let headers = response.headers_mut();
        if let Some(seconds) = self.0.retry_after_s {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer realm=\"quorum\""));
            headers.append(header::WWW_AUTHENTICATE, HeaderValue::from_static("Basic realm=\"quorum\""));
        }
        // Where another form of error is expected, it is made from this.
        response.extensions_mut().insert(self);
        response
    }
}

/// Omits local paths, which callers over the network must not see.
impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        match error {
            Error::Refused(complaints) => Problem::refused(&complaints),
            Error::Store(error) => of_store(error),
            Error::SwitchedOff { .. } => {
                Problem::new(SWITCHED_OFF, "discussions are switched off on this server")
            }
            Error::MissingVoices(who) => {
                let who: Vec<String> = who.iter().map(ToString::to_string).collect();
                let message = format!("some participants are not available here: {}", who.join("; "));
                Problem::new(MISSING_VOICES, message)
            }
            Error::SpendingCap(reached) => {
                let mut problem = Problem::new(SPENDING_CAP, reached.to_string())
                    .after(reached.renews_in_ms().div_ceil(1_000));
                problem.0.cap = Some(CapState::from(&reached.status));
                problem
            }
            Error::NotSaid(error) => of_say(&error),
            Error::WhoSpeaks(awaited) => {
                let message = format!("{} are awaited; name the speaker", awaited.join(" and "));
                Problem::clash("participant", message).coded(NOT_AWAITED.code)
            }
            Error::NobodyToSpeak(_) => {
                Problem::new(NOT_AWAITED, "this discussion has no person on its panel")
            }
            Error::NotOver(_) => Problem::new(WRONG_STATE, error.to_string()),
            Error::KeyReused(_) => Problem::new(KEY_REUSED, error.to_string()),
            Error::NotFound(_) | Error::TooFarBack { .. } | Error::NoneYet | Error::Ambiguous { .. } => {
                Problem::new(NOT_FOUND, "there is no such discussion")
            }
            Error::NoSession(_) | Error::AmbiguousSession { .. } => {
                Problem::clash("sessionId", "there is no such session")
            }
            Error::Config(_)
            | Error::DataDirectory { .. }
            | Error::NoVoices
            | Error::Registry(_)
            | Error::Fault(_) => internal(&error),
        }
    }
}

fn internal(error: &Error) -> Problem {
    tracing::error!(%error, "a request failed with an internal error");
    Problem::new(INTERNAL, "internal error; everything recorded so far is kept")
}

fn of_say(error: &quorum::SayError) -> Problem {
    match error {
        quorum::SayError::Length { .. } => Problem::field("message", error.to_string()),
        quorum::SayError::NoSeat { .. } => Problem::clash("participant", error.to_string()),
        quorum::SayError::NotTheirs { .. } => Problem::new(NOT_YOUR_SEAT, error.to_string()),
        quorum::SayError::Store(error) => of_store(error.clone()),
    }
}

/// The `Retry-After` in seconds when too many orders of a tenant wait.
const QUEUE_FULL_FOR_S: u64 = 5;

fn of_store(error: StoreError) -> Problem {
    match &error {
        StoreError::Unknown(id) => Problem::new(NOT_FOUND, format!("there is no discussion {id}")),
        StoreError::Held { id, .. } => {
            Problem::new(RUNNING, format!("discussion {id} is running; stop or abort it first"))
        }
        StoreError::Fenced(id) => {
            Problem::new(RUNNING, format!("discussion {id} has been taken over by another process"))
        }
        StoreError::NotAwaited { .. } | StoreError::RulingNotAwaited { .. } => {
            Problem::new(NOT_AWAITED, error.to_string())
        }
        StoreError::NoSuchChoice { .. } => Problem::clash("choice", error.to_string()),
        StoreError::NoSuchCandidate { .. } => Problem::clash("candidate", error.to_string()),
        StoreError::Over(_) => Problem::new(OVER, error.to_string()),
        StoreError::UnknownSession(id) => {
            let problem = Problem::clash("sessionId", format!("there is no session {id}"));
            problem.coded(Code::UnknownSession.to_string())
        }
        StoreError::SessionInUse { .. } => {
            Problem::new(SESSION_IN_USE, format!("{error}; delete its discussions first"))
        }
        StoreError::Unavailable(_) => {
            tracing::warn!(%error, "the store is unavailable");
            let told = "discussions can't be stored at the moment; before you repeat a change, look whether it was made";
            Problem::new(UNAVAILABLE, told).after(5)
        }
        StoreError::Gone(_) => Problem::new(UNAVAILABLE, error.to_string()).after(1),
        StoreError::QueueFull { .. } => Problem::new(QUEUE_FULL, error.to_string()).after(QUEUE_FULL_FOR_S),
        StoreError::TenantFull { .. } => {
            Problem::new(TOO_MANY_RUNNING, error.to_string()).after(QUEUE_FULL_FOR_S)
        }
        StoreError::Damaged(_) | StoreError::Unusable(_) | StoreError::UnusableServer(_) => {
            internal(&Error::Store(error))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_pointed_at() {
        let check = |field: &str, expected: &str| assert_eq!(pointer(field), expected);
        check("body", "#");
        check("topic", "#/topic");
        check("options.temperature", "#/options/temperature");
        check("participants[1].person", "#/participants/1/person");
        check("roles.a/b~c", "#/roles/a~1b~0c");
    }
}
