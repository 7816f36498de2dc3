//! A database, a provider and three nodes, with a proxy between each node and the database.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use futures::{StreamExt, TryStreamExt, stream};
use quorum_testkit::{own_postgres::OwnPostgres, proxy::Proxy};
use reqwest::Method;
use serde_json::{Value, json};
use tokio::time::sleep;

use super::{
    history,
    node::{LONGEST, Node, Start},
    provider::Provider,
};

const SETTINGS: &[&str] =
    &["fsync=off", "max_connections=200", "shared_buffers=64MB", "autovacuum=off", "wal_level=replica"];

/// The number of nodes.
pub(crate) const NODES: usize = 3;

/// The clients that order at the same time.
const CLIENTS: usize = 16;

/// How a stand is set up.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    pub(crate) lease_s: u64,
    /// How long each call takes.
    pub(crate) latency: Duration,
    /// The user of the database.
    pub(crate) user: &'static str,
    pub(crate) nodes: usize,
    /// Lines of the configuration after those of the providers.
    pub(crate) providers: &'static str,
}

impl Default for Setup {
    fn default() -> Self {
        let latency = Duration::from_millis(300);
        Setup { lease_s: 3, latency, user: "postgres", nodes: NODES, providers: "concurrency = 2000\n" }
    }
}

pub(crate) struct Stand {
    pub(crate) database: OwnPostgres,
    pub(crate) provider: Provider,
    pub(crate) proxies: Vec<Proxy>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) folder: PathBuf,
    client: reqwest::Client,
    orders: AtomicU64,
    server_errors: AtomicU64,
}

impl Stand {
    pub(crate) async fn start(folder: &Path, setup: Setup) -> Result<Self> {
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        let database = OwnPostgres::start(&folder.join("database"), SETTINGS)?;
        let provider = Provider::start(setup.latency)?;
        let mut stand = Stand {
            database,
            provider,
            proxies: Vec::new(),
            nodes: Vec::new(),
            folder: folder.to_owned(),
            client: reqwest::Client::new(),
            orders: AtomicU64::new(0),
            server_errors: AtomicU64::new(0),
        };
        stand.make_user(setup.user)?;
        for number in 0..setup.nodes {
            stand.add_node(number, setup).await?;
        }
        Ok(stand)
    }

    fn make_user(&self, user: &str) -> Result<()> {
        if user == "postgres" {
            return Ok(());
        }
        for sql in [format!("CREATE USER {user}"), format!("ALTER SCHEMA public OWNER TO {user}")] {
            self.database.sql(&sql).map_err(anyhow::Error::msg)?;
        }
        Ok(())
    }

    async fn add_node(&mut self, number: usize, setup: Setup) -> Result<()> {
        let proxy = Proxy::to(self.database.port());
        let url = format!(
            "postgres://{}@127.0.0.1:{}/postgres?application_name=node{number}",
            setup.user,
            proxy.port()
        );
        let home = self.folder.join(format!("node{number}"));
        let node = Start::new(&home, &config(setup, self.provider.port), Some(url))?.node().await?;
        if number == 0 {
            history::watch(&self.database)?;
            // The triggers write as the user of the nodes.
            self.database.sql("GRANT ALL ON watched TO PUBLIC").map_err(anyhow::Error::msg)?;
        }
        self.proxies.push(proxy);
        self.nodes.push(node);
        Ok(())
    }

    /// Orders `count` discussions with this many rounds, from one node after the other.
    pub(crate) async fn order(&self, count: usize, rounds: u64) -> Result<()> {
        let orders = (0..count).map(async |number| {
            let body = json!({
                "topic": format!("Question {number}?"), "pattern": "round-robin", "rounds": rounds,
                "providers": ["alpha", "beta"],
            });
            self.place(number % self.nodes.len(), &body).await.map(drop)
        });
        stream::iter(orders).buffer_unordered(CLIENTS).try_collect().await
    }

    /// Orders discussions, without calls, of a pattern that only newer builds know.
    pub(crate) async fn order_newer(&self, count: usize) -> Result<()> {
        let body = json!({
            "topic": "How many?", "pattern": "delphi", "providers": ["claude", "gemini"],
            "offline": true, "simulate": { "latencyMs": 100 },
        });
        for number in 0..count {
            self.place(number % self.nodes.len(), &body).await?;
        }
        Ok(())
    }

