//! PostgreSQL against SQLite in the same run, and what travels between nodes.

use std::{
    path::PathBuf,
    process::{Command, Stdio},
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::{Context, Error, Result, anyhow, ensure};
use futures::{StreamExt, future::join_all, stream::BoxStream};
use quorum::database::Location;
use quorum_core::{
    engine::Engine,
    model::{
        command::Command as Order,
        id::{DiscussionId, NodeId, Step},
        piece::Piece,
        spec::Spec,
    },
    seams::{ClaimRequest, Duty, LiveText, Node, Nodes, Store, Wake},
};
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::own_postgres::OwnPostgres;
use tokio::{
    sync::Semaphore,
    time::{sleep, timeout},
};

use crate::{
    database::{Database, spec},
    load::run_all,
    record::{facts_per_second_of, open_in, write_in},
    table::Table,
};

const FIFTY: Duration = Duration::from_millis(50);

/// How long anything between two nodes may take before it counts as lost.
const LOST: Duration = Duration::from_secs(10);

/// A server with the usual durability, on the checkout's disk.
pub(crate) struct Server {
    database: OwnPostgres,
    folder: PathBuf,
}

impl Server {
    pub(crate) fn start() -> Result<Self> {
        let folder = std::env::current_dir()?.join("target").join(format!("bench-{}", uuid::Uuid::new_v4()));
        let settings = ["max_connections=200", "shared_buffers=128MB"];
        let database = OwnPostgres::start(&folder.join("postgres"), &settings);
        Ok(Server { database: database.context("a folder that the user `postgres` can enter")?, folder })
    }

    fn url(&self) -> String {
        format!("postgres://postgres@127.0.0.1:{}/postgres", self.database.port())
    }

    pub(crate) fn location(&self) -> Result<Location> {
        Location::parse(&self.url()).map_err(Error::msg)
    }

    fn store(&self) -> Result<Arc<PostgresStore>> {
        Ok(Arc::new(PostgresStore::open(Address::parse(&self.url())?)?))
    }

    fn sql(&self, sql: &str) -> Result<String> {
        self.database.sql(sql).map_err(|error| anyhow!("{sql}: {error}"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.folder));
    }
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// The value that this share of the others does not exceed.
fn quantile(times: &mut [Duration], share: f64) -> Duration {
    times.sort_unstable();
    let place = ((times.len() as f64 * share).ceil() as usize).clamp(1, times.len()) - 1;
    times[place]
}

/// The usual time of one commit: a beat changes one row.
async fn commit(store: &PostgresStore) -> Result<Duration> {
    let node = Node::fresh("commits");
    let id = node.id;
    store.join(node).await?;
    let mut times = Vec::new();
    for _ in 0..100 {
        let began = Instant::now();
        store.beat(id, Duty::Serving).await?;
        times.push(began.elapsed());
    }
    store.deregister(id).await?;
    Ok(quantile(&mut times, 0.5))
}

/// Facts per second and a single append, beside SQLite's.
pub(crate) async fn facts(database: &Database, table: &mut Table) -> Result<()> {
    let server = Server::start()?;
    let store = server.store()?;
    let (sqlite, commit) =
        (facts_per_second_of(database, database.store.clone()).await?, commit(&store).await?);
    let rate = facts_per_second_of(database, store.clone()).await?;
    let (ratio, is_fast) = (rate / sqlite, ms(commit) < 0.5);
    table.row(
        "PostgreSQL: durable facts per second, 64 writers / SQLite's",
        format!("{ratio:.2} ({rate:.0} / {sqlite:.0})"),
        ">= 0.5, and >= 15,000 where a commit takes < 0.5 ms",
        0.5 <= ratio && (!is_fast || 15_000.0 <= rate),
    );
    let claim = open_in(database, store.clone(), 1).await?.pop().context("a claim")?;
    let mut times = write_in(&*store, claim, 300).await?;
    let append = quantile(&mut times, 0.5);
    let commits = append.as_secs_f64() / commit.as_secs_f64();
    table.row(
        "PostgreSQL: one append, p50, in commits",
        format!("{commits:.2} ({:.2} ms / {:.2} ms)", ms(append), ms(commit)),
        "<= 2",
        commits <= 2.0,
    );
    Ok(())
}

/// A claim while many discussions are run by others.
pub(crate) async fn claims(database: &Database, table: &mut Table) -> Result<()> {
    let server = Server::start()?;
    let store = server.store()?;
    let few = claim_among(database, &server, &store, 1_000).await?;
    let many = claim_among(database, &server, &store, 100_000).await?;
    let commit = commit(&store).await?;
    table.note("PostgreSQL: a claim, p50, with 1,000 running", format!("{:.1} ms", ms(few)));
    let limit = (ms(commit) + 2.0).min(1.5 * ms(few));
    table.row(
        "PostgreSQL: a claim, p50, with 100,000 running",
        format!("{:.1} ms (a commit {:.1} ms)", ms(many), ms(commit)),
        "<= one commit + 2 ms, <= 1.5 of that with 1,000",
        ms(many) <= limit,
    );
    Ok(())
}

async fn claim_among(
    database: &Database,
    server: &Server,
    store: &Arc<PostgresStore>,
    running: u64,
) -> Result<Duration> {
    let engine = database.engine_on(store.clone(), Duration::ZERO, Node::fresh("orders"));
    for _ in 0..50 {
        engine.open(spec("synthesis", 1, 3)).await?;
    }
    let other = NodeId::fresh();
    store.join(Node { id: other, ..Node::fresh("the others") }).await?;
    // Copies of a queued one, all run by another node.
    let columns = "root, tenant, session, pattern, flow, needs, topic, key, simulated, opened_at, status, run, last, \
                   last_at, written_at, fence, turn, ready_at, unindexed";
    let values = columns.replacen("root", "it.id", 1);
    let id = uuid::Uuid::from(other);
    server.sql(&format!(
        "INSERT INTO discussions (id, node, {columns}) SELECT it.id, '{id}', {values} FROM
         (SELECT * FROM discussions WHERE node IS NULL LIMIT 1) AS model,
         LATERAL (SELECT gen_random_uuid() AS id FROM generate_series(1, {running})) AS it"
    ))?;
    server.sql("ANALYZE discussions")?;
    let node = Node::fresh("the claimer");
    let claimer = node.id;
    store.join(node).await?;
    let mut times = Vec::new();
    for _ in 0..50 {
        let began = Instant::now();
        let taken = store.claim_any(ClaimRequest::any(claimer, 1)).await?;
        times.push(began.elapsed());
        ensure!(taken.len() == 1, "nothing to claim");
    }
    Ok(quantile(&mut times, 0.5))
}

/// From the death of a node to the claim of the last of its 100 discussions.
pub(crate) async fn takeover(database: &Database, table: &mut Table) -> Result<()> {
    let server = Server::start()?;
    let store = server.store()?;
    let lease = Duration::from_secs(3);
    let node = |name: &str| Node { lease_ms: lease.as_millis() as u64, ..Node::fresh(name) };
    let alive = database.engine_on(store.clone(), FIFTY, node("alive"));
    alive.join().await?;
    for _ in 0..100 {
        alive.open(spec("synthesis", 1, 3)).await?;
    }
    let dying = node("dying");
    let id = dying.id;
    store.join(dying).await?;
    let taken = store.claim_any(ClaimRequest::any(id, 100)).await?.len();
    store.beat(id, Duty::Serving).await?;
    let (died, mut moved, mut news) = (Instant::now(), 0, store.watch());
    // As a server's claimer does it: 16 every 100 ms, or a look every second and at news of work.
    while moved < taken {
        let claimed = alive.claim_any(16).await?;
        let is_idle = claimed.is_empty();
        moved += claimed.len();
        claimed.into_iter().for_each(|it| drop(alive.run_claimed(it.claim)));
        if is_idle {
            let work = async { while news.next().await.is_some_and(|it| it != Wake::Work) {} };
            drop(timeout(Duration::from_secs(1), work).await);
        } else {
            sleep(Duration::from_millis(100)).await;
        }
    }
    let took = died.elapsed();
    table.row(
        &format!("PostgreSQL: takeover of {taken} discussions at a lease of 3 s"),
        format!("{:.1} s", took.as_secs_f64()),
        "<= lease + 2 s",
        took <= lease + Duration::from_secs(2),
    );
    alive.leave().await;
    Ok(())
}

/// Commands and live text from one node to another.
pub(crate) async fn between(database: &Database, table: &mut Table) -> Result<()> {
    let server = Server::start()?;
    let (runner, other) = (server.store()?, server.store()?);
    let claim = open_in(database, runner.clone(), 1).await?.pop().context("a claim")?;
    let (mut at_runner, mut at_other) = (runner.watch(), other.watch());
    // Both have to listen before anything is measured.
    other.send(claim.id, Order::Resume).await?;
    heard(&mut at_runner, |it| *it == Wake::Commands(claim.id)).await.context("no news of a command")?;
    let mut times = Vec::new();
    for _ in 0..200 {
        let began = Instant::now();
        other.send(claim.id, Order::Resume).await?;
        heard(&mut at_runner, |it| *it == Wake::Commands(claim.id)).await;
        times.push(began.elapsed());
    }
    let p99 = quantile(&mut times, 0.99);
    let measured = format!("{:.0} ms (p50 {:.0} ms)", ms(p99), ms(quantile(&mut times, 0.5)));
    table.row("PostgreSQL: a command to another node, p99", measured, "<= 200 ms", ms(p99) <= 200.0);
    text(&runner, &other, (&mut at_runner, &mut at_other), claim.id, table).await
}

async fn text(
    runner: &PostgresStore,
    other: &PostgresStore,
    (at_runner, at_other): (&mut BoxStream<'static, Wake>, &mut BoxStream<'static, Wake>),
    id: DiscussionId,
    table: &mut Table,
) -> Result<()> {
    other.follow(id);
    heard(at_runner, |it| *it == Wake::Text(LiveText::Wanted(id))).await.context("nobody follows")?;
    let (mut times, mut lost) = (Vec::new(), 0);
    let count = 400;
    for number in 0..count {
        let (step, participant) = (Step::new(1, "speaking", "ann"), "ann".to_owned());
        let text = "word ".to_owned();
        let offset = number * text.len();
        let piece =
            Piece { discussion: id, step, attempt: 1, participant, round: 1, offset, text, hidden: 0 };
        let began = Instant::now();
        runner.delta(&Arc::new(piece));
        // Pieces may arrive joined; this one has arrived with the first that reaches its end.
        let is_it = |it: &Wake| matches!(it, Wake::Text(LiveText::Piece(piece)) if offset < piece.offset + piece.text.len());
        match heard(at_other, is_it).await {
            Some(()) => times.push(began.elapsed()),
            None => lost += 1,
        }
        sleep(Duration::from_millis(10)).await;
    }
    let (seen, p99) = (100.0 * (count - lost) as f64 / count as f64, quantile(&mut times, 0.99));
    table.row(
        "PostgreSQL: live text to another node, p99, and share of the pieces",
        format!("{:.0} ms (p50 {:.0} ms), {seen:.1} %", ms(p99), ms(quantile(&mut times, 0.5))),
        "<= 250 ms, >= 99 %",
        ms(p99) <= 250.0 && 99.0 <= seen,
    );
    Ok(())
}

/// Waits for these news; `None` if they don't come.
async fn heard(news: &mut BoxStream<'static, Wake>, is_it: impl Fn(&Wake) -> bool) -> Option<()> {
    let looking = async {
        while let Some(wake) = news.next().await {
            if is_it(&wake) {
                return;
            }
        }
    };
    timeout(LOST, looking).await.ok()
}

/// 500 discussions on three nodes with PostgreSQL against one with SQLite, on the same cores.
pub(crate) async fn three_nodes(database: &Database, table: &mut Table) -> Result<()> {
    let (server, spec) = (Server::start()?, spec("round-robin", 1, 5));
    let alone = run_all(&database.engine(FIFTY), 500, &spec).await?;
    let mut engines: Vec<Engine> = Vec::new();
    for number in 0..3 {
        let node = Node::fresh(&format!("node {number}"));
        engines.push(database.engine_on(server.store()?, FIFTY, node));
    }
    let began = Instant::now();
    let shares = engines.iter().zip([167, 167, 166]);
    let runs = join_all(shares.map(|(engine, count)| run_share(engine, count, &spec))).await;
    runs.into_iter().collect::<Result<Vec<()>>>()?;
    let ratio = began.elapsed().as_secs_f64() / alone.as_secs_f64();
    table.row(
        "PostgreSQL: 500 discussions of six calls of 50 ms on three nodes / one with SQLite",
        format!("{ratio:.2} ({:.2} s / {:.2} s)", began.elapsed().as_secs_f64(), alone.as_secs_f64()),
        "<= 3",
        ratio <= 3.0,
    );
    Ok(())
}

/// Runs this many discussions at the same time. As many are begun at once as a server claims.
async fn run_share(engine: &Engine, count: usize, spec: &Spec) -> Result<()> {
    let begins = Semaphore::new(16);
    let one = || async {
        let permit = begins.acquire().await?;
        let handle = engine.begin(spec.clone()).await?;
        drop(permit);
        ensure!(handle.finished().await?.outcome().success, "a discussion failed");
        Ok(())
    };
    join_all((0..count).map(|_| one())).await.into_iter().collect()
}

/// Statements of an `ax serve` that has nothing to do.
pub(crate) async fn idle(table: &mut Table) -> Result<()> {
    let server = Server::start()?;
    let home = server.folder.join("home");
    std::fs::create_dir_all(&home)?;
    let mut node = Command::new(std::env::current_exe()?.with_file_name("ax"));
    node.args(["serve", "--port", "0", "--offline"]).current_dir(&home).env_clear().env("HOME", &home);
    node.env("AX_DATABASE_URL", server.url()).env("OLLAMA_HOST", "");
    let mut node = node.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    sleep(Duration::from_secs(8)).await;
    let count = || -> Result<u64> {
        let sql = "SELECT sum(xact_commit + xact_rollback) FROM pg_stat_database WHERE datname = 'postgres'";
        Ok(server.sql(sql)?.parse()?)
    };
    let (before, began) = (count()?, Instant::now());
    sleep(Duration::from_secs(20)).await;
    // The look at the counter is a transaction of its own.
    let rate = (count()?.saturating_sub(before + 1)) as f64 / began.elapsed().as_secs_f64();
    node.kill()?;
    node.wait()?;
    table.row("PostgreSQL: statements of an idle node per second", format!("{rate:.1}"), "<= 3", rate <= 3.0);
    Ok(())
}
