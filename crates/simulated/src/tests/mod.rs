//! Black-box tests of simulated voices: calls in, chunks out.

mod behaviour;
mod shapes;
mod speaking;

use std::{
    collections::BTreeMap,
    sync::{Arc, LazyLock},
    time::Duration,
};

use futures::StreamExt;
use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::{Call, Message, Shape},
    model::{
        error::{ErrorClass, ProviderError},
        id::Step,
        participant::{Participant, Role},
        spec::{Simulation, Spec},
        transcript::{Finish, Turn},
    },
    seams::{Chunk, Provider, Voices},
};
use quorum_patterns::{debate::Verdict, readers::Ballot, roles::JUDGE};
use quorum_testkit::{
    call::{call, turn},
    spec::spec,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{Profile, Simulated, SimulatedVoices, table::position};

/// The providers of these tests, as a catalogue would describe them.
static STRENGTHS: LazyLock<BTreeMap<&str, Vec<String>>> = LazyLock::new(|| {
    let rows = [
        ("claude", "reasoning synthesis ethics nuance"),
        ("gemini", "research documents long-context"),
        ("glm", "cost agentic coding tools"),
        ("qwen", "translation math multilingual ocr documents"),
    ];
    rows.map(|(name, strengths)| (name, strengths.split(' ').map(str::to_owned).collect())).into()
});

fn profile(provider: &str) -> Option<Profile> {
    Some(Profile { strengths: STRENGTHS.get(provider)?, window: 1_000_000 })
}

/// A discussion under construction: participants, turns and the question.
#[derive(Clone)]
struct Meeting {
    spec: Spec,
    said: Vec<Arc<Turn>>,
    ask: String,
    found: Option<(String, String)>,
    may_convene: bool,
    max_tokens: u32,
    stop: Vec<String>,
}

fn meeting(topic: &str) -> Meeting {
    let simulation =
        Simulation { seed: 7, latency_ms: 0, failure: 0.0, stubbornness: 0.5, dead: Vec::new(), world: None };
    let spec = Spec {
        topic: topic.to_owned(),
        rounds: 3,
        participants: ["claude", "glm", "qwen", "gemini"].map(Participant::of).to_vec(),
        simulation: Some(simulation),
        ..spec("synthesis")
    };
    Meeting {
        spec,
        said: Vec::new(),
        ask: "What do you think?".to_owned(),
        found: None,
        may_convene: false,
        max_tokens: 2_048,
        stop: Vec::new(),
    }
}

impl Meeting {
    fn with(mut self, change: impl FnOnce(&mut Simulation)) -> Self {
        change(self.spec.simulation.as_mut().unwrap());
        self
    }

    fn options(mut self, options: &[&str]) -> Self {
        self.spec.options = options.iter().map(|&it| it.to_owned()).collect();
        self
    }

    fn seats(mut self, seats: &[(&str, Role)]) -> Self {
        self.spec.participants = seats.iter().map(|(name, role)| seated(name, role)).collect();
        self
    }

    fn asking(mut self, words: &str) -> Self {
        self.ask = words.to_owned();
        self
    }

    fn add_turn(&mut self, round: u32, phase: &str, who: &str, text: &str) {
        self.said.push(Arc::new(turn(round, phase, who, text)));
    }

    fn call(&self, round: u32, phase: &str, who: &str, shape: Option<Shape>) -> Call {
        let said =
            self.said.iter().map(|turn| Message::Said { own: turn.participant == who, turn: turn.clone() });
        let found = self
            .found
            .iter()
            .map(|(topic, text)| Message::Found { topic: topic.clone(), text: text.clone() });
        Call {
            step: Step::new(round, phase, who),
            round,
            participant: Arc::new(self.spec.seat(who).unwrap().clone()),
            spec: Arc::new(self.spec.clone()),
            system: "".into(),
            messages: said.chain(found).chain([Message::Ask(self.ask.as_str().into())]).collect(),
            shape,
            max_tokens: self.max_tokens,
            stop: self.stop.clone(),
            may_convene: self.may_convene,
            nonce: String::new(),
            ..call()
        }
    }

    async fn chunks(&self, call: Call) -> Result<Vec<Chunk>, ProviderError> {
        let voice = SimulatedVoices::new(profile).voice(&self.spec, &call.participant).unwrap();
        voice.provider.reply(Arc::new(call)).collect::<Vec<_>>().await.into_iter().collect()
    }

    async fn answer(&self, round: u32, phase: &str, who: &str, shape: Option<Shape>) -> String {
        text(&self.chunks(self.call(round, phase, who, shape)).await.unwrap())
    }

    async fn speak(&mut self, round: u32, phase: &str, who: &str) -> String {
        let text = self.answer(round, phase, who, None).await;
        self.add_turn(round, phase, who, &text);
        text
    }

    /// Everyone speaks in turn for this many rounds.
    async fn run(mut self, rounds: u32) -> Self {
        let names: Vec<String> = self.spec.speakers().into_iter().map(|it| it.name).collect();
        for round in 1..=rounds {
            for name in &names {
                self.speak(round, "speaking", name).await;
            }
        }
        self
    }

    fn positions(&self, who: &str) -> Vec<String> {
        let own = self.said.iter().filter(|turn| turn.participant == who);
        own.map(|turn| position(&turn.text).unwrap()).collect()
    }
}

fn text(chunks: &[Chunk]) -> String {
    chunks
        .iter()
        .filter_map(|it| if let Chunk::Text(text) = it { Some(text.as_str()) } else { None })
        .collect()
}

const TOPICS: [&str; 7] = [
    "Should we move billing to event sourcing?",
    "Microservices vs Monolith",
    "What's the best database for a real-time app?",
    "Is remote work good for teams?",
    "Why do projects run late?",
    "Sollten wir die Abrechnung auf Event Sourcing umstellen?",
    "週休三日制を導入すべきですか？",
];

fn seated(name: &str, role: &Role) -> Participant {
    let seat = Participant::of(name).playing(role.clone());
    if *role == JUDGE { seat.aside() } else { seat }
}

fn form(kind: &str) -> &'static Form {
    let forms = quorum_patterns::registry().forms();
    forms.into_iter().find(|it| it.kind == kind).unwrap()
}

fn shape(kind: &str) -> Option<Shape> {
    Some(Shape { form: form(kind), schema: None })
}

fn ballot_of(options: &[&str]) -> Option<Shape> {
    let schema = json!({ "properties": { "choice": { "enum": options } } });
    Some(Shape { form: form("ballot"), schema: Some(schema.into()) })
}
