//! Splits a stream of bytes into frames: server-sent events, or JSON lines.
//!
//! A frame may be spread over many pieces, cut inside a character, between CR and LF, or never end.
//! One that never ends is rejected at a size limit, so that a single line can't fill the memory.

use std::borrow::Cow;

use memchr::memchr2;
use quorum_core::model::error::{ErrorClass, ProviderError};

/// The largest frame in bytes.
const MAX_FRAME: usize = 2 << 20;

const BYTE_ORDER_MARK: &str = "\u{feff}";

/// How an answer is split into frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Framing {
    /// Server-sent events.
    Events,
    /// One JSON document per line.
    Lines,
}

/// One frame of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frame<'f> {
    /// The event's name, where it has one.
    pub event: &'f str,
    /// Its payload.
    pub data: &'f str,
}

/// Splits the bytes of one answer into frames as they arrive.
#[derive(Debug)]
pub(crate) struct Frames {
    framing: Framing,
    /// The line that is not complete yet.
    line: Vec<u8>,
    /// Whether the last line ended with CR, so that a LF right after it belongs to the same end.
    after_return: bool,
    is_first: bool,
    event: String,
    data: String,
    has_data: bool,
}

impl Frames {
    pub(crate) fn new(framing: Framing) -> Self {
        Frames {
            framing,
            line: Vec::new(),
            after_return: false,
            is_first: true,
            event: String::new(),
            data: String::new(),
            has_data: false,
        }
    }

    /// Calls `each` with every frame that these bytes complete, until it returns an error. An
    /// incomplete frame is kept for the next call.
    pub(crate) fn feed(
        &mut self,
        mut bytes: &[u8],
        mut each: impl FnMut(Frame<'_>) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        while let Some(first) = bytes.first() {
            if std::mem::take(&mut self.after_return) && *first == b'\n' {
                bytes = &bytes[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', bytes) else {
                self.line.extend_from_slice(bytes);
                break;
            };
            self.after_return = bytes[end] == b'\r';
            self.end_line(&bytes[..end], &mut each)?;
            bytes = &bytes[end + 1..];
        }
        self.check_size()
    }

    /// Ends a line. Most lines lie within one piece and need not be copied.
    fn end_line(
        &mut self,
        rest: &[u8],
        each: &mut impl FnMut(Frame<'_>) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        if self.line.is_empty() {
            return self.take_line(&text(rest), each);
        }
        let mut line = std::mem::take(&mut self.line);
        line.extend_from_slice(rest);
        self.take_line(&text(&line), each)?;
        line.clear();
        self.line = line;
        self.check_size()
    }

    fn take_line(
        &mut self,
        line: &str,
        each: &mut impl FnMut(Frame<'_>) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        let is_first = std::mem::take(&mut self.is_first);
        let line = if is_first { line.trim_start_matches(BYTE_ORDER_MARK) } else { line };
        match self.framing {
            Framing::Lines if line.trim().is_empty() => Ok(()),
            Framing::Lines => each(Frame { event: "", data: &without_lone_surrogates(line) }),
            Framing::Events if line.is_empty() => self.dispatch(each),
            Framing::Events => {
                self.take_field(line);
                Ok(())
            }
        }
    }

    /// Ends an event at an empty line; an event without data is ignored.
    fn dispatch(
        &mut self,
        each: &mut impl FnMut(Frame<'_>) -> Result<(), ProviderError>,
    ) -> Result<(), ProviderError> {
        let frame = Frame { event: &self.event, data: &without_lone_surrogates(&self.data) };
        let read = if self.has_data { each(frame) } else { Ok(()) };
        self.event.clear();
        self.data.clear();
        self.has_data = false;
        read
    }

    fn take_field(&mut self, line: &str) {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "event" => value.clone_into(&mut self.event),
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push('\n');
                }
                self.data.push_str(value);
            }
            // A comment has no name; ids and retry hints are meant for browsers.
            _ => {}
        }
    }

    fn check_size(&self) -> Result<(), ProviderError> {
        if self.line.len() + self.data.len() <= MAX_FRAME {
            return Ok(());
        }
        let message = format!("a frame of the answer is larger than {} MiB", MAX_FRAME >> 20);
        Err(ProviderError::new(ErrorClass::InvalidResponse, message))
    }
}

/// The text of a line. Checks first for valid UTF-8, the common and fast case.
fn text(line: &[u8]) -> Cow<'_, str> {
    str::from_utf8(line).map_or_else(|_| String::from_utf8_lossy(line), Cow::Borrowed)
}

