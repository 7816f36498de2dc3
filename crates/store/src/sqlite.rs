//! The store in one SQLite file: writes go to the one writer, reads to the readers.

use std::path::Path;

use futures::{future::BoxFuture, stream::BoxStream};
use quorum_core::{
    model::{
        account::{Account, CapStatus, Caps},
        command::{Command, CommandId},
        event::Fact,
        id::{DiscussionId, NodeId, Seq, Tenant},
        money::Usd,
        time::Timestamp,
    },
    seams::{
        Append, Archive, AuditEntry, AuditWanted, Backlog, Claim, ClaimRequest, Created, Draw, Drawn, Duty,
        Expired, Found, KnownOutcome, MemoryQuery, NewMemory, Node, NodeStatus, Nodes, OutcomesWanted, Pulse,
        Query, Queueing, Release, Remembered, Reservation, Retention, Runner, Session, SessionsWanted, Store,
        StoreError, Summary, Taken, Wake, Wanted,
        transfer::{Bundle, Bundles, Flaw, Mark, Page, Row, Table, Totals, Transfer},
    },
};
use uuid::Uuid;

use crate::{
    archive::{self, Visibility},
    audit,
    checkpointer::Checkpointer,
    claims,
    connection::{self, Access, Now, Options},
    error::{cant_create, explain},
    find, flaws, idempotency, inbox,
    liveness::{self, Liveness},
    memory, migrate, nodes, outcomes,
    readers::Readers,
    record::{self, Bodies, Opening, Place},
    retention, search, spending, transfer,
    watch::{Seen, Watch},
    write_context::WriteContext,
    writer::Writer,
};

/// A store in one file. Open it once per process and share it; other processes may open it too.
///
/// Dropping it finishes pending writes, ends its threads and releases its claims.
pub struct SqliteStore {
    // Dropped in this order: the last connection to close checkpoints.
    watch: Watch,
    readers: Readers,
    writer: Writer,
    now: Now,
    versions: (usize, usize),
}

impl SqliteStore {
    /// Opens the database in this file, and creates it and its folders if they are missing. A
    /// database that can't be written is opened read-only and refuses every write.
    pub fn open(file: impl AsRef<Path>) -> Result<Self, StoreError> {
        SqliteStore::open_with(file, Options::default())
    }

    /// The same with these options.
    pub fn open_with(file: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let file = file.as_ref();
        match connection::prepare(file)? {
            Access::Write => match Liveness::start(file) {
                Ok(liveness) => SqliteStore::open_to_write(file, options, liveness),
                Err(error) if connection::forbids(&error) => SqliteStore::open_to_read(file, options),
                Err(error) => Err(cant_create(&liveness::folder(file), &error)),
            },
            Access::ReadOnly => SqliteStore::open_to_read(file, options),
        }
    }

    /// Opens a database read-only: nothing is written, not even a lock, and every write is refused.
    pub fn open_to_read(file: impl AsRef<Path>, options: Options) -> Result<Self, StoreError> {
        let file = file.as_ref();
        let connection = connection::to_read(file, &options, Access::ReadOnly);
        migrate::check(&connection.map_err(|error| explain(&error, file))?, file)?;
        let now = options.now.clone();
        let readers = Readers::new(file.to_owned(), options, Access::ReadOnly);
        let (watch, writer) = (Watch::idle(), Writer::refusing(file.to_owned()));
        Ok(SqliteStore { watch, readers, writer, now, versions: (migrate::NEWEST, migrate::NEWEST) })
    }

