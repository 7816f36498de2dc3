//! One discussion: shown, spoken in, written down, removed.

use std::time::Duration;

use axum::{
    Json,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion, Steered, export,
    model::{lifecycle::Lifecycle, outcome::Outcome, state::State as Standing},
};
use serde::Deserialize;
use serde_json::Value;
use utoipa::{IntoParams, ToSchema};

use crate::{
    app::App,
    body::{Body, Id, Params},
    guard::Caller,
    problem::Problem,
    wire::{project::Conversation, state},
    wording,
};

/// How long whoever speaks may have to wait for their next turn before they are told how far it is.
const PATIENCE: Duration = Duration::from_secs(600);

/// How often it is looked whether a discussion that another runs has come to a person's turn.
const LOOK: Duration = Duration::from_millis(100);

/// A discussion as its table sees it
///
/// Everything that was said, how often each has spoken, who sits where, and whose turn it is.
#[utoipa::path(
    get, path = "/api/discussions/{id}", tag = "discussions", params(Id),
    responses((status = 200, description = "Who said what, and whose turn it is", body = Conversation))
)]
pub(super) async fn show(Caller(scope): Caller, Id(id): Id) -> Result<Json<Conversation>, Problem> {
    let discussion = scope.discussion(id).await?;
    Ok(Json(Conversation::of(&discussion.state().await?)))
}

/// A person's message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "message": "Spaces. The parser says so.", "userId": "ann" }))]
pub(crate) struct Message {
    /// What is said.
    #[schema(min_length = 1, max_length = 100_000)]
    message: String,
    /// Who says it.
    #[schema(min_length = 1, max_length = 200)]
    user_id: String,
    /// For whom; kept for clients that send it.
    #[serde(default)]
    #[schema(value_type = Option<String>)]
    #[expect(dead_code, reason = "clients send it; whose a discussion is, is the token's to say")]
    organization_id: Option<String>,
}

/// Take a person's turn, and wait for the next one
///
/// The models speak until it is a person's turn again, or the discussion is over; then the answer comes.
#[utoipa::path(
    post, path = "/api/discussions/{id}", tag = "discussions", params(Id),
    request_body = Message,
    responses((status = 200, description = "Who said what, and whose turn it is", body = Conversation))
)]
pub(super) async fn speak(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Body(message): Body<Message>,
) -> Result<Json<Conversation>, Problem> {
    let discussion = scope.discussion(id).await?;
    let Message { message, user_id, .. } = message;
    if user_id.trim().is_empty() {
        return Err(Problem::field("userId", "is empty; say who speaks"));
    }
    let seat = seat_of(&discussion.state().await?, &user_id);
    let said = discussion.say(seat.as_deref(), &message, Some(&user_id)).await?;
    if let Steered::Here(handle) = &said {
        app.hub.follow(&discussion, handle);
    }
    // However it ended, what there is now is the answer.
    let _ = tokio::time::timeout(PATIENCE, app.hub.until_closing(rests(&discussion, &said))).await;
    Ok(Json(Conversation::of(&discussion.state().await?)))
}

