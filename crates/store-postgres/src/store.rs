//! The store in a PostgreSQL database: appends go to the one writer, everything else to the pool.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Instant,
};

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    call::grants::Grants,
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        event::Fact,
        id::{DiscussionId, NodeId, Seq, Tenant},
        money::Usd,
        piece::Piece,
        seed_rows::{Seats, needs_seats},
        time::Timestamp,
    },
    seams::{
        Append, Archive, AuditEntry, AuditWanted, Backlog, Claim, ClaimRequest, Created, Draw, Drawn, Duty,
        Expired, Found, KnownOutcome, MemoryQuery, NewMemory, Node, NodeStatus, Nodes, OutcomesWanted, Pulse,
        Query, Queueing, Release, Remembered, Reservation, Retention, Runner, Session, SessionsWanted, Store,
        StoreError, StoreFigures, Summary, Taken, Then, Wake, Wanted,
        transfer::{Bundle, Bundles, Flaw, Mark, Page, Row, Table, Totals, Transfer},
    },
};
use uuid::Uuid;

use crate::{
    address::Address,
    archive::{self, Visibility},
    batch::AppendRow,
    claims,
    connection::Place as ConnectionPlace,
    figures::Counts,
    find, flaws, inbox, kept,
    lanes::Lanes,
    migrate::{self, Migrated, Tables},
    news::{self, News},
    nodes, outcomes,
    pool::{Pool, run, transact},
    record::{self, Opening, Place},
    retention, search,
    seats::{self, SeatsCache},
    spending, transfer,
    writer::{Writer, Written},
};

/// How a store is opened.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// How many connections are used, besides one that writes facts, one that listens, and one for
    /// heartbeats.
    pub connections: usize,
    /// What may be done to its tables.
    pub tables: Tables,
}

impl Default for Options {
    fn default() -> Self {
        Options { connections: 6, tables: Tables::default() }
    }
}

/// A store in a PostgreSQL database. Open it once per process and share it; other processes, on
/// this machine or others, open it too. It has a runtime of its own.
pub struct PostgresStore {
    pool: Pool,
    /// The connection for heartbeats: a node that waits for another job is considered dead.
    beats: Pool,
    writer: Writer,
    news: News,
    seats: SeatsCache,
    /// Commands of this process are sent one after the other, so that they keep their order.
    sending: tokio::sync::Mutex<()>,
    migrated: Migrated,
    lanes: Arc<Lanes>,
    counts: Arc<Counts>,
    /// Dropped last.
    _runtime: Background,
}

/// The runtime of the store's connections, which ends without waiting.
struct Background(Option<tokio::runtime::Runtime>);