    fn open_to_write(file: &Path, options: Options, liveness: Liveness) -> Result<Self, StoreError> {
        let wrong = |error: rusqlite::Error| explain(&error, file);
        let connection = connection::to_write(file, &options)?;
        let versions = (migrate::migrate(&connection, file)?, migrate::NEWEST);
        let seen = Seen::now(&connection).map_err(wrong)?;
        let watching = connection::to_read(file, &options, Access::Write).map_err(wrong)?;
        let no_thread = |error| StoreError::Unavailable(format!("no thread can be started: {error}"));
        let watch = Watch::start(watching, seen).map_err(no_thread)?;
        let checkpointing = connection::to_checkpoint(file, &options).map_err(wrong)?;
        let checkpointer = Checkpointer::start(checkpointing).map_err(no_thread)?;
        let readers = Readers::new(file.to_owned(), options.clone(), Access::Write);
        let now = options.now.clone();
        let context = WriteContext::new(connection, liveness, file.to_owned(), options);
        let writer = Writer::start(context, checkpointer).map_err(no_thread)?;
        Ok(SqliteStore { watch, readers, writer, now, versions })
    }

    /// Brings the search index up to date.
    async fn update_index(&self) -> Result<(), StoreError> {
        if self.readers.read(search::is_stale).await? {
            while self.writer.write(search::index_batch).await? == search::BATCH {}
        }
        Ok(())
    }

    /// The version of the tables before it was opened, and now.
    #[must_use]
    pub fn versions(&self) -> (u32, u32) {
        (self.versions.0 as u32, self.versions.1 as u32)
    }

    /// What is wrong with the file according to SQLite; `None` if it is intact.
    pub async fn damage(&self) -> Result<Option<String>, StoreError> {
        let check = |connection: &rusqlite::Connection| {
            Ok(connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))?)
        };
        Ok(Some(self.readers.read(check).await?).filter(|said| said != "ok"))
    }
}

impl Store for SqliteStore {
    fn create(&self, id: DiscussionId, facts: Vec<Fact>) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            let bodies = Bodies::of(&facts)?;
            let opening = Opening { id, facts, bodies };
            self.writer.write(move |context| record::create(context, &opening, Place::Free)).await
        })
    }

    fn enqueue(
        &self,
        id: DiscussionId,
        facts: Vec<Fact>,
        queueing: Queueing,
    ) -> BoxFuture<'_, Result<Created, StoreError>> {
        Box::pin(async move {
            let bodies = Bodies::of(&facts)?;
            let opening = Opening { id, facts, bodies };
            let work = move |context: &mut _| record::create(context, &opening, Place::Queued(queueing));
            let created = self.writer.write(work).await?;
            self.watch.notify(&Wake::Work);
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
            let bodies = Bodies::of(&facts)?;
            let opening = Opening { id, facts, bodies };
            self.writer.write(move |context| claims::begin(context, &opening, runner)).await
        })
    }

    fn append(&self, append: Append) -> BoxFuture<'_, Result<Seq, StoreError>> {
        Box::pin(async move {
            let bodies = Bodies::of(&append.facts)?;
            self.writer.write(move |context| record::append(context, &append, &bodies)).await
        })
    }

    fn read(
        &self,
        id: DiscussionId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'_, Result<Vec<Fact>, StoreError>> {
        Box::pin(self.readers.read(move |connection| record::read(connection, id, after, limit)))
    }

    fn send(&self, id: DiscussionId, command: Command) -> BoxFuture<'_, Result<CommandId, StoreError>> {
        Box::pin(async move {
            let sent = self.writer.write(move |context| inbox::send(context, id, &command)).await?;
            self.watch.notify(&Wake::Commands(id));
            self.watch.notify(&Wake::Work);
            Ok(sent)
        })
    }

    fn commands(
        &self,
        id: DiscussionId,
        after: CommandId,
    ) -> BoxFuture<'_, Result<Vec<(CommandId, Command)>, StoreError>> {
        Box::pin(self.readers.read(move |connection| inbox::commands(connection, id, after)))
    }

    fn claim(&self, id: DiscussionId, node: NodeId) -> BoxFuture<'_, Result<Claim, StoreError>> {
        Box::pin(self.writer.write(move |context| claims::claim(context, id, node)))
    }

    fn claim_any(&self, request: ClaimRequest) -> BoxFuture<'_, Result<Vec<Taken>, StoreError>> {
        Box::pin(self.writer.write(move |context| claims::claim_any(context, &request)))
    }

    fn held(&self, node: NodeId) -> BoxFuture<'_, Result<Vec<Claim>, StoreError>> {
        Box::pin(self.readers.read(move |connection| claims::held(connection, node)))
    }

    fn release(&self, claim: Claim, how: Release) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.writer.write(move |context| claims::release(context, &claim, how)).await?;
            self.watch.notify(&Wake::Work);
            Ok(())
        })
    }

    fn draw(&self, draw: Draw) -> BoxFuture<'_, Result<Drawn, StoreError>> {
        Box::pin(self.writer.write(move |context| spending::draw(context, &draw)))
    }

    fn settle(&self, claim: Claim, spent: Usd) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| spending::settle(context, &claim, spent)))
    }

    fn spending(
        &self,
        account: Account,
        caps: Caps,
        at: Timestamp,
    ) -> BoxFuture<'_, Result<Vec<CapStatus>, StoreError>> {
        Box::pin(async move {
            match self.writer.access() {
                Access::Write => {
                    let work = move |context: &mut _| spending::spending(context, &account, &caps, at);
                    self.writer.write(work).await
                }
                Access::ReadOnly => {
                    let read =
                        move |connection: &_| Ok(spending::cap_statuses(connection, &account, &caps, at)?);
                    self.readers.read(read).await
                }
            }
        })
    }

    fn watch(&self) -> BoxStream<'static, Wake> {
        self.watch.subscribe()
    }

    fn follow(&self, id: DiscussionId) {
        self.watch.follow(id);
    }
}

