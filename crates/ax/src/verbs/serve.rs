//! `ax serve`: runs the HTTP server until a signal closes it.

use std::{net::SocketAddr, time::Duration};

use quorum::{Config, Quorum, text::count};
use quorum_server::{Server, Settings, Voices};

use crate::{
    app::{App, WithoutProviders},
    args::Serve,
    exit::Exit,
    render::note,
    verbs::{
        mcp::{tool_prefix, with_prefix},
        restore::expire_old,
        signals::CloseSignals,
    },
};

const NO_PROVIDER: &str = "\
    No provider is available, so orders are refused unless they have \"offline\": true. `ax \
    doctor` says what is missing; `ax serve --offline` uses simulated voices.";

/// Serves until SIGTERM or Ctrl-C.
pub(crate) fn serve(app: &App, args: &Serve) -> anyhow::Result<Exit> {
    let prefix = tool_prefix()?;
    let quorum = app.open(app.config()?, WithoutProviders::Refuse)?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let exit = runtime.block_on(answer(quorum, args, prefix));
    // Remaining work is not awaited: anything that isn't recorded didn't happen, and the next
    // server continues from the record.
    runtime.shutdown_background();
    exit
}

async fn answer(quorum: Quorum, args: &Serve, prefix: Option<String>) -> anyhow::Result<Exit> {
    let mut told = CloseSignals::new()?;
    let mut told_again = CloseSignals::new()?;
    expire_old(&quorum).await;
    let settings = with_prefix(settings(args, quorum.config()), prefix);
    let is_mute = settings.voices == Voices::Available && quorum.setup().sources().is_empty();
    let kept = quorum.clone();
    let server = Server::bind(quorum, settings).await?;
    note(&format!("Listening on http://{}  (Ctrl-C stops it; /docs lists the endpoints)", server.address()));
    if is_mute {
        note(NO_PROVIDER);
    }
    let going_on = server.go_on().await?;
    if !going_on.is_empty() {
        note(&format!(
            "Continuing {} that an earlier process left.",
            count(going_on.len() as u64, "discussion")
        ));
    }
    let seconds = server.drain().as_secs();
    let close = async move {
        told.received().await;
        note(&format!(
            "Shutting down after the calls under way are recorded, within {seconds} s; a second signal \
             exits at once. The next `ax serve`, or `ax resume`, continues the discussions."
        ));
    };
    let twice = async move {
        told_again.received().await;
        told_again.received().await;
    };
    tokio::select! {
        () = server.run(close) => {}
        () = twice => {}
        () = daily(|| expire_old(&kept)) => {}
    }
    Ok(Exit::Done)
}

/// Does the work once a day, for the first time in a day, without end.
async fn daily<W: Future<Output = ()>>(work: impl Fn() -> W) {
    loop {
        tokio::time::sleep(DAY).await;
        work().await;
    }
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

fn settings(args: &Serve, config: &Config) -> Settings {
    let mut settings = Settings::of(config);
    if let Some(listen) = args.listen {
        settings.listen = listen;
    }
    if let Some(port) = args.port {
        settings.listen = SocketAddr::new(settings.listen.ip(), port);
    }
    if args.offline {
        settings.voices = Voices::Simulated;
    }
    settings
}
