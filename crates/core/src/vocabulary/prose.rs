//! Replies that are prose first and data after. Finds the prose while such a reply arrives, so that
//! people see it as it is written and never see the data.

use std::sync::Arc;

use serde_json::{Map, Value};

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
    /// The text for people.
    pub prose: String,
    /// Everything from the mark or from the structure on.
    pub rest: Option<&'t str>,
    /// Whether the end of the prose was not found: either it has no structure, or it was cut off.
    pub is_open: bool,
}

/// Characters that may stand before a mark or a code fence on their line.
const DECORATION: &[char] = &[' ', '\t', '\r', '\n', '*', '`', '#', '_', '-'];

/// The longest run of decoration or white space that is held back to see what follows.
const LONGEST_HELD: usize = 100;

impl Prose {
    /// Separates a complete reply.
    #[must_use]
    pub fn separate<'t>(&self, mark: &str, reply: &'t str) -> Separated<'t> {
        let mut stream = ProseStream::new(*self, mark);
        stream.end(reply);
        let ProseStream { shown, rest, is_cut, own_text, .. } = stream;
        let prose = own_text.unwrap_or(shown);
        Separated { prose, rest: rest.map(|at| &reply[at..]), is_open: rest.is_none() || is_cut }
    }

    /// The prose in an object, if it has any.
    fn of(&self, object: &Map<String, Value>) -> Option<String> {
        let value = object.iter().find(|(name, _)| is_key(name, self.key))?.1;
        let lines = |list: &Vec<Value>| list.iter().filter_map(Value::as_str).collect::<Vec<_>>().join("\n");
        let text = value.as_str().map(str::to_owned).or_else(|| value.as_array().map(lines))?;
        Some(text.trim().to_owned())
    }

    fn is_structure(&self, object: &Map<String, Value>) -> bool {
        let has = |key: &&&str| object.keys().any(|name| is_key(name, key));
        1 < self.structure.iter().filter(has).count()
    }

    /// The text so far under the key in an object that was cut off, and whether the text itself was
    /// cut.
    fn cut_text(&self, object: &str) -> Option<(String, bool)> {
        let (_, after) = object.split_once(&format!("\"{}\"", self.key))?;
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

/// Finds the prose of a reply while it arrives. Its work is linear in the length of the reply,
/// whatever the pieces.
#[derive(Debug)]
pub struct ProseStream {
    prose: Prose,
    mark: Arc<str>,
    /// Everything before this byte of the reply is decided.
    at: usize,
    is_line_start: bool,
    is_quotation: bool,
    /// An object that may turn out to be the structure.
    object: Option<OpenObject>,
    shown: String,
    /// White space after `shown`, shown only if more text follows.
    gap: String,
    /// Where the structure begins.
    rest: Option<usize>,
    /// Whether the prose within an object was cut off.
    is_cut: bool,
    /// The prose, if an object after some other text has it.
    own_text: Option<String>,
}

/// An object that has begun, scanned as far as it has arrived.
#[derive(Debug)]
struct OpenObject {
    /// Where it begins, with the code fence around it.
    from: usize,
    begins: usize,
    scanned: usize,
    depth: usize,
    is_string: bool,
    is_escaped: bool,
}

impl OpenObject {
    fn at(from: usize, begins: usize) -> Self {
        OpenObject { from, begins, scanned: begins, depth: 0, is_string: false, is_escaped: false }
    }

    /// Scans on, and returns the end of the object once it has come.
    fn scan(&mut self, reply: &str) -> Option<usize> {
        let bytes = reply.as_bytes();
        while self.scanned < bytes.len() {
            let byte = bytes[self.scanned];
            self.scanned += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.is_string => self.is_escaped = true,
                b'"' => self.is_string = !self.is_string,
                b'{' if !self.is_string => self.depth += 1,
                b'}' if !self.is_string => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                return Some(self.scanned);
            }
        }
        None
    }
}

/// Whether the reply so far was enough for a decision.
#[derive(PartialEq, Eq)]
enum Step {
    Decided,
    NeedsMore,
}

