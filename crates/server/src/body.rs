//! Extracts bodies, query strings and ids, each in one place; every refusal names the field.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, MatchedPath, Path, Query, Request, rejection::BytesRejection},
    http::{Method, StatusCode, header, request::Parts},
};
use quorum::{
    config::nearest,
    model::{excerpt::in_short, id::DiscussionId},
    request::written::{AnyValue, Named, Once},
};
use serde::{Deserialize, Deserializer, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};
use tokio::task::spawn_blocking;
use utoipa::IntoParams;
use uuid::Uuid;

use crate::{
    app::App,
    problem::{self, BODY, Problem},
};

/// The largest body that is checked on the async thread, in bytes.
const LOOKED_AT_AT_ONCE: usize = 32 << 10;

/// A JSON body: one object.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let has_type = request.headers().contains_key(header::CONTENT_TYPE);
        let (method, path) = (request.method().clone(), request.extensions().get::<MatchedPath>().cloned());
        let bytes = received(request, app).await?;
        if !has_type && !bytes.is_empty() {
            return Err(Problem::new(problem::NOT_JSON, "send Content-Type: application/json"));
        }
        let path = path.as_ref().map_or("", MatchedPath::as_str).to_owned();
        within_bounds(app, method.clone(), path.clone(), bytes.clone()).await?;
        let read = read(if bytes.is_empty() { b"{}" } else { &bytes });
        read.map(Body).map_err(|problem| app.known_fields.in_body(problem, &method, &path, &bytes))
    }
}

/// Refuses a body that exceeds a size limit, before it is deserialized. Large bodies are checked on
/// a blocking thread.
async fn within_bounds(app: &App, method: Method, path: String, bytes: Bytes) -> Result<(), Problem> {
    let (app, is_small) = (app.clone(), bytes.len() <= LOOKED_AT_AT_ONCE);
    let check = move || app.sizes.check(&method, &path, &bytes);
    if is_small {
        return check();
    }
    aside(check).await?
}

/// Runs slow work on a thread of its own, so that no other request waits for it.
pub(crate) async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Problem> {
    spawn_blocking(work).await.map_err(|error| Problem::from(quorum::Error::Fault(error.to_string())))
}

/// The whole body, if it arrives in time and is not too large.
pub(crate) async fn received(request: Request, app: &App) -> Result<Bytes, Problem> {
    let reading = tokio::time::timeout(app.limits().body_time, Bytes::from_request(request, app));
    match reading.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(not_received(&error, app.limits().body_bytes)),
        Err(_) => Err(Problem::new(problem::TOO_SLOW, "the body did not arrive in time; send it at once")),
    }
}

fn not_received(error: &BytesRejection, most: usize) -> Problem {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let message = format!("the body is too large; at most {} KiB are accepted", most >> 10);
        return Problem::new(problem::TOO_LARGE, message);
    }
    Problem::new(problem::INVALID, "the body ended early")
}

/// Reads one object; an error names the wrong field.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Problem> {
    let read = Json::<Named<T>>::from_bytes(text);
    read.map(|Json(Named(value))| value).map_err(|error| unreadable(&error.body_text()))
}

/// Extracts the field's name from the deserializer's message: `a.b: message`, or a field in
/// backticks.
fn unreadable(text: &str) -> Problem {
    let text = &text[..text.floor_char_boundary(LONGEST_TOLD)];
    let told = text.split_once("target type: ").or_else(|| text.split_once("body as JSON: "));
    let told = told.map_or(text, |(_, told)| told);
    let is_path = |it: &&str| !it.is_empty() && !it.contains(' ') && *it != ".";
    let path = told.split_once(": ").map(|(path, _)| path).filter(is_path);
    let quoted = || told.split('`').nth(1).filter(|_| told.contains("field `"));
    match path {
        Some(path) => {
            let message = in_words(&told[path.len() + 2..]);
            // Our own deserializers include the field in the path; derived ones name the object
            // around it.
            let twice = quoted().filter(|it| message.starts_with("duplicate field") && !path.ends_with(it));
            let field = twice.map_or_else(|| path.to_owned(), |it| format!("{path}.{it}"));
            Problem::field(&field, message)
        }
        None => Problem::field(quoted().unwrap_or(BODY), in_words(told)),
    }
}

