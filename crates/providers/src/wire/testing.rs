//! What the tests of all wires need: a call, an answer's bytes read as chunks, and the rules that every recording must pass.

use quorum_core::vocabulary::form::Form;
use std::collections::VecDeque;

use proptest::prelude::{Strategy, any, prop_assert, proptest};
use quorum_core::{
    call::{Call, Message, Shape},
    model::{
        error::{ErrorClass, ProviderError},
        money::Usage,
        transcript::Finish,
    },
    seams::Chunk,
};
use quorum_testkit::call::shown;
use serde_json::{Value, json};

mod fuzz;

use super::{Model, Outgoing, Quirks, Refused, Wire, frames::Frames};

/// Ann is asked again after she and Bob have spoken.
pub(super) fn call() -> Call {
    Call { nonce: "n1".to_owned(), ..quorum_testkit::call::call() }
}

/// The same after Bob spoke first.
pub(super) fn answering() -> Call {
    Call {
        system: "You are ann.".into(),
        messages: vec![said("bob", "Tabs."), said("ann", "Spaces."), Message::Ask("And now?".into())],
        max_tokens: 200,
        nonce: "n0nce".to_owned(),
        ..call()
    }
}

/// What bob said first, as ann is shown it.
pub(super) const BOB: &str = "<said-n0nce by=\"bob\" round=\"1\">\nTabs.\n</said-n0nce>";

fn said(who: &str, text: &str) -> Message {
    shown("ann", who, text)
}

/// What Ann reads of Bob and of what is asked, as one message.
pub(super) const HEARD: &str = "<said-n1 by=\"bob\" round=\"1\">\nSpaces.\n</said-n1>\n\nWho is right?";

/// A form that a reply must have.
pub(super) fn shape(schema: Value) -> Option<Shape> {
    Some(Shape { form: const { &Form::new("ballot") }, schema: Some(schema.into()) })
}

/// A form with properties in no alphabetical order, in lists and choices as well, and one of them
/// optional.
pub(super) fn unsorted() -> Option<Shape> {
    let mark = json!({
        "type": "object",
        "properties": { "speaker": { "type": "string" }, "mark": { "type": "number", "maximum": 10 } },
        "required": ["speaker", "mark"],
        "additionalProperties": false,
    });
    let winner = json!({
        "type": ["object", "null"],
        "properties": { "who": { "type": "string" }, "because": { "type": "string" } },
        "required": ["who", "because"],
        "additionalProperties": false,
    });
    shape(json!({
        "type": "object",
        "properties": { "why": { "type": "string" }, "winner": winner, "marks": { "type": "array", "items": mark } },
        "required": ["why", "marks"],
        "additionalProperties": false,
    }))
}

/// The same as a wire sends it that asks for the strict form. The bound is not known to all
/// vendors.
pub(super) fn unsorted_strict(bound: &str) -> String {
    [
        r#"{"type":"object","properties":{"why":{"type":"string"},"#,
        r#""winner":{"anyOf":[{"type":"object","properties":{"who":{"type":"string"},"because":{"type":"string"}},"#,
        r#""required":["who","because"],"additionalProperties":false},{"type":"null"}]},"#,
        r#""marks":{"type":"array","items":{"type":"object","properties":{"speaker":{"type":"string"},"#,
        &format!(r#""mark":{{"type":"number"{bound}}}}},"required":["speaker","mark"],"additionalProperties":false}}}}}},"#),
        r#""required":["why","winner","marks"],"additionalProperties":false}"#,
    ]
    .concat()
}

/// The end of this request's bytes, from this text on.
#[track_caller]
pub(super) fn sent_from(outgoing: &Outgoing, start: &str) -> String {
    let bytes = outgoing.body.to_string();
    let at = bytes.find(start).unwrap_or_else(|| panic!("{start} is not in {bytes}"));
    bytes[at..].to_owned()
}

pub(super) fn model(name: &str, quirks: Quirks) -> Model {
    Model { name: name.to_owned(), quirks, window: 200_000 }
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
    pieces(wire, &[bytes])
}

pub(super) fn pieces(wire: &Wire, pieces: &[&[u8]]) -> (Vec<Chunk>, Option<ProviderError>) {
    let (mut frames, mut decoder) = (Frames::new(wire.framing), (wire.decoder)(&Quirks::default()));
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

/// What these refused words mean.
pub(super) fn refused(wire: &Wire, status: u16, body: &str) -> ProviderError {
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    (wire.refusal)(&Refused { status, header: &|_| None, body, now })
}

/// The same as class and message.
pub(super) fn told(wire: &Wire, status: u16, body: &str) -> (ErrorClass, String) {
    let error = refused(wire, status, body);
    (error.class, error.message)
}

/// A stream that was cut anywhere has no end (F3), and one that came in two pieces is the same as in one.
pub(super) fn check_cuts(wire: &Wire, recorded: &str) {
    let whole = recorded.as_bytes();
    let expected = chunks(wire, whole);
    assert!(matches!(expected.0.last(), Some(Chunk::End { .. })), "{recorded}");
    // The line end after the last frame's own is not needed by all.
    for cut in 0..recorded.trim_end().len() {
        let (before, error) = chunks(wire, &whole[..cut]);
        assert!(error.is_none() && ends(&before) == 0, "cut at {cut}: {before:?} {error:?}");
        assert_eq!(pieces(wire, &[&whole[..cut], &whole[cut..]]), expected, "cut at {cut}");
    }
}

pub(super) fn ends(chunks: &[Chunk]) -> usize {
    chunks.iter().filter(|it| matches!(it, Chunk::End { .. })).count()
}

/// But for the same end with another count.
pub(super) fn nothing_follows_an_end(chunks: &[Chunk]) -> bool {
    let mut rest = chunks.iter().skip_while(|it| !matches!(it, Chunk::End { .. }));
    let why = |it: &Chunk| if let Chunk::End { finish, .. } = it { Some(*finish) } else { None };
    let first = rest.next().and_then(why);
    rest.all(|it| why(it) == first)
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
            prop_assert!(nothing_follows_an_end(&all), "{all:?}");
        }
    });
    fuzz::fuzz(wire, recorded);
}
