//! A call to try programs with.

use std::sync::Arc;

use quorum_core::{
    call::{Call, Message},
    model::{
        debate::DebateSpec,
        id::{DiscussionId, Step},
        participant::Participant,
        spec::{ConsensusSpec, Dialogue, Limits, Manner, Spec, Timing, Tolerance, WindowSpec},
    },
};

/// A plain question to claude.
pub(crate) fn call(ask: &str) -> Call {
    let spec = spec();
    Call {
        discussion: DiscussionId::fresh(),
        step: Step::new(1, "speaking", "claude"),
        attempt: 1,
        round: 1,
        participant: Arc::new(spec.participants[0].clone()),
        spec: Arc::new(spec),
        system: "You are claude.".into(),
        messages: vec![Message::Ask(ask.into())],
        shape: None,
        temperature: 0.7,
        max_tokens: 200,
        stop: Vec::new(),
        may_convene: false,
        nonce: "7f".to_owned(),
    }
}

fn spec() -> Spec {
    Spec {
        topic: "A ledger?".to_owned(),
        background: None,
        pattern: "round-robin".to_owned(),
        rounds: 1,
        participants: ["claude", "codex"].map(Participant::of).to_vec(),
        options: Vec::new(),
        consensus: ConsensusSpec {
            method: "synthesis".to_owned(),
            synthesizer: None,
            threshold: 0.5,
            include_dissent: true,
            prompt: None,
        },
        manner: Manner { temperature: 0.7, max_tokens: 200 },
        timing: Timing { step_ms: 60_000, total_ms: 600_000, reserve_ms: 10_000 },
        tolerance: Tolerance { go_on: true, min_providers: 2 },
        limits: Limits::default(),
        recursion: None,
        early_exit: None,
        dialogue: Dialogue::default(),
        debate: DebateSpec::default(),
        window: WindowSpec::default(),
        session: None,
        tenant: Default::default(),
        simulation: None,
    }
}
