//! Sessions: folders for discussions that belong together.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use quorum::{listing::SessionEntry, request::limits::LONGEST_SESSION};
use serde::Deserialize;
use utoipa::ToSchema;

use crate::{
    body::{Body, SessionId},
    guard::Caller,
    problem::Problem,
    wire::answers,
};

/// List sessions: folders for discussions that belong together
///
/// The id goes into `sessionId` of an order, and of a list.
#[utoipa::path(
    get, path = "/api/sessions", tag = "catalogue",
    responses((status = 200, description = "Newest first", body = Vec<answers::Session>, example = json!([{
        "sessionId": "01890000-0000-7000-8000-0000000000aa", "name": "Billing", "createdAt": "2026-11-15T09:00:00Z",
    }])))
)]
pub(super) async fn sessions(Caller(scope): Caller) -> Result<Json<Vec<SessionEntry>>, Problem> {
    Ok(Json(scope.sessions().await?))
}

/// The name of a session.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
#[schema(example = json!({ "name": "Billing" }))]
pub(crate) struct NewSession {
    /// The name of the session.
    name: String,
}

impl NewSession {
    /// The name without white space around it, if it has a length that is allowed.
    fn checked(&self) -> Result<&str, Problem> {
        let name = self.name.trim();
        if name.is_empty() || name.chars().count() > LONGEST_SESSION {
            return Err(Problem::field("name", format!("has 1 to {LONGEST_SESSION} characters")));
        }
        Ok(name)
    }
}

/// Create a session
///
/// Names need not be unique; the id tells sessions apart.
#[utoipa::path(
    post, path = "/api/sessions", tag = "catalogue", request_body = NewSession,
    responses((status = 201, description = "It is there", body = answers::Session, example = json!({
        "sessionId": "01890000-0000-7000-8000-0000000000aa", "name": "Billing", "createdAt": "2026-11-15T09:00:00Z",
    })))
)]
pub(super) async fn create_session(
    Caller(scope): Caller,
    Body(new): Body<NewSession>,
) -> Result<Response, Problem> {
    Ok((StatusCode::CREATED, Json(scope.create_session(new.checked()?).await?)).into_response())
}

/// Rename a session
///
/// Its discussions stay in it.
#[utoipa::path(
    post, path = "/api/sessions/{session}", tag = "catalogue", params(SessionId), request_body = NewSession,
    responses((status = 204, description = "It is renamed"))
)]
pub(super) async fn rename_session(
    Caller(scope): Caller,
    SessionId(id): SessionId,
    Body(new): Body<NewSession>,
) -> Result<StatusCode, Problem> {
    scope.rename_session(id, new.checked()?).await.map_err(Problem::of_session)?;
    Ok(StatusCode::NO_CONTENT)
}

/// Delete a session
///
/// Its discussions must be deleted first, because their records name it.
#[utoipa::path(
    delete, path = "/api/sessions/{session}", tag = "catalogue", params(SessionId),
    responses((status = 204, description = "It is gone"))
)]
pub(super) async fn delete_session(
    Caller(scope): Caller,
    SessionId(id): SessionId,
) -> Result<StatusCode, Problem> {
    scope.delete_session(id).await.map_err(Problem::of_session)?;
    Ok(StatusCode::NO_CONTENT)
}
