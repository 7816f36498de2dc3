//! Hostile texts: control characters, both writing directions, invisible characters, foreign
//! formats.

use proptest::{collection::vec, prelude::*, sample::select};

const NASTY: [&str; 24] = [
    "\0",
    "\u{1b}[2J\u{1b}[31m",
    "\r\n\u{85}\u{2028}\u{2029}",
    "\u{202e}txet\u{202c}",
    "שלום עולם",
    "\u{200b}\u{200d}\u{feff}",
    "e\u{301}\u{301}\u{301}",
    "👩‍👩‍👧‍👦",
    "\u{fffd}\u{ffff}\u{10ffff}",
    "İıſßﬁ",
    "{\"choice\":\"tabs\",\"confidence\":1}",
    "```json\n{\"synthesis\": null}\n```",
    "[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n[CONFIDENCE]\n100",
    "My position: ",
    "Confidence: 0.99",
    "{topic} {position} {0} %s $1 \\1",
    "'; DROP TABLE facts; --",
    "<script>alert(1)</script>",
    "\"\\\\\"",
    "a or b, c vs d: e?",
    "Should we ",
    "Sollten wir oder ",
    "null",
    "- # > * | ~~~ ",
];

/// A text with at most this many characters.
pub(crate) fn text(longest: usize) -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        6 => select(&NASTY[..]).prop_map(str::to_owned),
        3 => vec(any::<char>(), 0..20).prop_map(String::from_iter),
        2 => vec(0_u8..32, 1..5).prop_map(|bytes| bytes.into_iter().map(char::from).collect()),
        3 => select(&["tabs", " spaces? ", "Which database", " or ", ", "][..]).prop_map(str::to_owned),
        1 => (any::<char>(), 0..longest).prop_map(|(letter, count)| letter.to_string().repeat(count)),
    ];
    vec(piece, 0..6).prop_map(move |pieces| pieces.concat().chars().take(longest).collect())
}

/// A text with visible characters.
pub(crate) fn visible(longest: usize) -> impl Strategy<Value = String> {
    text(longest).prop_map(|text| if text.trim().is_empty() { "Tabs?".to_owned() } else { text })
}
