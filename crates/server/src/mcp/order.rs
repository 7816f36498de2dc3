//! Orders of tools: starts a discussion or joins an equal one, and answers within the time of the
//! call.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use quorum::{
    Discussion, Forking, OrderKey, Request,
    model::{
        command::Command,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        spec::Spec,
        state::State,
    },
    seams::Created,
};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::{
    live::hub::RunSlot,
    mcp::{
        answer::{Extent, is_settled},
        call::{Call, Reply},
        calls::{OrderMark, SAME_FOR},
        failure::Failure,
        progress::Since,
        queue::Queued,
        task::{self, Said},
        wait::{Start, Wait, Waited, told},
    },
    wording,
};

/// What a call starts.
pub(crate) enum Work<'w> {
    Order(Box<Spec>),
    Fork { of: &'w Discussion, forking: &'w Forking },
}

/// A discussion that this call waits for.
struct Begun {
    discussion: Discussion,
    /// Whether it was running already.
    joined: bool,
    start: Start,
    /// The last fact that was there before this call.
    before: Seq,
    /// Whether the client's user has just declined to answer.
    has_declined: bool,
}

impl Begun {
    fn anew(discussion: Discussion) -> Self {
        let start = Start::AsItIs;
        Begun { discussion, joined: false, start, before: Seq::START, has_declined: false }
    }

    /// One that was there before. If a cancelled call had paused it, it goes on.
    async fn joined(call: &Call, discussion: Discussion) -> Result<Self, Failure> {
        let before = discussion.state().await?.seq;
        let start = revived(call, &discussion).await?;
        Ok(Begun { discussion, joined: true, start, before, has_declined: false })
    }
}

/// Starts or joins the discussion of an order, and answers when it is settled or time is up.
pub(crate) async fn held(call: &Call, request: &Request) -> Result<Reply, Failure> {
    // The panel of a discussion that follows another is that one's.
    let panel = call.scope.panel_choice(request).filter(|_| request.follows.is_none());
    let panel = panel.map(|it| wording::panel(&it));
    let begun = match &call.continued {
        Some((id, responses)) => continued(call, *id, responses).await?,
        None => ordered(call, request).await?,
    };
    let mut reply = answered(call, begun).await?;
    if let (Reply::Done { structured, .. }, Some(panel)) = (&mut reply, panel) {
        structured["panel"] = json!(panel);
    }
    Ok(reply)
}

/// Checks an order, and starts or joins its discussion.
async fn ordered(call: &Call, request: &Request) -> Result<Begun, Failure> {
    let digest = digest(request);
    match call.scope.order(request).await {
        Ok(spec) => begun(call, &Work::Order(Box::new(spec)), digest).await,
        Err(error) => rejoined(call, digest).await?.ok_or_else(|| call.refusal(error)),
    }
}

/// The discussion of an equal order a moment ago, for an order that would be refused now: by the
/// time a call is sent again, `last` may mean the discussion that it has begun itself.
async fn rejoined(call: &Call, digest: String) -> Result<Option<Begun>, Failure> {
    let Some(key) = call.app.mcp.calls.placed(&mark(call, digest)) else { return Ok(None) };
    let Some(discussion) = call.scope.started_under(&key).await? else { return Ok(None) };
    let begun = Begun::joined(call, discussion).await?;
    Ok(is_open(&begun).await?.then_some(begun))
}

/// Starts or joins what was ordered, and answers about it. Equal orders have equal digests.
pub(crate) async fn placed(call: &Call, work: &Work<'_>, digest: String) -> Result<Reply, Failure> {
    let begun = match &call.continued {
        Some((id, responses)) => continued(call, *id, responses).await?,
        None => begun(call, work, digest).await?,
    };
    answered(call, begun).await
}

/// Answers about a discussion that this call has begun.
async fn answered(call: &Call, begun: Begun) -> Result<Reply, Failure> {
    let Begun { discussion, joined, start, before, has_declined } = begun;
    if call.takes_tasks() {
        return task::created(&discussion).await;
    }
    let calls = &call.app.mcp.calls;
    let (until, since) = (call.until("maxWaitMs"), Since::After(before));
    let wait = Wait { call, discussion: &discussion, until, start, since };
    calls.wait_for(discussion.id());
    let ended = wait.end().await;
    let is_last = calls.leave(discussion.id());
    let (waited, listener) = ended?;
    if waited == Waited::Cancelled && is_last {
        pause(call, &discussion).await?;
    }
    // Who declined is not asked again at once: the answer says who is awaited.
    if waited == Waited::Settled
        && !has_declined
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
    let is_ordered = |it: &Command| matches!(it, Command::Pause | Command::Stop | Command::Abort);
    if is_settled(&state) || state.pending.as_ref().is_some_and(is_ordered) {
        return Ok(());
    }
    call.app.mcp.calls.note_pause(discussion.id(), pauses(&state));
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
    let Said { before, start, has_declined } = task::said(&call.app, &discussion, responses).await?;
    Ok(Begun { discussion, joined: false, start, before, has_declined })
}

