//! Claims and the queue in memory.

use std::{collections::BTreeMap, time::Duration};

use tokio::time::Instant;

use crate::{
    memory::{Contents, Discussion, Queued, Run},
    model::{
        event::Fact,
        id::{DiscussionId, NodeId, Tenant},
    },
    seams::{
        Backlog, Claim, ClaimRequest, Created, LONGEST_WAIT_MS, MOST_ATTEMPTS, Queueing, Release, RunStatus,
        Runner, StoreError, Taken, Wake, backoff_ms, check_room, needs,
    },
};

impl Contents {
    pub(super) fn enqueue(
        &mut self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> Result<Created, StoreError> {
        if let Some(tenant) =
            Discussion::tenant_of(id, &facts).filter(|_| !self.discussions.contains_key(&id))
        {
            let waiting = self.discussions.values().filter(|it| it.is_queued() && it.is_of(&tenant));
            check_room(waiting.count() as u64, &queueing)?;
        }
        if self.create(id, facts)? == Created::Existed {
            return Ok(Created::Existed);
        }
        let discussion = self.root(id)?;
        let tenant = discussion.state.spec.tenant.clone();
        discussion.queued.ready_at = after(queueing.ready_in_ms);
        let next = self.turns.get(&tenant).copied().unwrap_or_default();
        let discussion = self.root(id)?;
        discussion.queued.turn = discussion.queued.turn.max(next);
        let turn = discussion.queued.turn;
        self.turns.insert(tenant, turn + 1);
        Ok(Created::New)
    }

    pub(super) fn begin(
        &mut self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> Result<Option<Claim>, StoreError> {
        self.check_node(runner.node)?;
        if self.discussions.contains_key(&id) {
            return Ok(None);
        }
        if let Some(tenant) = Discussion::tenant_of(id, &facts) {
            let running = self.discussions.values().filter(|it| it.holder.is_some() && it.is_of(&tenant));
            runner.check_room(running.count() as u64)?;
        }
        self.create(id, facts)?;
        self.root(id).map(|it| Some(it.claim(runner.node)))
    }

    /// The turn of a tenant that has not waited before: that of the first in the queue or, if the
    /// queue is empty, the next after all turns ever given.
    pub(super) fn next_turn(&self) -> u64 {
        let waiting = self.discussions.values().filter(|it| it.is_waiting()).map(|it| it.queued.turn);
        waiting.min().or_else(|| self.turns.values().max().copied()).unwrap_or_default()
    }

    pub(super) fn claim(&mut self, id: DiscussionId, node: NodeId) -> Result<Claim, StoreError> {
        if let Some(holder) = self.root(id)?.holder.filter(|it| *it != node) {
            return Err(StoreError::Held { id, owner: self.node_name(holder) });
        }
        self.check_node(node)?;
        let discussion = self.root(id)?;
        (discussion.queued.attempts, discussion.queued.stuck) = (0, false);
        Ok(discussion.claim(node))
    }

    pub(super) fn claim_any(&mut self, request: &ClaimRequest) -> Result<Vec<Taken>, StoreError> {
        self.check_node(request.node)?;
        let mut running: BTreeMap<Tenant, u64> = BTreeMap::new();
        for it in self.discussions.values().filter(|it| it.holder.is_some()) {
            *running.entry(it.state.spec.tenant.clone()).or_default() += 1;
        }
        let mut waiting: Vec<_> = self.discussions.values_mut().filter(|it| it.is_waiting()).collect();
        waiting.sort_by_key(|it| (it.queued.turn, it.state.opened_at, it.state.id));
        let mut taken = Vec::new();
        for discussion in waiting {
            let tenant = discussion.state.spec.tenant.clone();
            let of_tenant = running.entry(tenant.clone()).or_default();
            let has_room = taken.len() < request.max
                && request.most_of_tenant.is_none_or(|most| *of_tenant < most)
                && discussion.suits(request);
            if !has_room || discussion.is_given_up() {
                continue;
            }
            *of_tenant += 1;
            let is_takeover = discussion.queued.claimed_at.is_some();
            taken.push(Taken { claim: discussion.claim(request.node), tenant, is_takeover });
        }
        Ok(taken)
    }

    pub(super) fn holds(&self, claim: &Claim) -> bool {
        let found = self.discussions.get(&claim.id);
        found.is_some_and(|it| it.fence == claim.fence && it.holder == Some(claim.node))
    }

    pub(super) fn release(&mut self, claim: &Claim, how: Release) {
        if !self.holds(claim) {
            return;
        }
        let Some(discussion) = self.discussions.get_mut(&claim.id) else { return };
        discussion.holder = None;
        let (seq, queued) = (discussion.state.seq, &mut discussion.queued);
        match how {
            Release::Now => queued.ready_at = Instant::now(),
            Release::After(ms) => queued.ready_at = after(ms),
            Release::Failed => {
                queued.attempts = if queued.claimed_at == Some(seq) { queued.attempts + 1 } else { 0 };
                queued.ready_at = after(backoff_ms(queued.attempts));
                queued.stuck = MOST_ATTEMPTS <= queued.attempts;
            }
        }
        queued.claimed_at = None;
        self.notify(&Wake::Work);
    }

    pub(super) fn backlog(&self, tenant: Option<&Tenant>) -> Backlog {
        let mut backlog = Backlog::default();
        let roots = self.discussions.values().filter(|it| it.is_root());
        for it in roots.filter(|it| tenant.is_none_or(|tenant| it.is_of(tenant))) {
            match it.run_status() {
                RunStatus::Queued => {
                    backlog.queued += 1;
                    let waited = it.queued.ready_at.elapsed().as_millis() as u64;
                    backlog.oldest_ms = backlog.oldest_ms.max(waited);
                }
                RunStatus::Running => backlog.running += 1,
                RunStatus::Stuck => backlog.stuck += 1,
                RunStatus::Waiting | RunStatus::Over => {}
            }
        }
        backlog
    }
}

impl Discussion {
    fn tenant_of(id: DiscussionId, facts: &[Fact]) -> Option<Tenant> {
        crate::model::state::State::of(id, facts).map(|it| it.spec.tenant.clone())
    }

    fn is_of(&self, tenant: &Tenant) -> bool {
        self.state.spec.tenant == *tenant
    }

    /// Whether a node could run it now.
    fn is_waiting(&self) -> bool {
        self.is_queued() && self.queued.ready_at <= Instant::now()
    }

    fn is_queued(&self) -> bool {
        self.run_status() == RunStatus::Queued && self.is_root()
    }

    pub(super) fn is_held(&self) -> bool {
        self.holder.is_some()
    }

    pub(super) fn run_status(&self) -> RunStatus {
        match self.run {
            Run::Over => RunStatus::Over,
            _ if self.is_held() => RunStatus::Running,
            _ if self.queued.stuck => RunStatus::Stuck,
            Run::Parked => RunStatus::Waiting,
            Run::Runnable => RunStatus::Queued,
        }
    }

    fn suits(&self, request: &ClaimRequest) -> bool {
        let state = &self.state;
        request.able.include(&state.spec.pattern, state.flow, &needs(&state.spec))
    }

    /// Counts a run that died without progress, and sets the discussion aside as stuck after the
    /// last attempt. Returns whether it did.
    fn is_given_up(&mut self) -> bool {
        let (seq, queued) = (self.state.seq, &mut self.queued);
        if let Some(claimed_at) = queued.claimed_at {
            queued.attempts = if claimed_at == seq { queued.attempts + 1 } else { 0 };
        }
        queued.stuck = MOST_ATTEMPTS <= queued.attempts;
        if queued.stuck {
            queued.claimed_at = None;
        }
        queued.stuck
    }

    pub(super) fn claim(&mut self, node: NodeId) -> Claim {
        self.fence += 1;
        self.holder = Some(node);
        self.queued.claimed_at = Some(self.state.seq);
        Claim { id: self.state.id, node, fence: self.fence }
    }
}

impl Queued {
    pub(super) fn at(turn: u64) -> Self {
        Queued { turn, ready_at: Instant::now(), attempts: 0, claimed_at: None, stuck: false }
    }

    /// Lets any node claim it at once.
    pub(super) fn make_claimable(&mut self) {
        (self.ready_at, self.attempts, self.stuck) = (Instant::now(), 0, false);
    }

    /// Clears the attempts, because a claim ended in good order.
    pub(super) fn reset_attempts(&mut self) {
        (self.attempts, self.claimed_at, self.stuck) = (0, None, false);
    }
}

fn after(ms: u64) -> Instant {
    Instant::now() + Duration::from_millis(ms.min(LONGEST_WAIT_MS))
}
