//! The cluster under test: nodes with their links, and a schedule played on them.

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use quorum_core::{
    engine::{Engine, services::Services},
    memory::MemoryStore,
    model::{
        command::Command,
        id::{DiscussionId, Seq},
        lifecycle::Lifecycle,
        spec::{ConsensusSpec, Spec},
        state::State,
        time::Timestamp,
    },
    seams::{Archive, Clock, NoTools, Node, Nodes, Queueing, Release, Store},
};
use quorum_testkit::{clock::VirtualClock, spec::spec};
use tokio::{
    sync::watch,
    time::{Instant, sleep, sleep_until, timeout},
};

use super::{
    history::{Chronicle, Deed, History},
    invariants::broken,
    link::{Connection, Database, Line, Link},
    provider::Answering,
    registry::registry,
    schedule::{Fault, NODES, Schedule},
};

pub(crate) const LEASE_MS: u64 = 3_000;

/// The longest time that a schedule may take after its faults are over.
const MOST: Duration = Duration::from_secs(1_800);

pub(crate) struct World {
    store: Arc<MemoryStore>,
    chronicle: Chronicle,
    processes: Mutex<Vec<Process>>,
    database: Database,
}

/// The process that runs in the place of one node.
#[derive(Clone)]
struct Process {
    /// Its own number, by which its calls are counted.
    number: u64,
    engine: Engine,
    line: Arc<Line>,
    ends: Arc<AtomicBool>,
}

/// A clock that is wrong by a fixed time.
struct Skewed(VirtualClock, i64);

impl Clock for Skewed {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.now().0 + self.1)
    }

    fn draw(&self) -> u64 {
        self.0.draw()
    }
}

