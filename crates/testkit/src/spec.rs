//! Orders for tests: small, complete, easy to change.

use quorum_core::model::{
    debate::DebateSpec,
    id::Tenant,
    participant::{Participant, Role},
    spec::{
        ConsensusSpec, Dialogue, Limits, Manner, SYNTHESIS_RESERVE_MS, Spec, Timing, Tolerance, WindowSpec,
    },
};

/// An order for this pattern with ann, bob and cyd at the table, as the pattern needs them.
#[must_use]
pub fn spec(pattern: &str) -> Spec {
    let seat =
        |name: &str, role| Participant { name: name.to_owned(), ..Participant::of("scripted").playing(role) };
    let participants = match pattern {
        "debate" => vec![seat("ann", Role::Proponent), seat("bob", Role::Opponent), seat("cyd", Role::Judge)],
        "dialogue" => vec![seat("ann", Role::Speaker), seat("bob", Role::Speaker)],
        _ => ["ann", "bob", "cyd"].map(|name| seat(name, Role::Speaker)).to_vec(),
    };
    let options = if pattern == "voting" { vec!["tabs".to_owned(), "spaces".to_owned()] } else { Vec::new() };
    Spec {
        topic: "tabs or spaces?".to_owned(),
        background: None,
        pattern: pattern.to_owned(),
        rounds: 2,
        participants,
        options,
        consensus: ConsensusSpec {
            method: "synthesis".to_owned(),
            synthesizer: None,
            threshold: 0.5,
            include_dissent: true,
            prompt: None,
        },
        manner: Manner { temperature: 0.7, max_tokens: 200 },
        timing: Timing { step_ms: 60_000, total_ms: 1_800_000, reserve_ms: SYNTHESIS_RESERVE_MS },
        tolerance: Tolerance { go_on: true, min_providers: 2 },
        limits: Limits::default(),
        recursion: None,
        early_exit: None,
        dialogue: Dialogue::default(),
        debate: DebateSpec::default(),
        window: WindowSpec::default(),
        session: None,
        tenant: Tenant::default(),
        simulation: None,
    }
}

/// The same with another consensus method, and a synthesizer where the method needs one.
#[must_use]
pub fn deciding_by(spec: Spec, method: &str) -> Spec {
    let synthesizer = (method == "moderator").then(|| spec.participants[0].name.clone());
    let consensus = ConsensusSpec { method: method.to_owned(), synthesizer, ..spec.consensus };
    Spec { consensus, ..spec }
}