/// Replaces lone surrogates in JSON by U+FFFD. Some servers cut text between the two halves of a
/// pair; JSON parsers reject that, and the whole answer would be lost for one character.
fn without_lone_surrogates(json: &str) -> Cow<'_, str> {
    // Checks first for any escape: most frames have none.
    if !json.contains('\\') || (!json.contains("\\ud") && !json.contains("\\uD")) {
        return Cow::Borrowed(json);
    }
    let (mut out, mut rest) = (String::with_capacity(json.len()), json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let length = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => 12,
            (Some(0xd800..=0xdfff), _) => {
                out.push('\u{fffd}');
                rest = &escape[6..];
                continue;
            }
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(end, _)| end),
        };
        out.push_str(&escape[..length]);
        rest = &escape[length..];
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The number in an escape like `\ud83d`.
fn unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let is_hex = digits.bytes().all(|it| it.is_ascii_hexdigit());
    is_hex.then(|| u16::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(framing: Framing, pieces: &[&[u8]]) -> Vec<String> {
        let mut frames = Frames::new(framing);
        let mut all = Vec::new();
        for piece in pieces {
            let each = |frame: Frame<'_>| {
                all.push(format!("{}|{}", frame.event, frame.data));
                Ok(())
            };
            frames.feed(piece, each).unwrap();
        }
        all
    }

    #[test]
    fn f4_events_come_in_many_spellings() {
        let check = |text: &str, expected: &[&str]| {
            assert_eq!(frames(Framing::Events, &[text.as_bytes()]), expected, "{text:?}");
        };
        check("data: one\n\ndata: two\n\n", &["|one", "|two"]);
        check("event: delta\ndata: one\n\n", &["delta|one"]);
        check("data:one\r\n\r\ndata: two\r\r", &["|one", "|two"]);
        check("\u{feff}data: one\n\n", &["|one"]);
        check(": ping\n\ndata: a\ndata: b\n\n", &["|a\nb"]);
        check("id: 7\nretry: 5\nother: x\n\n", &[]);
        check("data\n\n", &["|"]);
        check("data: never ended\n", &[]);
    }

    #[test]
    fn f3_pieces_cut_anywhere_mean_the_same() {
        let whole = "event: x\r\ndata: grüße \u{1f600}\r\n\r\n: c\r\n\r\ndata: 2\n\n".as_bytes();
        let expected = frames(Framing::Events, &[whole]);
        assert_eq!(expected, ["x|grüße \u{1f600}", "|2"]);
        for cut in 0..=whole.len() {
            assert_eq!(frames(Framing::Events, &[&whole[..cut], &whole[cut..]]), expected, "cut at {cut}");
        }
        let single: Vec<&[u8]> = whole.chunks(1).collect();
        assert_eq!(frames(Framing::Events, &single), expected);
    }

    #[test]
    fn lines_are_frames_of_their_own() {
        assert_eq!(frames(Framing::Lines, &[b"{\"a\":", b"1}\r", b"\n\n{}\n{"]), ["|{\"a\":1}", "|{}"]);
    }

    #[test]
    fn f4_bytes_that_are_no_text_are_shown_as_such() {
        assert_eq!(frames(Framing::Events, &[b"data: a\xff\0b\n\n"]), ["|a\u{fffd}\0b"]);
    }

    #[test]
    fn f8_a_lone_surrogate_is_replaced_and_the_rest_of_the_answer_kept() {
        let check = |json: &str, expected: &str| {
            let read = serde_json::from_str::<String>(&without_lone_surrogates(json)).ok();
            assert_eq!(read.as_deref(), Some(expected), "{json}");
        };
        check(r#""a\ud83d\ude00b""#, "a\u{1f600}b");
        check(r#""a\uD83Db""#, "a\u{fffd}b");
        check(r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}");
        check(r#""\ud83d\ud83d\ude00""#, "\u{fffd}\u{1f600}");
        check(r#""\ud83d\n""#, "\u{fffd}\n");
        check(r#""\\ud83d""#, "\\ud83d");
        check(r#""ü\ud83dü""#, "ü\u{fffd}ü");
        for odd in [r"\ud", r"\ud8ü", r"\ü\ud83d", r"x\ud83d\", r"\u+83d\ud83d\u"] {
            assert!(!without_lone_surrogates(odd).contains("\\ud83d"), "{odd}");
        }
    }

    #[test]
    fn f7_a_frame_without_end_is_refused_at_the_cap() {
        for piece in [&[b'x'; 4096][..], &b"data: x\n".repeat(512)] {
            let mut frames = Frames::new(Framing::Events);
            let fed = (0..100_000).take_while(|_| frames.feed(piece, |_| Ok(())).is_ok()).count();
            assert!(fed * piece.len() <= 4 * MAX_FRAME, "{fed} pieces of {}", piece.len());
        }
    }
}
