//! Starts the discussion of a request, or joins the one that it repeats.

use axum::http::{HeaderMap, StatusCode};
use quorum::{Discussion, Error, OrderKey, Scope, model::lifecycle::Lifecycle};
use serde_json::{Map, Value};
use uuid::Uuid;

use crate::{
    app::App,
    problem::{self, Problem},
    v1::{
        attendance::{Client, Repetition},
        fault::Fault,
        order::{Waiting, ordered},
        wanted::Wanted,
    },
    wire::order::order_key,
};

/// The `Retry-After` in seconds when all run slots are taken.
const FULL_FOR_S: u64 = 5;

/// The header in which the vendors' own clients count repetitions.
const RETRIES: &str = "x-stainless-retry-count";

/// A request as it was sent.
pub(crate) struct Sent<'r> {
    pub(crate) path: &'static str,
    pub(crate) headers: &'r HeaderMap,
    pub(crate) body: &'r Map<String, Value>,
}

/// The discussion of this request, with its client in attendance. In a task of its own: a client
/// that leaves meanwhile must not leave a discussion behind that nobody attends.
pub(crate) async fn start(
    app: &App,
    scope: &Scope,
    wanted: &Wanted,
    sent: Sent<'_>,
    waiting: Waiting,
) -> Result<Client, Fault> {
    let digest = digest(scope, &sent);
    let key = order_key(sent.headers, sent.path, sent.body)?;
    let start = Start {
        app: app.clone(),
        scope: scope.clone(),
        wanted: wanted.clone(),
        digest,
        key,
        is_repeated: is_repeated(sent.headers),
    };
    match tokio::spawn(start.begin(waiting)).await {
        Ok(started) => started,
        Err(error) => Err(Error::Fault(error.to_string()).into()),
    }
}

struct Start {
    app: App,
    scope: Scope,
    wanted: Wanted,
    digest: String,
    key: Option<OrderKey>,
    is_repeated: bool,
}

impl Start {
    async fn begin(self, waiting: Waiting) -> Result<Client, Fault> {
        let Start { app, scope, wanted, digest, key, is_repeated } = self;
        let (order, is_repetition) =
            (key.as_ref().map_or(&digest, |it| &it.key), is_repeated || key.is_some());
        let _turn = app.desk.turn(order, is_repetition).await;
        let order = Order { digest, key, is_repeated };
        begun(&app, &scope, &wanted, order, waiting).await
    }
}

struct Order {
    digest: String,
    key: Option<OrderKey>,
    is_repeated: bool,
}

async fn begun(
    app: &App,
    scope: &Scope,
    wanted: &Wanted,
    Order { digest, key, is_repeated }: Order,
    waiting: Waiting,
) -> Result<Client, Fault> {
    // Two equal orders in the background are two discussions, unless one is declared a repetition.
    if key.is_none() && (waiting != Waiting::Not || is_repeated) {
        let repetition = if is_repeated { Repetition::Declared } else { Repetition::Possible };
        if let Some(client) = app.desk.join(&digest, repetition) {
            return Ok(client);
        }
    }
    let is_detached = wanted.panel.detach || waiting == Waiting::Not;
    let attended = (!is_detached).then(|| digest.clone());
    let order = ordered(app, scope, wanted, attended, waiting).await?;
    let Some(slot) = app.run_slot(scope.tenant()).await? else {
        if !is_detached {
            return Err(full(app).into());
        }
        let most = app.limits().queued();
        let (discussion, _) = scope.queue_once(order.spec, key.as_ref(), most).await.map_err(too_long)?;
        return joined(app, &discussion, &digest, is_detached).await;
    };
    let started = scope.start_once(order.spec, key.as_ref()).await.map_err(too_long)?;
    let discussion = started.discussion;
    let Some(handle) = started.handle else {
        return joined(app, &discussion, &digest, is_detached).await;
    };
    app.hub.listen_to(&discussion, &handle, Some(slot));
    let client = app.desk.enter(&discussion, &digest, is_detached);
    tokio::spawn(client.attended().clone().attend(app.clone(), Some(handle)));
    Ok(client)
}

/// A client of a discussion that this process has not begun.
async fn joined(
    app: &App,
    discussion: &Discussion,
    digest: &str,
    is_detached: bool,
) -> Result<Client, Fault> {
    if let Some(client) = app.desk.join_known(discussion.id()) {
        return Ok(client);
    }
    let client = app.desk.enter(discussion, digest, is_detached);
    let is_over = matches!(
        discussion.state().await?.lifecycle,
        Lifecycle::Completed | Lifecycle::Aborted | Lifecycle::Error
    );
    let attended = client.attended().clone();
    if !is_over && is_detached {
        tokio::spawn(attended.attend_elsewhere(app.clone()));
    } else if !is_over {
        tokio::spawn(attended.attend(app.clone(), None));
    }
    Ok(client)
}

/// A client that waits for its answer is told to come back rather than kept waiting for a slot: its
/// own time limit runs.
fn full(app: &App) -> Problem {
    let message = match app.limits().running_of_tenant.filter(|_| app.hub.has_room()) {
        Some(most) => format!("{most} of your discussions are running, and no more may; try again later"),
        None => {
            let most = app.limits().running;
            format!("{most} discussions are running, which is this server's limit; try again later")
        }
    };
    Problem::new(problem::TOO_MANY_RUNNING, message).after(FULL_FOR_S)
}

/// The order was checked, so what is refused now is too long for somebody's window.
fn too_long(error: Error) -> Fault {
    match error {
        Error::Refused(complaints) if complaints.iter().all(|it| it.field == "providers") => {
            let message = complaints.first().map(|it| it.message.clone()).unwrap_or_default();
            Fault::new(StatusCode::BAD_REQUEST, "context_length_exceeded", message).at("messages")
        }
        error => error.into(),
    }
}

fn is_repeated(headers: &HeaderMap) -> bool {
    let count = headers.get(RETRIES).and_then(|it| it.to_str().ok()?.trim().parse::<u32>().ok());
    count.is_some_and(|it| 1 <= it)
}

/// A digest of the request and its sender. A client that repeats a request sends the same fields in
/// the same order.
fn digest(scope: &Scope, sent: &Sent<'_>) -> String {
    let body = serde_json::to_string(sent.body).unwrap_or_default();
    let order = format!("{}\n{}\n{}\n{body}", scope.tenant().name(), scope.who(), sent.path);
    Uuid::new_v5(&Uuid::NAMESPACE_OID, order.as_bytes()).to_string()
}
