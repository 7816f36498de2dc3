//! The real coding CLIs as voices, with logins in a HOME of their own and a fake vendor on this
//! machine: each takes part in a discussion, a ballot and a judgement, and a model that tries to
//! read the user's files gets none of them (no seat can read the user's files).
//!
//! `cargo xtask clis` installs the programs and runs this with `QUORUM_CLIS` set to their
//! directory. A missing program is skipped with a message, and so are all of them without that
//! variable.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod home;
mod tempter;

use std::path::PathBuf;

use quorum::{
    Config, Quorum, Request, Scope,
    model::{
        id::{Seq, Tenant},
        outcome::Outcome,
    },
    setup::{self, Machine},
};
use quorum_providers::command;
use quorum_testkit::server::server;

use crate::{home::Home, tempter::Tempter};

/// The models are named in the configuration: otherwise a program would use another model, or ask
/// for its own login.
const CONFIG: &str = r#"
[providers.codex]
model = "gpt-5.1"
[providers.gemini]
model = "gemini-2.5-flash"
"#;

/// A scope with the programs that are on the path, and no keys.
fn scope() -> Scope {
    let folder = PathBuf::from("/nowhere");
    let config = Config::parse(CONFIG, &folder.join("config.toml"), folder).unwrap();
    let machine = Machine { program: &command::find, ..Machine::bare() };
    let setup = setup::load(&config, &machine).unwrap();
    let quorum = Quorum::builder().config(config).set_up(setup).assigning_roles().build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

fn request(pattern: &str, program: &str, topic: &str) -> Request {
    // A debate has a judge besides its two sides.
    let providers = Some(vec![program.to_owned(); if pattern == "debate" { 3 } else { 2 }]);
    Request {
        pattern: Some(pattern.to_owned()),
        providers,
        rounds: Some(1),
        voting_options: (["voting", "settle"].contains(&pattern))
            .then(|| ["Tabs", "Spaces"].map(str::to_owned).to_vec()),
        ..Request::on(topic)
    }
}

/// The result, and the whole record as text.
async fn discuss(scope: &Scope, request: &Request) -> (Outcome, String) {
    let (discussion, handle) = scope.start(scope.check(request).unwrap()).await.unwrap();
    let outcome = handle.finished().await.unwrap().outcome();
    let facts = discussion.facts(Seq::START).await.unwrap();
    let record = serde_json::to_string(&facts).unwrap() + &serde_json::to_string(&outcome).unwrap();
    (outcome, record)
}

async fn takes_part(program: &str) {
    let Some(home) = Home::of(program) else { return };
    let vendor = server().on_thread();
    home.ask_at(&vendor.url());
    for pattern in ["synthesis", "voting", "debate"] {
        let (outcome, _) = discuss(&scope(), &request(pattern, program, "Tabs or spaces?")).await;
        let what = format!("{pattern} with {program}: {:?}", outcome.error);
        assert!(outcome.success && !outcome.integrity.degraded, "{what}");
        assert_eq!(outcome.failed_providers, [""; 0], "{what}");
        println!("{program}: {pattern} held, {} requests so far", vendor.requests().len());
    }
    home.kept_to_itself(&vendor.requests().iter().map(|it| it.body.to_string()).collect::<Vec<_>>());
}

async fn reads_nothing(program: &str) {
    let Some(home) = Home::of(program) else { return };
    let tempter = Tempter::start(&home.canary_file());
    home.ask_at(&tempter.url());
    // A contribution may name a file, which some programs take for a request to read it.
    let file = home.canary_file().display().to_string();
    let topic = format!("What do you make of @{file} and of @\"{file}\" ?");
    let (outcome, record) = discuss(&scope(), &request("synthesis", program, &topic)).await;
    let requests = tempter.requests();
    assert!(outcome.success, "{program}: {:?}", outcome.error);
    let refused = requests.iter().filter(|it| Tempter::has_results(it)).count();
    assert!(refused > 0, "{program} was not tempted: {requests:?}");
    let canary = home.canary();
    assert!(!record.contains(canary), "{program}: the file is in the record");
    let leaked: Vec<&String> = requests.iter().filter(|it| it.contains(canary)).collect();
    assert!(leaked.is_empty(), "{program}: the file went to the vendor: {leaked:?}");
    home.kept_to_itself(&requests);
    println!(
        "{program}: read nothing in {} requests, {refused} of them with what its tools said",
        requests.len()
    );
}

macro_rules! programs {
    ($($name:ident),*) => { $(
        mod $name {
            #[tokio::test]
            async fn takes_part_and_reads_nothing() {
                if stringify!($name) == "claude" {
                    super::would_read_with_tools();
                }
                super::takes_part(stringify!($name)).await;
                super::reads_nothing(stringify!($name)).await;
            }
        }
    )* };
}

programs!(claude, codex, gemini);

/// Shows that the attempt is real: a program with tools does what the model asks for.
fn would_read_with_tools() {
    let Some(home) = Home::of("claude") else { return };
    let tempter = Tempter::start(&home.canary_file());
    home.ask_at(&tempter.url());
    let run = home.run_with_tools();
    let leaked = tempter.requests().iter().any(|it| it.contains(home.canary()));
    assert!(leaked, "the temptation does not work: {run}");
}