impl World {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(World {
            store: Arc::new(MemoryStore::new()),
            chronicle: Chronicle::default(),
            processes: Mutex::default(),
            database: Arc::new(watch::Sender::new(Connection::Good)),
        })
    }

    fn processes(&self) -> std::sync::MutexGuard<'_, Vec<Process>> {
        self.processes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn process(&self, place: u64) -> Process {
        self.processes()[place as usize].clone()
    }

    /// Starts a process in this place.
    fn start(&self, place: u64, number: u64) -> Process {
        let (line, chronicle) = (Line::new(&self.database), self.chronicle.clone());
        let link =
            Link { number, store: self.store.clone(), line: line.clone(), chronicle: chronicle.clone() };
        // Two of three clocks are wrong by an hour, in both directions.
        let skew = (place as i64 - 1) * 3_600_000_000;
        let services = Services {
            store: Arc::new(link),
            voices: Arc::new(Answering::new(number, line.clone(), chronicle)),
            tools: Arc::new(NoTools),
            clock: Arc::new(Skewed(VirtualClock::start(), skew)),
            registry: registry(),
            caps: BTreeMap::new(),
            telemetry: None,
        };
        let node = Node { lease_ms: LEASE_MS, ..Node::fresh(&format!("node {place}")) };
        let process = Process { number, engine: Engine::new(services, node), line, ends: Arc::default() };
        tokio::spawn(claim_on(process.clone()));
        process
    }

    pub(crate) async fn play(self: Arc<Self>, schedule: &Schedule) -> Result<(), String> {
        for (place, after) in (0..NODES).zip(schedule.starts) {
            sleep(Duration::from_millis(after)).await;
            let process = self.start(place, place);
            self.processes().push(process);
        }
        let began = Instant::now();
        let ids: Vec<DiscussionId> = schedule.orders.iter().map(|_| DiscussionId::fresh()).collect();
        let mut tasks = Vec::new();
        for (id, at) in ids.iter().zip(&schedule.orders) {
            tasks.push(tokio::spawn(self.clone().order(*id, began + Duration::from_millis(*at))));
        }
        for (number, (at, fault)) in schedule.faults.iter().cloned().enumerate() {
            let at = began + Duration::from_millis(at);
            tasks.push(tokio::spawn(self.clone().suffer(at, fault, NODES + number as u64)));
        }
        for (at, place, order, command) in schedule.commands.iter().cloned() {
            let at = began + Duration::from_millis(at);
            tasks.push(tokio::spawn(self.clone().command(at, place, ids[order], command)));
        }
        for task in tasks {
            task.await.map_err(|error| error.to_string())?;
        }
        timeout(MOST, self.settled(&ids)).await.map_err(|_| "not all are over".to_owned())?;
        self.verdict(&ids).await
    }

    async fn order(self: Arc<Self>, id: DiscussionId, at: Instant) {
        sleep_until(at).await;
        // Sent through any node that is up, and repeated until it is accepted.
        for place in (0..NODES).cycle() {
            let process = self.process(place);
            let usual = spec("in-turn");
            let method = registry().methods()[0].name.to_owned();
            let consensus = ConsensusSpec { method, include_dissent: false };
            let spec = Spec { participants: usual.participants[..2].to_vec(), consensus, ..usual };
            let ordered = process.engine.enqueue_as(id, spec, Queueing::default());
            match timeout(Duration::from_secs(2), ordered).await {
                Ok(Ok(_)) => return,
                Ok(Err(error)) => assert!(error.to_string().contains("away"), "{error}"),
                Err(_) => {}
            }
        }
    }

    async fn command(self: Arc<Self>, at: Instant, place: u64, id: DiscussionId, command: Command) {
        sleep_until(at).await;
        let process = self.process(place);
        // A command that is not acknowledged may have arrived, so it is not sent again.
        let _ = timeout(Duration::from_secs(5), process.engine.send(id, command)).await;
    }

    async fn suffer(self: Arc<Self>, at: Instant, fault: Fault, number: u64) {
        sleep_until(at).await;
        match fault {
            Fault::Crash { node, for_ms } => {
                let process = self.process(node);
                self.chronicle.allow(process.number);
                process.line.set(|it| it.dead = true);
                sleep(Duration::from_millis(for_ms)).await;
                self.processes()[node as usize] = self.start(node, number);
            }
            Fault::Stop { node, for_ms } => {
                let process = self.process(node);
                self.chronicle.allow(process.number);
                process.line.set(|it| it.stopped = true);
                sleep(Duration::from_millis(for_ms)).await;
                process.line.set(|it| it.stopped = false);
            }
            Fault::Cut { node, for_ms, connection } => {
                let process = self.process(node);
                self.chronicle.allow(process.number);
                process.line.set(|it| it.connection = connection);
                sleep(Duration::from_millis(for_ms)).await;
                process.line.set(|it| it.connection = Connection::Good);
            }
            Fault::Database { for_ms, connection } => {
                self.database.send_replace(connection);
                sleep(Duration::from_millis(for_ms)).await;
                self.database.send_replace(Connection::Good);
            }
            Fault::Drain { node, for_ms } => {
                let process = self.process(node);
                process.ends.store(true, Ordering::SeqCst);
                let _ = timeout(Duration::from_secs(60), process.engine.leave()).await;
                let _ = timeout(Duration::from_secs(2), process.engine.deregister()).await;
                // Answers that it could not record in time are lost with it.
                self.chronicle.allow(process.number);
                process.line.set(|it| it.dead = true);
                sleep(Duration::from_millis(for_ms)).await;
                self.processes()[node as usize] = self.start(node, number);
            }
        }
    }

    /// Waits until every discussion is over. A discussion that is still paused by a late command is
    /// resumed.
    async fn settled(&self, ids: &[DiscussionId]) {
        loop {
            let mut left = 0;
            for id in ids {
                let facts = self.store.read(*id, Seq::START, usize::MAX).await.unwrap();
                let state = State::of(*id, &facts).unwrap();
                let is_over = matches!(state.lifecycle, Lifecycle::Completed | Lifecycle::Aborted);
                left += u64::from(!is_over);
                if state.lifecycle == Lifecycle::Paused {
                    let _ = self.process(0).engine.send(*id, Command::Resume).await;
                }
            }
            if left == 0 {
                return;
            }
            sleep(Duration::from_secs(1)).await;
        }
    }

    /// Runs a discussion on one node, removes that node's row, and lets the node claim. Returns how
    /// many runs the node has dropped by then.
    pub(crate) async fn claim_of_a_ghost(self: Arc<Self>) -> u64 {
        let process = self.start(0, 0);
        self.processes().push(process.clone());
        self.clone().order(DiscussionId::fresh(), Instant::now()).await;
        while process.engine.health().held == 0 {
            sleep(Duration::from_millis(50)).await;
        }
        self.store.deregister(process.engine.health().id).await.unwrap();
        process.engine.claim_any(1).await.unwrap();
        process.engine.health().cancelled
    }

    /// How many nodes each running process declared dead.
    pub(crate) fn reaped(&self) -> Vec<u64> {
        self.processes().iter().map(|it| it.engine.health().reaped).collect()
    }

    /// How long after this moment each discussion was claimed that another node had run before.
    pub(crate) fn takeovers(&self, since: Instant) -> Vec<Duration> {
        let written = self.chronicle.write();
        let takeovers = written.history.deeds.iter().filter_map(|deed| match deed {
            Deed::Claimed { claim, at } if 1 < claim.fence => Some(at.duration_since(since)),
            Deed::Claimed { .. } | Deed::Appended { .. } => None,
        });
        takeovers.collect()
    }

    async fn verdict(&self, ids: &[DiscussionId]) -> Result<(), String> {
        // Waits for four leases, in which claims that are held by mistake are released.
        sleep(Duration::from_millis(4 * LEASE_MS)).await;
        let mut history: History = self.chronicle.write().history.clone();
        for id in ids {
            let facts = self.store.read(*id, Seq::START, usize::MAX).await.unwrap();
            history.records.insert(*id, facts);
            history.over.insert(*id);
        }
        let held: u64 = self.store.nodes().await.unwrap().iter().map(|it| it.held).sum();
        let running = self.store.backlog(None).await.unwrap().running;
        history.ghosts = held + running;
        match broken(&history).as_slice() {
            [] => Ok(()),
            broken => Err(format!("invariants are broken: {broken:#?}")),
        }
    }
}

/// Claims and runs what waits, as a server does.
async fn claim_on(process: Process) {
    while !process.ends.load(Ordering::SeqCst) && !process.line.is_dead() {
        let room = 16_usize.saturating_sub(process.engine.health().held);
        let taken = process.engine.claim_any(room.min(16)).await.unwrap_or_default();
        let count = taken.len();
        for it in taken {
            if process.ends.load(Ordering::SeqCst) || process.engine.is_running(it.claim.id) {
                process.engine.give_up(it.claim, Release::Now).await;
            } else {
                drop(process.engine.run_claimed(it.claim));
            }
        }
        sleep(Duration::from_millis(if count == 0 { 1_000 } else { 100 })).await;
    }
}