async fn begun(call: &Call, work: &Work<'_>, digest: String) -> Result<Begun, Failure> {
    let (calls, mark) = (&call.app.mcp.calls, mark(call, digest.clone()));
    if let Some(key) = call.text("idempotencyKey") {
        let key = OrderKey { key: key.to_owned(), digest };
        let begun = start(call, work, &key).await?;
        calls.remember(&mark, &key);
        return Ok(begun);
    }
    if let Some(key) = calls.placed(&mark) {
        let begun = start(call, work, &key).await?;
        if !begun.joined || is_open(&begun).await? {
            return Ok(begun);
        }
        calls.forget(&mark, &key);
    }
    if let Some(begun) = shared(call, work, &mark).await? {
        return Ok(begun);
    }
    start(call, work, &calls.place(&mark)).await
}

/// Who ordered this. An order with a key of its own is not the same as one without.
fn mark(call: &Call, digest: String) -> OrderMark {
    let (tenant, who) = (call.scope.tenant().name().to_owned(), call.scope.who().to_owned());
    let digest = match call.text("idempotencyKey") {
        Some(key) => digest_of(&format!("{digest}\n{key}")),
        None => digest,
    };
    OrderMark { tenant, who, digest }
}

/// Starts an order under a key that every process derives from it, or joins it if another process
/// has it: a call that broke off may be sent again after a restart, or to another node. `None` if
/// the equal order of another call is over.
async fn shared(call: &Call, work: &Work<'_>, mark: &OrderMark) -> Result<Option<Begun>, Failure> {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let [now, next] = mark.shared_keys(since_epoch);
    let begun = start(call, work, &now).await?;
    if !begun.joined {
        call.scope.also_under(&next, begun.discussion.id()).await?;
    } else if !is_open(&begun).await? || !is_recent(&begun, since_epoch).await? {
        return Ok(None);
    }
    call.app.mcp.calls.remember(mark, &now);
    Ok(Some(begun))
}

async fn is_recent(begun: &Begun, since_epoch: Duration) -> Result<bool, Failure> {
    let opened_at = begun.discussion.state().await?.opened_at.epoch_ms();
    let opened_at = Duration::from_millis(u64::try_from(opened_at).unwrap_or_default());
    Ok(since_epoch.saturating_sub(opened_at) < SAME_FOR)
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

/// Starts a discussion once for each key; without a free run slot it is queued.
async fn start(call: &Call, work: &Work<'_>, key: &OrderKey) -> Result<Begun, Failure> {
    let (discussion, joined) = match call.app.run_slot(call.scope.tenant()).await? {
        Some(slot) => started(call, work, key, slot).await?,
        None => queued(call, work, key).await?,
    };
    if joined { Begun::joined(call, discussion).await } else { Ok(Begun::anew(discussion)) }
}

/// The discussion, run here, and whether it was there before.
async fn started(
    call: &Call,
    work: &Work<'_>,
    key: &OrderKey,
    slot: RunSlot,
) -> Result<(Discussion, bool), Failure> {
    let started = match work {
        Work::Order(spec) => call.scope.start_once(Spec::clone(spec), Some(key)).await?,
        Work::Fork { of, forking } => of.fork_once(forking, Some(key)).await?,
    };
    let joined = started.handle.is_none();
    Ok((call.app.hub.publish(started, slot), joined))
}

/// The discussion, for any process to run, and whether it was there before.
async fn queued(call: &Call, work: &Work<'_>, key: &OrderKey) -> Result<(Discussion, bool), Failure> {
    let most = call.app.limits().queued();
    let (discussion, created) = match work {
        Work::Order(spec) => call.scope.queue_once(Spec::clone(spec), Some(key), most).await?,
        Work::Fork { of, forking } => of.queue_fork_once(forking, Some(key), most).await?,
    };
    call.app.mcp.calls.begin_later(Queued::order(&discussion));
    Ok((discussion, created == Created::Existed))
}

/// How often it was paused.
fn pauses(state: &State) -> usize {
    state.transitions.iter().filter(|it| it.to == Lifecycle::Paused.name()).count()
}

/// Resumes a discussion that a cancelled call had paused, unless somebody has resumed it since.
async fn revived(call: &Call, discussion: &Discussion) -> Result<Start, Failure> {
    let Some(before) = call.app.mcp.calls.take_pause(discussion.id()) else { return Ok(Start::AsItIs) };
    let state = discussion.state().await?;
    let is_paused = state.lifecycle == Lifecycle::Paused;
    // The pause has yet to take effect, or is still in effect.
    let is_ours = pauses(&state) == before + usize::from(is_paused);
    if state.lifecycle.is_terminal() || !is_ours {
        return Ok(Start::AsItIs);
    }
    if let quorum::Steered::Here(handle) = discussion.resume().await? {
        call.app.hub.follow(discussion, &handle);
    }
    Ok(Start::Resumed)
}

/// The digest of a fork: of what is forked, and how.
pub(crate) fn fork_digest(of: DiscussionId, arguments: &Map<String, Value>) -> String {
    let given = |name: &'static str| arguments.get(name).map(|it| (name, it));
    let fork: Vec<(&str, &Value)> = ["at", "without", "changes"].into_iter().filter_map(given).collect();
    digest_of(&format!("fork of {of}\n{}", json!(fork)))
}
