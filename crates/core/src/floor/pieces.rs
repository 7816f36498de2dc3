//! Sends subscribers what people may see of an answer while it arrives: all of a speech, the prose
//! of a form, and of any other form only that it is being written.

use std::sync::Arc;

use crate::{
    call::Call,
    record::feed::{Feed, Piece},
    vocabulary::prose::ProseStream,
};

/// The pieces of one answer.
pub(crate) struct Pieces {
    call: Arc<Call>,
    feed: Feed,
    prose: Option<ProseStream>,
    /// How much of the answer has been taken in.
    taken: usize,
}

impl Pieces {
    pub(crate) fn of(call: &Arc<Call>, feed: Feed) -> Self {
        let prose = call.prose().map(|(prose, mark)| ProseStream::new(prose, mark));
        Pieces { call: call.clone(), feed, prose, taken: 0 }
    }

    /// Sends what is new in the answer so far.
    pub(crate) fn send(&mut self, answer: &str) {
        let new = answer.get(self.taken..).unwrap_or_default();
        let (offset, text) = match &mut self.prose {
            Some(prose) => {
                let from = prose.push(answer);
                (from, &prose.shown()[from..])
            }
            None if self.call.shape.is_some() => (0, ""),
            None => (self.taken, new),
        };
        let hidden = new.len().saturating_sub(text.len());
        self.taken = answer.len();
        if !text.is_empty() || 0 < hidden {
            self.feed.piece(|| Piece::of(&self.call, offset, text.to_owned(), hidden));
        }
    }

    /// Sends the prose that was held back because it could have been the beginning of data.
    pub(crate) fn end(&mut self, answer: &str) {
        self.send(answer);
        let Some(prose) = &mut self.prose else { return };
        let from = prose.end(answer);
        let text = &prose.shown()[from..];
        if !text.is_empty() {
            self.feed.piece(|| Piece::of(&self.call, from, text.to_owned(), 0));
        }
    }
}
