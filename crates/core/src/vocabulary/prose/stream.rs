//! Finds the prose of a reply while it arrives.

use std::sync::Arc;

use super::{Prose, Separated};

/// Characters that may stand before a mark or a code fence on their line.
const DECORATION: &[char] = &[' ', '\t', '\r', '\n', '*', '`', '#', '_', '-'];

/// The longest run of decoration or white space that is held back to see what follows.
const LONGEST_HELD: usize = 100;

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

    /// Separates a complete reply.
    pub(super) fn separate(mut self, reply: &str) -> Separated<'_> {
        self.end(reply);
        let is_open = self.rest.is_none() || self.is_cut;
        let prose = self.own_text.unwrap_or(self.shown);
        Separated { prose, rest: self.rest.map(|at| &reply[at..]), is_open }
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
