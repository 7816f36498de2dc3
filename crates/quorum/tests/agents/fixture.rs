//! A folder with agents, and a Quorum over it with scripted or simulated voices.

use std::{fs, path::PathBuf, sync::Arc};

use quorum::{
    Config, Finished, Quorum, Request, Scope, Snapshot,
    model::{id::Tenant, spec::Spec},
    seams::Voices,
};
use quorum_core::memory::MemoryStore;
use quorum_testkit::panel::Panel;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A folder beside a configuration.
pub(crate) struct Fixture {
    pub(crate) folder: TempDir,
}

impl Fixture {
    pub(crate) fn new() -> Self {
        Fixture { folder: TempDir::new().unwrap() }
    }

    /// A fixture with one agent named reviewer, with these fields beside its id.
    pub(crate) fn with(fields: &Value) -> Self {
        let fixture = Fixture::new();
        fixture.agent("reviewer", fields);
        fixture
    }

    pub(crate) fn write(&self, file: &str, text: &str) {
        let file = self.folder.path().join(file);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    pub(crate) fn agent(&self, id: &str, fields: &Value) {
        let mut profile = json!({ "agentId": id });
        profile.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        self.write(&format!("agents/{id}.json"), &profile.to_string());
    }

    pub(crate) fn ability(&self, id: &str, text: &str) {
        self.write(&format!("abilities/{id}.md"), &format!("---\nabilityId: {id}\n---\n{text}\n"));
    }

    fn config(&self) -> Config {
        Config::unset(self.folder.path().join("config.toml"), PathBuf::new())
    }

    /// Simulated voices.
    pub(crate) fn offline(&self) -> Scope {
        let builder = Quorum::builder().config(self.config()).simulated().assigning_roles();
        builder.build().unwrap().scope(Tenant::default(), "ann")
    }

    /// The voices of this panel, over this store.
    pub(crate) fn scripted(&self, panel: &Panel, store: &Arc<MemoryStore>) -> Scope {
        let builder = Quorum::builder().config(self.config()).store(store.clone());
        let builder = builder.voices(Arc::new(panel.clone())).assigning_roles();
        builder.build().unwrap().scope(Tenant::default(), "ann")
    }

    /// These voices, with a store of their own.
    pub(crate) fn voiced(&self, voices: Arc<dyn Voices>) -> Scope {
        let builder = Quorum::builder().config(self.config()).voices(voices).assigning_roles();
        builder.build().unwrap().scope(Tenant::default(), "ann")
    }

    /// Holds this discussion with the voices of a panel.
    pub(crate) async fn held(&self, panel: &Panel, fields: &Value) -> Snapshot {
        let scope = self.scripted(panel, &Arc::default());
        let (_, handle) = scope.start(scope.check(&request(fields)).unwrap()).await.unwrap();
        let Finished::Over(state) = handle.finished().await.unwrap() else { panic!("it waits") };
        state
    }
}

/// A request with these fields.
pub(crate) fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": "Tabs or spaces?" });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

/// The spec of a request with these fields.
pub(crate) fn spec(scope: &Scope, fields: &Value) -> Spec {
    scope.check(&request(fields)).unwrap()
}

/// A profile that prefers these providers.
pub(crate) fn preferring(preferred: &[&str]) -> Value {
    json!({ "providerAffinity": { "preferred": preferred, "fallbackStrategy": "strict" } })
}
