//! A discussion that is to go on where some of its members can't be asked.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use quorum::{
    Config, Error, Quorum, Request, Resumed, Steered,
    model::{command::Command, lifecycle::Lifecycle},
    setup::{self, Machine},
    voices::AllVoices,
};
use quorum_core::memory::MemoryStore;

/// Nobody listens there; the discussion fails at its health check and may be tried again.
const CONFIG: &str = r#"
[providers.alpha]
wire = "openai-chat"
base_url = "http://127.0.0.1:9/v1"
model = "alpha-1"
key_env = "ALPHA_KEY"
"#;

/// The door on a machine that has this key, or has none.
fn door(store: &Arc<MemoryStore>, key: Option<&str>) -> Quorum {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("config.toml");
    let config = Config::parse(CONFIG, &file, PathBuf::from(folder.path())).unwrap();
    let variable = |name: &str| key.filter(|_| name == "ALPHA_KEY").map(str::to_owned);
    let machine = Machine { variable: &variable, program: &|_| None, listens: &|_| false };
    let setup = setup::load(&config, &machine).unwrap();
    Quorum::over(config, store.clone(), Arc::new(AllVoices::of(setup.sources()))).set_up(setup)
}

#[tokio::test]
async fn a_key_that_is_missing_here_is_nobodys_failure() {
    let store = Arc::new(MemoryStore::new());
    let there = door(&store, Some("secret"));
    let request = Request { providers: Some(vec!["alpha".into(); 2]), ..Request::on("Tabs or spaces?") };
    let id = there.start(&request).await.map(|handle| handle.id()).unwrap();
    let Resumed::Running(handle) = there.resume(id).await.unwrap() else { panic!("it is not over") };
    handle.finished().await.unwrap();
    let before = there.state(id).await.unwrap();
    assert_eq!(before.lifecycle, Lifecycle::Error);

    let here = door(&store, None);
    let Err(Error::Mute(who)) = here.resume(id).await else { panic!("it went on") };
    let expected = "no key: set ALPHA_KEY, run `ax keys set alpha`";
    assert_eq!(who, ["alpha", "alpha-2"].map(|name| format!("{name}: {expected}")));
    assert!(matches!(here.steer(id, Command::Stop).await, Err(Error::Mute(_))));
    assert_eq!(
        here.facts(id, Default::default()).await.unwrap().len(),
        there.facts(id, Default::default()).await.unwrap().len()
    );
    assert_eq!(here.state(id).await.unwrap(), before);
    // Whoever only wants it over needs no voice.
    assert!(matches!(here.steer(id, Command::Abort).await, Ok(Steered::Here(_))));
}

#[test]
fn a_provider_is_missed_by_the_name_of_its_key() {
    let folder = Path::new("/nowhere");
    let config = Config::parse(CONFIG, &folder.join("config.toml"), folder.to_owned()).unwrap();
    let machine = Machine { variable: &|_| None, program: &|_| None, listens: &|_| false };
    let setup = setup::load(&config, &machine).unwrap();
    let lacks = setup.provider("alpha").unwrap().lacks().unwrap();
    assert_eq!(lacks, "no key: set ALPHA_KEY, run `ax keys set alpha`");
}
