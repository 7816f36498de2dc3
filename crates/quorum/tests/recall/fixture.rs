//! A facade with scripted voices, whose archive has a few discussions.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use quorum::{
    Config, Error, Quorum, Request, Scope,
    memory::MemoryStore,
    model::{
        event::{Conclusion, Event},
        id::{DiscussionId, Tenant},
        outcome::{Claim, Decision, Dissent, StoppingReason},
        participant::Participant,
        spec::Spec,
        time::Timestamp,
    },
    seams::{Then, Voice, Voices},
};
use quorum_core::model::lifecycle::Lifecycle;
use quorum_testkit::{
    conformance::store::fixture::{Writer, about, moved, open_as_ordered},
    panel::Panel,
};
use serde_json::{Value, json};

/// Scripted voices for every provider.
struct Anyone(Panel);

impl Voices for Anyone {
    fn voice(&self, spec: &Spec, who: &Participant) -> Option<Voice> {
        self.0.voice(spec, &Participant { provider: "scripted".to_owned(), ..who.clone() })
    }
}

pub(crate) struct Fixture {
    pub(crate) store: Arc<MemoryStore>,
    pub(crate) quorum: Quorum,
    pub(crate) panel: Panel,
}

pub(crate) const TOPIC: &str = "Which database should hold our billing events?";

impl Fixture {
    pub(crate) fn new(panel: &Panel) -> Fixture {
        Fixture::configured(panel, "")
    }

    pub(crate) fn configured(panel: &Panel, config: &str) -> Fixture {
        let store = Arc::new(MemoryStore::new());
        let config = Config::parse(config, Path::new("config.toml"), "".into()).unwrap();
        let quorum =
            Quorum::builder().config(config).store(store.clone()).voices(Arc::new(Anyone(panel.clone())));
        let quorum = quorum.assigning_roles().build().unwrap();
        Fixture { store, quorum, panel: panel.clone() }
    }

    pub(crate) fn scope(&self) -> Scope {
        self.of("")
    }

    pub(crate) fn of(&self, tenant: &str) -> Scope {
        self.quorum.scope(Tenant::named(tenant), "ann")
    }

    /// Records a discussion of this topic that came to this answer, with a dissent of claude and an
    /// argument that was not answered.
    pub(crate) async fn past(&self, topic: &str, answer: &str) -> DiscussionId {
        self.ended(about(topic), answer).await
    }

    pub(crate) async fn ended(&self, mut spec: Spec, answer: &str) -> DiscussionId {
        spec.participants = self.scope().check(&request(&json!({}))).unwrap().participants;
        self.answered(spec, BTreeMap::new(), answer).await
    }

    /// Records a discussion of this panel, for which these exact models answered.
    pub(crate) async fn answered(
        &self,
        spec: Spec,
        models: BTreeMap<String, String>,
        answer: &str,
    ) -> DiscussionId {
        let at = self.now();
        let seated = spec.participants.iter().map(|it| it.name.clone()).collect();
        let id = open_as_ordered(&*self.store, spec, at).await;
        let mut writer = Writer::claiming(&*self.store, id, "one").await;
        let dissent = vec![Dissent { participant: "claude".into(), position: "A ledger is enough.".into() }];
        let open = Claim {
            text: "Replay is slow".into(),
            supported_by: vec!["gemini".into()],
            attacked_by: Vec::new(),
            unanswered: true,
        };
        let decision = Decision {
            synthesis: answer.to_owned(),
            agreement: Some(0.75),
            dissent,
            claims: vec![open],
            ..Decision::default()
        };
        let stopping = StoppingReason::COMPLETED;
        let seated = Event::PanelSeated {
            seated,
            absent: Vec::new(),
            models,
            labels: Vec::new(),
            agents: BTreeMap::new(),
        };
        let facts = vec![
            seated,
            Event::Decided { decision: Arc::new(decision) },
            Event::Concluded(Conclusion { success: true, stopping, degraded: false, problem: None }),
            moved(Lifecycle::Completing, Lifecycle::Completed),
        ];
        writer.write(at, facts, Then::Done).await.unwrap();
        id
    }

    fn now(&self) -> Timestamp {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
        Timestamp(i64::try_from(now.as_micros()).unwrap())
    }

    /// Runs an order to its end, and returns the system texts of its calls, by step.
    pub(crate) async fn asked(&self, scope: &Scope, fields: &Value) -> Vec<(String, String)> {
        let spec = scope.order(&request(fields)).await.unwrap();
        let (_, handle) = scope.start(spec).await.unwrap();
        handle.finished().await.unwrap();
        let asked = self.panel.asked().into_iter();
        asked.map(|it| (it.step.to_string(), it.call.system.to_string())).collect()
    }
}

/// A request about billing events with claude, gemini and glm, with these fields.
pub(crate) fn request(fields: &Value) -> Request {
    let mut all = json!({ "topic": TOPIC, "providers": ["claude", "gemini", "glm"], "rounds": 1 });
    all.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    serde_json::from_value(all).unwrap()
}

/// What is wrong with an order, as `field: message`.
pub(crate) async fn refusals(scope: &Scope, fields: &Value) -> Vec<String> {
    match scope.order(&request(fields)).await {
        Err(Error::Refused(all)) => all.iter().map(|it| format!("{}: {}", it.field, it.message)).collect(),
        Err(other) => panic!("{other}"),
        Ok(_) => Vec::new(),
    }
}
