//! Replies that are prose first and data after. Finds the prose while such a reply arrives, so that
//! people see it as it is written and never see the data.

mod data;
mod mark;
mod markers;
mod stream;

use serde_json::{Map, Value};

pub use markers::{Marker, MarkerStream, Unmarked};
pub use stream::ProseStream;

/// The parts of a reply whose form has prose: text for people, then a line with a mark, then one
/// JSON object with the structure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prose {
    /// The key of the prose in a reply that is one JSON object.
    pub key: &'static str,
    /// The keys of the structure. An object with two of them is the structure even without a mark
    /// before it.
    pub structure: &'static [&'static str],
}

/// A reply, separated into its parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separated<'t> {
    /// The text for people, without markers of sources.
    pub prose: String,
    /// The markers that were taken out of it.
    pub markers: Vec<Marker>,
    /// Everything from the mark or from the structure on.
    pub rest: Option<&'t str>,
    /// Whether the end of the prose was not found: either it has no structure, or it was cut off.
    pub is_open: bool,
}

impl Prose {
    /// Separates a complete reply, whose prose may cite these participants in markers.
    #[must_use]
    pub fn separate<'t>(&self, mark: &str, cited: &[String], reply: &'t str) -> Separated<'t> {
        let separated = ProseStream::new(*self, mark).separate(reply);
        let Unmarked { text: prose, markers } = Unmarked::of(&separated.prose, cited);
        Separated { prose, markers, ..separated }
    }

    /// The prose in an object, if it has any.
    fn of(&self, object: &Map<String, Value>) -> Option<String> {
        let value = object.iter().find(|(name, _)| is_key(name, self.key))?.1;
        let lines = |list: &Vec<Value>| list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_array().map(lines))?;
        Some(text.trim().to_owned())
    }

    /// The prose of a reply that is JSON data and nothing else. A structure has no prose.
    fn of_data(&self, value: &Value) -> Option<String> {
        match value {
            Value::Object(object) if self.is_structure(object) => None,
            Value::Object(object) => self.of(object).or_else(|| data::text_of(value)),
            Value::Array(list) => {
                let texts: Vec<String> = list.iter().filter_map(|it| self.of_data(it)).collect();
                (!texts.is_empty()).then(|| texts.join("\n\n"))
            }
            Value::String(_) => data::text_of(value),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    fn is_structure(&self, object: &Map<String, Value>) -> bool {
        let has = |key: &&&str| object.keys().any(|name| is_key(name, key));
        1 < self.structure.iter().filter(has).count()
    }

    /// The text so far under the key in an object that was cut off, and whether the text itself was
    /// cut.
    fn cut_text(&self, object: &str, is_first: bool) -> Option<(String, bool)> {
        let others = data::TEXT_KEYS.iter().filter(|_| is_first);
        let mut keys = std::iter::once(&self.key).chain(others);
        let (_, after) = keys.find_map(|key| object.split_once(&format!("\"{key}\"")))?;
        let text = after.trim_start().strip_prefix(':')?.trim_start().strip_prefix('"')?;
        let end = string_end(text);
        let mut text = &text[..end.unwrap_or(text.len())];
        loop {
            match serde_json::from_str::<String>(&format!("\"{}\"", text.replace('\n', "\\n"))) {
                Ok(text) => return Some((text.trim().to_owned(), end.is_none())),
                // It ends within an escape sequence.
                Err(_) => text = &text[..text.rfind('\\')?],
            }
        }
    }

    /// Whether an unfinished object may be the structure.
    fn may_be_structure(&self, object: &str) -> bool {
        self.structure.iter().chain([&self.key]).any(|key| object.contains(&format!("\"{key}\"")))
    }
}

fn is_key(name: &str, key: &str) -> bool {
    let plain = |text: &str| text.replace(['_', '-', ' '], "").to_lowercase();
    plain(name) == plain(key)
}

/// Where a JSON string that began before this text ends.
fn string_end(text: &str) -> Option<usize> {
    let mut is_escaped = false;
    text.bytes().position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: Prose = Prose { key: "synthesis", structure: &["agreements", "dissent", "claims"] };
    const MARK: &str = "[STRUCTURE_ABCD]";

    /// Separates the reply whole and in pieces of several sizes, which must all agree.
    #[track_caller]
    fn check(reply: &str, prose: &str, rest: Option<&str>) {
        let whole = PROSE.separate(MARK, &[], reply);
        assert_eq!((whole.prose.as_str(), whole.rest), (prose, rest), "{reply}");
        for size in [1, 2, 3, 7, 50] {
            assert_eq!(in_pieces(reply, size), whole_stream(reply), "in pieces of {size}: {reply}");
        }
    }

    fn whole_stream(reply: &str) -> String {
        let mut stream = ProseStream::new(PROSE, MARK);
        stream.end(reply);
        stream.shown().to_owned()
    }

    /// Everything that was shown, piece by piece.
    fn in_pieces(reply: &str, size: usize) -> String {
        let (mut stream, mut so_far, mut shown) =
            (ProseStream::new(PROSE, MARK), String::new(), String::new());
        for piece in reply.chars().collect::<Vec<_>>().chunks(size) {
            so_far.extend(piece);
            let from = stream.push(&so_far);
            shown.push_str(&stream.shown()[from..]);
        }
        let from = stream.end(&so_far);
        shown + &stream.shown()[from..]
    }

    #[test]
    fn prose_ends_at_the_mark_wherever_it_stands() {
        let structure = "[STRUCTURE_ABCD]\n{\"claims\": []}";
        check(&format!("Tabs.\n\n{structure}"), "Tabs.", Some(structure));
        check(&format!("  Tabs,\nthen. {structure}"), "Tabs,\nthen.", Some(structure));
        check(
            "Ja – ä.\n\n  **[STRUCTURE_ABCD]**\n```json\n{}\n```",
            "Ja – ä.",
            Some("  **[STRUCTURE_ABCD]**\n```json\n{}\n```"),
        );
        check("[STRUCTURE_ABCD]\n{}", "", Some("[STRUCTURE_ABCD]\n{}"));
        check("A set {\"x\n[STRUCTURE_ABCD]\n{}", "A set {\"x", Some("[STRUCTURE_ABCD]\n{}"));
    }

    #[test]
    fn without_a_mark_all_is_prose() {
        for text in [
            "Tabs.",
            "- one\n- two\n\n---\n\n```rust\nfn main() {}\n```\n\nEnd [STRUCTURE_ABCE] {x} [STRUCT",
            "A token is `{\"claims\": {\"sub\": 1}}`, and that is all.",
            "```json\n{\"claims\": {\"sub\": \"}\"}}\n```\nis how a token looks.",
            "It is {\"open",
            "{\"answer\": 42} is the format.",
            "{\"indent\": \"tab\", \"width\": 4}",
            "[1] and [2] differ, ['as said']",
            "['tis so",
            "A brace {",
        ] {
            check(text, text, None);
        }
    }

    #[test]
    fn a_mark_in_a_quotation_does_not_end_the_prose() {
        check("Bob said:\n> [STRUCTURE_ABCD]\n> {}\nNo.", "Bob said:\n> [STRUCTURE_ABCD]\n> {}\nNo.", None);
    }

    #[test]
    fn a_structure_without_a_mark_is_no_prose() {
        let structure = "{\"agreements\": [], \"Dissent\": [{\"participant\": \"a\"}]}";
        check(&format!("Tabs.\n\n{structure}"), "Tabs.", Some(structure));
        let fenced = format!("```json\n{structure}\n```");
        check(&format!("Tabs.\n{fenced}"), "Tabs.", Some(&fenced));
        check("Tabs.\n{\"claims\": [{\"te", "Tabs.", Some("{\"claims\": [{\"te"));
    }

    #[test]
    fn the_prose_of_a_reply_in_json_is_its_text() {
        for reply in [
            r#"{"synthesis": " Tabs \"now\". ", "claims": []}"#,
            "```json\n{\"Synthesis\": [\"Tabs \\\"now\\\".\"]}\n```",
            r#"{"synthesis": "Tabs \"now\".", "claims": [{"te"#,
        ] {
            check(reply, "Tabs \"now\".", Some(reply));
            assert!(!PROSE.separate(MARK, &[], reply).is_open, "{reply}");
        }
        check(r#"Well: {"synthesis": "Tabs."}"#, "Tabs.", Some(r#"{"synthesis": "Tabs."}"#));
    }

    #[test]
    fn the_prose_of_a_cut_reply_in_json_is_its_text_so_far() {
        for (reply, prose) in [
            (r#"{"synthesis": "Tabs are b"#, "Tabs are b"),
            (r#"{"synthesis": "Tabs \"#, "Tabs"),
            (r#"{"synthesis": "Tabs ä\u00"#, "Tabs ä"),
            (r#"{"synthesis": "#, ""),
        ] {
            check(reply, prose, Some(reply));
        }
        assert!(PROSE.separate(MARK, &[], r#"{"synthesis": "Tabs are b"#).is_open);
    }

    #[test]
    fn a_reply_in_data_of_another_form_is_shown_as_prose() {
        for reply in [
            r#"{"answer": "Tabs."}"#,
            r#"{"text": "Tabs.", "confidence": 0.9}"#,
            "```json\n{\"response\": \"Tabs.\"}\n```",
            "{'synthesis': 'Tabs.', 'claims': []}",
            "{'answer': 'Tabs.'}",
            r#"[{"synthesis": "Tabs."}]"#,
            r#"["Tabs."]"#,
            r#"{"synthesis": "Tabs.\n\n[STRUCTURE_ABCD]\n{\"claims\": []}"}"#,
            "{\"answer\": \"Tabs.\"}\n\n[STRUCTURE_ABCD]\n{\"claims\": []}",
        ] {
            check(reply, "Tabs.", Some(reply));
        }
        check(r#"{"answer": "Tabs are b"#, "Tabs are b", Some(r#"{"answer": "Tabs are b"#));
    }

    #[test]
    fn an_escaped_mark_stayed_in_the_prose() {
        for mark in [r"\[STRUCTURE_ABCD\]", r"[STRUCTURE\_ABCD]", r"\[STRUCTURE\_ABCD\]"] {
            let structure = format!("{mark}\n{{\"claims\": []}}");
            check(&format!("Tabs.\n\n{structure}"), "Tabs.", Some(&structure));
            check(&format!("Tabs. {structure}"), "Tabs.", Some(&structure));
        }
    }

    #[test]
    fn a_hostile_reply_takes_no_longer_than_its_length() {
        for unit in ["{\"", "}", "```\n", "-", "[STRUCTURE_ABC", "{ ", "\n", "\\\"", "[", "['", "[{'", "\\["]
        {
            let reply = unit.repeat(200_000 / unit.len());
            let mut stream = ProseStream::new(PROSE, MARK);
            // Quadratic work would take minutes.
            (0..reply.len()).step_by(4).for_each(|end| {
                stream.push(&reply[..end]);
            });
            stream.end(&reply);
            assert_eq!(stream.shown(), reply.trim(), "{unit:?}");
        }
    }
}
