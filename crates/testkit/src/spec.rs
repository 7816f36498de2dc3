//! Specs for tests: small, complete, easy to change.

use quorum_core::model::{
    id::Tenant,
    participant::{Participant, Role},
    settings::Settings,
    spec::{ConsensusSpec, Limits, Manner, SYNTHESIS_RESERVE_MS, Spec, Timing, Tolerance, WindowSpec},
};

/// A spec for this pattern with ann, bob and cyd, in the roles the pattern needs.
#[must_use]
pub fn spec(pattern: &str) -> Spec {
    let seat = |name: &str, role: &'static str| Participant {
        name: name.to_owned(),
        ..Participant::of("scripted").playing(Role::named(role))
    };
    let participants = match pattern {
        "debate" => vec![seat("ann", "proponent"), seat("bob", "opponent"), seat("cyd", "judge").aside()],
        "dialogue" => vec![seat("ann", "speaker"), seat("bob", "speaker")],
        "prompt" => vec![seat("ann", "speaker")],
        _ => ["ann", "bob", "cyd"].map(|name| seat(name, "speaker")).to_vec(),
    };
    let votes = ["voting", "settle"].contains(&pattern);
    let options = if votes { ["tabs", "spaces"].map(str::to_owned).to_vec() } else { Vec::new() };
    Spec {
        topic: "tabs or spaces?".to_owned(),
        background: None,
        pattern: pattern.to_owned(),
        rounds: 2,
        participants,
        options,
        consensus: ConsensusSpec { method: "synthesis".to_owned(), include_dissent: true },
        manner: Manner { temperature: 0.7, max_tokens: 200 },
        timing: Timing { step_ms: 60_000, total_ms: 1_800_000, reserve_ms: SYNTHESIS_RESERVE_MS },
        tolerance: Tolerance { go_on: true, min_providers: if pattern == "prompt" { 1 } else { 2 } },
        limits: Limits::default(),
        recursion: None,
        early_exit: None,
        settings: Settings::default(),
        window: WindowSpec { strategy: "slide".to_owned(), overflow: "truncate".to_owned() },
        session: None,
        tenant: Tenant::default(),
        account: None,
        show_names: false,
        simulation: None,
        recall: None,
        follows: None,
        recalled: None,
        client: None,
        retry: None,
        graded: false,
        known_voices: None,
        plan: None,
    }
}

/// The same with another consensus method, and a synthesizer where the method needs one.
#[must_use]
pub fn deciding_by(spec: Spec, method: &str) -> Spec {
    let mut spec = spec;
    if method == "moderator" {
        spec.settings.set("synthesizer", spec.participants[0].name.clone());
    }
    spec.consensus.method = method.to_owned();
    spec
}