/// How much of the deserializer's message is examined, in bytes. The message repeats the input.
const LONGEST_TOLD: usize = 4_000;

/// The deserializer's terms, and their plain words.
const WORDS: &[(&str, &str)] = &[
    ("expected u8", "expected a whole number"),
    ("expected u32", "expected a whole number"),
    ("expected u64", "expected a whole number"),
    ("expected usize", "expected a whole number"),
    ("expected f64", "expected a number"),
    ("expected a sequence", "expected a list"),
    ("expected a map", "expected an object"),
    ("invalid type: sequence", "invalid type: list"),
    ("invalid type: map", "invalid type: object"),
];

fn in_words(message: &str) -> String {
    let message = message.split(" at line ").next().unwrap_or_default();
    let message = message.split_once("expected struct ").map_or_else(
        || message.to_owned(),
        // The name of our own type means nothing to users.
        |(before, _)| format!("{before}expected an object"),
    );
    let message = WORDS.iter().fold(message, |message, (from, to)| message.replace(from, to));
    meant(&message).unwrap_or(message)
}

/// For an unknown field, a suggestion of the field probably meant instead of the whole list.
fn meant(message: &str) -> Option<String> {
    let (unknown, known) =
        message.split_once(", expected ").filter(|(it, _)| it.starts_with("unknown field"))?;
    let given = unknown.split('`').nth(1)?;
    let nearest = nearest(given, known.split('`').skip(1).step_by(2))?;
    Some(format!("{unknown}; did you mean `{nearest}`?"))
}

/// Fields that are checked later.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Once(entries) = Once::<AnyValue>::deserialize(deserializer)?;
        Ok(Fields(entries.into_iter().map(|(name, AnyValue(value))| (name, value)).collect()))
    }
}

/// The query string.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let read = Query::<T>::from_request_parts(parts, app).await;
        read.map(|Query(params)| Params(params)).map_err(|error| {
            let path = parts.extensions.get::<MatchedPath>().map_or("", MatchedPath::as_str);
            let query = parts.uri.query().unwrap_or_default();
            app.known_fields.in_query(unreadable_query(&error.body_text()), &parts.method, path, query)
        })
    }
}

fn unreadable_query(text: &str) -> Problem {
    let text = &text[..text.floor_char_boundary(LONGEST_TOLD)];
    let told = text.split_once("query string: ").map_or(text, |(_, told)| told);
    match told.split_once(": ").filter(|(path, _)| !path.contains(' ')) {
        Some((path, message)) => Problem::parameter(path, in_words(message)),
        None => Problem::parameter(told.split('`').nth(1).unwrap_or("query"), in_words(told)),
    }
}

/// The discussion named in the path.
#[derive(IntoParams)]
#[into_params(names("id"), parameter_in = Path)]
pub(crate) struct Id(
    /// The discussion
    #[param(value_type = String, format = "uuid")]
    pub(crate) DiscussionId,
);

impl FromRequestParts<App> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(written) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::new(problem::NOT_FOUND, "there is no such discussion"))?;
        let unknown =
            |_| Problem::new(problem::NOT_FOUND, format!("there is no discussion {}", in_short(&written)));
        written.parse().map(Id).map_err(unknown)
    }
}

/// The session named in the path.
#[derive(IntoParams)]
#[into_params(names("session"), parameter_in = Path)]
pub(crate) struct SessionId(
    /// The session
    #[param(value_type = String, format = "uuid")]
    pub(crate) Uuid,
);

impl FromRequestParts<App> for SessionId {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(written) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::new(problem::NOT_FOUND, "there is no such session"))?;
        let unknown =
            |_| Problem::new(problem::NOT_FOUND, format!("there is no session {}", in_short(&written)));
        written.parse().map(SessionId).map_err(unknown)
    }
}
