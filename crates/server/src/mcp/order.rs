//! Orders of tools: reads a request from the arguments, starts its discussion or joins an equal
//! one, and answers within the time of the call.

use quorum::{
    Discussion, Fault, Forking, OrderKey, Request, Started,
    model::{command::Command, id::DiscussionId, lifecycle::Lifecycle, spec::Spec},
    seams::Created,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    body::Fields,
    live::hub::RunSlot,
    mcp::{
        answer::{Extent, is_settled},
        arguments::Mistake,
        call::{Call, Reply},
        calls::{OrderMark, Place},
        failure::Failure,
        schema::{ALIASES, TOTAL_BUDGET},
        task,
        wait::{Start, Wait, Waited, told},
    },
    problem::Problem,
    routes::discussions::choose_voices,
    wire::order,
    wording,
};

/// The fields that only a call has.
const OF_THE_CALL: &[&str] = &["maxWaitMs", "fullOutput", "idempotencyKey"];

/// A request as read from the arguments of a tool.
pub(crate) struct Order {
    pub(crate) request: Request,
    pub(crate) spec: Spec,
}

/// A discussion that this call waits for.
pub(crate) struct Begun {
    pub(crate) discussion: Discussion,
    /// Whether it was running already.
    joined: bool,
    start: Start,
}

impl Order {
    /// Reads and checks the request. `mistakes` are those the schema has found; together with those
    /// that only the request itself shows, they are reported at once.
    pub(crate) async fn read(
        call: &Call,
        fields: Map<String, Value>,
        mistakes: Vec<Mistake>,
    ) -> Result<Order, Failure> {
        let renamed = renamed(fields)?;
        if !mistakes.is_empty() {
            return Err(Failure::mistakes(&with_further(call, renamed, mistakes)));
        }
        let request = request(call, renamed)?;
        let spec = call.scope.order(&request).await?;
        Ok(Order { request, spec })
    }
}

fn request(call: &Call, fields: Map<String, Value>) -> Result<Request, Failure> {
    // Through our own reader, which takes 3.0 for 3.
    let fields: Fields = serde_json::from_value(Value::Object(fields))
        .map_err(|error| Failure::from(Problem::field("arguments", error.to_string())))?;
    let mut request = order::request(&fields)?;
    choose_voices(&call.app, &mut request);
    Ok(request)
}

/// The fields under their names in a request, without those of the call.
pub(crate) fn renamed(fields: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    let mut renamed = Map::new();
    for (name, value) in fields {
        let field = field_named(&name);
        if OF_THE_CALL.contains(&field) {
            continue;
        }
        if renamed.contains_key(field) {
            let message = format!("is given twice: {name} is another name of {field}");
            return Err(Failure::mistakes(&[Mistake { field: field.to_owned(), message }]));
        }
        renamed.insert(field.to_owned(), if field == "participants" { seats(value) } else { value });
    }
    Ok(renamed)
}

/// The field with this name or other name.
fn field_named(name: &str) -> &str {
    let mut renamed = ALIASES.iter().chain([&TOTAL_BUDGET]);
    renamed.find(|(alias, _)| *alias == name).map_or(name, |(_, field)| field)
}

/// Participants as texts: an object with a type and an id is the same as `id:type`.
fn seats(participants: Value) -> Value {
    let Value::Array(seats) = participants else { return participants };
    let seat = |seat: Value| match (seat["type"].as_str(), seat["id"].as_str()) {
        (Some("provider"), Some(id)) => json!(id),
        (Some(kind), Some(id)) => json!(format!("{id}:{kind}")),
        _ => seat,
    };
    Value::Array(seats.into_iter().map(seat).collect())
}

