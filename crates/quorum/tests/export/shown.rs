//! Exports show invisible characters and mark truncated answers.

use serde_json::Value;

use crate::talk::Talk;

const HIDDEN: &[char] = &['\u{200b}', '\u{2028}', '\u{e0068}', '\u{feff}', '\u{202e}'];

#[test]
fn hidden_characters_are_shown_in_every_document() {
    let words = "a\u{200b}b\u{2028}c\u{e0068}d\u{feff}e\u{202e}f 👩\u{200d}💻";
    let talk = Talk { topic: "pay\u{200b}pal?", words };
    let shown = "a<U+200B>b<U+2028>c<U+E0068>d<U+FEFF>ef 👩\u{200d}💻";
    for format in ["markdown", "html", "json", "jsonl"] {
        let written = talk.export(format);
        assert!(!written.contains(HIDDEN), "{format}: {written}");
        let as_format = match format {
            "html" => shown.replace('<', "&lt;").replace('>', "&gt;"),
            "markdown" => shown.to_owned(),
            _ => continue,
        };
        let unescaped = written.replace('\\', "");
        assert!(unescaped.contains(&as_format), "{format}: {written}");
    }
    let document: Value = serde_json::from_str(&talk.export("json")).unwrap();
    assert!(document.to_string().contains(words), "JSON keeps what was written: {document}");
}

#[test]
fn f18_an_answer_that_was_cut_off_says_so_in_every_document() {
    let talk = Talk { topic: "Tabs or spaces?", words: "Tabs, because" };
    let mark = "Cut off here: it went past its token limit";
    for (format, mark) in [("markdown", mark), ("html", mark), ("json", "\"finishReason\": \"truncated\"")] {
        assert_eq!(talk.export(format).matches(mark).count(), 0, "{format}");
        let written = talk.export_cut_off(format);
        assert_eq!(written.matches(mark).count(), 2, "{format}: {written}");
    }
}
