//! What the tests of all wires need: a call, a model, an answer read, a refusal.
//!
//! The streams in `recorded/` have the vendors' form, byte for byte, and invented content.

use std::{collections::VecDeque, sync::Arc};

use proptest::prelude::{Strategy, any, prop_assert, proptest};
use quorum_core::{
    call::{Call, Message},
    model::{
        debate::DebateSpec,
        error::{ErrorClass, ProviderError},
        id::{DiscussionId, Step},
        participant::Participant,
        spec::{ConsensusSpec, Dialogue, Limits, Manner, Spec, Timing, Tolerance, WindowSpec},
        time::Timestamp,
        transcript::{Bill, Finish, Turn},
    },
    seams::Chunk,
};

use super::{Model, Quirks, Refused, Wire, frames::Frames};

/// Bob spoke, ann spoke, and ann is asked again. To be changed by the tests.
pub(super) fn call() -> Call {
    Call {
        discussion: DiscussionId::fresh(),
        step: Step::new(2, "speaking", "ann"),
        attempt: 1,
        round: 2,
        participant: Arc::new(Participant::of("ann")),
        spec: Arc::new(spec()),
        system: "You are ann.".into(),
        messages: vec![said("bob", "Tabs."), said("ann", "Spaces."), Message::Ask("And now?".into())],
        shape: None,
        temperature: 0.5,
        max_tokens: 200,
        stop: Vec::new(),
        may_convene: false,
        nonce: "n0nce".to_owned(),
    }
}

/// What bob said, as ann is shown it.
pub(super) const BOB: &str = "<said-n0nce by=\"bob\" round=\"1\">\nTabs.\n</said-n0nce>";

fn said(who: &str, text: &str) -> Message {
    let turn = Turn {
        step: Step::new(1, "speaking", who),
        participant: who.to_owned(),
        round: 1,
        phase: "speaking".to_owned(),
        text: text.into(),
        started_at: Timestamp(0),
        duration_ms: 0,
        finish: Finish::Stop,
        bill: Bill::default(),
        reused: false,
    };
    Message::Said { turn: Arc::new(turn), own: who == "ann" }
}

fn spec() -> Spec {
    Spec {
        topic: "tabs or spaces?".to_owned(),
        background: None,
        pattern: "round-robin".to_owned(),
        rounds: 2,
        participants: ["ann", "bob"].map(Participant::of).to_vec(),
        options: Vec::new(),
        consensus: ConsensusSpec {
            method: "synthesis".to_owned(),
            synthesizer: None,
            threshold: 0.5,
            include_dissent: true,
            prompt: None,
        },
        manner: Manner { temperature: 0.5, max_tokens: 200 },
        timing: Timing { step_ms: 60_000, total_ms: 600_000, reserve_ms: 10_000 },
        tolerance: Tolerance { go_on: true, min_providers: 2 },
        limits: Limits::default(),
        recursion: None,
        early_exit: None,
        dialogue: Dialogue::default(),
        debate: DebateSpec::default(),
        window: WindowSpec::default(),
        session: None,
        simulation: None,
    }
}

pub(super) fn model(quirks: Quirks) -> Model {
    Model { name: "model-1".to_owned(), quirks }
}

/// What a wire makes of these bytes, and the error they end with, if any.
pub(super) fn chunks(wire: &Wire, bytes: &[u8]) -> (Vec<Chunk>, Option<ProviderError>) {
    pieces(wire, &[bytes])
}

fn pieces(wire: &Wire, pieces: &[&[u8]]) -> (Vec<Chunk>, Option<ProviderError>) {
    let (mut frames, mut decoder) = (Frames::new(wire.framing), (wire.decoder)());
    let mut out = VecDeque::new();
    let mut fed = pieces.iter().map(|bytes| frames.feed(bytes, |frame| decoder.take(frame, &mut out)));
    let error = fed.find_map(Result::err);
    (out.into(), error)
}

/// The text of an answer, its other chunks, and its error as class and message.
pub(super) type Outcome = (String, Vec<Chunk>, Option<(ErrorClass, String)>);

/// An answer with its text in one.
pub(super) fn outcome(wire: &Wire, bytes: &[u8]) -> Outcome {
    let (chunks, error) = chunks(wire, bytes);
    let (mut text, mut others) = (String::new(), Vec::new());
    for chunk in chunks {
        match chunk {
            Chunk::Text(piece) => text.push_str(&piece),
            other => others.push(other),
        }
    }
    (text, others, error.map(|it| (it.class, it.message)))
}

/// What a wire says to an answer of this status and body.
pub(super) fn refused(wire: &Wire, status: u16, body: &str) -> (ErrorClass, String) {
    let header = |_: &str| None;
    let error = (wire.refusal)(&Refused {
        status,
        header: &header,
        body,
        now: "2026-11-15T12:00:00Z".parse().unwrap(),
    });
    (error.class, error.message)
}

/// A stream that was cut anywhere has no end (F3), and one that came in two pieces is the same as in one.
pub(super) fn check_cuts(wire: &Wire, recorded: &str) {
    let whole = recorded.as_bytes();
    let expected = chunks(wire, whole);
    assert!(matches!(expected.0.last(), Some(Chunk::End { .. })), "{recorded}");
    for cut in 0..whole.len() {
        let (before, error) = chunks(wire, &whole[..cut]);
        assert!(error.is_none() && ends(&before) == 0, "cut at {cut}: {before:?} {error:?}");
        assert_eq!(pieces(wire, &[&whole[..cut], &whole[cut..]]), expected, "cut at {cut}");
    }
}

fn ends(chunks: &[Chunk]) -> usize {
    chunks.iter().filter(|it| matches!(it, Chunk::End { .. })).count()
}

/// Whatever comes, nothing panics, and an end is the last that is said (F4).
pub(super) fn check_nonsense(wire: &Wire, recorded: &[&'static str]) {
    let changes = proptest::collection::vec((any::<proptest::sample::Index>(), any::<u8>(), 0..3_u8), 0..8);
    let broken = (proptest::sample::select(recorded.to_vec()), changes).prop_map(|(recorded, changes)| {
        let mut bytes = recorded.as_bytes().to_vec();
        for (place, byte, how) in changes {
            let at = place.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                _ => drop(bytes.splice(at..(at + usize::from(byte)).min(bytes.len() - 1), [])),
            }
        }
        bytes
    });
    let noise = proptest::collection::vec(any::<u8>(), 0..200);
    proptest!(|(broken in broken, noise in noise)| {
        for bytes in [broken, noise] {
            let (all, _) = chunks(wire, &bytes);
            prop_assert!(ends(&all) <= 1, "{all:?}");
            prop_assert!(ends(&all) == 0 || matches!(all.last(), Some(Chunk::End { .. })), "{all:?}");
        }
    });
}