impl Background {
    #[expect(clippy::expect_used, reason = "only drop takes the runtime")]
    fn place(&self, address: Address) -> ConnectionPlace {
        let runtime = self.0.as_ref().expect("the runtime is there until it is dropped").handle().clone();
        ConnectionPlace { address, runtime, counts: Arc::default() }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

/// What a store is made of.
struct Parts {
    pool: Pool,
    beats: Pool,
    writer: Writer,
    news: News,
    migrated: Migrated,
    lanes: Arc<Lanes>,
}

/// Prepares the tables and the tasks.
async fn start(place: ConnectionPlace, options: Options) -> Result<Parts, StoreError> {
    let pool = Pool::new(place.clone(), options.connections);
    let beats = pool.besides(1);
    let database = place.address.to_string();
    let migrated = run!(pool, connection, migrate::migrate(connection, &database, options.tables.into()))?;
    let news = News::start(place.clone(), beats.clone(), migrated.store).await;
    let news = news.map_err(|error| pool.explain(error))?;
    let lanes = Lanes {
        pool: pool.clone(),
        runtime: place.runtime.clone(),
        news: news.announcer(),
        counts: place.counts.clone(),
        nodes: Arc::default(),
    };
    let writer = Writer::start(place, beats.clone());
    Ok(Parts { pool, beats, writer, news, migrated, lanes: Arc::new(lanes) })
}

impl PostgresStore {
    /// Opens the database at this address, and creates or updates its tables if needed. Waits for
    /// that on the current thread.
    pub fn open(address: Address) -> Result<Self, StoreError> {
        PostgresStore::open_with(address, Options::default())
    }

    /// The same with these options.
    pub fn open_with(address: Address, options: Options) -> Result<Self, StoreError> {
        let no_thread = |error| StoreError::Unavailable(format!("no thread can be started: {error}"));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("store-postgres")
            .enable_all()
            .build()
            .map_err(no_thread)?;
        let runtime = Background(Some(runtime));
        let place = runtime.place(address);
        let counts = place.counts.clone();
        let (sender, opened) = std::sync::mpsc::channel();
        place.runtime.clone().spawn(async move {
            // If the receiver is gone, nobody needs the store.
            let _ = sender.send(start(place, options).await);
        });
        let stopped = || StoreError::Unavailable("the store was stopped while it was opened".to_owned());
        let Parts { pool, beats, writer, news, migrated, lanes } = opened.recv().map_err(|_| stopped())??;
        let (seats, sending) = (SeatsCache::default(), tokio::sync::Mutex::new(()));
        let _runtime = runtime;
        Ok(PostgresStore { pool, beats, writer, news, seats, sending, migrated, lanes, counts, _runtime })
    }

    /// The version of the tables before it was opened, and now.
    #[must_use]
    pub fn versions(&self) -> (u32, u32) {
        (self.migrated.before.unsigned_abs(), self.migrated.after.unsigned_abs())
    }

    async fn open_discussion(
        &self,
        id: DiscussionId,
        facts: &[Fact],
        place: Place,
    ) -> Result<Created, StoreError> {
        let seats = Arc::new(facts.first().map_or_else(|| Seats(Vec::new()), |fact| Seats::of(&fact.event)));
        // What exists already is said before what is wrong with the facts.
        let opening = Opening::of(id, facts, &seats, place);
        let opening = match opening {
            Ok(opening) => opening,
            Err(error) => {
                let known = run!(self.pool, connection, record::exists(connection, id))?;
                return if known { Ok(Created::Existed) } else { Err(error) };
            }
        };
        let created = if opening.needs_locks() {
            transact!(self.pool, connection, record::create(connection, &opening))?
        } else {
            run!(self.pool, connection, record::create(connection, &opening))?
        };
        self.seats.put(id, seats);
        Ok(created)
    }

    /// Who sits where, if these facts are about participants.
    async fn seats_for(&self, id: DiscussionId, facts: &[Fact]) -> Result<Arc<Seats>, StoreError> {
        if !needs_seats(facts) {
            return Ok(Arc::new(Seats(Vec::new())));
        }
        if let Some(seats) = self.seats.get(id) {
            return Ok(seats);
        }
        let seats = Arc::new(run!(self.pool, connection, seats::read(connection, id))?);
        self.seats.put(id, seats.clone());
        Ok(seats)
    }

    async fn write(&self, append: &Append) -> Result<Seq, StoreError> {
        let Append { id, expected, facts, then, .. } = append;
        record::check_numbers(*id, *expected, facts)?;
        let seats = self.seats_for(*id, facts).await?;
        let began = Instant::now();
        let written = self.writer.write(AppendRow::of(append, &seats)?).await?;
        self.counts.append(began.elapsed());
        match written {
            Written::Refused => Err(run!(self.pool, connection, record::refusal(connection, append))?),
            Written::Stored => {
                let last = facts.last().map_or(*expected, |it| it.seq);
                self.news.facts(*id, last);
                match then {
                    Then::Continue => {}
                    Then::Park { .. } => self.news.work(),
                    Then::Done => self.seats.remove(*id),
                }
                Ok(last)
            }
        }
    }
}

impl Store for PostgresStore {
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move { self.open_discussion(id, &facts, Place::Free).await })
    }

    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            let created = self.open_discussion(id, &facts, Place::Queued(queueing)).await?;
            self.news.work();
            Ok(created)
        })
    }

    fn begin(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        runner: Runner,
    ) -> BoxFuture<'_, Result<Option<Claim>, StoreError>> {
        Box::pin(async move {
            match self.open_discussion(id, &facts, Place::Claimed(runner)).await? {
                Created::New => {
                    self.news.set_running(true);
                    Ok(Some(Claim { id, node: runner.node, fence: 1 }))
                }
                Created::Existed => Ok(None),
            }
        })
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>> {
        Box::pin(async move { self.write(&append).await })
    }

    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, record::read(connection, id, after, limit)) })
    }

    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>> {
        Box::pin(async move {
            let turn = self.sending.lock().await;
            let sent = transact!(self.pool, connection, inbox::send(connection, id, &command))?;
            drop(turn);
            if let Some(channel) = self.news.commands(id, sent.runner) {
                // What is not heard of is found when that process looks.
                let _ = run!(self.pool, connection, news::notify(connection, &channel, id));
            }
            Ok(sent.id)
        })
    }

    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, inbox::commands(connection, id, after)) })
    }

    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>> {
        Box::pin(async move {
            let claim = run!(self.pool, connection, claims::claim(connection, id, node))?;
            self.news.set_running(true);
            Ok(claim)
        })
    }

    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>> {
        Box::pin(async move {
            if !run!(self.pool, connection, claims::is_any(connection, &request))? {
                return Ok(Vec::new());
            }
            let taken = claims::claim_any(&self.pool, &request).await?;
            if !taken.is_empty() {
                self.news.set_running(true);
            }
            Ok(taken)
        })
    }

    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        Box::pin(async move {
            let held = run!(self.beats, connection, claims::held(connection, node))?;
            self.news.set_running(!held.is_empty());
            Ok(held)
        })
    }

    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            run!(self.pool, connection, claims::release(connection, &claim, how))?;
            self.news.work();
            Ok(())
        })
    }

    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, spending::draw(connection, &draw)) })
    }

    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, spending::settle(connection, &claim, spent)) })
    }

    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>> {
        Box::pin(async move {
            transact!(self.pool, connection, spending::spending(connection, &account, &caps, at))
        })
    }

    fn epoch(&self) -> Option<u64> {
        Some(self.news.epoch())
    }

    fn grants(&self) -> Option<Arc<dyn Grants>> {
        Some(self.lanes.clone())
    }

    fn figures(&self) -> Option<StoreFigures> {
        Some(self.counts.figures())
    }

    fn watch(&self) -> BoxStream<'static, Wake> {
        self.news.subscribe()
    }

    fn follow(&self, id: DiscussionId) {
        self.news.follow(id);
    }

    fn delta(&self, piece: &Arc<Piece>) {
        self.news.delta(piece);
    }
}

