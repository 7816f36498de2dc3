//! `GET` and `POST /api/discussions/{id}`: reads a discussion of people and models, and speaks in
//! it (C05).

use std::time::Duration;

use axum::{Json, extract::State};
use quorum::{
    Discussion, Steered,
    model::{lifecycle::Lifecycle, state::State as DiscussionState},
};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    app::App,
    body::{Body, Id, aside},
    guard::Caller,
    problem::Problem,
    seeds::conversation::Conversation,
};

/// How long a speaker waits for the next turn of a person before getting the current state.
const TIMEOUT: Duration = Duration::from_secs(600);

/// The poll interval for a discussion that another process runs.
const LOOK: Duration = Duration::from_millis(100);

/// Get a discussion as a conversation
///
/// All contributions, the number of turns of each participant, the seating order, and whose turn it
/// is.
#[utoipa::path(
    get, path = "/api/discussions/{id}", tag = "discussions", params(Id),
    responses((status = 200, description = "Who said what, and whose turn it is", body = Conversation))
)]
pub(super) async fn show(Caller(scope): Caller, Id(id): Id) -> Result<Json<Conversation>, Problem> {
    conversation(&scope.discussion(id).await?).await
}

async fn conversation(discussion: &Discussion) -> Result<Json<Conversation>, Problem> {
    let state = discussion.state().await?;
    aside(move || Json(Conversation::of(&state))).await
}

/// A person's message.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "message": "Spaces. The parser says so.", "userId": "ann" }))]
pub(crate) struct Message {
    /// The text.
    message: String,
    /// The user who speaks.
    user_id: String,
    /// The addressee; accepted for clients that send it.
    #[serde(default)]
    #[expect(dead_code, reason = "clients send it; whose a discussion is, is the token's to say")]
    organization_id: Option<String>,
}

/// Take a person's turn, and wait for the next one
///
/// The models speak until it is a person's turn again, or the discussion is over; then the response
/// is sent.
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
        return Err(Problem::field("userId", "is empty; name the speaker"));
    }
    let seat = seat_of(&*discussion.state().await?, &user_id);
    let said = discussion.say(seat.as_deref(), &message, Some(&user_id)).await?;
    if let Steered::Here(handle) = &said {
        app.hub.follow(&discussion, handle);
    }
    // However the wait ended, the response is the current state.
    let _ = tokio::time::timeout(TIMEOUT, app.hub.until_closing(rests(&discussion, &said))).await;
    conversation(&discussion).await
}

/// Waits until it is a person's turn, or the discussion is at rest.
async fn rests(discussion: &Discussion, said: &Steered) {
    if let Steered::Here(handle) = said {
        let _ = handle.finished().await;
        return;
    }
    // The running process took the message; if that is another process, only the record shows it.
    while let Ok(state) = discussion.state().await {
        let waits = !state.awaiting.is_empty() || state.ruling.is_some();
        if waits || !state.lifecycle.is_active() || state.lifecycle == Lifecycle::Paused {
            return;
        }
        tokio::time::sleep(LOOK).await;
    }
}

/// The seat this user speaks for, if several are awaited.
fn seat_of(state: &DiscussionState, user: &str) -> Option<String> {
    let awaited = || state.awaiting.iter().map(|it| it.participant.as_str());
    let is_theirs = |name: &&str| {
        let person = state.spec.seat(name).and_then(|it| it.person.as_ref());
        person.is_some_and(|it| it.user.as_deref() == Some(user))
    };
    awaited().find(is_theirs).or_else(|| awaited().find(|name| *name == user)).map(str::to_owned)
}
