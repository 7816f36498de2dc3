//! `ax serve`: runs the HTTP server until a signal closes it.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use futures::{StreamExt, stream::BoxStream};
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
        telemetry,
    },
};

const NO_PROVIDER: &str = "\
    No provider is available, so orders are refused unless they have \"offline\": true. `ax \
    doctor` says what is missing; `ax serve --offline` uses simulated voices.";

/// Serves until SIGTERM or Ctrl-C.
pub(crate) fn serve(app: &App, args: &Serve) -> anyhow::Result<Exit> {
    let prefix = tool_prefix()?;
    let config = app.config()?;
    config.check_tokens()?;
    let quorum = app.open(config, WithoutProviders::Refuse)?;
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
    telemetry::announce(&quorum);
    let (kept, others) = (quorum.clone(), quorum.clone());
    let outages = quorum.outages();
    let server = Server::bind(quorum, settings).await?;
    note(&format!("Listening on http://{}  (Ctrl-C stops it; /docs lists the endpoints)", server.address()));
    if is_mute {
        note(NO_PROVIDER);
    }
    for other in others.configured_otherwise().await? {
        note(&format!(
            "warning: {other} uses the same database with another configuration; give all nodes the same configuration"
        ));
    }
    let going_on = server.go_on().await?;
    if 0 < going_on {
        note(&format!("Continuing {} that an earlier process left.", count(going_on as u64, "discussion")));
    }
    let seconds = server.drain().as_secs();
    let close = async move {
        told.received().await;
        note(&format!(
            "Shutting down after the calls under way are recorded, within {seconds} s; a second signal \
             exits at once. Another `ax serve`, or `ax resume`, continues the discussions."
        ));
    };
    let twice = async move {
        told_again.received().await;
        told_again.received().await;
    };
    tokio::select! {
        () = server.run(close) => telemetry::flush(&kept).await,
        () = twice => {}
        () = daily(|| expire_old(&kept)) => {}
        () = every(INDEXING, || index_some(&kept)) => {}
        () = note_outages(outages) => {}
    }
    Ok(Exit::Done)
}

/// Reports when discussions can't be stored any more, and when they can again. Never returns.
async fn note_outages(mut outages: BoxStream<'static, Option<String>>) {
    let mut began = None;
    while let Some(outage) = outages.next().await {
        match (outage, began.take()) {
            (Some(reason), _) => {
                began = Some(Instant::now());
                note(&format!("warning: {reason}. {MEANWHILE}"));
            }
            (None, Some(began)) => {
                let seconds = began.elapsed().as_secs().max(1);
                note(&format!("Discussions can be stored again, after {}.", count(seconds, "second")));
            }
            (None, None) => {}
        }
    }
    std::future::pending::<()>().await;
}

const MEANWHILE: &str = "\
    Until discussions can be stored again, answers of calls under way are kept in memory, no new \
    calls are placed, and orders are refused.";

/// Does the work once a day, for the first time a day from now. Never returns.
async fn daily<W: Future<Output = ()>>(work: impl Fn() -> W) {
    every(DAY, work).await;
}

async fn every<W: Future<Output = ()>>(interval: Duration, work: impl Fn() -> W) {
    loop {
        tokio::time::sleep(interval).await;
        work().await;
    }
}

async fn index_some(quorum: &Quorum) {
    // Whatever fails is tried again the next time, and by searches.
    let _ = quorum.index_some().await;
}

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// The interval at which new discussions are indexed for searches.
const INDEXING: Duration = Duration::from_secs(5);

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

#[cfg(test)]
mod tests {
    use std::{
        path::{Path, PathBuf},
        sync::Arc,
    };

    use quorum::{Request, Scope, model::id::Tenant};
    use quorum_testkit::{clock::VirtualClock, panel::panel};

    use super::*;

    async fn hold(scope: &Scope, topic: &str) {
        let providers = Some(["scripted-one", "scripted-two"].map(str::to_owned).to_vec());
        let spec = scope.check(&Request { providers, ..Request::on(topic) }).unwrap();
        let (_, handle) = scope.start(spec).await.unwrap();
        assert!(handle.finished().await.unwrap().outcome().success);
    }

    /// Whether the first discussion is listed, and whether it is hidden.
    async fn first(scope: &Scope) -> (bool, bool) {
        let listed = scope.list(0, None).await.unwrap();
        let hidden = scope.hidden(0).await.unwrap();
        let has = |entries: &[quorum::listing::Entry]| entries.iter().any(|it| it.topic == "first?");
        (has(&listed), has(&hidden))
    }

    #[tokio::test(start_paused = true)]
    async fn inv_disc_632_a_server_that_runs_on_forgets_once_a_day() {
        let retention = "[retention]\ndays = 3";
        let config = Config::parse(retention, Path::new("config.toml"), PathBuf::new()).unwrap();
        let built = Quorum::builder().config(config).voices(Arc::new(panel()));
        let quorum = built.clock(Arc::new(VirtualClock::start())).build().unwrap();
        let scope = quorum.scope(Tenant::default(), "ann");
        hold(&scope, "first?").await;
        let minute = Duration::from_secs(60);
        // Virtual time; here and below it sleeps because the server's day has to pass.
        tokio::time::sleep(minute).await;
        let kept = quorum.clone();
        let forgetting = tokio::spawn(async move { daily(|| expire_old(&kept)).await });
        let mut seen = Vec::new();
        for day in 1..=11 {
            // It sleeps because half of a day has to pass.
            tokio::time::sleep(DAY / 2).await;
            hold(&scope, &format!("day {day}?")).await;
            // It sleeps because the server forgets a little earlier.
            tokio::time::sleep(DAY / 2 + minute).await;
            seen.push(first(&scope).await);
        }
        forgetting.abort();
        let (listed, hidden, removed) = ((true, false), (false, true), (false, false));
        // Hidden on the third day, and removed seven days later.
        let expected = [vec![listed; 2], vec![hidden; 7], vec![removed; 2]].concat();
        assert_eq!(seen, expected);
    }
}