/// The mistakes with those that the request shows beside them: what is wrong in any request.
fn with_further(call: &Call, mut fields: Map<String, Value>, mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let field_of = |it: &Mistake| it.field.split(['.', '[']).next().unwrap_or_default().to_owned();
    let known: Vec<String> = mistakes.iter().map(field_of).collect();
    known.iter().for_each(|it| drop(fields.remove(field_named(it))));
    // A topic that is wrong itself must not hide what else is wrong.
    fields.entry("topic").or_insert_with(|| json!("?"));
    let Ok(request) = request(call, fields) else { return mistakes };
    let Err(quorum::Error::Refused(complaints)) = call.scope.check(&request) else { return mistakes };
    let further = complaints.iter().filter(|it| it.fault == Fault::Value && !known.contains(&it.field));
    let further = further.map(|it| Mistake { field: it.field.clone(), message: wording::complaint(it) });
    mistakes.into_iter().chain(further).collect()
}

/// Starts or joins the discussion of an order, and answers when it is settled or time is up.
pub(crate) async fn held(call: &Call, order: Order) -> Result<Reply, Failure> {
    // The panel of a discussion that follows another is that one's.
    let panel = call.scope.panel_choice(&order.request).filter(|_| order.request.follows.is_none());
    let panel = panel.map(|it| wording::panel(&it));
    let digest = digest(&order.request);
    let mut reply = placed(call, order.spec, digest).await?;
    if let (Reply::Done { structured, .. }, Some(panel)) = (&mut reply, panel) {
        structured["panel"] = json!(panel);
    }
    Ok(reply)
}

/// Starts or joins what was ordered, and answers about it. Equal orders have equal digests.
pub(crate) async fn placed(call: &Call, spec: Spec, digest: String) -> Result<Reply, Failure> {
    let begun = match &call.continued {
        Some((id, responses)) => continued(call, *id, responses).await?,
        None => begun(call, spec, digest).await?,
    };
    answered(call, begun).await
}

/// Answers about a discussion that this call has begun.
pub(crate) async fn answered(call: &Call, begun: Begun) -> Result<Reply, Failure> {
    let Begun { discussion, joined, start } = begun;
    if call.takes_tasks() {
        return task::created(&discussion).await;
    }
    let calls = &call.app.mcp.calls;
    let wait = Wait { call, discussion: &discussion, until: call.until("maxWaitMs"), start };
    calls.wait_for(discussion.id());
    let ended = wait.end().await;
    let is_last = calls.leave(discussion.id());
    let (waited, listener) = ended?;
    if waited == Waited::Cancelled && is_last {
        pause(call, &discussion).await?;
    }
    if waited == Waited::Settled
        && call.takes_questions()
        && let Some(question) = listener.look(task::question).flatten()
    {
        return Ok(Reply::InputRequired(question));
    }
    let mut answer = told(call, &listener, Extent::of(&call.arguments))?;
    if joined {
        answer["joined"] = json!(true);
    }
    Ok(Reply::done(answer))
}

/// Pauses a discussion whose call was cancelled: a client's own time limit looks the same as a wish
/// to stop, so nothing that was paid is lost and nothing more is paid.
async fn pause(call: &Call, discussion: &Discussion) -> Result<(), Failure> {
    let state = discussion.state().await?;
    if is_settled(&state) {
        return Ok(());
    }
    call.app.mcp.calls.note_pause(discussion.id());
    discussion.steer(Command::Pause).await?;
    Ok(())
}

/// Passes on what the client's user answered, and goes on waiting.
async fn continued(
    call: &Call,
    id: DiscussionId,
    responses: &rmcp::model::InputResponses,
) -> Result<Begun, Failure> {
    let discussion = call.scope.discussion(id).await?;
    let start = task::said(&call.app, &discussion, responses).await?;
    Ok(Begun { discussion, joined: false, start })
}

