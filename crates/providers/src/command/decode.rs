//! Decodes a program's output into chunks of an answer.

use std::collections::VecDeque;

use quorum_core::{
    call::Call,
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::Chunk,
};
use serde_json::Value;

use super::{Output, Read, utf8::Utf8Decoder};
use crate::{
    clean::{Cleaner, cleaned},
    fenced::Filter,
    http::model_name,
    wire::{Frames, Framing},
};

/// An answer decoded so far. A dialect's reader adds what it reads; cleaned chunks come out.
#[derive(Debug)]
pub(crate) struct Decoded {
    pub(super) chunks: VecDeque<Chunk>,
    cleaner: Cleaner,
    filter: Option<Filter>,
    finish: Finish,
    pub(super) complaint: Option<String>,
    pub(super) has_spoken: bool,
    pub(super) has_ended: bool,
    has_named: bool,
}

impl Decoded {
    pub(super) fn of(call: &Call) -> Self {
        Decoded {
            chunks: VecDeque::new(),
            cleaner: Cleaner::default(),
            filter: Filter::of(call),
            finish: Finish::Stop,
            complaint: None,
            has_spoken: false,
            has_ended: false,
            has_named: false,
        }
    }

    /// Adds a piece of the answer's text.
    pub(super) fn push_text(&mut self, piece: &str) {
        self.has_spoken |= !piece.is_empty();
        let clean = self.cleaner.clean(piece);
        let text = match &mut self.filter {
            Some(filter) => filter.feed(&clean),
            None => clean,
        };
        self.push(text);
    }

    fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.chunks.push_back(Chunk::Text(text));
        }
    }

    /// Sets the finish reason, where the program reports it before the end.
    pub(super) fn set_finish(&mut self, finish: Finish) {
        self.finish = finish;
    }

    /// Notes a problem that need not be fatal.
    pub(super) fn note_complaint(&mut self, words: &str) {
        self.complaint = Some(words.to_owned());
    }

    /// Notes the model that answers; the first name counts.
    pub(super) fn note_model(&mut self, name: &Value) {
        let name = name.as_str().filter(|it| !it.is_empty() && !self.has_named);
        if let Some(name) = name {
            self.has_named = true;
            self.chunks.push_back(Chunk::AnsweredBy(model_name(name)));
        }
    }

    /// Ends the answer.
    pub(super) fn end(&mut self, usage: Option<Usage>, cost: Option<Usd>) {
        self.has_ended = true;
        let (rest, topic) = self.filter.take().map(Filter::end).unwrap_or_default();
        self.push(rest);
        if let Some(topic) = topic {
            self.finish = Finish::Convene;
            self.chunks.push_back(Chunk::Convene { topic });
        }
        self.chunks.push_back(Chunk::End { finish: self.finish, usage, cost });
    }

    /// Releases text that was held back as the possible beginning of a request, when no more output
    /// will come.
    pub(super) fn release(&mut self) {
        if let Some(filter) = self.filter.take() {
            let (text, topic) = filter.end();
            // A request counts only in a complete answer.
            drop(topic);
            self.push(text);
        }
    }
}

/// Decodes a program's output bytes with its dialect's reader.
#[derive(Debug)]
pub(super) struct Reader {
    format: Format,
    pub(super) decoded: Decoded,
    /// The last line that is not JSON. Some programs print notices there; it counts only if nothing
    /// else was written.
    pub(super) stray: Option<String>,
    /// Whether any JSON line was read.
    pub(super) has_read: bool,
}

#[derive(Debug)]
enum Format {
    Lines(Frames, Read),
    Text(Utf8Decoder),
}

impl Reader {
    pub(super) fn new(output: Output, decoded: Decoded) -> Self {
        let format = match output {
            Output::Words(read) | Output::Messages(read) => Format::Lines(Frames::new(Framing::Lines), read),
            Output::Text => Format::Text(Utf8Decoder::default()),
        };
        Reader { format, decoded, stray: None, has_read: false }
    }

    pub(super) fn feed(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        let Reader { format, decoded, stray, has_read } = self;
        match format {
            Format::Text(decoder) => {
                decoded.push_text(&decoder.feed(bytes));
                Ok(())
            }
            Format::Lines(frames, read) => frames.feed(bytes, |frame| {
                let line = frame.data.trim();
                match line {
                    // Output after the end does not belong to the answer.
                    _ if decoded.has_ended => Ok(()),
                    _ if line.starts_with('{') => {
                        let value = parsed(line)?;
                        *has_read = true;
                        read(&value, decoded)
                    }
                    _ => {
                        *stray = Some(cleaned(line));
                        Ok(())
                    }
                }
            }),
        }
    }

    /// Handles the end of the output. The last line may lack its line feed; one that was cut off is
    /// ignored.
    pub(super) fn finish(&mut self) {
        match &mut self.format {
            Format::Text(decoder) => {
                let rest = decoder.rest();
                self.decoded.push_text(&rest);
            }
            Format::Lines(..) => {
                if let Err(error) = self.feed(b"\n") {
                    tracing::debug!(error = %error, "the last line of the answer was cut off");
                }
            }
        }
    }
}

fn parsed(line: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(line).map_err(|error| {
        let message = format!("a line of the answer is not valid JSON: {error}");
        ProviderError::new(ErrorClass::InvalidResponse, message)
    })
}
