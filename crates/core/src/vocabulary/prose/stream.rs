//! Finds the prose of a reply while it arrives.

use super::{Prose, Separated, data, mark::Mark};

/// Characters that may stand before a mark or a code fence on their line.
const DECORATION: &[char] = &[' ', '\t', '\r', '\n', '*', '`', '#', '_', '-'];

/// The longest run of decoration or white space that is held back to see what follows.
const LONGEST_HELD: usize = 100;

/// Finds the prose of a reply while it arrives. Its work is linear in the length of the reply,
/// whatever the pieces.
#[derive(Debug)]
pub struct ProseStream {
    prose: Prose,
    mark: Mark,
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
    /// The quote that began the string in which it stands.
    quote: Option<u8>,
    is_escaped: bool,
    /// Whether the reply begins with it, so that it may be all of the reply.
    is_first: bool,
    /// Its end, once it has come.
    end: Option<usize>,
}

impl OpenObject {
    fn at(from: usize, begins: usize, is_first: bool) -> Self {
        let (quote, is_escaped) = (None, false);
        OpenObject { from, begins, scanned: begins, depth: 0, quote, is_escaped, is_first, end: None }
    }

    /// Scans on, and returns the end of the object once it has come.
    fn scan(&mut self, reply: &str) -> Option<usize> {
        let bytes = reply.as_bytes();
        while self.end.is_none() && self.scanned < bytes.len() {
            let byte = bytes[self.scanned];
            self.scanned += 1;
            match byte {
                _ if self.is_escaped => self.is_escaped = false,
                b'\\' if self.quote.is_some() => self.is_escaped = true,
                _ if self.quote == Some(byte) => self.quote = None,
                _ if self.quote.is_some() => {}
                b'"' => self.quote = Some(byte),
                b'\'' if self.is_first => self.quote = Some(byte),
                b'{' => self.depth += 1,
                b'}' => self.depth -= 1,
                b'[' if self.is_first => self.depth += 1,
                b']' if self.is_first => self.depth -= 1,
                _ => {}
            }
            if self.depth == 0 {
                self.end = Some(self.scanned);
            }
        }
        self.end
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
            mark: Mark::new(mark),
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
        Separated { prose, markers: Vec::new(), rest: self.rest.map(|at| &reply[at..]), is_open }
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
            Some(Found::Object) => {
                self.object = Some(OpenObject::at(self.at, self.at, self.shown.is_empty()));
            }
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
        if self.mark.begins(body) {
            self.rest = Some(self.at);
            return Some(Step::Decided);
        }
        let may_go_on = !is_whole && line.len() - body.len() < LONGEST_HELD;
        if may_go_on && self.mark.may_begin(body) {
            return Some(Step::NeedsMore);
        }
        let is_first = self.shown.is_empty();
        if !line.trim_start().starts_with("```") {
            return is_first.then(|| self.read_first(reply, line, is_complete)).flatten();
        }
        let after = &reply[self.at + line.len()..];
        let inside = after.trim_start();
        let begins = reply.len() - inside.len();
        if inside.is_empty() && !is_complete && after.len() < LONGEST_HELD {
            return Some(Step::NeedsMore);
        }
        let is_data = inside.starts_with('{') || is_first && inside.starts_with('[');
        is_data.then(|| {
            self.object = Some(OpenObject::at(self.at, begins, is_first));
            Step::Decided
        })
    }

    /// Looks for data at the beginning of the reply: a list, or an object in single quotes. `None`
    /// if the reply begins with anything else.
    fn read_first(&mut self, reply: &str, line: &str, is_complete: bool) -> Option<Step> {
        let begins = self.at + line.len() - line.trim_start().len();
        let within = reply[begins..].strip_prefix(['[', '{'])?;
        let inner = within.trim_start();
        match inner.chars().next() {
            Some('{' | '[' | '"' | '\'') => {}
            None if !is_complete && within.len() < LONGEST_HELD => return Some(Step::NeedsMore),
            Some(_) | None => return None,
        }
        self.object = Some(OpenObject::at(self.at, begins, true));
        Some(Step::Decided)
    }

    /// The first thing in this line that may end the prose, and where it begins. Without one, the
    /// end of what is certainly prose.
    fn find(&self, rest: &str, line: &str, is_whole: bool) -> (usize, Option<Found>) {
        let mark = self.mark.find(line);
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
            None => (line.len() - self.mark.held_back(line), None),
        }
    }

    fn read_object(&mut self, mut object: OpenObject, reply: &str, is_complete: bool) -> Step {
        let scanned =
            reply.floor_char_boundary(object.scanned.saturating_sub(self.mark.longest()).max(object.from));
        let end = object.scan(reply);
        let mark = self.mark.find(&reply[scanned..end.unwrap_or(reply.len())]).map(|at| scanned + at);
        // In data that the reply begins with, a mark in the middle of a line belongs to a text.
        if let Some(mark) = mark.filter(|at| !object.is_first || is_line_start(&reply[..*at])) {
            // It was not an object: nothing but prose comes before the mark.
            self.show(&reply[object.from..mark]);
            self.rest = Some(mark);
            return Step::Decided;
        }
        match end {
            Some(end) if object.is_first && !is_complete && self.may_go_on(&reply[end..]) => {
                self.object = Some(object);
                return Step::NeedsMore;
            }
            Some(end) => self.close(&object, reply, end),
            None if is_complete => self.break_off(&object, reply),
            None => {
                self.object = Some(object);
                return Step::NeedsMore;
            }
        }
        Step::Decided
    }

    /// Whether it is still open if these are the last words of the reply: after data, they decide
    /// whether the data was all of it.
    fn may_go_on(&self, after: &str) -> bool {
        let words = after.trim_start_matches(DECORATION);
        after.len() < LONGEST_HELD && (words.is_empty() || self.mark.may_begin(words))
    }

    fn close(&mut self, object: &OpenObject, reply: &str, end: usize) {
        let data = &reply[object.begins..end];
        let after = reply[end..].trim_start_matches(DECORATION);
        let is_all = object.is_first && (after.is_empty() || self.mark.begins(after));
        let read = serde_json::from_str(data);
        let text = read.as_ref().ok().and_then(|it| self.prose.of(it));
        let text = text.or_else(|| is_all.then(|| self.prose.of_data(&data::lenient(data)?)).flatten());
        if let Some(text) = text {
            self.show_text_of_object(&text);
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
        if let Some((text, is_cut)) = self.prose.cut_text(begun, object.is_first) {
            self.show_text_of_object(&text);
            (self.is_cut, self.rest) = (is_cut, Some(object.from));
        } else if self.prose.may_be_structure(begun) {
            self.rest = Some(object.from);
        } else {
            self.show(&reply[object.from..]);
            self.at = reply.len();
        }
    }

    /// Shows the prose within an object. What came before it was no prose, but is already shown.
    fn show_text_of_object(&mut self, text: &str) {
        if !self.shown.is_empty() {
            "\n\n".clone_into(&mut self.gap);
        }
        // The whole reply, with its mark, may be within the object.
        let text = text[..self.mark.find(text).unwrap_or(text.len())].trim_end();
        self.show(text);
        self.own_text = Some(text.to_owned());
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

/// Whether only decoration precedes on the last line of this text.
fn is_line_start(before: &str) -> bool {
    before.trim_end_matches(|it| it != '\n' && DECORATION.contains(&it)).ends_with('\n')
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
