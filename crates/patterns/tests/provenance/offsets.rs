//! Offsets of random texts are places of whole sentences, also after a round trip (P5).

use quorum_core::model::outcome::SourcedSentence;
use quorum_patterns::provenance::Talk;
use serde_json::{Value, json};

use super::{cut, of_marked, said};

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % end as u64) as usize
    }

    fn pick<'t>(&mut self, from: &[&'t str]) -> &'t str {
        from[self.below(from.len())]
    }

    /// A text of words, marks, markers and any characters at all.
    fn text(&mut self) -> String {
        const PARTS: &[&str] = &[
            "tabs ",
            "spaces ",
            "Breite ",
            "Ärzte ",
            "читатель ",
            "標準化",
            "幅",
            "ไทย",
            "👩‍👩‍👧 ",
            "e\u{301}te ",
            "\u{202e}rtl ",
            "שלום ",
            "\u{feff}",
            "\0",
            "\u{7f}",
            ". ",
            ".",
            "! ",
            "? ",
            "。",
            "\n",
            "\n\n",
            "\r\n",
            "- ",
            "1. ",
            "# ",
            "> ",
            "```\n",
            "`",
            "| a | b |\n",
            "|---|\n",
            "**",
            "_",
            "[ann:1]",
            " [bob:2] ",
            "[all]",
            "[",
            "]",
            "［bob：1］",
            "\\[ann:1\\]",
            "\"",
            "“",
            "”",
            "\\",
            "3.5 ",
            "1,200 ",
            "12 % ",
            "<b>",
            "&amp;",
            "data: ",
            ":",
            "\u{2028}",
            "\u{85}",
            "\u{10ffff}",
            "ﬁ",
            "İ",
            "ß ",
            "not ",
            "nicht ",
        ];
        let length = 1 + self.below(40);
        (0..length)
            .map(|_| if self.below(12) == 0 { self.any() } else { self.pick(PARTS).to_owned() })
            .collect()
    }

    /// Any character.
    fn any(&mut self) -> String {
        char::from_u32(self.below(0x11_0000) as u32).map(String::from).unwrap_or_default()
    }
}

#[test]
fn p5_offsets_of_10_000_random_texts_survive_a_round_trip() {
    let mut random = Random(7);
    for number in 0..10_000 {
        let (one, other) = (random.text(), random.text());
        let talk = Talk { turns: vec![said("ann", 1, &one), said("bob", 2, &other)], given: vec![] };
        // Half of them repeat what was said.
        let written =
            if number % 2 == 0 { format!("{}{one} [ann:1]{other}", random.text()) } else { random.text() };
        let (text, found) = of_marked(&written, &talk);
        let sent = json!({ "synthesis": text, "provenance": found }).to_string();
        // As an event of a stream it is one line.
        let event = format!("event: fact\ndata: {sent}\n\n");
        let data = event.split(['\n', '\r']).find_map(|line| line.strip_prefix("data: ")).unwrap();
        let received: Value = serde_json::from_str(data).unwrap();
        assert_eq!(received["synthesis"], text.as_str());
        let kept: Vec<SourcedSentence> = serde_json::from_value(received["provenance"].clone()).unwrap();
        assert_eq!(kept, found, "{written:?}");
        check(&text, &found, &[("ann", &one), ("bob", &other)]);
    }
}

/// Checks that sentences are in order and hold all letters, and that sources lie within their
/// turns.
#[track_caller]
fn check(text: &str, found: &[SourcedSentence], turns: &[(&str, &str)]) {
    let (length, mut last) = (text.chars().count(), 0);
    for sentence in found {
        assert!(
            last <= sentence.start && sentence.start < sentence.end && sentence.end <= length,
            "{text:?}"
        );
        let between = cut(text, last, sentence.start);
        let is_mark = |it: &str| it.chars().all(|it| !it.is_alphabetic()) || it.trim() == "[x]";
        assert!(is_mark(&between), "{between:?} was left out of {text:?}");
        let part = cut(text, sentence.start, sentence.end);
        assert!(part.contains(char::is_alphanumeric) && part == part.trim(), "{part:?}");
        last = sentence.end;
        for source in &sentence.sources {
            let said = turns.iter().find(|it| it.0 == source.participant).unwrap().1;
            assert!(source.start < source.end && source.end <= said.chars().count(), "{said:?} {source:?}");
            assert!((0.0..=1.0).contains(&source.score), "{source:?}");
        }
    }
    assert!(!cut(text, last, length).contains(char::is_alphabetic), "the end of {text:?}");
}
