//! A store in memory: for tests, and for programs that need no record after they exit.

mod archive;
mod claims;
mod kept;
mod nodes;
mod outcomes;
mod retention;
mod spending;

use std::{
    collections::{BTreeMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use futures::{
    future::BoxFuture,
    stream::{self, BoxStream, StreamExt},
};
use tokio::{
    sync::mpsc::{UnboundedSender, unbounded_channel},
    time::Instant,
};
use uuid::Uuid;

use crate::{
    memory::{nodes::Row, spending::Allowance},
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        digest::Digest,
        event::Fact,
        id::{DiscussionId, NodeId, Seq, Tenant},
        lifecycle::Lifecycle,
        money::Usd,
        piece::Piece,
        ruling::RulingAwaited,
        state::State,
        time::Timestamp,
    },
    seams::{
        Append, AuditEntry, Claim, ClaimRequest, Created, Draw, Drawn, KnownOutcome, LiveText, NewMemory,
        Queueing, Release, Reservation, Runner, Session, Store, StoreError, Taken, Then, Wake, admit,
    },
};

/// How long a discussion is followed after it was asked for.
const FOLLOWED: Duration = Duration::from_secs(30);

/// A store in memory. Waits use tokio's clock, so virtual time can end them.
#[derive(Default)]
pub struct MemoryStore {
    contents: Mutex<Contents>,
}

#[derive(Default)]
struct Contents {
    discussions: BTreeMap<DiscussionId, Discussion>,
    /// The number of writes so far.
    writes: u64,
    sessions: Vec<Session>,
    reservations: Vec<Reservation>,
    /// The newest audit entries, oldest first.
    audit_entries: VecDeque<(u64, AuditEntry)>,
    /// How many audit entries there were ever.
    audited: u64,
    /// The spending of each account, by day.
    spending: BTreeMap<(Account, i64), Usd>,
    /// The amount that each root has set aside.
    allowances: BTreeMap<DiscussionId, Allowance>,
    /// The values that workflows keep, with their versions.
    kept: Vec<(NewMemory, u64)>,
    /// The recorded outcomes, oldest first.
    outcomes: Vec<KnownOutcome>,
    nodes: BTreeMap<NodeId, Row>,
    /// The clients that wait for a discussion, and their nodes.
    attached: BTreeMap<(DiscussionId, Uuid), NodeId>,
    /// The next turn of each tenant in the queue.
    turns: BTreeMap<Tenant, u64>,
    watchers: Vec<UnboundedSender<Wake>>,
    /// The discussions that are followed, and since when.
    followed: BTreeMap<DiscussionId, Instant>,
}

struct Discussion {
    facts: Vec<Fact>,
    state: State,
    commands: Vec<Command>,
    run: Run,
    fence: u64,
    holder: Option<NodeId>,
    queued: Queued,
    /// The data that lists show besides the status.
    digest: Digest,
    /// The number of the last write to this discussion.
    written: u64,
    /// When retention hid it.
    hidden_at: Option<Timestamp>,
    title: Option<String>,
    /// When it was restored; its retention restarts then.
    restored_at: Option<Timestamp>,
}

/// Whether a discussion can run.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Run {
    Runnable,
    Parked,
    Over,
}

