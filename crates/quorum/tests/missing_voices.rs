//! Resuming a discussion when some of its participants are not available.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use quorum::{
    Config, Error, MissingVoice, Quorum, Request, Scope, Steered,
    model::{
        command::Command,
        id::{Seq, Tenant},
        lifecycle::Lifecycle,
    },
    setup::{self, Machine, Missing},
};
use quorum_core::memory::MemoryStore;

/// Nothing listens at this address; the discussion fails at its health check and may be resumed.
const CONFIG: &str = r#"
[providers.alpha]
wire = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "alpha-1"
key_env = "ALPHA_KEY"
"#;

/// The scope of the local tenant on a machine that has this key, or has none.
fn scope(store: &Arc<MemoryStore>, key: Option<&str>) -> Scope {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let config = Config::parse(CONFIG, &file, PathBuf::from(folder.path())).unwrap();
    let variable = |name: &str| key.filter(|_| name == "ALPHA_KEY").map(str::to_owned);
    let machine = Machine { variable: &variable, ..Machine::bare() };
    let setup = setup::load(&config, &machine).unwrap();
    let quorum = Quorum::builder().config(config).store(store.clone()).set_up(setup).build().unwrap();
    quorum.scope(Tenant::default(), "ann")
}

#[tokio::test]
async fn a_missing_key_is_not_a_participants_failure() {
    let store = Arc::new(MemoryStore::new());
    let there = scope(&store, Some("secret"));
    let request = Request { providers: Some(vec!["alpha".into(); 2]), ..Request::on("Tabs or spaces?") };
    let started = there.prepare(there.check(&request).unwrap()).await.unwrap();
    started.run_prepared().await.unwrap().finished().await.unwrap();
    let (before, facts) = (started.state().await.unwrap(), started.facts(Seq::START).await.unwrap());
    assert_eq!(before.lifecycle, Lifecycle::Error);

    let here = scope(&store, None).discussion(started.id()).await.unwrap();
    let Err(Error::MissingVoices(who)) = here.resume().await else { panic!("it went on") };
    let missing = Missing::Key { names: vec!["ALPHA_KEY".to_owned()], program: None };
    let missing_voice = |name: &str| MissingVoice {
        participant: name.to_owned(),
        provider: "alpha".to_owned(),
        missing: Some(missing.clone()),
    };
    assert_eq!(who, ["alpha", "alpha-2"].map(missing_voice));
    assert!(matches!(here.steer(Command::Stop).await, Err(Error::MissingVoices(_))));
    assert_eq!(here.facts(Seq::START).await.unwrap(), facts);
    assert_eq!(here.state().await.unwrap(), before);
    // An abort needs no voices.
    assert!(matches!(here.steer(Command::Abort).await, Ok(Steered::Here(_))));
}

#[test]
fn a_provider_is_missed_by_the_name_of_its_key() {
    let folder = Path::new("/nowhere");
    let config = Config::parse(CONFIG, &folder.join("config.toml"), folder.to_owned()).unwrap();
    let machine = Machine::bare();
    let setup = setup::load(&config, &machine).unwrap();
    let missing = setup.provider("alpha").unwrap().missing().unwrap();
    assert_eq!(missing.to_string(), "there is no key in ALPHA_KEY");
}
