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
    Config, Quorum, Request,
    config::Places,
    model::id::Seq,
    request::{Simulate, flags::list},
    setup::{self, Machine, Setup},
};

use crate::{
    app::App,
    args::{Demo, Output},
    exit::Exit,
    live::{
        events::ProcessSignals,
        session::{self, Ending},
    },
    local,
    render::note,
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

const NEXT: [&str; 4] = [
    "  ax show last --verbose              everything that was said, with the judge's scores",
    "  ax show last --sources              who said what each sentence rests on",
    "  ax replay last                      play it again",
    "  ax export last -o debate.html       a page to share",
];

/// Opens Quorum with the voices of the demo. The user's configuration, valid or not, is ignored: it
/// is for real discussions.
pub(crate) fn open(app: &App, args: &Demo) -> anyhow::Result<Quorum> {
    let Places { file, data_dir, .. } = Places::find()?;
    let pace = if args.fast { Pace::INSTANT } else { Pace::NATURAL };
    let voices = Arc::new(WrittenVoices::new(Script::of_the_demo(), pace));
    let builder = Quorum::builder().user(Config::unset(file, data_dir)).simulated_by(voices);
    Ok(builder.registry(app.registry.clone()).assigning_roles().program("ax").build()?)
}

/// `ax demo`
pub(crate) async fn demo(app: &App, quorum: &Quorum) -> anyhow::Result<Exit> {
    BEFORE.iter().for_each(|line| note(line));
    let scope = local::scope(quorum);
    let signals = ProcessSignals::new()?;
    let (discussion, handle) = scope.start(scope.check(&request())?).await?;
    let exit = session::run(&discussion, handle, signals, Ending::shown(Output::default())).await?;
    if exit == Exit::Done {
        let setup = load(app);
        let providers = setup.as_ref().map_or(&[][..], |it| &it.providers);
        let cost = list_price::line(&discussion.facts(Seq::START).await?, providers);
        cost.iter().for_each(|line| note(line));
        ["", after(stdout().is_terminal())].iter().chain(&NEXT).for_each(|line| note(line));
        real_voices::hints(&setup).iter().for_each(|line| note(line));
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

/// The providers as the user has them, whose configuration may have mistakes.
fn load(app: &App) -> anyhow::Result<Setup> {
    Ok(setup::load(&app.config()?, &Machine::this())?)
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
mod tests {
    use std::collections::BTreeSet;

    use quorum::model::event::Event;

    use super::*;

    fn quorum() -> Quorum {
        let voices = Arc::new(WrittenVoices::new(Script::of_the_demo(), Pace::INSTANT));
        Quorum::builder().simulated_by(voices).assigning_roles().build().unwrap()
    }

    #[tokio::test]
    async fn every_line_of_the_script_is_spoken_and_none_is_missing() {
        let scope = local::scope(&quorum());
        let (discussion, handle) = scope.start(scope.check(&request()).unwrap()).await.unwrap();
        handle.finished().await.unwrap();
        let facts = discussion.facts(Seq::START).await.unwrap();
        let spoken = facts.iter().filter_map(|it| match &it.event {
            Event::TurnCompleted { turn } => Some(turn.step.as_str().to_owned()),
            _ => None,
        });
        let written = Script::of_the_demo().steps().into_iter().map(str::to_owned);
        assert_eq!(spoken.collect::<BTreeSet<_>>(), written.collect());
        let failed = facts.iter().find(|it| matches!(it.event, Event::CallFailed { .. }));
        assert!(failed.is_none(), "{failed:?}");
    }
}
