//! Checks with one kind of fault each: a process, the database, or the network.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use anyhow::{Result, ensure};
use quorum_testkit::{own_postgres::Stop, proxy::Mode};
use tokio::time::sleep;

use super::{
    Effort, Found, history,
    node::Build,
    stand::{NODES, Setup, Stand},
};

/// The number of discussions in checks that count repeated answers.
const LOAD: usize = 100;

/// Starts nodes with this many discussions, and waits until as many answers are recorded.
async fn busy(folder: PathBuf, setup: Setup, count: usize) -> Result<Stand> {
    let stand = Stand::start(&folder, setup).await?;
    stand.order(count, 2).await?;
    stand.until_recorded(count as u64).await?;
    Ok(stand)
}

/// Check 2. Answers are kept back at the kill, so that none is between the provider and the record:
/// then not a single one may be repeated.
pub(crate) async fn kill(folder: PathBuf, _: Effort) -> Result<Found> {
    let mut stand = busy(folder, Setup::default(), LOAD).await?;
    stand.quiesce().await?;
    let (held, under_way) = (stand.held(0)?, stand.provider.under_way());
    let (moment, killed) = (stand.moment()?, Instant::now());
    let node = stand.nodes.remove(0);
    drop(node.kill()?);
    // The provider has to see that its connections are closed.
    sleep(Duration::from_millis(300)).await;
    stand.provider.keep_back(false);
    stand.until("another node takes over", || Ok(held <= stand.claims_of_others(0, moment)?)).await?;
    let taken_over = killed.elapsed();
    stand.until_over().await?;
    let counts = format!(
        "{LOAD} discussions, {held} moved within {:.1} s, {under_way} calls in flight, all over after {:.1} s",
        taken_over.as_secs_f64(),
        killed.elapsed().as_secs_f64()
    );
    Found::of(&stand, &counts, 0 < held, 0)
}

/// Check 3. The stopped process still gets the answers of its calls in flight; those are the only
/// ones that may be repeated.
pub(crate) async fn stop(folder: PathBuf, effort: Effort) -> Result<Found> {
    let (lease_s, stopped_s) = match effort {
        Effort::Short => (3, 8),
        Effort::Full => (15, 60),
    };
    let stand = busy(folder, Setup { lease_s, ..Setup::default() }, 60).await?;
    stand.quiesce().await?;
    let held = stand.held(0)?;
    stand.nodes[0].signal("-STOP")?;
    stand.provider.keep_back(false);
    let stopped = Instant::now();
    sleep(Duration::from_secs(stopped_s)).await;
    stand.nodes[0].signal("-CONT")?;
    stand.until_over().await?;
    stand.nodes[0].until_ready().await?;
    let dropped = stand.nodes[0].metric("ax_node_fenced_total").await?
        + stand.nodes[0].metric("ax_node_cancelled_total").await?;
    let reaped = stand.sum("ax_node_reaped_total").await?;
    let counts = format!(
        "stopped for {stopped_s} s at a lease of {lease_s} s with {held} running; {dropped} fenced or cancelled, \
         {reaped} death seen, all over after {:.1} s",
        stopped.elapsed().as_secs_f64()
    );
    Found::of(&stand, &counts, 0 < held && 0 < dropped && reaped == 1, held)
}

/// Check 4. Whatever happens to the database, no node is considered dead and no answer is repeated.
pub(crate) async fn database_down(folder: PathBuf, effort: Effort) -> Result<Found> {
    let down = Duration::from_secs(if effort == Effort::Short { 5 } else { 30 });
    let mut stand = busy(folder, Setup::default(), LOAD).await?;
    stand.database.stop(Stop::Immediate)?;
    stand.database.go_on()?;
    stand.until_recorded(2 * LOAD as u64).await?;
    stand.database.stop(Stop::Immediate)?;
    sleep(down).await;
    stand.database.go_on()?;
    let began = Instant::now();
    stand.until_over().await?;
    let reaped = stand.sum("ax_node_reaped_total").await?;
    let counts = format!(
        "{LOAD} discussions, killed once and down for {} s at a lease of 3 s; {reaped} deaths seen, all over {:.1} s \
         after that",
        down.as_secs(),
        began.elapsed().as_secs_f64()
    );
    Found::of(&stand, &counts, reaped == 0, 0)
}

/// What the newer build does to the tables, while the older one uses them.
const MIGRATION: &str = "ALTER TABLE nodes ADD COLUMN more integer; UPDATE schema SET version = version + 1";

/// Check 5. Nodes are told to end one by one and replaced by a newer build, while orders come in.
/// One of them is started again with the older build in between, when the tables are newer.
pub(crate) async fn rolling_restart(folder: PathBuf, effort: Effort) -> Result<Found> {
    let mut stand = busy(folder, Setup::default(), if effort == Effort::Short { 30 } else { LOAD }).await?;
    let (mut longest, mut restarts, mut orders) = (Duration::ZERO, 0, 0);
    for build in [Build::Newer, Build::Usual, Build::Newer, Build::Newer, Build::Newer] {
        let node = stand.nodes.remove(0);
        // A load balancer sends nothing to a node that ends; the others take the orders.
        let ((), ended) = (stand.order(10, 1).await?, node.end().await?);
        longest = longest.max(ended.1);
        stand.order(10, 1).await?;
        let started = ended.0.with(build)?.node().await?;
        stand.nodes.push(started);
        if restarts == 0 {
            stand.database.sql(MIGRATION).map_err(anyhow::Error::msg)?;
        }
        stand.order_newer(3).await?;
        (restarts, orders) = (restarts + 1, orders + 23);
    }
    stand.until_over().await?;
    let stuck = history::number(&stand.database, "SELECT count(*) FROM discussions WHERE stuck")?;
    let newer = history::number(
        &stand.database,
        "SELECT count(*) FROM discussions WHERE pattern = 'delphi' AND status = 'completed'",
    )?;
    let counts = format!(
        "{restarts} restarts of {NODES} nodes, from the older to a newer build with newer tables, each ended within \
         {:.1} s; {orders} orders meanwhile, {newer} of them for the newer build only; {} answers of 5xx, {stuck} stuck",
        longest.as_secs_f64(),
        stand.server_errors()
    );
    let passed = stand.server_errors() == 0 && stuck == 0 && newer == 3 * restarts;
    Found::of(&stand, &counts, passed, 0)
}

