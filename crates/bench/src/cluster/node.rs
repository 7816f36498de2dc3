//! A real `ax serve` process, and a client for it.

use std::{
    fs,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use anyhow::{Context, Result, bail, ensure};
use reqwest::{Client, Method, StatusCode};
use serde_json::Value;
use tokio::time::sleep;

/// How long a request may take while the database is unavailable or slow.
const TIMEOUT: Duration = Duration::from_secs(120);

/// How long anything may take that is waited for.
pub(crate) const LONGEST: Duration = Duration::from_secs(240);

/// What a node is started with.
#[derive(Clone)]
pub(crate) struct Start {
    pub(crate) program: PathBuf,
    /// Its folder, with its configuration.
    pub(crate) home: PathBuf,
    /// The URL of the database; a file of its own if there is none.
    pub(crate) database: Option<String>,
    /// Its port on 127.0.0.1.
    pub(crate) port: u16,
}

/// A process; killed when it is dropped.
pub(crate) struct Node {
    process: Child,
    pub(crate) start: Start,
    client: Client,
}

impl Start {
    pub(crate) fn new(home: &Path, config: &str, database: Option<String>) -> Result<Self> {
        fs::create_dir_all(home)?;
        fs::write(home.join("config.toml"), config)?;
        let port = quorum_testkit::proxy::low_listener().local_addr()?.port();
        Ok(Start { program: program(Build::Usual)?, home: home.to_owned(), database, port })
    }

    /// The same with another build.
    pub(crate) fn with(self, build: Build) -> Result<Self> {
        Ok(Start { program: program(build)?, ..self })
    }

    /// `ax` with these arguments, in the node's place.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).current_dir(&self.home).env_clear().env("HOME", &self.home);
        command.env("AX_CONFIG", self.home.join("config.toml")).env("AX_DATA_DIR", self.home.join("data"));
        command.env("OLLAMA_HOST", "").stdin(Stdio::null());
        command.envs(self.database.iter().map(|it| ("AX_DATABASE_URL", it)));
        command
    }

    /// Starts it and waits until it listens.
    pub(crate) async fn node(&self) -> Result<Node> {
        let mut command = self.command(&["serve", "--port", &self.port.to_string()]);
        command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().context("`ax serve` can be started")?;
        let mut said = BufReader::new(process.stderr.take().context("its messages")?);
        let log = self.home.join("log");
        // Its messages are read to their end, in a thread of their own: it must not stop for them.
        std::thread::spawn(move || {
            let (mut line, mut all) = (String::new(), String::new());
            while said.read_line(&mut line).is_ok_and(|it| 0 < it) {
                all.push_str(&line);
                drop(fs::write(&log, &all));
                line.clear();
            }
        });
        let node = Node { process, start: self.clone(), client: Client::builder().timeout(TIMEOUT).build()? };
        node.until_ready().await?;
        Ok(node)
    }
}

/// A build of `ax`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Build {
    Usual,
    /// One that knows a pattern that the usual one doesn't.
    Newer,
}

/// The binary that was built with this one.
fn program(build: Build) -> Result<PathBuf> {
    let own = std::env::current_exe()?;
    let program = own.with_file_name(match build {
        Build::Usual => "ax",
        Build::Newer => "delphi",
    });
    ensure!(program.exists(), "{} is missing; `cargo xtask cluster` builds it", program.display());
    Ok(program)
}

impl Node {
    pub(crate) fn signal(&self, signal: &str) -> Result<()> {
        let status = Command::new("kill").arg(signal).arg(self.process.id().to_string()).status()?;
        ensure!(status.success(), "the process of a node is gone: {}", self.log());
        Ok(())
    }

    /// Its last messages.
    pub(crate) fn log(&self) -> String {
        fs::read_to_string(self.start.home.join("log")).unwrap_or_default()
    }

    /// Kills it.
    pub(crate) fn kill(mut self) -> Result<Start> {
        self.process.kill()?;
        self.process.wait()?;
        Ok(self.start.clone())
    }

    /// Asks it to end, waits for that, and returns how long it took.
    pub(crate) async fn end(mut self) -> Result<(Start, Duration)> {
        let began = Instant::now();
        self.signal("-TERM")?;
        loop {
            if let Some(status) = self.process.try_wait()? {
                ensure!(status.success(), "a node ended with {status}: {}", self.log());
                return Ok((self.start.clone(), began.elapsed()));
            }
            ensure!(began.elapsed() < LONGEST, "a node doesn't end: {}", self.log());
            sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn until_ready(&self) -> Result<()> {
        let began = Instant::now();
        while !self.send(Method::GET, "/readyz", None).await.is_ok_and(|it| it.0 == StatusCode::OK) {
            ensure!(began.elapsed() < LONGEST, "a node doesn't get ready: {}", self.log());
            sleep(Duration::from_millis(50)).await;
        }
        Ok(())
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.start.port)
    }

    pub(crate) async fn send(
        &self,
        method: Method,
        path: &str,
        body: Option<&Value>,
    ) -> Result<(StatusCode, String)> {
        let request = self.client.request(method, self.url(path));
        let request = match body {
            Some(body) => request.header("content-type", "application/json").body(body.to_string()),
            None => request,
        };
        let answer = request.send().await?;
        Ok((answer.status(), answer.text().await?))
    }

    pub(crate) async fn get(&self, path: &str) -> Result<Value> {
        let (status, text) = self.send(Method::GET, path, None).await?;
        ensure!(status.is_success(), "{path}: {status} {text}");
        Ok(serde_json::from_str(&text)?)
    }

    pub(crate) async fn post(&self, path: &str, body: &Value) -> Result<Value> {
        let (status, text) = self.send(Method::POST, path, Some(body)).await?;
        if !status.is_success() {
            bail!("{path}: {status} {text}");
        }
        Ok(serde_json::from_str(&text)?)
    }

    /// The value of a metric.
    pub(crate) async fn metric(&self, name: &str) -> Result<u64> {
        let (_, text) = self.send(Method::GET, "/metrics", None).await?;
        let line = text.lines().find_map(|it| it.strip_prefix(name)?.strip_prefix(' '));
        Ok(line.and_then(|it| it.trim().parse::<f64>().ok()).unwrap_or_default() as u64)
    }

    /// The whole stream of events of a discussion, to its end.
    pub(crate) async fn events(&self, id: &str, query: &str) -> Result<String> {
        Ok(self.send(Method::GET, &format!("/api/discussions/{id}/events{query}"), None).await?.1)
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}