impl Nodes for SqliteStore {
    fn join(&self, node: Node) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::join(context, &node)))
    }

    fn beat(&self, node: NodeId, duty: Duty) -> BoxFuture<'_, Result<Option<Pulse>, StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::beat(context, node, duty)))
    }

    fn reap(&self, node: NodeId, beat: u64) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::reap(context, node, beat)))
    }

    fn deregister(&self, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::deregister(context, node)))
    }

    fn attach(&self, id: DiscussionId, client: Uuid, node: NodeId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::attach(context, id, client, node)))
    }

    fn detach(&self, id: DiscussionId, client: Uuid) -> BoxFuture<'_, Result<bool, StoreError>> {
        Box::pin(self.writer.write(move |context| nodes::detach(context, id, client)))
    }

    fn nodes(&self) -> BoxFuture<'_, Result<Vec<NodeStatus>, StoreError>> {
        Box::pin(async move {
            match self.writer.access() {
                Access::Write => self.writer.write(nodes::living_nodes).await,
                Access::ReadOnly => self.readers.read(nodes::all).await,
            }
        })
    }
}

impl Archive for SqliteStore {
    fn list(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(self.readers.read(move |connection| archive::list(connection, &wanted, Visibility::Shown)))
    }

    fn hidden(&self, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(self.readers.read(move |connection| archive::list(connection, &wanted, Visibility::Hidden)))
    }