/// Check 7. One node's connections drop all traffic for longer than a lease; then all connections
/// are slow; then all are cut every two seconds.
pub(crate) async fn bad_network(folder: PathBuf, _: Effort) -> Result<Found> {
    let stand = busy(folder, Setup::default(), 60).await?;
    stand.quiesce().await?;
    let held = stand.held(0)?;
    stand.proxies[0].set(Mode::Swallow);
    stand.provider.keep_back(false);
    sleep(Duration::from_secs(9)).await;
    stand.proxies[0].set(Mode::Pass);
    stand.until_over().await?;
    let swallowed = stand.repeated()?;
    ensure!(swallowed <= held, "{swallowed} answers repeated, {held} discussions were on the lost node");
    stand.nodes[0].until_ready().await?;
    let deaths = stand.sum("ax_node_reaped_total").await?;

    stand.proxies.iter().for_each(|it| it.set(Mode::Delay(Duration::from_millis(500))));
    stand.order(20, 1).await?;
    stand.until_over().await?;
    let slow_deaths = stand.sum("ax_node_reaped_total").await? - deaths;
    stand.proxies.iter().for_each(|it| it.set(Mode::Pass));
    let slow = stand.repeated()? - swallowed;

    stand.order(60, 2).await?;
    for _ in 0..5 {
        sleep(Duration::from_secs(2)).await;
        stand.proxies.iter().for_each(quorum_testkit::proxy::Proxy::cut);
    }
    stand.until_over().await?;
    let cut = stand.repeated()? - swallowed - slow;
    let counts = format!(
        "swallowed 9 s: {swallowed} repeated of {held} held there; 500 ms each way: {slow} repeated, {slow_deaths} \
         false deaths; cut 5 times: {cut} repeated"
    );
    Found::of(&stand, &counts, slow + cut == 0 && slow_deaths == 0 && 0 < held, held)
}

/// Check 9. The database gives the node four connections: one writes, one listens, two do the rest.
pub(crate) async fn few_connections(folder: PathBuf, _: Effort) -> Result<Found> {
    let setup = Setup { user: "few", nodes: 1, ..Setup::default() };
    let stand = Stand::start(&folder, setup).await?;
    stand.database.sql("ALTER USER few CONNECTION LIMIT 4").map_err(anyhow::Error::msg)?;
    // Connections that are already open count towards the limit, so they are cut.
    stand.proxies[0].cut();
    let began = Instant::now();
    stand.order(200, 1).await?;
    stand.until_over().await?;
    let most =
        history::number(&stand.database, "SELECT count(*) FROM pg_stat_activity WHERE usename = 'few'")?;
    let counts = format!(
        "200 discussions, {most} connections, {} answers of 5xx, all over after {:.1} s",
        stand.server_errors(),
        began.elapsed().as_secs_f64()
    );
    Found::of(&stand, &counts, most <= 4, 0)
}

/// Check 10.
pub(crate) async fn three_thousand(folder: PathBuf, _: Effort) -> Result<Found> {
    let setup = Setup { latency: Duration::from_secs(1), lease_s: 15, ..Setup::default() };
    let stand = Stand::start(&folder, setup).await?;
    let began = Instant::now();
    stand.order(3_000, 1).await?;
    let ordered = began.elapsed();
    stand.until_over().await?;
    let reaped = stand.sum("ax_node_reaped_total").await?;
    let counts = format!(
        "3,000 discussions of three calls of 1 s, ordered in {:.0} s, over after {:.0} s, {reaped} deaths seen",
        ordered.as_secs_f64(),
        began.elapsed().as_secs_f64()
    );
    Found::of(&stand, &counts, reaped == 0, 0)
}

/// Check 11. Three nodes share what the provider allows: ten calls a second.
pub(crate) async fn limit_of_a_provider(folder: PathBuf, _: Effort) -> Result<Found> {
    let providers = "requests_per_minute = 600\nconcurrency = 2000\n";
    let stand = Stand::start(&folder, Setup { providers, ..Setup::default() }).await?;
    stand.order(60, 2).await?;
    stand.until_over().await?;
    let came = stand.provider.came("alpha-1");
    let window = Duration::from_secs(10);
    let in_window =
        |from: &Instant| came.iter().filter(|it| from <= *it && it.duration_since(*from) < window).count();
    let most = came.iter().map(in_window).max().unwrap_or_default();
    let rate = most as f64 / window.as_secs_f64();
    let counts = format!("{} calls, at most {rate:.1} a second over 10 s, allowed 10", came.len());
    Found::of(&stand, &counts, rate <= 10.5 && 100 < came.len(), 0)
}