/// The place of a discussion in the queue.
struct Queued {
    /// The order; see [`Store::enqueue`].
    turn: u64,
    /// When any node may claim it.
    ready_at: Instant,
    /// How many runs in a row ended without progress.
    attempts: u32,
    /// The last fact when it was claimed; `None` once the claim was given up in good order.
    claimed_at: Option<Seq>,
    /// Whether it was put aside.
    stuck: bool,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        MemoryStore::default()
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        self.contents.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for MemoryStore {
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move { self.lock().create(id, facts) })
    }

    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move { self.lock().enqueue(id, facts, queueing) })
    }

    fn begin(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> BoxFuture<'_, Result<Option<Claim>, StoreError>> {
        Box::pin(async move { self.lock().begin(id, facts, runner) })
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>> {
        Box::pin(async move { self.lock().append(append) })
    }

    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let discussion = contents.discussions.get(&id).ok_or(StoreError::Unknown(id))?;
            let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
            Ok(discussion.facts.iter().skip(skipped).take(limit).cloned().collect())
        })
    }

    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>> {
        Box::pin(async move { self.lock().send(id, command) })
    }

    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let commands = contents.root(id)?.commands.iter().cloned();
            let numbered = commands.zip(1..).map(|(command, number)| (CommandId(number), command));
            Ok(numbered.filter(|(number, _)| *number > after).collect())
        })
    }

    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move { self.lock().claim(id, node) })
    }

    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>> {
        Box::pin(async move { self.lock().claim_any(&request) })
    }

    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        Box::pin(async move {
            let contents = self.lock();
            let held = contents.discussions.values().filter(|it| it.holder == Some(node));
            Ok(held.map(|it| Claim { id: it.state.id, node, fence: it.fence }).collect())
        })
    }

    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().release(&claim, how);
            Ok(())
        })
    }

    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>> {
        Box::pin(async move { self.lock().draw(&draw) })
    }

    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.lock().settle(&claim, spent);
            Ok(())
        })
    }

    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>> {
        Box::pin(async move { Ok(self.lock().cap_statuses(&account, &caps, at)) })
    }

    fn watch(&self) -> BoxStream<'static, Wake> {
        let (sender, mut receiver) = unbounded_channel();
        self.lock().watchers.push(sender);
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }

    fn follow(&self, id: DiscussionId) {
        let mut contents = self.lock();
        let known = contents.followed.insert(id, Instant::now());
        if known.is_none_or(|since| FOLLOWED < since.elapsed()) {
            contents.notify(&Wake::Text(LiveText::Wanted(id)));
        }
    }

    fn delta(&self, piece: &Arc<Piece>) {
        let mut contents = self.lock();
        if contents.is_followed(piece.discussion) {
            contents.notify(&Wake::Text(LiveText::Piece(piece.clone())));
        }
    }
}

impl Contents {
    fn notify(&mut self, wake: &Wake) {
        self.watchers.retain(|watcher| watcher.send(wake.clone()).is_ok());
    }

    fn is_followed(&self, id: DiscussionId) -> bool {
        self.followed.get(&id).is_some_and(|since| since.elapsed() < FOLLOWED)
    }

    fn create(&mut self, id: DiscussionId, facts: Vec<Fact>) -> Result<Created, StoreError> {
        if self.discussions.contains_key(&id) {
            return Ok(Created::Existed);
        }
        check_numbers(id, Seq::START, &facts)?;
        let state = State::of(id, &facts).ok_or_else(|| {
            StoreError::Unusable(format!("discussion {id} doesn't begin with what was ordered"))
        })?;
        if let Some(lineage) = &state.lineage {
            self.root(lineage.root)?;
        }
        let tenant = &state.spec.tenant;
        let is_known = |session| self.sessions.iter().any(|it| it.id == session && it.tenant == *tenant);
        if let Some(session) = state.spec.session.filter(|session| !is_known(*session)) {
            return Err(StoreError::UnknownSession(session));
        }
        self.writes += 1;
        let discussion = Discussion {
            facts,
            state,
            commands: Vec::new(),
            run: Run::Runnable,
            fence: 0,
            holder: None,
            queued: Queued::at(self.next_turn()),
            digest: Digest::opened(),
            written: self.writes,
            hidden_at: None,
            title: None,
            restored_at: None,
        };
        let is_root = discussion.is_root();
        self.discussions.insert(id, discussion);
        if is_root {
            self.notify(&Wake::Work);
        }
        Ok(Created::New)
    }

    fn append(&mut self, append: Append) -> Result<Seq, StoreError> {
        let Append { claim, id, expected, facts, then, digest } = append;
        let discussion = self.discussions.get(&id).ok_or(StoreError::Unknown(id))?;
        let (root, last, run) = (discussion.root_id(), discussion.state.seq, discussion.run);
        if root != claim.id || !self.holds(&claim) || last != expected {
            return Err(StoreError::Fenced(id));
        }
        if run == Run::Over {
            return Err(StoreError::Over(id));
        }
        check_numbers(id, expected, &facts)?;
        self.writes += 1;
        let discussion = self.discussions.get_mut(&id).ok_or(StoreError::Unknown(id))?;
        discussion.written = self.writes;
        if let Some(digest) = digest {
            discussion.digest = (*digest).clone();
        }
        let last = discussion.append(facts.to_vec(), then);
        if self.is_followed(id) {
            self.notify(&Wake::Facts { id, last });
        }
        Ok(last)
    }

