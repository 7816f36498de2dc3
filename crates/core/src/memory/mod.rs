//! A store in memory: for tests, and for programs that need no record after they exit.

mod archive;
mod kept;
mod retention;
mod spending;

use std::{
    collections::BTreeMap,
    sync::{Mutex, MutexGuard, PoisonError},
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

use crate::{
    memory::spending::Allowance,
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        event::Fact,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        money::Usd,
        ruling::RulingAwaited,
        state::State,
        time::Timestamp,
    },
    seams::{
        Append, AuditEntry, Claim, Created, Draw, Drawn, NewMemory, Reservation, Session, Store, StoreError,
        Then, admit,
    },
};

/// The maximum lease; longer ones would overflow the clock.
const YEAR_MS: u64 = 365 * 24 * 60 * 60 * 1_000;

/// A store in memory. Leases use tokio's clock, so virtual time can expire them.
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
    audit_entries: Vec<AuditEntry>,
    /// What each account spent, by day.
    spending: BTreeMap<(Account, i64), Usd>,
    /// What each root has set aside.
    allowances: BTreeMap<DiscussionId, Allowance>,
    /// What workflows keep, with its version.
    kept: Vec<(NewMemory, u64)>,
    watchers: Vec<UnboundedSender<DiscussionId>>,
}

struct Discussion {
    facts: Vec<Fact>,
    state: State,
    commands: Vec<Command>,
    run: Run,
    fence: u64,
    holder: Option<Holder>,
    /// The number of the last write to this discussion.
    written: u64,
    /// When retention hid it.
    hidden_at: Option<Timestamp>,
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

struct Holder {
    owner: String,
    until: Instant,
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

    fn begin<'a>(
        &'a self,
        id: DiscussionId,
        facts: Vec<Fact>,
        owner: &'a str,
        lease_ms: u64,
    ) -> BoxFuture<'a, Result<Option<Claim>, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            match contents.create(id, facts)? {
                Created::New => contents.root(id)?.claim(owner.to_owned(), lease_ms).map(Some),
                Created::Existed => Ok(None),
            }
        })
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

    fn claim(
        &self,
        id: DiscussionId,
        owner: &str,
        lease_ms: u64,
    ) -> BoxFuture<'_, Result<Claim, StoreError>> {
        let owner = owner.to_owned();
        Box::pin(async move { self.lock().root(id)?.claim(owner, lease_ms) })
    }

    fn claim_any(
        &self,
        max: usize,
        owner: &str,
        lease_ms: u64,
    ) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        let owner = owner.to_owned();
        Box::pin(async move {
            let mut contents = self.lock();
            let mut waiting: Vec<_> =
                contents.discussions.values_mut().filter(|it| it.is_waiting()).collect();
            waiting.sort_by_key(|it| (it.state.opened_at, it.state.id));
            waiting.into_iter().take(max).map(|it| it.claim(owner.clone(), lease_ms)).collect()
        })
    }

    fn extend(&self, claims: Vec<Claim>, lease_ms: u64) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            let is_lost = |claim: &Claim| match contents.holder_of(claim) {
                Some(holder) => {
                    holder.until = lease_end(lease_ms);
                    false
                }
                None => true,
            };
            Ok(claims.into_iter().filter(is_lost).collect())
        })
    }

    fn release(&self, claim: Claim) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut contents = self.lock();
            if contents.holder_of(&claim).is_some() {
                contents.root(claim.id)?.holder = None;
            }
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

    fn watch(&self) -> BoxStream<'static, DiscussionId> {
        let (sender, mut receiver) = unbounded_channel();
        self.lock().watchers.push(sender);
        stream::poll_fn(move |cx| receiver.poll_recv(cx)).boxed()
    }
}

impl Contents {
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
            written: self.writes,
            hidden_at: None,
            restored_at: None,
        };
        self.discussions.insert(id, discussion);
        Ok(Created::New)
    }

    fn append(&mut self, append: Append) -> Result<Seq, StoreError> {
        let Append { claim, id, expected, facts, then } = append;
        let discussion = self.discussions.get(&id).ok_or(StoreError::Unknown(id))?;
        let (root, last, run) = (discussion.root_id(), discussion.state.seq, discussion.run);
        if root != claim.id || self.holder_of(&claim).is_none() || last != expected {
            return Err(StoreError::Fenced(id));
        }
        if run == Run::Over {
            return Err(StoreError::Over(id));
        }
        check_numbers(id, expected, &facts)?;
        self.writes += 1;
        let discussion = self.discussions.get_mut(&id).ok_or(StoreError::Unknown(id))?;
        discussion.written = self.writes;
        Ok(discussion.append(facts.to_vec(), then))
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
        let number = CommandId(discussion.commands.len() as u64);
        self.watchers.retain(|watcher| watcher.send(id).is_ok());
        Ok(number)
    }

    /// The discussion with this id, unless it is a sub-discussion: those have no claim and no
    /// inbox.
    fn root(&mut self, id: DiscussionId) -> Result<&mut Discussion, StoreError> {
        let found = self.discussions.get_mut(&id).filter(|it| it.is_root());
        found.ok_or(StoreError::Unknown(id))
    }

    /// The holder, if this claim is the newest. An expired lease stays valid until another owner
    /// claims the discussion.
    fn holder_of(&mut self, claim: &Claim) -> Option<&mut Holder> {
        let discussion = self.discussions.get_mut(&claim.id)?;
        let is_newest = discussion.fence == claim.fence;
        discussion.holder.as_mut().filter(|holder| is_newest && holder.owner == claim.owner)
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

    fn is_waiting(&self) -> bool {
        self.is_root() && self.run == Run::Runnable && !self.is_held()
    }

    fn is_held(&self) -> bool {
        self.holder.as_ref().is_some_and(|holder| holder.until > Instant::now())
    }

    fn claim(&mut self, owner: String, lease_ms: u64) -> Result<Claim, StoreError> {
        let id = self.state.id;
        if let Some(holder) = self.holder.as_ref().filter(|it| self.is_held() && it.owner != owner) {
            return Err(StoreError::Held { id, owner: holder.owner.clone() });
        }
        self.fence += 1;
        self.holder = Some(Holder { owner: owner.clone(), until: lease_end(lease_ms) });
        Ok(Claim { id, owner, fence: self.fence })
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
        }
        self.state.seq
    }
}

fn lease_end(lease_ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(lease_ms.min(YEAR_MS))
}

fn check_numbers(id: DiscussionId, expected: Seq, facts: &[Fact]) -> Result<(), StoreError> {
    let are_in_order = facts.iter().zip(expected.0 + 1..).all(|(fact, number)| fact.seq.0 == number);
    let message = || format!("the facts for discussion {id} are not numbered from {} on", expected.next());
    are_in_order.then_some(()).ok_or_else(|| StoreError::Unusable(message()))
}