async fn begun(call: &Call, spec: Spec, digest: String) -> Result<Begun, Failure> {
    if let Some(key) = call.text("idempotencyKey") {
        let key = OrderKey { key: key.to_owned(), digest };
        return start(call, spec, &key).await;
    }
    let (tenant, who) = (call.scope.tenant().name().to_owned(), call.scope.who().to_owned());
    let mark = OrderMark { tenant, who, digest };
    if let Place::Again(key) = call.app.mcp.calls.place(&mark) {
        let begun = start(call, spec.clone(), &key).await?;
        if !begun.joined || is_open(&begun).await? {
            return Ok(begun);
        }
        call.app.mcp.calls.forget(&mark);
    }
    let (Place::First(key) | Place::Again(key)) = call.app.mcp.calls.place(&mark);
    start(call, spec, &key).await
}

/// Whether an equal order still makes sense to join: it is neither over nor paused by somebody.
async fn is_open(begun: &Begun) -> Result<bool, Failure> {
    let lifecycle = begun.discussion.state().await?.lifecycle;
    let was_revived = begun.start == Start::Resumed;
    Ok(!lifecycle.is_terminal() && (lifecycle != Lifecycle::Paused || was_revived))
}

fn digest(request: &Request) -> String {
    digest_of(&format!("discussion\n{}", serde_json::to_string(request).unwrap_or_default()))
}

/// The digest of an order in writing.
pub(crate) fn digest_of(order: &str) -> String {
    Uuid::new_v5(&Uuid::NAMESPACE_OID, order.as_bytes()).to_string()
}

/// Starts a discussion once for each key. One that a cancelled call had paused goes on.
async fn start(call: &Call, spec: Spec, key: &OrderKey) -> Result<Begun, Failure> {
    let (discussion, joined) = match call.app.run_slot(call.scope.tenant()).await? {
        Some(slot) => published(call, call.scope.start_once(spec, Some(key)).await?, slot),
        None => {
            let most = call.app.limits().queued();
            let (discussion, created) = call.scope.queue_once(spec, Some(key), most).await?;
            (discussion, created == Created::Existed)
        }
    };
    let start = if joined { revived(call, &discussion).await? } else { Start::AsItIs };
    Ok(Begun { discussion, joined, start })
}

/// Resumes a discussion that a cancelled call had paused.
async fn revived(call: &Call, discussion: &Discussion) -> Result<Start, Failure> {
    if !call.app.mcp.calls.take_pause(discussion.id()) || discussion.state().await?.lifecycle.is_terminal() {
        return Ok(Start::AsItIs);
    }
    if let quorum::Steered::Here(handle) = discussion.resume().await? {
        call.app.hub.follow(discussion, &handle);
    }
    Ok(Start::Resumed)
}

/// Forks a discussion, once for each key; without a free run slot the fork is queued.
pub(crate) async fn forked(
    call: &Call,
    discussion: &Discussion,
    forking: &Forking,
    key: Option<&OrderKey>,
) -> Result<Begun, Failure> {
    let (discussion, joined) = match call.app.run_slot(call.scope.tenant()).await? {
        Some(slot) => published(call, discussion.fork_once(forking, key).await?, slot),
        None => {
            let most = call.app.limits().queued();
            let (fork, created) = discussion.queue_fork_once(forking, key, most).await?;
            (fork, created == Created::Existed)
        }
    };
    Ok(Begun { discussion, joined, start: Start::AsItIs })
}

/// The discussion, published, and whether it was there before.
fn published(call: &Call, started: Started, slot: RunSlot) -> (Discussion, bool) {
    let joined = started.handle.is_none();
    (call.app.hub.publish(started, slot), joined)
}

/// The key of a fork, with a digest of what is forked and how.
pub(crate) fn fork_key(key: &str, of: DiscussionId, arguments: &Map<String, Value>) -> OrderKey {
    let given = |name: &'static str| arguments.get(name).map(|it| (name, it));
    let fork: Vec<(&str, &Value)> = ["at", "without", "changes"].into_iter().filter_map(given).collect();
    OrderKey { key: key.to_owned(), digest: digest_of(&format!("fork of {of}\n{}", json!(fork))) }
}