    fn send(&mut self, id: DiscussionId, command: Command) -> Result<CommandId, StoreError> {
        let discussion = self.root(id)?;
        if discussion.run == Run::Over {
            return Err(StoreError::Over(id));
        }
        match &command {
            Command::Say(say) => discussion.check_turn_of(&say.participant)?,
            Command::Rule(ruling) => admit(id, discussion.awaited_ruling(), ruling)?,
            Command::Pause | Command::Resume | Command::Stop | Command::Abort | Command::Note(_) => {}
        }
        discussion.commands.push(command);
        discussion.run = Run::Runnable;
        if discussion.holder.is_none() {
            discussion.queued.make_claimable();
        }
        let number = CommandId(discussion.commands.len() as u64);
        self.notify(&Wake::Commands(id));
        self.notify(&Wake::Work);
        Ok(number)
    }

    /// The discussion with this id, unless it is a sub-discussion: those have no claim and no
    /// inbox.
    fn root(&mut self, id: DiscussionId) -> Result<&mut Discussion, StoreError> {
        let found = self.discussions.get_mut(&id).filter(|it| it.is_root());
        found.ok_or(StoreError::Unknown(id))
    }
}

impl Discussion {
    /// Fails unless it is this participant's turn and no turn of it is already in the inbox.
    fn check_turn_of(&self, participant: &str) -> Result<(), StoreError> {
        let spoke: Vec<&str> = self.unread_commands().filter_map(Command::speaker).collect();
        let names = self.state.awaiting.iter().map(|it| it.participant.as_str());
        let awaited: Vec<&str> = names.filter(|name| !spoke.contains(name)).collect();
        if awaited.contains(&participant) {
            return Ok(());
        }
        let awaited = awaited.into_iter().map(str::to_owned).collect();
        Err(StoreError::NotAwaited { participant: participant.to_owned(), awaited })
    }

    /// The ruling that is awaited, unless one is already in the inbox.
    fn awaited_ruling(&self) -> Option<&RulingAwaited> {
        let is_made = self.unread_commands().any(|it| matches!(it, Command::Rule(_)));
        self.state.ruling.as_ref().filter(|_| !is_made)
    }

    fn unread_commands(&self) -> impl Iterator<Item = &Command> {
        self.commands.iter().skip(usize::try_from(self.state.seen.0).unwrap_or(usize::MAX))
    }

    fn is_root(&self) -> bool {
        self.state.lineage.is_none()
    }

    fn root_id(&self) -> DiscussionId {
        self.state.lineage.as_ref().map_or(self.state.id, |lineage| lineage.root)
    }

    fn append(&mut self, facts: Vec<Fact>, then: Then) -> Seq {
        facts.iter().for_each(|fact| self.state.apply(fact));
        self.facts.extend(facts);
        let newest = self.commands.len() as u64;
        self.run = match then {
            Then::Done => Run::Over,
            _ if matches!(self.state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted) => Run::Over,
            Then::Park { seen } if newest <= seen.0 => Run::Parked,
            Then::Continue | Then::Park { .. } => Run::Runnable,
        };
        if then != Then::Continue {
            self.holder = None;
            self.queued.reset_attempts();
        }
        self.state.seq
    }
}

fn check_numbers(id: DiscussionId, expected: Seq, facts: &[Fact]) -> Result<(), StoreError> {
    let are_in_order = facts.iter().zip(expected.0 + 1..).all(|(fact, number)| fact.seq.0 == number);
    let message = || format!("the facts for discussion {id} are not numbered from {} on", expected.next());
    are_in_order.then_some(()).ok_or_else(|| StoreError::Unusable(message()))
}