/// Until it is a person's turn, or nobody's any more.
async fn rests(discussion: &Discussion, said: &Steered) {
    if let Steered::Here(handle) = said {
        let _ = handle.finished().await;
        return;
    }
    // Whoever runs it took the word; where that is another process, only the record tells.
    while let Ok(state) = discussion.state().await {
        let waits = !state.awaiting.is_empty() || state.debate.vacancy.is_some();
        if waits || !state.lifecycle.is_active() || state.lifecycle == Lifecycle::Paused {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The seat this user speaks for, where several are awaited.
fn seat_of(standing: &Standing, user: &str) -> Option<String> {
    let awaited = || standing.awaiting.iter().map(|it| it.participant.as_str());
    let is_theirs = |name: &&str| {
        let person = standing.spec.seat(name).and_then(|it| it.person.as_ref());
        person.is_some_and(|it| it.user.as_deref() == Some(user))
    };
    awaited().find(is_theirs).or_else(|| awaited().find(|name| *name == user)).map(str::to_owned)
}

/// Remove a discussion with everything below it
///
/// One that is being run must be stopped or aborted first.
#[utoipa::path(
    delete, path = "/api/discussions/{id}", tag = "discussions", params(Id),
    responses((status = 204, description = "It is gone"))
)]
pub(super) async fn delete(Caller(scope): Caller, Id(id): Id) -> Result<StatusCode, Problem> {
    scope.discussion(id).await?.delete().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Where a discussion stands, in full
///
/// At any moment: phase, rounds, what was said and voted, tokens by participant, who is awaited, what it cost, and every transition.
#[utoipa::path(
    get, path = "/api/discussions/{id}/state", tag = "discussions", params(Id),
    responses((status = 200, description = "Phase, rounds, votes, tokens, transitions", body = Object, example = json!({
        "id": "01890000-0000-7000-8000-000000000001", "phase": "model-b-turn", "lifecycle": "running", "currentRound": 1,
        "totalTokensUsed": { "modelA": { "prompt": 120, "completion": 80 }, "modelB": { "prompt": 0, "completion": 0 } },
    })))
)]
pub(super) async fn state(Caller(scope): Caller, Id(id): Id) -> Result<Json<Value>, Problem> {
    Ok(Json(state::state(&scope.discussion(id).await?.state().await?)))
}

/// The result, or as much as there is
///
/// While it goes on, `success` is false and there is no synthesis yet.
#[utoipa::path(
    get, path = "/api/discussions/{id}/result", tag = "discussions", params(Id),
    responses((status = 200, description = "The result document", body = Object, example = json!({
        "success": true, "pattern": "synthesis", "topic": "Tabs or spaces?", "synthesis": "Spaces, by three to one.", "status": "completed",
    })))
)]
pub(super) async fn result(Caller(scope): Caller, Id(id): Id) -> Result<Json<Outcome>, Problem> {
    Ok(Json(scope.discussion(id).await?.outcome().await?))
}

/// In which form.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct Form {
    /// `markdown`, `html`, `json` or `jsonl`.
    #[param(inline, schema_with = formats)]
    format: Option<String>,
}

fn formats() -> utoipa::openapi::schema::Object {
    let names = export::FORMATS.iter().map(|it| it.name);
    utoipa::openapi::schema::ObjectBuilder::new()
        .schema_type(utoipa::openapi::schema::Type::String)
        .enum_values(Some(names))
        .build()
}

/// Write a discussion down
///
/// As Markdown, as a page that stands alone, as the result document, or as every event there was. What people and models wrote is text in all of them.
#[utoipa::path(
    get, path = "/api/discussions/{id}/export", tag = "discussions",
    params(Id, Form),
    responses((status = 200, description = "The document, as a file", content(
        (String = "text/markdown"), (String = "text/html"), (Object = "application/json"), (String = "application/jsonl")
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
        let names: Vec<&str> = export::FORMATS.iter().map(|it| it.name).collect();
        Problem::parameter("format", format!("there is no format {name:?}; there are {}", names.join(", ")))
    })?;
    written(&discussion, format).await
}

async fn written(discussion: &Discussion, format: &export::Format) -> Result<Response, Problem> {
    let text = discussion.export(format, &wording::to_see_it_again(discussion.id())).await?;
    let kind = match format.name {
        "html" => "text/html; charset=utf-8",
        "json" => "application/json",
        "jsonl" => "application/jsonl",
        _ => "text/markdown; charset=utf-8",
    };
    let file = format!("attachment; filename=\"discussion-{}.{}\"", discussion.id(), format.ending);
    Ok(([(header::CONTENT_TYPE, kind.to_owned()), (header::CONTENT_DISPOSITION, file)], text).into_response())
}