    fn find(&self, query: Query, wanted: Wanted) -> BoxFuture<'_, Result<Vec<Found>, StoreError>> {
        Box::pin(async move {
            let find = match self.writer.access() {
                Access::Write => {
                    self.update_index().await?;
                    find::find
                }
                Access::ReadOnly => find::find_read_only,
            };
            self.readers.read(move |connection| find(connection, &query, &wanted)).await
        })
    }

    fn copies(&self, of: DiscussionId) -> BoxFuture<'_, Result<Vec<Summary>, StoreError>> {
        Box::pin(self.readers.read(move |connection| find::copies(connection, of)))
    }

    fn expire(&self, retention: Retention) -> BoxFuture<'_, Result<Expired, StoreError>> {
        Box::pin(self.writer.write(move |context| retention::expire(context, retention)))
    }

    fn restore(&self, id: DiscussionId, now: Timestamp) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| retention::restore(context, id, now)))
    }

    fn remove(&self, id: DiscussionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| retention::remove(context, id)))
    }

    fn rename(&self, id: DiscussionId, title: Option<String>) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| archive::rename(context, id, title.as_deref())))
    }

    fn reserve(&self, wanted: Reservation) -> BoxFuture<'_, Result<Reservation, StoreError>> {
        Box::pin(self.writer.write(move |context| idempotency::reserve(context, &wanted)))
    }

    fn remember(&self, new: NewMemory) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.writer.write(move |context| memory::remember(context, &new)))
    }

    fn remembered(
        &self,
        tenant: Tenant,
        query: MemoryQuery,
    ) -> BoxFuture<'_, Result<Vec<Remembered>, StoreError>> {
        Box::pin(self.readers.read(move |connection| memory::remembered(connection, &tenant, &query)))
    }

    fn resolve(&self, outcome: KnownOutcome) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| outcomes::resolve(context, &outcome)))
    }

    fn outcomes(&self, wanted: OutcomesWanted) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(self.readers.read(move |connection| outcomes::outcomes(connection, &wanted)))
    }

    fn outcomes_of(&self, id: DiscussionId) -> BoxFuture<'_, Result<Vec<KnownOutcome>, StoreError>> {
        Box::pin(self.readers.read(move |connection| outcomes::outcomes_of(connection, id)))
    }

    fn log(&self, entry: AuditEntry) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| audit::log(context, &entry)))
    }

    fn audit_entries(
        &self,
        wanted: AuditWanted,
    ) -> BoxFuture<'_, Result<Vec<(u64, AuditEntry)>, StoreError>> {
        Box::pin(self.readers.read(move |connection| audit::audit_entries(connection, &wanted)))
    }

    fn create_session(&self, session: Session) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| archive::create_session(context, &session)))
    }

    fn sessions(&self, wanted: SessionsWanted) -> BoxFuture<'_, Result<Vec<Session>, StoreError>> {
        Box::pin(self.readers.read(move |connection| archive::sessions(connection, &wanted)))
    }

    fn rename_session(
        &self,
        tenant: Tenant,
        id: Uuid,
        name: String,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| archive::rename_session(context, &tenant, id, &name)))
    }

    fn remove_session(&self, tenant: Tenant, id: Uuid) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| archive::remove_session(context, &tenant, id)))
    }

    fn backlog(&self, tenant: Option<Tenant>) -> BoxFuture<'_, Result<Backlog, StoreError>> {
        let now = (self.now)();
        Box::pin(self.readers.read(move |connection| archive::backlog(connection, tenant.as_ref(), now)))
    }
}

impl Transfer for SqliteStore {
    fn identity(&self) -> BoxFuture<'_, Result<Uuid, StoreError>> {
        Box::pin(self.writer.write(transfer::identity))
    }

    fn totals(&self) -> BoxFuture<'_, Result<Totals, StoreError>> {
        Box::pin(self.readers.read(transfer::totals))
    }

    fn bundles(&self, wanted: Bundles) -> BoxFuture<'_, Result<Vec<Bundle>, StoreError>> {
        Box::pin(self.readers.read(move |connection| transfer::bundles(connection, &wanted)))
    }

    fn import(&self, bundle: Bundle, mark: Mark) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| transfer::import(context, &bundle, &mark)))
    }

    fn shelf(&self, page: Page) -> BoxFuture<'_, Result<Vec<Row>, StoreError>> {
        Box::pin(self.readers.read(move |connection| transfer::shelf(connection, &page)))
    }

    fn import_shelf(
        &self,
        table: &'static Table,
        rows: Vec<Row>,
        mark: Mark,
    ) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.writer.write(move |context| transfer::import_shelf(context, table, &rows, &mark)))
    }

    fn marks(
        &self,
        source: Uuid,
        names: Vec<String>,
    ) -> BoxFuture<'_, Result<Vec<(String, u64)>, StoreError>> {
        Box::pin(self.readers.read(move |connection| transfer::marks(connection, source, &names)))
    }

    fn strangers(&self, source: Uuid) -> BoxFuture<'_, Result<u64, StoreError>> {
        Box::pin(self.readers.read(move |connection| transfer::strangers(connection, source)))
    }

    fn flaws(&self) -> BoxFuture<'_, Result<Vec<Flaw>, StoreError>> {
        Box::pin(self.readers.read(flaws::flaws))
    }
}
