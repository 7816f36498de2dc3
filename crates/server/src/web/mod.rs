//! The web page: a shell for each path, and its files, all embedded in this program.
//!
//! The shells contain no private data except what the caller may read anyway, and that only in
//! `noscript`. So they need no token: the page asks for one, and sends it in a header that browsers
//! would not send by themselves.

mod assets;
mod shell;

use axum::{
    Router,
    extract::{Path, Request, State},
    http::HeaderMap,
    response::{Html, Response},
    routing::get,
};
use quorum::{Scope, export, model::id::DiscussionId};
use tower_http::compression::CompressionLayer;

use crate::{app::App, guard::MaybeCaller, problem::Problem, wording::to_see_it_again};

/// How many discussions are listed without scripts.
const LISTED: usize = 50;

/// The routes of the page. Only its files are compressed: they are the same for everyone, so their
/// length reveals nothing.
pub(crate) fn routes() -> Router<App> {
    Router::new()
        .route("/", get(home))
        .route("/d/{id}", get(discussion))
        .route("/compare", get(compare))
        .route("/calibration", get(calibration))
        .route("/assets/{name}", get(asset).layer(CompressionLayer::new()))
}

/// Whether a path is one of the shells, and so needs no token.
pub(crate) fn is_shell(path: &str) -> bool {
    ["/", "/compare", "/calibration"].contains(&path)
        || path.starts_with("/d/")
        || path.starts_with("/assets/")
}

async fn home(MaybeCaller(scope): MaybeCaller) -> Result<Html<String>, Problem> {
    let listed = match scope {
        Some(scope) => scope.list(LISTED, None).await?,
        None => Vec::new(),
    };
    Ok(shell::page("Quorum", &shell::list(&listed)))
}

async fn discussion(
    MaybeCaller(scope): MaybeCaller,
    Path(id): Path<String>,
) -> Result<Html<String>, Problem> {
    let (title, body) = readable(scope, &id).await.unwrap_or_else(shell::unreadable);
    Ok(shell::page(&title, &body))
}

/// The discussion as a document, if it exists and this caller may read it.
async fn readable(scope: Option<Scope>, id: &str) -> Option<(String, String)> {
    let id: DiscussionId = id.parse().ok()?;
    let discussion = scope?.discussion(id).await.ok()?;
    let (state, title) = (discussion.state().await.ok()?, discussion.title().await.ok()?);
    let extras = export::Extras { commands: to_see_it_again(id), title, ..export::Extras::default() };
    let title = export::document::title(&state, &extras);
    Some((format!("{title} · Quorum"), shell::reading(&export::document::body(&state, &extras, "/d/"))))
}

async fn compare() -> Html<String> {
    shell::page("Compare · Quorum", shell::COMPARE)
}

async fn calibration() -> Html<String> {
    shell::page("Calibration · Quorum", shell::CALIBRATION)
}

async fn asset(
    State(_): State<App>,
    Path(name): Path<String>,
    request: Request,
) -> Result<Response, Problem> {
    let headers: &HeaderMap = request.headers();
    assets::answer(&name, headers)
}
