//! Sessions: folders for discussions that belong together.

use axum::{
    Json,
    http::StatusCode,
    response::{IntoResponse, Response},
};
use quorum::{model::time::Timestamp, request::limits::LONGEST_SESSION};
use serde::Deserialize;
use utoipa::{IntoParams, ToSchema};

use crate::{
    body::{Body, Params, SessionId},
    guard::Caller,
    problem::Problem,
    routes::{
        cursor::PageCursor,
        discussions::{MOST_LISTED, limit},
    },
    wire::answers,
};

/// List sessions: folders for discussions that belong together
///
/// The id goes into `sessionId` of an order, and of a list. If there may be more, the `Link` header
/// has the next page.
#[utoipa::path(
    get, path = "/api/sessions", tag = "catalogue", params(SessionsWanted),
    responses((status = 200, description = "Newest first", body = Vec<answers::Session>, example = json!([{
        "sessionId": "01890000-0000-7000-8000-0000000000aa", "name": "Billing", "createdAt": "2026-11-15T09:00:00Z",
    }])))
)]
pub(super) async fn sessions(
    Caller(scope): Caller,
    Params(wanted): Params<SessionsWanted>,
) -> Result<Response, Problem> {
    let limit = limit(wanted.limit.or(Some(MOST_LISTED)))?;
    let after = PageCursor::read(wanted.cursor.as_deref())?.map(|it| (Timestamp(it.at), it.id));
    let sessions = scope.sessions_after(after, limit).await?;
    let next = sessions.last().filter(|_| sessions.len() == limit);
    let next = next.map(|it| PageCursor { at: it.cursor.0.0, id: it.cursor.1 });
    Ok((next.map(|it| it.link("/api/sessions")), Json(sessions)).into_response())
}

/// The part of the list of sessions.
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(crate) struct SessionsWanted {
    /// The maximum number of entries; 200 without one.
    limit: Option<usize>,
    /// Only sessions after this place of the list: the `cursor` of the `Link` header of the page
    /// before.
    cursor: Option<String>,
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
