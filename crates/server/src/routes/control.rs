//! Actions on a discussion. Each is written to the audit log with the name of the caller.

use axum::{
    Json,
    extract::State,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use quorum::{
    Discussion, Scope, Steered,
    model::{command::Command, id::DiscussionId, lifecycle::Lifecycle, ruling::Ruling},
};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::{
    app::App,
    body::{Body, Id},
    guard::Caller,
    problem::{self, Problem},
    routes::discussions,
};

/// An empty body.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EmptyBody {}

async fn steer(app: &App, scope: &Scope, id: DiscussionId, command: Command) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let action = command.name();
    let steered = discussion.steer(command).await?;
    taken(app, &discussion, action, steered)
}

/// The response to an action: it is under way, or it had nothing to act on.
fn taken(app: &App, discussion: &Discussion, action: &str, steered: Steered) -> Result<Response, Problem> {
    match steered {
        Steered::Here(handle) => app.hub.follow(discussion, &handle),
        Steered::Sent { .. } | Steered::Recorded => {}
        Steered::Idle(state) if state.lifecycle == Lifecycle::Paused => {}
        Steered::Idle(_) => {
            let message =
                format!("discussion {} is not running, so there is nothing to {action}", discussion.id());
            return Err(Problem::new(problem::WRONG_STATE, message));
        }
    }
    Ok(CommandAccepted::of(discussion.id(), action))
}

/// An accepted action on a discussion.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CommandAccepted {
    /// The discussion's id.
    #[schema(value_type = String, format = "uuid")]
    discussion_id: DiscussionId,
    /// The action: `pause`, `say`, …
    action: String,
    /// `queued` if it waits until a server has room for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = discussions::PlacedStatus)]
    status: Option<discussions::PlacedStatus>,
}

impl CommandAccepted {
    fn of(discussion_id: DiscussionId, action: &str) -> Response {
        let body = CommandAccepted { discussion_id, action: action.to_owned(), status: None };
        (StatusCode::ACCEPTED, Json(body)).into_response()
    }

    fn queued(discussion_id: DiscussionId, action: &str) -> Response {
        let status = Some(discussions::PlacedStatus::Queued);
        let body = CommandAccepted { discussion_id, action: action.to_owned(), status };
        (StatusCode::ACCEPTED, Json(body)).into_response()
    }
}

/// Pause a discussion once the calls under way are done
///
/// No answer is lost and no further calls are made until it is resumed, even after a restart.
#[utoipa::path(
    post, path = "/api/discussions/{id}/pause", tag = "control", params(Id),
    responses((status = 202, description = "It will pause", body = CommandAccepted))
)]
pub(super) async fn pause(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    _: Body<EmptyBody>,
) -> Result<Response, Problem> {
    steer(&app, &scope, id, Command::Pause).await
}

/// Resume a discussion that was paused, failed, or interrupted
///
/// Answers recorded before are not asked for again.
#[utoipa::path(
    post, path = "/api/discussions/{id}/resume", tag = "control", params(Id),
    responses((status = 202, description = "It goes on, or waits until a server has room for it", body = CommandAccepted))
)]
pub(super) async fn resume(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    _: Body<EmptyBody>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    if app.hub.has_room() && app.quorum().has_room(scope.tenant()).await? {
        let resumed = discussion.resume().await?;
        return taken(&app, &discussion, "resume", resumed);
    }
    discussion.queue_resume(app.limits().queued()).await?;
    Ok(CommandAccepted::queued(discussion.id(), "resume"))
}

/// Stop a discussion and conclude with what was said
///
/// The result is made from the answers so far, with one more call.
#[utoipa::path(
    post, path = "/api/discussions/{id}/stop", tag = "control", params(Id),
    responses((status = 202, description = "It will be concluded", body = CommandAccepted))
)]
pub(super) async fn stop(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    _: Body<EmptyBody>,
) -> Result<Response, Problem> {
    steer(&app, &scope, id, Command::Stop).await
}

/// Abort a discussion at once, without further calls
///
/// What was said so far is kept, but there is no conclusion.
#[utoipa::path(
    post, path = "/api/discussions/{id}/abort", tag = "control", params(Id),
    responses((status = 202, description = "It ends", body = CommandAccepted))
)]
pub(super) async fn abort(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    _: Body<EmptyBody>,
) -> Result<Response, Problem> {
    steer(&app, &scope, id, Command::Abort).await
}

/// A person's turn.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(example = json!({ "text": "Spaces. The parser says so.", "participant": "me" }))]
pub(crate) struct Say {
    /// The text.
    text: String,
    /// The seat; by default the one whose turn it is.
    #[serde(default)]
    participant: Option<String>,
    /// The user, if the seat belongs to one.
    #[serde(default)]
    user_id: Option<String>,
}

/// Take a person's turn without waiting for what follows
///
/// Refused, with nothing changed, if it is not that person's turn.
#[utoipa::path(
    post, path = "/api/discussions/{id}/say", tag = "control", params(Id),
    request_body = Say, responses((status = 202, description = "It was said", body = CommandAccepted))
)]
pub(super) async fn say(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Body(say): Body<Say>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let said = discussion.say(say.participant.as_deref(), &say.text, say.user_id.as_deref()).await?;
    taken(&app, &discussion, "say", said)
}

/// A decision.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "choice": "swap", "candidate": "glm" }))]
pub(crate) struct Decision {
    /// The kind of decision; by default the one that is awaited.
    #[serde(default)]
    kind: Option<String>,
    /// The choice: one of the awaited choices.
    choice: String,
    /// The participant that the choice names, if it names one.
    #[serde(default)]
    candidate: Option<String>,
}

/// Make the decision that a discussion waits for
///
/// `rulingAwaited` of the discussion lists the subject, the choices, and the participants that may
/// be named.
#[utoipa::path(
    post, path = "/api/discussions/{id}/ruling", tag = "control", params(Id),
    request_body = Decision, responses((status = 202, description = "It goes on, or waits until a server has room for it", body = CommandAccepted))
)]
pub(super) async fn rule(
    State(app): State<App>,
    Caller(scope): Caller,
    Id(id): Id,
    Body(decision): Body<Decision>,
) -> Result<Response, Problem> {
    let discussion = scope.discussion(id).await?;
    let Decision { kind, choice, candidate } = decision;
    let kind = match kind {
        Some(kind) => kind,
        None => awaited_kind(&discussion).await?,
    };
    let ruled = discussion.rule(Ruling { kind, choice, candidate }).await?;
    taken(&app, &discussion, "rule", ruled)
}

/// The kind of the awaited decision. If none is awaited, the attempt is refused and audited like
/// any other.
async fn awaited_kind(discussion: &Discussion) -> Result<String, Problem> {
    let awaited = discussion.state().await?.ruling.as_ref().map(|it| it.kind.clone());
    Ok(awaited.unwrap_or_else(|| "any".to_owned()))
}

/// A note.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "text": "Mind the code that is pasted into mails." }))]
pub(crate) struct Note {
    /// The text.
    text: String,
}

/// Add a note that is shown to everyone asked from now on
///
/// It takes no participant's turn, and answers that are under way do not take it into account.
#[utoipa::path(
    post, path = "/api/discussions/{id}/note", tag = "control", params(Id),
    request_body = Note, responses((status = 202, description = "It will be shown", body = CommandAccepted))
)]
pub(super) async fn note(
    Caller(scope): Caller,
    Id(id): Id,
    Body(note): Body<Note>,
) -> Result<Response, Problem> {
    scope.discussion(id).await?.note(&note.text).await?;
    Ok(CommandAccepted::of(id, "note"))
}
