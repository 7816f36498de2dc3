//! The server's settings: listen address, access and limits.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use quorum::{
    Config,
    config::server::{Tasks, Token},
};

/// The port that the first clients expect.
const PORT: u16 = 3000;

/// The prefix of MCP tools that the first clients expect.
const TOOL_PREFIX: &str = "ax";

/// Settings of a server.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address to listen on.
    pub listen: SocketAddr,
    /// The access tokens; without any, every client on this machine has access.
    pub tokens: Vec<Token>,
    /// Other origins whose pages may use the server.
    pub origins: Vec<String>,
    /// Which voices answer.
    pub voices: Voices,
    /// What the names of MCP tools begin with; they have no prefix if it is empty.
    pub tool_prefix: String,
    /// What answers the small tasks of chat clients.
    pub tasks: Tasks,
    /// The limits.
    pub limits: Limits,
}

/// Which voices answer in discussions started here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voices {
    /// Real models if there are any.
    Available,
    /// Simulated voices, even if real models are available.
    Simulated,
}

/// Limits of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests per second from one caller, in the long run.
    pub requests_per_second: u32,
    /// The burst of requests from one caller.
    pub burst: u32,
    /// Concurrent event streams of all callers together.
    pub streams: usize,
    /// Concurrent discussions of all callers together.
    pub running: usize,
    /// Concurrent discussions of one tenant on all nodes together, if that is limited.
    pub running_of_tenant: Option<u64>,
    /// Orders of one tenant that may wait to be run, on all nodes together.
    pub queued: usize,
    /// Concurrent plans; each keeps a thread busy.
    pub plans: usize,
    /// The time limit for a plan, including the wait for a slot.
    pub plan_time: Duration,
    /// Concurrent connections.
    pub connections: usize,
    /// The maximum size of a body, in bytes.
    pub body_bytes: usize,
    /// The timeout for the head of a request.
    pub header_time: Duration,
    /// The timeout for its body.
    pub body_time: Duration,
    /// The keep-alive interval of a silent stream.
    pub silence: Duration,
    /// The timeout of a client that reads none of the data waiting for it.
    pub stall_time: Duration,
    /// How long calls under way may take to end and be recorded at shutdown.
    pub drain: Duration,
}

impl Limits {
    /// How many orders of a tenant may wait, as stores count them.
    pub(crate) fn queued(&self) -> u64 {
        self.queued as u64
    }
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            requests_per_second: 200,
            burst: 2_000,
            streams: 4_096,
            // A thousand took less than 200 MB in measurements, with every event on time.
            running: 1_024,
            running_of_tenant: None,
            queued: 1_000,
            plans: 2,
            plan_time: Duration::from_secs(20),
            connections: 8_192,
            // The longest message with every character escaped, and some room beside it.
            body_bytes: 2 << 20,
            header_time: Duration::from_secs(10),
            body_time: Duration::from_secs(10),
            silence: Duration::from_secs(15),
            stall_time: Duration::from_secs(30),
            drain: Duration::from_secs(60),
        }
    }
}

/// Why a server does not start.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// It would be open to everyone.
    #[error(
        "{0} can be reached from other machines, and no token is set, so anyone could spend your money; \
         set tokens under [server] in the configuration, or listen on 127.0.0.1"
    )]
    Exposed(SocketAddr),
    /// The address can't be listened on.
    #[error("{address} can't be listened on: {reason}")]
    Address {
        /// The address.
        address: SocketAddr,
        /// The reason.
        reason: std::io::Error,
    },
    /// Unfinished discussions can't be resumed.
    #[error(transparent)]
    Quorum(#[from] quorum::Error),
}

impl Settings {
    /// The settings of the user's configuration.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        let limits = Limits::default();
        let running = config.server.max_running.unwrap_or(limits.running);
        let running_of_tenant = config.server.max_running_of_tenant;
        let queued = config.server.max_queued.unwrap_or(limits.queued);
        let drain = config.server.drain.map_or(limits.drain, Duration::from_secs);
        Settings {
            listen: config.server.listen.unwrap_or(usual),
            tokens: config.server.tokens.clone(),
            origins: config.server.origins.clone(),
            voices: Voices::Available,
            tool_prefix: TOOL_PREFIX.to_owned(),
            tasks: config.server.tasks.clone(),
            limits: Limits { running, running_of_tenant, queued, drain, ..limits },
        }
    }

    /// Refuses to be open to everyone (S2).
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.listen.ip().to_canonical().is_loopback() || !self.tokens.is_empty() {
            return Ok(());
        }
        Err(Error::Exposed(self.listen))
    }
}
