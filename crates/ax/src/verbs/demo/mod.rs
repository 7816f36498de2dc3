//! `ax demo`: a first look that needs no key. The real engine runs a debate whose lines were
//! written by hand.

mod list_price;
mod real_voices;
mod script;
mod voices;

use std::{
    io::{IsTerminal, stdout},
    sync::Arc,
};

use quorum::{
    Config, Quorum, Request, Scope,
    config::Places,
    model::{id::Seq, spec::Spec},
    request::{Simulate, flags::list},
    setup::{self, Machine, Setup},
};

use crate::{
    app::App,
    args::{Demo, Output},
    exit::Exit,
    live::{
        events::ProcessSignals,
        session::{self, SessionOptions},
    },
    local,
    render::{
        card::Naming,
        hints::{Hint, note_hints},
        note,
    },
};
use script::Script;
use voices::{Pace, WrittenVoices};

const TOPIC: &str = "Should a team of five split its monolith into microservices?";

const BACKGROUND: &str = "Five engineers, one web shop in one repository. A build takes 40 minutes, and \
                          there are two deploys a week. At the end of each month the invoicing job takes \
                          the whole site down.";

const BEFORE: [&str; 2] = [
    "This is a real run of Quorum with a debate written for the demo. It needs no key, and no model is \
     asked. Qwen argues for the split, Mistral against it. Gemini judges each round and sees labels instead \
     of names. Claude took no side and writes the answer; then everyone votes on it. Watch for the \
     argument that changes a mind in the last round.",
    "",
];

const NEXT: [Hint; 4] = [
    ("ax show last --verbose", "everything that was said, with the judge's scores"),
    ("ax show last --sources", "the answer with the sources of each sentence"),
    ("ax replay last", "play it again"),
    ("ax export last -o debate.html", "a page to share"),
];

/// Opens Quorum with the voices of the demo. The user's configuration, valid or not, is ignored: it
/// is for real discussions.
pub(crate) fn open(app: &App, args: &Demo) -> anyhow::Result<Quorum> {
    opened(app, unset()?, if args.fast { Pace::INSTANT } else { Pace::NATURAL })
}

/// Opens Quorum with the voices of the demo, if this discussion is a demo that was left, so that it
/// goes on with the lines written for it.
pub(crate) async fn open_left(app: &App, scope: &Scope, id: &str) -> anyhow::Result<Option<Quorum>> {
    let state = scope.find(id).await?.state().await?;
    let is_left = !state.lifecycle.is_terminal() && is_demo(&state.spec);
    if is_left { opened(app, app.config()?, Pace::NATURAL).map(Some) } else { Ok(None) }
}

/// Whether this is the discussion of the demo. Its record has no mark, but no other discussion has
/// this topic and background.
fn is_demo(spec: &Spec) -> bool {
    spec.simulation.is_some() && spec.topic == TOPIC && spec.background.as_deref() == Some(BACKGROUND)
}

fn opened(app: &App, config: Config, pace: Pace) -> anyhow::Result<Quorum> {
    let voices = Arc::new(WrittenVoices::new(Script::of_the_demo(), pace));
    let builder = Quorum::builder().user(config).simulated_by(voices);
    Ok(builder.registry(app.registry.clone()).assigning_roles().program("ax").build()?)
}

/// A configuration that sets nothing, at the usual places.
fn unset() -> anyhow::Result<Config> {
    let Places { file, data_dir, .. } = Places::find()?;
    Ok(Config::unset(file, data_dir))
}

/// `ax demo`
pub(crate) async fn demo(app: &App, quorum: &Quorum) -> anyhow::Result<Exit> {
    BEFORE.iter().for_each(|line| note(line));
    note(&format!("Question: {TOPIC}"));
    note(&format!("Background: {BACKGROUND}"));
    note("");
    let scope = local::scope(quorum);
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = scope.start(scope.check(&request())?).await?;
    let options = SessionOptions { naming: Naming::Nowhere, ..SessionOptions::shown(Output::default()) };
    let exit = session::run(&discussion, handle, signals, options).await?;
    if exit == Exit::Done && discussion.state().await?.lifecycle.is_terminal() {
        let (setup, error) = load(app)?;
        let cost = list_price::line(&discussion.facts(Seq::START).await?, &setup.providers);
        cost.iter().for_each(|line| note(line));
        ["", after(stdout().is_terminal())].iter().for_each(|line| note(line));
        note_hints(&NEXT);
        real_voices::hints(&setup).iter().for_each(|line| note(line));
        note_hints(&real_voices::ASK);
        if let Some(error) = error {
            note("");
            note(&format!("Your configuration has an error: {error}"));
        }
    }
    Ok(exit)
}

/// The line before the commands to try. On a terminal, answer and progress are in one place.
fn after(is_terminal: bool) -> &'static str {
    match is_terminal {
        true => "What next:",
        false => "The answer went to standard output, the progress to standard error. What next:",
    }
}

/// The providers that the user has set up. If the configuration has a mistake, the providers found
/// on this machine, and the mistake.
fn load(app: &App) -> anyhow::Result<(Setup, Option<anyhow::Error>)> {
    let machine = Machine::this();
    let own = app.config().map_err(anyhow::Error::from);
    match own.and_then(|config| Ok(setup::load(&config, &machine)?)) {
        Ok(setup) => Ok((setup, None)),
        Err(error) => Ok((setup::load(&unset()?, &machine)?, Some(error))),
    }
}

fn request() -> Request {
    let settings = [("debateFormat", "convergence-seeking".into()), ("roundLimit", 4.into())];
    Request {
        pattern: Some("debate".to_owned()),
        consensus: Some("majority".to_owned()),
        providers: Some(list("claude,gemini,qwen,mistral")),
        context: Some(BACKGROUND.to_owned()),
        settings: settings.map(|(name, value)| (name.to_owned(), value)).into(),
        offline: Some(true),
        simulate: Some(Simulate::default()),
        ..Request::on(TOPIC)
    }
}

#[cfg(test)]
mod tests;
