//! Recognises frames that differ from an earlier frame only in their text. Most frames of an answer
//! do, and need not be parsed.

/// A frame that was parsed, without its text.
#[derive(Debug, Default)]
pub(super) struct Repeated {
    /// The bytes before the text, with the quotation mark; empty if no frame is remembered.
    before: String,
    /// The bytes after it, from the quotation mark on.
    after: String,
}

impl Repeated {
    /// The text of a frame that is otherwise equal to the one remembered. `None` if the frame has
    /// to be parsed, for instance because its text contains an escape sequence.
    pub(super) fn text<'f>(&self, frame: &'f str) -> Option<&'f str> {
        if self.before.is_empty() {
            return None;
        }
        let text = frame.strip_prefix(&*self.before)?.strip_suffix(&*self.after)?;
        text.bytes().all(is_plain).then_some(text)
    }

    /// Remembers a frame, if this text was borrowed from it. Reading everything else in the frame a
    /// second time must have no further effect.
    pub(super) fn remember(&mut self, frame: &str, text: &str) {
        let Some(begins) = text.as_ptr().addr().checked_sub(frame.as_ptr().addr()) else { return };
        let parts = frame.get(..begins).zip(frame.get(begins..).and_then(|it| it.strip_prefix(text)));
        if let Some((before, after)) = parts.filter(|it| it.0.ends_with('"') && it.1.starts_with('"')) {
            before.clone_into(&mut self.before);
            after.clone_into(&mut self.after);
        }
    }
}

/// Whether this byte stands for itself in a JSON string.
fn is_plain(byte: u8) -> bool {
    byte >= b' ' && byte != b'"' && byte != b'\\'
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: &str = r#"{"n":"m","text":"so","usage":null}"#;

    fn remembering(frame: &str, text: &str) -> Repeated {
        let mut repeated = Repeated::default();
        repeated.remember(frame, text);
        repeated
    }

    #[test]
    fn a_frame_that_differs_in_its_text_alone_is_recognised() {
        let repeated = remembering(FRAME, &FRAME[17..19]);
        let check = |frame: &str, expected: Option<&str>| {
            assert_eq!(repeated.text(frame), expected, "{frame}");
        };
        check(FRAME, Some("so"));
        check(r#"{"n":"m","text":"","usage":null}"#, Some(""));
        check(r#"{"n":"m","text":"ünïcode 🙂, it's {} so","usage":null}"#, Some("ünïcode 🙂, it's {} so"));
        check(r#"{"n":"m","text":"a \" b","usage":null}"#, None);
        check(r#"{"n":"m","text":"a\nb","usage":null}"#, None);
        check("{\"n\":\"m\",\"text\":\"a\tb\",\"usage\":null}", None);
        check(r#"{"n":"m","text":"a","x":"b","usage":null}"#, None);
        check(r#"{"n":"m","text":"so","usage":{}}"#, None);
        check(r#"{"n":"k","text":"so","usage":null}"#, None);
        check(r#"{"n":"m","text":"#, None);
        check("", None);
    }

    #[test]
    fn nothing_is_recognised_before_a_frame_is_remembered_or_by_a_text_from_elsewhere() {
        assert_eq!(Repeated::default().text(FRAME), None);
        let elsewhere = "so".to_owned();
        assert_eq!(remembering(FRAME, &elsewhere).text(FRAME), None);
        assert_eq!(remembering(FRAME, &FRAME[16..20]).text(FRAME), None);
    }
}