    /// Places an order through this node, or the next one if it is not ready; a repetition is
    /// recognised by its key.
    pub(crate) async fn place(&self, first: usize, body: &Value) -> Result<String> {
        let number = self.orders.fetch_add(1, Ordering::SeqCst);
        let (key, began) = (format!("order-{number}"), Instant::now());
        for place in (0..self.nodes.len()).cycle().skip(first) {
            let url = self.nodes[place].url("/api/discussions");
            let request = self.client.request(Method::POST, url).header("idempotency-key", &key);
            let request = request.header("content-type", "application/json").body(body.to_string());
            if let Ok(answer) = request.timeout(Duration::from_secs(30)).send().await {
                let is_error = u64::from(answer.status().is_server_error());
                self.server_errors.fetch_add(is_error, Ordering::SeqCst);
                let (is_taken, text) = (answer.status() == 202, answer.text().await?);
                if is_taken {
                    let told: Value = serde_json::from_str(&text)?;
                    return Ok(told["discussionId"].as_str().context("an id")?.to_owned());
                }
            }
            ensure!(began.elapsed() < LONGEST, "no node takes an order");
            sleep(Duration::from_millis(20)).await;
        }
        unreachable!("the nodes are tried again and again")
    }

    /// How many answers of clients had a status of 500 or more.
    pub(crate) fn server_errors(&self) -> u64 {
        self.server_errors.load(Ordering::SeqCst)
    }

    /// Waits until this many answers are recorded.
    pub(crate) async fn until_recorded(&self, count: u64) -> Result<()> {
        self.until("answers are recorded", || Ok(count <= history::needed(&self.database)?)).await
    }

    pub(crate) async fn until_over(&self) -> Result<()> {
        self.until("all discussions end", || Ok(history::unfinished(&self.database)? == 0)).await
    }

    /// Keeps all answers back until everything that was answered is recorded.
    pub(crate) async fn quiesce(&self) -> Result<()> {
        self.provider.keep_back(true);
        self.until("all answers are recorded", || {
            Ok(history::needed(&self.database)? == self.provider.answered())
        })
        .await
    }

    pub(crate) async fn until(&self, what: &str, is_so: impl Fn() -> Result<bool>) -> Result<()> {
        let began = Instant::now();
        // An unavailable database is retried; it comes back.
        while !is_so().unwrap_or(false) {
            if LONGEST < began.elapsed() {
                let stuck = self.database.sql("SELECT status, run, count(*) FROM discussions GROUP BY 1, 2");
                anyhow::bail!("timed out waiting until {what}: {stuck:?}\n{}", self.nodes[0].log());
            }
            sleep(Duration::from_millis(100)).await;
        }
        Ok(())
    }

    /// Answers that were given more often than they are recorded.
    pub(crate) fn repeated(&self) -> Result<u64> {
        Ok(self.provider.answered().saturating_sub(history::needed(&self.database)?))
    }

    /// How many discussions the node with this number holds.
    pub(crate) fn held(&self, number: usize) -> Result<u64> {
        let sql = format!(
            "SELECT count(*) FROM discussions d WHERE node IS NOT NULL AND 'node{number}' =
             (SELECT writer FROM watched w WHERE what = 'claim' AND w.id = d.id ORDER BY n DESC LIMIT 1)"
        );
        history::number(&self.database, &sql)
    }

    pub(crate) fn claims_of_others(&self, number: usize, since: u64) -> Result<u64> {
        let sql = format!(
            "SELECT count(*) FROM watched WHERE what = 'claim' AND n > {since} AND writer <> 'node{number}'"
        );
        history::number(&self.database, &sql)
    }

    /// The number of the last entry of the history.
    pub(crate) fn moment(&self) -> Result<u64> {
        history::number(&self.database, "SELECT coalesce(max(n), 0) FROM watched")
    }

    pub(crate) async fn sum(&self, metric: &str) -> Result<u64> {
        let mut sum = 0;
        for node in &self.nodes {
            sum += node.metric(metric).await?;
        }
        Ok(sum)
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        self.nodes.clear();
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// The configuration of a node whose providers are at this port.
pub(crate) fn config(setup: Setup, provider: u16) -> String {
    let row = |name: &str| {
        format!(
            "[providers.{name}]\nwire = 'openai-chat'\nbase_url = 'http://127.0.0.1:{provider}/v1'\n\
             model = '{name}-1'\nprice = {{ input = 1.0, output = 1.0 }}\n{}",
            setup.providers
        )
    };
    let store = format!("[store]\nlease = {}\n[server]\nmax_queued = 10000\n", setup.lease_s);
    store + &row("alpha") + &row("beta")
}