impl ProseStream {
    /// The stream of a reply that has this mark between prose and structure.
    #[must_use]
    pub fn new(prose: Prose, mark: &str) -> Self {
        ProseStream {
            prose,
            mark: mark.into(),
            at: 0,
            is_line_start: true,
            is_quotation: false,
            object: None,
            shown: String::new(),
            gap: String::new(),
            rest: None,
            is_cut: false,
            own_text: None,
        }
    }

    /// Takes the reply so far, and returns where in [`ProseStream::shown`] the new text begins.
    pub fn push(&mut self, reply: &str) -> usize {
        self.advance(reply, false)
    }

    /// The same with the complete reply.
    pub fn end(&mut self, reply: &str) -> usize {
        self.advance(reply, true)
    }

    /// The text for people so far.
    #[must_use]
    pub fn shown(&self) -> &str {
        &self.shown
    }

    fn advance(&mut self, reply: &str, is_complete: bool) -> usize {
        let before = self.shown.len();
        while self.rest.is_none() && self.at < reply.len() {
            let step = match self.object.take() {
                Some(object) => self.read_object(object, reply, is_complete),
                None => self.read_line(reply, is_complete),
            };
            if step == Step::NeedsMore {
                break;
            }
        }
        before
    }

    fn read_line(&mut self, reply: &str, is_complete: bool) -> Step {
        let rest = &reply[self.at..];
        let line = rest.find('\n').map_or(rest, |end| &rest[..=end]);
        let is_whole = is_complete || line.ends_with('\n');
        if self.is_line_start {
            if let Some(step) = self.read_line_start(reply, line, is_whole, is_complete) {
                return step;
            }
            self.is_line_start = false;
        }
        let (end, found) =
            if self.is_quotation { (line.len(), None) } else { self.find(rest, line, is_whole) };
        self.show(&line[..end]);
        self.at += end;
        match found {
            Some(Found::Mark) => self.rest = Some(self.at),
            Some(Found::Object) => self.object = Some(OpenObject::at(self.at, self.at)),
            Some(Found::Brace) if !is_complete => return Step::NeedsMore,
            Some(Found::Brace) => {
                self.show("{");
                self.at += 1;
            }
            None => self.is_line_start = line[..end].ends_with('\n'),
        }
        if end == 0 && found.is_none() { Step::NeedsMore } else { Step::Decided }
    }

    /// Looks for a quotation, a mark or an object at the start of a line. `None` if the line is
    /// read like any other.
    fn read_line_start(
        &mut self,
        reply: &str,
        line: &str,
        is_whole: bool,
        is_complete: bool,
    ) -> Option<Step> {
        self.is_quotation = line.trim_start().starts_with('>');
        if self.is_quotation {
            return None;
        }
        let body = line.trim_start_matches(DECORATION);
        if body.starts_with(&*self.mark) {
            self.rest = Some(self.at);
            return Some(Step::Decided);
        }
        let may_go_on = !is_whole && line.len() - body.len() < LONGEST_HELD;
        if may_go_on && self.mark.starts_with(body) {
            return Some(Step::NeedsMore);
        }
        if !line.trim_start().starts_with("```") {
            return None;
        }
        let after = &reply[self.at + line.len()..];
        let inside = after.trim_start();
        let begins = reply.len() - inside.len();
        if inside.is_empty() && !is_complete && after.len() < LONGEST_HELD {
            return Some(Step::NeedsMore);
        }
        inside.starts_with('{').then(|| {
            self.object = Some(OpenObject::at(self.at, begins));
            Step::Decided
        })
    }

    /// The first thing in this line that may end the prose, and where it begins. Without one, the
    /// end of what is certainly prose.
    fn find(&self, rest: &str, line: &str, is_whole: bool) -> (usize, Option<Found>) {
        let mark = line.find(&*self.mark);
        let before = mark.unwrap_or(line.len());
        for (at, _) in line[..before].match_indices('{') {
            let after = &rest[at + 1..];
            match after.trim_start().chars().next() {
                Some('"') => return (at, Some(Found::Object)),
                None if after.len() < LONGEST_HELD => return (at, Some(Found::Brace)),
                Some(_) | None => {}
            }
        }
        match mark {
            Some(at) => (at, Some(Found::Mark)),
            None if is_whole => (line.len(), None),
            None => (line.len() - self.held_back(line), None),
        }
    }

