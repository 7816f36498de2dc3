//! A call for testing programs.

use std::sync::Arc;

use quorum_core::{
    call::{Call, Message},
    model::{id::Step, participant::Participant, spec::Spec},
};
use quorum_testkit::spec::spec;

/// A plain question to claude.
pub(crate) fn call(ask: &str) -> Call {
    let participants = ["claude", "codex"].map(Participant::of);
    let spec =
        Spec { topic: "A ledger?".to_owned(), participants: participants.to_vec(), ..spec("round-robin") };
    Call {
        step: Step::new(1, "speaking", "claude"),
        round: 1,
        participant: Arc::new(spec.participants[0].clone()),
        spec: Arc::new(spec),
        system: "You are claude.".into(),
        messages: vec![Message::Ask(ask.into())],
        max_tokens: 200,
        nonce: "7f".to_owned(),
        ..quorum_testkit::call::call()
    }
}