impl Nodes for PostgresStore {
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(
            async move { run!(self.pool, connection, nodes::join(connection, &node, self.news.channel())) },
        )
    }

    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>> {
        Box::pin(async move {
            let pulse = run!(self.beats, connection, nodes::beat(connection, node, duty))?;
            if let Some(pulse) = &pulse {
                self.lanes.nodes.store(pulse.beats.len(), Ordering::Relaxed);
            }
            Ok(pulse)
        })
    }

    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move {
            let reaped = transact!(self.beats, connection, nodes::reap(connection, node, beat))?;
            self.news.work();
            Ok(reaped)
        })
    }

    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            transact!(self.pool, connection, nodes::deregister(connection, node))?;
            self.news.work();
            Ok(())
        })
    }

    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, nodes::attach(connection, id, client, node)) })
    }

    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, nodes::detach(connection, id, client)) })
    }

    fn try_writing(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, nodes::try_writing(connection)) })
    }

    fn clock(&self) -> BoxFuture<'_, Result<Option<Timestamp>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, nodes::clock(connection)).map(Some) })
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, nodes::all(connection)) })
    }
}

impl Archive for PostgresStore {
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(
            async move { run!(self.pool, connection, archive::list(connection, &wanted, Visibility::Shown)) },
        )
    }

    fn hidden(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move {
            run!(self.pool, connection, archive::list(connection, &wanted, Visibility::Hidden))
        })
    }

    fn find(&self, query: Query, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Found>, StoreError>> {
        Box::pin(async move {
            search::try_to_update(&self.pool).await;
            run!(self.pool, connection, find::find(connection, &query, &wanted))
        })
    }

    fn index(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(search::update(&self.pool))
    }

    fn copies(&self, of: DiscussionId) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, archive::copies(connection, of)) })
    }

    fn expire(&self, retention: Retention) -> BoxFuture<'_, Result<Expired, StoreError>> {
        Box::pin(async move {
            search::try_to_update(&self.pool).await;
            transact!(self.pool, connection, retention::expire(connection, retention))
        })
    }

    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, retention::restore(connection, id, now)) })
    }

    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, retention::remove(connection, id)) })
    }

    fn rename(&self, id: DiscussionId, title: Option<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(
            async move { run!(self.pool, connection, archive::rename(connection, id, title.as_deref())) },
        )
    }

    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::reserve(connection, &wanted)) })
    }

    fn remember(&self, new: NewMemory) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::remember(connection, &new)) })
    }

    fn remembered(
        &self,
        tenant: Tenant,
        query: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<Remembered>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::remembered(connection, &tenant, &query)) })
    }

    fn resolve(&self, outcome: KnownOutcome) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, outcomes::resolve(connection, &outcome)) })
    }

    fn outcomes(&self, wanted: OutcomesWanted) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, outcomes::outcomes(connection, &wanted)) })
    }

    fn outcomes_of(&self, id: DiscussionId) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, outcomes::outcomes_of(connection, id)) })
    }

    fn log(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::log(connection, &entry)) })
    }

    fn audit_entries(
        &self,
        wanted: AuditWanted,
    ) -> BoxFuture<'_, Result<Vec<(u64, AuditEntry)>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::audit_entries(connection, &wanted)) })
    }

    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::create_session(connection, &session)) })
    }

    fn sessions(&self, wanted: SessionsWanted) -> BoxFuture<'_, Result<Vec<Session>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, kept::sessions(connection, &wanted)) })
    }

    fn rename_session(
        &self,
        tenant: Tenant,
        id: Uuid,
        name: String,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(
            async move { run!(self.pool, connection, kept::rename_session(connection, &tenant, id, &name)) },
        )
    }

    fn remove_session(&self, tenant: Tenant, id: Uuid) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(
            async move { transact!(self.pool, connection, kept::remove_session(connection, &tenant, id)) },
        )
    }

    fn backlog(&self, tenant: Option<Tenant>) -> BoxFuture<'_, Result<Backlog, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, archive::backlog(connection, tenant.as_ref())) })
    }
}

