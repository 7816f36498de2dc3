//! Where the server listens, who may come in, and how much it bears.

use std::{
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use quorum::{Config, config::server::Token};

/// The port of the first clients.
const PORT: u16 = 3000;

/// How a server is to be run.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Where it listens.
    pub listen: SocketAddr,
    /// Who may come in; where nobody is named, everybody on this machine.
    pub tokens: Vec<Token>,
    /// Other origins whose pages may use it.
    pub origins: Vec<String>,
    /// Who answers.
    pub voices: Voices,
    /// How much it bears.
    pub limits: Limits,
}

/// Who answers in discussions that are ordered here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Voices {
    /// Real models where there are any.
    Available,
    /// Simulated ones, whatever could be had.
    Simulated,
}

/// How much a server bears.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Requests a second from one caller, in the long run.
    pub requests_per_second: u32,
    /// Requests at once from one caller.
    pub burst: u32,
    /// Event streams at once, of everybody together.
    pub streams: usize,
    /// Discussions run at once, of everybody together.
    pub running: usize,
    /// Plans made at once; each keeps a thread busy.
    pub plans: usize,
    /// How long a plan may take, its turn to be made included.
    pub plan_time: Duration,
    /// Connections at once.
    pub connections: usize,
    /// The largest body, in bytes.
    pub body_bytes: usize,
    /// How long the head of a request may take to come in.
    pub header_time: Duration,
    /// How long its body may take.
    pub body_time: Duration,
    /// How long a stream may be silent.
    pub silence: Duration,
    /// How long a reader may take nothing of what is waiting for it.
    pub stall_time: Duration,
    /// How long calls under way may take to end and be recorded once the server is to close.
    pub drain: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            requests_per_second: 200,
            burst: 2_000,
            streams: 4_096,
            // A thousand were measured to take less than 200 MB, and leave every event in time.
            running: 1_024,
            plans: 2,
            plan_time: Duration::from_secs(20),
            connections: 8_192,
            // A word of the longest kind, every sign of it escaped, and something beside it.
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
    /// It would be open to everybody.
    #[error(
        "{0} can be reached from other machines, and no token is set, so everybody could spend your money; \
         set tokens under [server] in the configuration, or listen on 127.0.0.1"
    )]
    Exposed(SocketAddr),
    /// The address can't be had.
    #[error("{address} can't be listened on: {reason}")]
    Address {
        /// Which.
        address: SocketAddr,
        /// Why.
        reason: std::io::Error,
    },
    /// What was left unfinished can't be gone on with.
    #[error(transparent)]
    Quorum(#[from] quorum::Error),
}

impl Settings {
    /// As the user's configuration has it.
    #[must_use]
    pub fn of(config: &Config) -> Self {
        let usual = SocketAddr::from((Ipv4Addr::LOCALHOST, PORT));
        let limits = Limits::default();
        let running = config.server.max_running.unwrap_or(limits.running);
        let drain = config.server.drain.map_or(limits.drain, Duration::from_secs);
        Settings {
            listen: config.server.listen.unwrap_or(usual),
            tokens: config.server.tokens.clone(),
            origins: config.server.origins.clone(),
            voices: Voices::Available,
            limits: Limits { running, drain, ..limits },
        }
    }

    /// Refuses to be open to everybody (S2).
    pub(crate) fn check(&self) -> Result<(), Error> {
        if self.listen.ip().to_canonical().is_loopback() || !self.tokens.is_empty() {
            return Ok(());
        }
        Err(Error::Exposed(self.listen))
    }
}
