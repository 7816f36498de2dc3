//! What was understood of an answer so far.

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

use super::{Output, Read, letters::Letters};
use crate::{
    clean::{Cleaner, cleaned},
    fenced::Filter,
    wire::{Frames, Framing},
};

/// An answer as it is understood: a dialect says what it reads, and clean chunks come out.
#[derive(Debug)]
pub(crate) struct Heard {
    pub(super) chunks: VecDeque<Chunk>,
    cleaner: Cleaner,
    filter: Option<Filter>,
    finish: Finish,
    pub(super) complaint: Option<String>,
    pub(super) has_spoken: bool,
    pub(super) has_ended: bool,
}

impl Heard {
    pub(super) fn of(call: &Call) -> Self {
        Heard {
            chunks: VecDeque::new(),
            cleaner: Cleaner::default(),
            filter: Filter::of(call),
            finish: Finish::Stop,
            complaint: None,
            has_spoken: false,
            has_ended: false,
        }
    }

    /// Some more of the answer's text.
    pub(super) fn say(&mut self, piece: &str) {
        self.has_spoken |= !piece.is_empty();
        let clean = self.cleaner.clean(piece);
        let text = match &mut self.filter {
            Some(filter) => filter.take(&clean),
            None => clean,
        };
        self.push(text);
    }

    fn push(&mut self, text: String) {
        if !text.is_empty() {
            self.chunks.push_back(Chunk::Text(text));
        }
    }

    /// Why it will have stopped, when that is told before the end.
    pub(super) fn stops_for(&mut self, finish: Finish) {
        self.finish = finish;
    }

    /// Something went wrong that need not be the end.
    pub(super) fn complain(&mut self, words: &str) {
        self.complaint = Some(words.to_owned());
    }

    /// The answer is complete.
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

    /// What was held back as the possible beginning of a request is text after all when nothing more comes.
    pub(super) fn release(&mut self) {
        if let Some(filter) = self.filter.take() {
            let (text, topic) = filter.end();
            // A request without the end of its answer is none.
            drop(topic);
            self.push(text);
        }
    }
}

/// Understands what a program writes, byte by byte.
#[derive(Debug)]
pub(super) struct Reader {
    form: Form,
    pub(super) heard: Heard,
    /// The last line that is no JSON. Some programs put notices there; it counts only when nothing else comes.
    pub(super) stray: Option<String>,
    /// Whether any line could be read.
    pub(super) has_read: bool,
}

#[derive(Debug)]
enum Form {
    Lines(Frames, Read),
    Text(Letters),
}

impl Reader {
    pub(super) fn new(output: Output, heard: Heard) -> Self {
        let form = match output {
            Output::Words(read) | Output::Messages(read) => Form::Lines(Frames::new(Framing::Lines), read),
            Output::Text => Form::Text(Letters::default()),
        };
        Reader { form, heard, stray: None, has_read: false }
    }

    pub(super) fn take(&mut self, bytes: &[u8]) -> Result<(), ProviderError> {
        let Reader { form, heard, stray, has_read } = self;
        match form {
            Form::Text(letters) => {
                heard.say(&letters.feed(bytes));
                Ok(())
            }
            Form::Lines(frames, read) => frames.feed(bytes, |frame| {
                let line = frame.data.trim();
                match line {
                    // Nothing that comes after the end belongs to the answer.
                    _ if heard.has_ended => Ok(()),
                    _ if line.starts_with('{') => {
                        let value = parsed(line)?;
                        *has_read = true;
                        read(&value, heard)
                    }
                    _ => {
                        *stray = Some(cleaned(line));
                        Ok(())
                    }
                }
            }),
        }
    }

    /// Nothing more comes: a last line may lack its line feed, and one that was cut off is passed over.
    pub(super) fn finish(&mut self) {
        match &mut self.form {
            Form::Text(letters) => {
                let rest = letters.rest();
                self.heard.say(&rest);
            }
            Form::Lines(..) => {
                if let Err(error) = self.take(b"\n") {
                    tracing::debug!(error = %error, "the last line of the answer was cut off");
                }
            }
        }
    }
}

fn parsed(line: &str) -> Result<Value, ProviderError> {
    serde_json::from_str(line).map_err(|error| {
        let message = format!("a line of the answer can't be read: {error}");
        ProviderError::new(ErrorClass::InvalidResponse, message)
    })
}