    /// The length of the longest beginning of a mark at the end of this text.
    fn held_back(&self, text: &str) -> usize {
        let longest = self.mark.len().min(text.len());
        (1..=longest).rev().find(|length| text.ends_with(&self.mark[..*length])).unwrap_or_default()
    }

    fn read_object(&mut self, mut object: OpenObject, reply: &str, is_complete: bool) -> Step {
        let scanned =
            reply.floor_char_boundary(object.scanned.saturating_sub(self.mark.len()).max(object.from));
        let end = object.scan(reply);
        let mark = reply[scanned..end.unwrap_or(reply.len())].find(&*self.mark).map(|at| scanned + at);
        if let Some(mark) = mark {
            // It was no object: nothing but prose comes before the mark.
            self.show(&reply[object.from..mark]);
            self.rest = Some(mark);
            return Step::Decided;
        }
        match end {
            Some(end) => self.close(&object, reply, end),
            None if is_complete => self.break_off(&object, reply),
            None => {
                self.object = Some(object);
                return Step::NeedsMore;
            }
        }
        Step::Decided
    }

    fn close(&mut self, object: &OpenObject, reply: &str, end: usize) {
        let read = serde_json::from_str(&reply[object.begins..end]);
        let text = read.as_ref().ok().and_then(|it| self.prose.of(it));
        if let Some(text) = text {
            self.show_text_of_object(text);
            self.rest = Some(object.from);
        } else if read.is_ok_and(|it| self.prose.is_structure(&it)) {
            self.rest = Some(object.from);
        } else {
            self.show(&reply[object.from..end]);
            self.at = end;
            self.is_line_start = false;
        }
    }

    /// Ends with an object that was cut off.
    fn break_off(&mut self, object: &OpenObject, reply: &str) {
        let begun = &reply[object.begins..];
        if let Some((text, is_cut)) = self.prose.cut_text(begun) {
            self.show_text_of_object(text);
            (self.is_cut, self.rest) = (is_cut, Some(object.from));
        } else if self.prose.may_be_structure(begun) {
            self.rest = Some(object.from);
        } else {
            self.show(&reply[object.from..]);
            self.at = reply.len();
        }
    }

    /// Shows the prose within an object. What came before it was no prose, but is already shown.
    fn show_text_of_object(&mut self, text: String) {
        if !self.shown.is_empty() {
            "\n\n".clone_into(&mut self.gap);
        }
        self.show(&text);
        self.own_text = Some(text);
    }

    /// Shows some text, except for white space at the beginning and the end.
    fn show(&mut self, text: &str) {
        let text = if self.shown.is_empty() { text.trim_start() } else { text };
        let visible = text.trim_end();
        if !visible.is_empty() {
            self.shown.push_str(&std::mem::take(&mut self.gap));
            self.shown.push_str(visible);
        }
        if !self.shown.is_empty() {
            self.gap.push_str(&text[visible.len()..]);
        }
    }
}

/// What may end the prose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Mark,
    /// The beginning of an object.
    Object,
    /// A brace that may begin an object; what follows has not arrived yet.
    Brace,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PROSE: Prose = Prose { key: "synthesis", structure: &["agreements", "dissent", "claims"] };
    const MARK: &str = "[STRUCTURE_ABCD]";

    /// Separates the reply whole and in pieces of several sizes, which must all agree.
    #[track_caller]
    fn check(reply: &str, prose: &str, rest: Option<&str>) {
        let whole = PROSE.separate(MARK, reply);
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
            "{\"answer\": 42}",
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
            assert!(!PROSE.separate(MARK, reply).is_open, "{reply}");
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
        assert!(PROSE.separate(MARK, r#"{"synthesis": "Tabs are b"#).is_open);
    }

    #[test]
    fn a_hostile_reply_takes_no_longer_than_its_length() {
        for unit in ["{\"", "}", "```\n", "-", "[STRUCTURE_ABC", "{ ", "\n", "\\\""] {
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
