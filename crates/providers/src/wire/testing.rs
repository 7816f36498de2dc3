//! What the tests of all wires need: a call, an answer's bytes read as chunks, and the rules that every recording must pass.

use std::{collections::VecDeque, sync::Arc};

use quorum_core::{
    call::{Call, Message, Shape},
    model::{
        error::ProviderError,
        id::{DiscussionId, Step},
        money::Usage,
        participant::Participant,
        time::Timestamp,
        transcript::{Bill, Finish, Turn},
    },
    seams::Chunk,
};
use serde_json::{Value, json};

use super::{Model, Quirks, Refused, Wire, frames::Frames};

/// Ann is asked again after she and Bob have spoken.
pub(super) fn call() -> Call {
    let said = |who: &str, text: &str| Message::Said { turn: Arc::new(turn(who, text)), own: who == "ann" };
    let spec = json!({
        "topic": "Tabs?", "pattern": "synthesis", "rounds": 2, "participants": [],
        "consensus": { "method": "synthesis", "threshold": 0.5, "include_dissent": true },
        "manner": { "temperature": 0.7, "max_tokens": 200 },
        "timing": { "step_ms": 1, "total_ms": 1, "reserve_ms": 1 },
        "tolerance": { "go_on": true, "min_providers": 2 },
    });
    Call {
        discussion: DiscussionId::fresh(),
        step: Step::new(2, "speaking", "ann"),
        attempt: 1,
        round: 2,
        participant: Arc::new(Participant::of("ann")),
        spec: Arc::new(serde_json::from_value(spec).unwrap()),
        system: "Be brief.".into(),
        messages: vec![said("ann", "Tabs."), said("bob", "Spaces."), Message::Ask("Who is right?".into())],
        shape: None,
        temperature: 0.5,
        max_tokens: 300,
        stop: Vec::new(),
        may_convene: false,
        nonce: "n1".to_owned(),
    }
}

/// What Ann reads of Bob and of what is asked, as one message.
pub(super) const HEARD: &str = "<said-n1 by=\"bob\" round=\"1\">\nSpaces.\n</said-n1>\n\nWho is right?";

fn turn(who: &str, text: &str) -> Turn {
    Turn {
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
    }
}

/// A form that a reply must have.
pub(super) fn shape(schema: Value) -> Option<Shape> {
    Some(Shape { name: "ballot", schema: Some(schema) })
}

pub(super) fn model(name: &str, quirks: Quirks) -> Model {
    Model { name: name.to_owned(), quirks }
}

pub(super) fn text(text: &str) -> Chunk {
    Chunk::Text(text.to_owned())
}

pub(super) fn convene(topic: &str) -> Chunk {
    Chunk::Convene { topic: topic.to_owned() }
}

pub(super) fn end(finish: Finish, usage: Usage) -> Chunk {
    Chunk::End { finish, usage: Some(usage), cost: None }
}

/// What these bytes of an answer mean, and the error they ended with.
pub(super) fn chunks(wire: &Wire, bytes: &[u8]) -> (Vec<Chunk>, Option<ProviderError>) {
    let (mut frames, mut decoder, mut out) = (Frames::new(wire.framing), (wire.decoder)(), VecDeque::new());
    let read = frames.feed(bytes, |frame| decoder.take(frame, &mut out));
    (out.into(), read.err())
}

/// What these refused words mean.
pub(super) fn refused(wire: &Wire, status: u16, body: &str) -> ProviderError {
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    (wire.refusal)(&Refused { status, header: &|_| None, body, now })
}

/// Cuts a whole answer at every byte: what is there means what it means in the whole, and only the whole has an end.
pub(super) fn check_cut_anywhere(wire: &Wire, recording: &str) {
    let bytes = recording.as_bytes();
    let (whole, error) = chunks(wire, bytes);
    assert_eq!(error, None);
    assert!(matches!(whole.last(), Some(Chunk::End { .. })), "{whole:?}");
    let marker = recording.trim_end().len();
    for cut in 0..marker {
        let (part, error) = chunks(wire, &bytes[..cut]);
        assert_eq!(error, None, "cut at {cut}");
        assert!(is_part(&part, &whole), "cut at {cut}: {part:?}");
    }
}

/// Whether an answer begins with these chunks but has not ended with them.
fn is_part(part: &[Chunk], whole: &[Chunk]) -> bool {
    part.len() < whole.len() && whole.starts_with(part)
}

/// Reads what may be nonsense, as it is and as a frame: an end, if there is one, is the only one and the last.
pub(super) fn check_nonsense(wire: &Wire, bytes: &[u8]) {
    check_one_end(wire, bytes);
    check_one_end(wire, &[b"data: ", bytes, b"\n\n"].concat());
}

fn check_one_end(wire: &Wire, bytes: &[u8]) {
    let (chunks, _) = chunks(wire, bytes);
    let end = chunks.iter().position(|it| matches!(it, Chunk::End { .. }));
    assert!(end.is_none_or(|at| at + 1 == chunks.len()), "{chunks:?}");
}

/// A recording with some of its bytes replaced, left out or said twice.
pub(super) fn mutated(recording: &str, changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = recording.as_bytes().to_vec();
    for &(at, kind, byte) in changes {
        let at = at % bytes.len().max(1);
        match kind % 4 {
            0 => bytes.insert(at, byte),
            1 if at < bytes.len() => drop(bytes.remove(at)),
            2 if at < bytes.len() => bytes[at] = byte,
            _ => {
                let again = bytes[at..].iter().take(usize::from(byte)).copied().collect::<Vec<u8>>();
                bytes.splice(at..at, again);
            }
        }
    }
    bytes
}
