//! `ax demo`: a first look that needs no key.

use quorum::{
    Config, Request, Scope,
    config::Places,
    request::{Simulate, flags::list},
};

use crate::{
    args::{Demo, Output},
    exit::Exit,
    live::{
        events::ProcessSignals,
        session::{self, Ending},
    },
    render::note,
};

const TOPIC: &str = "Should a team of five split its monolith into microservices?";

/// The latency of an answer. The whole demo takes a quarter of a minute.
const LATENCY_MS: u64 = 1_500;

const BEFORE: [&str; 4] = [
    "This is what a discussion looks like. It needs no key, and nothing is paid.",
    "Claude argues for it, Gemini against it, and Qwen judges each round without knowing who said what.",
    "Then one of them combines what was said into one answer. Every step is recorded as it happens.",
    "",
];

const AFTER: [&str; 8] = [
    "",
    "The answer went to standard output, the progress to standard error. What next:",
    "  ax replay last                      play it again",
    "  ax show last --verbose              everything that was said",
    "  ax export last -o debate.html       a page to share",
    "  ax \"Your question?\"                 your own, with the models you have",
    "  ax discuss \"…\" --dry-run            who would be asked, and the most it can cost",
    "  ax patterns                         other patterns and consensus methods",
];

/// The demo ignores the user's configuration, valid or not: that is for real discussions.
pub(crate) fn config() -> Result<Config, quorum::config::Error> {
    let Places { file, data_dir, .. } = Places::find()?;
    Ok(Config::unset(file, data_dir))
}

/// `ax demo`
pub(crate) async fn demo(scope: &Scope, args: &Demo) -> anyhow::Result<Exit> {
    BEFORE.iter().for_each(|line| note(line));
    let latency_ms = Some(if args.fast { 0 } else { LATENCY_MS });
    let request = Request {
        pattern: Some("debate".to_owned()),
        providers: Some(list("claude,gemini,qwen")),
        settings: [("judge".to_owned(), "qwen".into())].into(),
        rounds: Some(2),
        offline: Some(true),
        simulate: Some(Simulate { latency_ms, ..Simulate::default() }),
        ..Request::on(TOPIC)
    };
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = scope.start(scope.check(&request)?).await?;
    let exit = session::run(&discussion, handle, signals, Ending::shown(Output::default())).await?;
    if exit == Exit::Done {
        AFTER.iter().for_each(|line| note(line));
    }
    Ok(exit)
}
