//! Sends subscribers what people may see of an answer while it arrives: all of a speech, the prose
//! of a form, and of any other form only that it is being written. Names stand in place of labels.

use std::sync::Arc;

use crate::{
    call::Call,
    model::mask::Revealed,
    record::feed::{Feed, Piece},
    vocabulary::prose::ProseStream,
};

/// The pieces of one answer.
pub(crate) struct Pieces {
    call: Arc<Call>,
    feed: Feed,
    prose: Option<ProseStream>,
    /// The text for people, with names in place of labels.
    revealed: Revealed,
    /// How much of the answer has been taken in, and how much of that is text for people.
    taken: usize,
    spoken: usize,
}

impl Pieces {
    pub(crate) fn of(call: &Arc<Call>, feed: Feed) -> Self {
        let prose = call.prose().map(|(prose, mark)| ProseStream::new(prose, mark));
        Pieces { call: call.clone(), feed, prose, revealed: Revealed::default(), taken: 0, spoken: 0 }
    }

    /// Sends what is new in the answer so far.
    pub(crate) fn send(&mut self, answer: &str) {
        self.advance(answer, false);
    }

    /// Sends what was held back because it could have been the beginning of data or of a label.
    pub(crate) fn end(&mut self, answer: &str) {
        self.advance(answer, true);
    }

    fn advance(&mut self, answer: &str, is_complete: bool) {
        let said = match &mut self.prose {
            Some(prose) => {
                if is_complete {
                    prose.end(answer)
                } else {
                    prose.push(answer)
                };
                prose.shown()
            }
            None if self.call.shape.is_some() => "",
            None => answer,
        };
        let new = answer.len().saturating_sub(self.taken);
        let hidden = new.saturating_sub(said.len().saturating_sub(self.spoken));
        (self.taken, self.spoken) = (answer.len(), said.len());
        let offset = self.revealed.length();
        let text = self.revealed.push(&self.call.labels, &self.call.nonce, said, is_complete);
        if !text.is_empty() || 0 < hidden {
            self.feed.piece(|| Piece::of(&self.call, offset, text.to_owned(), hidden));
        }
    }
}