impl Transfer for PostgresStore {
    fn identity(&self) -> BoxFuture<'_, Result<Uuid, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::identity(connection)) })
    }

    fn totals(&self) -> BoxFuture<'_, Result<Totals, StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, transfer::totals(connection)) })
    }

    fn bundles(&self, wanted: Bundles) -> BoxFuture<'_, Result<Vec<Bundle>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::bundles(connection, &wanted)) })
    }

    fn import(&self, bundle: Bundle, mark: Mark) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::import(connection, &bundle, &mark)) })
    }

    fn shelf(&self, page: Page) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::shelf(connection, &page)) })
    }

    fn import_shelf(
        &self,
        table: &'static Table,
        rows: Vec<Row>,
        mark: Mark,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            transact!(self.pool, connection, transfer::import_shelf(connection, table, &rows, &mark))
        })
    }

    fn marks(
        &self,
        source: Uuid,
        names: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<(String, u64)>, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::marks(connection, source, &names)) })
    }

    fn strangers(&self, source: Uuid) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(async move { run!(self.pool, connection, transfer::strangers(connection, source)) })
    }

    fn flaws(&self) -> BoxFuture<'_, Result<Vec<Flaw>, StoreError>> {
        Box::pin(async move { transact!(self.pool, connection, flaws::flaws(connection)) })
    }
}
