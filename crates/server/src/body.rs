//! What comes in: bodies, query strings and ids, each read in one place, each refusal naming the field.

use std::fmt;

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, FromRequestParts, Path, Query, Request, rejection::BytesRejection},
    http::{StatusCode, header, request::Parts},
};
use quorum::{
    config::nearest,
    model::id::DiscussionId,
    request::written::{Named, Once},
};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{DeserializeOwned, Error, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
};
use serde_json::{Map, Value};
use utoipa::IntoParams;

use crate::{
    app::App,
    problem::{self, BODY, Problem},
};

/// A body of JSON: one object.
pub(crate) struct Body<T>(pub(crate) T);

impl<T: DeserializeOwned> FromRequest<App> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, app: &App) -> Result<Self, Problem> {
        let has_type = request.headers().contains_key(header::CONTENT_TYPE);
        let bytes = received(request, app).await?;
        if !has_type && !bytes.is_empty() {
            return Err(Problem::new(problem::NOT_JSON, "send Content-Type: application/json"));
        }
        read(if bytes.is_empty() { b"{}" } else { &bytes }).map(Body)
    }
}

async fn received(request: Request, app: &App) -> Result<Bytes, Problem> {
    let reading = tokio::time::timeout(app.limits().body_time, Bytes::from_request(request, app));
    match reading.await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(error)) => Err(not_received(&error, app.limits().body_bytes)),
        Err(_) => Err(Problem::new(problem::TOO_SLOW, "the body did not come in time; send it at once")),
    }
}

fn not_received(error: &BytesRejection, most: usize) -> Problem {
    if error.status() == StatusCode::PAYLOAD_TOO_LARGE {
        let message = format!("the body is too large; at most {} KiB are taken", most >> 10);
        return Problem::new(problem::TOO_LARGE, message);
    }
    Problem::new(problem::INVALID, "the body broke off")
}

/// Reads one object, or says which of its fields is wrong.
pub(crate) fn read<T: DeserializeOwned>(text: &[u8]) -> Result<T, Problem> {
    let read = Json::<Named<T>>::from_bytes(text);
    read.map(|Json(Named(value))| value).map_err(|error| unreadable(&error.body_text()))
}

/// Makes a field's name of what the reader says: `a.b: message`, or a field in backticks.
fn unreadable(text: &str) -> Problem {
    let told = text.split_once("target type: ").or_else(|| text.split_once("body as JSON: "));
    let told = told.map_or(text, |(_, told)| told);
    let is_path = |it: &&str| !it.is_empty() && !it.contains(' ') && *it != ".";
    let path = told.split_once(": ").map(|(path, _)| path).filter(is_path);
    let quoted = || told.split('`').nth(1).filter(|_| told.contains("field `"));
    match path {
        Some(path) => {
            let message = in_words(&told[path.len() + 2..]);
            // What is read by our own hand is named already; what is derived names the object around it.
            let twice = quoted().filter(|it| message.starts_with("duplicate field") && !path.ends_with(it));
            let field = twice.map_or_else(|| path.to_owned(), |it| format!("{path}.{it}"));
            Problem::field(&field, message)
        }
        None => Problem::field(quoted().unwrap_or(BODY), in_words(told)),
    }
}

/// What the reader calls things, and what people do.
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
        // Its name is ours and nobody else's.
        |(before, _)| format!("{before}expected an object"),
    );
    let message = WORDS.iter().fold(message, |message, (from, to)| message.replace(from, to));
    meant(&message).unwrap_or(message)
}

/// Where a field is unknown: which was probably meant, in the place of the whole list.
fn meant(message: &str) -> Option<String> {
    let (unknown, known) =
        message.split_once(", expected ").filter(|(it, _)| it.starts_with("unknown field"))?;
    let given = unknown.split('`').nth(1)?;
    let nearest = nearest(given, known.split('`').skip(1).step_by(2))?;
    Some(format!("{unknown}; did you mean `{nearest}`?"))
}

/// Fields that are looked at later.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(transparent)]
pub(crate) struct Fields(pub(crate) Map<String, Value>);

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Once::deserialize(deserializer).map(fields)
    }
}

fn fields(Once(entries): Once<Anything>) -> Fields {
    Fields(entries.into_iter().map(|(name, Anything(value))| (name, value)).collect())
}

/// A value in which no object has a key twice; a plain one would keep the last and say nothing.
struct Anything(Value);

impl<'de> Deserialize<'de> for Anything {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AValue).map(Anything)
    }
}

struct AValue;

impl<'de> Visitor<'de> for AValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_unit<E: Error>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Value, A::Error> {
        let mut values = Vec::new();
        while let Some(Anything(value)) = list.next_element()? {
            values.push(value);
        }
        Ok(values.into())
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        Once::deserialize(MapAccessDeserializer::new(map)).map(|once| fields(once).0.into())
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
                Some((path, message)) => Problem::parameter(path, in_words(message)),
                None => Problem::parameter(told.split('`').nth(1).unwrap_or("query"), in_words(told)),
            }
        })
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
        let unknown = |_| Problem::new(problem::NOT_FOUND, format!("there is no discussion {written}"));
        written.parse().map(Id).map_err(unknown)
    }
}
