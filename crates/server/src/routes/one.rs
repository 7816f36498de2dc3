//! One discussion: result, export and removal.

use axum::{
    Json,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion, export,
    model::{excerpt::in_short, outcome::Outcome},
    request::limits::LONGEST_SESSION,
};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::{
    body::{Body, Id, Params},
    guard::Caller,
    problem::Problem,
    wire::answers,
    wording,
};

/// Remove a discussion with its sub-discussions
///
/// A running discussion must be stopped or aborted first.
#[utoipa::path(
    delete, path = "/api/discussions/{id}", tag = "discussions", params(Id),
    responses((status = 204, description = "It is gone"))
)]
pub(super) async fn delete(Caller(scope): Caller, Id(id): Id) -> Result<StatusCode, Problem> {
    scope.discussion(id).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The name of a discussion in lists.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "title": "Billing, first try" }))]
pub(crate) struct Title {
    /// The name. Empty or left out, lists show the topic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(max_length = 200)]
    title: Option<String>,
}

/// Get the name of a discussion in lists
///
/// Without a title, lists show the topic.
#[utoipa::path(
    get, path = "/api/discussions/{id}/title", tag = "discussions", params(Id),
    responses((status = 200, description = "The name, if a person gave it one", body = Title))
)]
pub(super) async fn title(Caller(scope): Caller, Id(id): Id) -> Result<Json<Title>, Problem> {
    Ok(Json(Title { title: scope.discussion(id).await?.title().await? }))
}

/// Rename a discussion
///
/// The name is for lists: the topic, the record and the search index stay as they are. An empty
/// name shows the topic again.
#[utoipa::path(
    post, path = "/api/discussions/{id}/title", tag = "discussions", params(Id), request_body = Title,
    responses((status = 204, description = "It is renamed"))
)]
pub(super) async fn rename(
    Caller(scope): Caller,
    Id(id): Id,
    Body(given): Body<Title>,
) -> Result<StatusCode, Problem> {
    let discussion = scope.discussion(id).await?;
    let title = given.title.unwrap_or_default();
    if title.chars().count() > LONGEST_SESSION {
        return Err(Problem::field("title", format!("has at most {LONGEST_SESSION} characters")));
    }
    discussion.rename(&title).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Get the result, as far as there is one
///
/// While the discussion runs, `success` is false and there is no synthesis yet.
#[utoipa::path(
    get, path = "/api/discussions/{id}/result", tag = "discussions", params(Id),
    responses((status = 200, description = "The result document", body = answers::Result, example = json!({
        "success": true, "topic": "Tabs or spaces?", "synthesis": "Spaces, by three to one.", "status": "completed",
        "provenance": [{ "start": 0, "end": 24, "level": "supported", "sources": [{
            "participant": "claude", "round": 2, "step": "2/speaking/claude", "start": 12, "end": 60,
            "score": 0.71, "by": "marker",
        }] }],
    })))
)]
pub(super) async fn result(Caller(scope): Caller, Id(id): Id) -> Result<Json<Outcome>, Problem> {
    Ok(Json(scope.discussion(id).await?.outcome().await?))
}

/// The export format.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Form {
    /// `markdown`, `html`, `json` or `jsonl`.
    #[param(inline, schema_with = formats)]
    format: Option<String>,
    /// Whether each sentence of the answer is followed by who said what it rests on, in Markdown.
    sources: Option<bool>,
}

fn formats() -> utoipa::openapi::schema::Object {
    let names = export::FORMATS.iter().map(|it| it.name);
    utoipa::openapi::schema::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::String)
        .enum_values(Some(names))
        .build()
}

/// Export a discussion
///
/// As Markdown, as a self-contained page, as the result document, or as the list of all events.
/// Text of people and models adds no markup of its own to any of them.
#[utoipa::path(
    get, path = "/api/discussions/{id}/export", tag = "discussions",
    params(Id, Form),
    responses((status = 200, description = "The document, as a file", content(
        (String = "text/markdown"), (String = "text/html"), (answers::Result = "application/json"), (String = "application/jsonl")
    )))
)]
pub(super) async fn export(
    Caller(scope): Caller,
    Id(id): Id,
    Params(form): Params<Form>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let name = form.format.as_deref().unwrap_or("markdown");
    let format = export::named(name).or_else(|| export::ending(name)).ok_or_else(|| {
        let name = in_short(format_args!("{name:?}"));
        let names: Vec<&str> = export::FORMATS.iter().map(|it| it.name).collect();
        Problem::parameter("format", format!("there is no format {name}; there are {}", names.join(", ")))
    })?;
    written(&discussion, format, form.sources.unwrap_or_default()).await
}

async fn written(
    discussion: &Discussion,
    format: &export::Format,
    sources: bool,
) -> Result<Response, Problem> {
    let extras = export::Extras {
        commands: wording::to_see_it_again(discussion.id()),
        sources,
        ..export::Extras::default()
    };
    let text = discussion.export_with(format, extras).await?;
    let kind = match format.name {
        "html" => "text/html; charset=utf-8",
        "json" => "application/json",
        "jsonl" => "application/jsonl",
        _ => "text/markdown; charset=utf-8",
    };
    let file = format!("attachment; filename=\"discussion-{}.{}\"", discussion.id(), format.ending);
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)], text).into_response())
}
