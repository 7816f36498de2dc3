//! Shared test helpers of all wires: a call, an answer's bytes read as chunks, and the rules that
//! every recording must pass.

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

/// A call in which Ann is asked again after she and Bob have spoken.
pub(super) fn call() -> Call {
    Call { nonce: "n1".to_owned(), ..quorum_testkit::call::call() }
}

/// The same with Bob speaking first.
pub(super) fn answering() -> Call {
    Call {
        system: "You are ann.".into(),
        messages: vec![said("bob", "Tabs."), said("ann", "Spaces."), Message::Ask("And now?".into())],
        max_tokens: 200,
        nonce: "n0nce".to_owned(),
        ..call()
    }
}

/// Bob's first message, as Ann sees it.
pub(super) const BOB: &str = "<said-n0nce by=\"bob\" round=\"1\">\nTabs.\n</said-n0nce>";

fn said(who: &str, text: &str) -> Message {
    shown("ann", who, text)
}

/// Bob's message and the question, as one message for Ann.
pub(super) const HEARD: &str = "<said-n1 by=\"bob\" round=\"1\">\nSpaces.\n</said-n1>\n\nWho is right?";

/// A form for a reply.
pub(super) fn shape(schema: Value) -> Option<Shape> {
    Some(Shape { form: const { &Form::new("ballot") }, schema: Some(schema.into()) })
}

/// A form with properties in non-alphabetical order, also in lists and unions, one of them
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

/// The same in its strict form. The bound is not supported by all vendors.
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

/// The rest of the request's bytes, starting at this text.
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

/// The chunks in these bytes of an answer, and the error they ended with.
pub(super) fn chunks(wire: &Wire, bytes: &[u8]) -> (Vec<Chunk>, Option<ProviderError>) {
    pieces(wire, &[bytes])
}

pub(super) fn pieces(wire: &Wire, pieces: &[&[u8]]) -> (Vec<Chunk>, Option<ProviderError>) {
    let (mut frames, mut decoder) = (Frames::new(wire.framing), (wire.decoder)(&Quirks::default()));
    let mut out = VecDeque::new();
    let mut fed = pieces.iter().map(|bytes| frames.feed(bytes, |frame| decoder.read_frame(frame, &mut out)));
    let error = fed.find_map(Result::err);
    (out.into(), error)
}

/// The text of an answer, its other chunks, and its error as class and message.
pub(super) type Outcome = (String, Vec<Chunk>, Option<(ErrorClass, String)>);

/// An answer with its text joined.
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

/// The error for this response.
pub(super) fn refused(wire: &Wire, status: u16, body: &str) -> ProviderError {
    let now = "2026-11-15T12:00:00Z".parse().unwrap();
    (wire.refusal)(&Refused { status, header: &|_| None, body, now })
}

/// The error for this response as class and message.
pub(super) fn class_and_message(wire: &Wire, status: u16, body: &str) -> (ErrorClass, String) {
    let error = refused(wire, status, body);
    (error.class, error.message)
}

/// A stream that is cut anywhere has no end (F3), and one in two pieces reads like the whole.
pub(super) fn check_cuts(wire: &Wire, recorded: &str) {
    let whole = recorded.as_bytes();
    let expected = chunks(wire, whole);
    assert!(matches!(expected.0.last(), Some(Chunk::End { .. })), "{recorded}");
    // Not every wire needs the last line's terminator.
    for cut in 0..recorded.trim_end().len() {
        let (before, error) = chunks(wire, &whole[..cut]);
        assert!(error.is_none() && ends(&before) == 0, "cut at {cut}: {before:?} {error:?}");
        assert_eq!(pieces(wire, &[&whole[..cut], &whole[cut..]]), expected, "cut at {cut}");
    }
}

pub(super) fn ends(chunks: &[Chunk]) -> usize {
    chunks.iter().filter(|it| matches!(it, Chunk::End { .. })).count()
}

/// Nothing follows the end, except for the same end with a different usage.
pub(super) fn nothing_follows_an_end(chunks: &[Chunk]) -> bool {
    let mut rest = chunks.iter().skip_while(|it| !matches!(it, Chunk::End { .. }));
    let why = |it: &Chunk| if let Chunk::End { finish, .. } = it { Some(*finish) } else { None };
    let first = rest.next().and_then(why);
    rest.all(|it| why(it) == first)
}

/// For any input nothing panics, and nothing follows an end (F4).
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
