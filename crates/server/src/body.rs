//! What comes in: bodies, query strings and ids, each read in one place, each refusal naming the field.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request, rejection::BytesRejection},
    http::{StatusCode, header, request::Parts},
};
use quorum::model::id::DiscussionId;
use serde::de::DeserializeOwned;

use crate::{
    house::App,
    problem::{self, Problem},
};

/// A body of JSON.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let has_type = request.headers().contains_key(header::CONTENT_TYPE);
        let bytes = received(request, app).await?;
        if !has_type && !bytes.is_empty() {
            return Err(Problem::new(problem::NOT_JSON, "send Content-Type: application/json"));
        }
        let read = if bytes.is_empty() { Json::from_bytes(b"{}") } else { Json::from_bytes(&bytes) };
        read.map(|Json(body)| Body(body)).map_err(|error| unreadable(&error.body_text()))
    }
}

async fn received(request: Request, app: &App) -> Result<Bytes, Problem> {
    let reading = tokio::time::timeout(app.limits().body_time, Bytes::from_request(request, app));
    match reading.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(not_received(&error)),
        Err(_) => Err(Problem::new(problem::TOO_SLOW, "the body did not come in time; send it at once")),
    }
}

fn not_received(error: &BytesRejection) -> Problem {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        return Problem::new(problem::TOO_LARGE, "the body is too large; at most 1 MiB is taken");
    }
    Problem::new(problem::INVALID, "the body broke off")
}

/// Makes a field's name of what the reader says: `a.b: message`, or a field in backticks.
fn unreadable(text: &str) -> Problem {
    let told = text.split_once("target type: ").map_or(text, |(_, told)| told);
    let is_path = |it: &&str| !it.is_empty() && !it.contains(' ') && *it != ".";
    let path = told.split_once(": ").map(|(path, _)| path).filter(is_path);
    let quoted = || told.split('`').nth(1).filter(|_| told.contains("field `"));
    let at = |text: &str| text.split(" at line ").next().unwrap_or_default().to_owned();
    match path {
        Some(path) => Problem::field(path, at(&told[path.len() + 2..])),
        None => Problem::field(quoted().unwrap_or("body"), at(told)),
    }
}

/// What stands behind the question mark.
pub(crate) struct Params<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequestParts<App> for Params<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let read = Query::<T>::from_request_parts(parts, app).await;
        read.map(|Query(params)| Params(params)).map_err(|error| {
            let text = error.body_text();
            let told = text.split_once("query string: ").map_or(text.as_str(), |(_, told)| told);
            match told.split_once(": ").filter(|(path, _)| !path.contains(' ')) {
                Some((path, message)) => Problem::field(path, message),
                None => Problem::field(told.split('`').nth(1).unwrap_or("query"), told),
            }
        })
    }
}

/// The discussion named in the path.
pub(crate) struct Id(pub(crate) DiscussionId);

impl FromRequestParts<App> for Id {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Problem> {
        let Path(written) = Path::<String>::from_request_parts(parts, app)
            .await
            .map_err(|_| Problem::new(problem::NOT_FOUND, "there is no such discussion"))?;
        let unknown = |_| Problem::new(problem::NOT_FOUND, format!("there is no discussion {written}"));
        written.parse().map(Id).map_err(unknown)
    }
}
