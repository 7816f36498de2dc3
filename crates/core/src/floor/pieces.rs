//! Sends subscribers what people may see of an answer while it arrives: all of a speech, the prose
//! of a form, and of any other form only that it is being written. Names stand in place of labels,
//! and markers of sources are taken out.

use std::sync::Arc;

use crate::{
    call::Call,
    floor::stop::{before_stop, until_stop},
    model::mask::Revealed,
    record::feed::{Feed, Piece},
    vocabulary::prose::{MarkerStream, ProseStream},
};

/// The pieces of one answer.
pub(crate) struct Pieces {
    call: Arc<Call>,
    feed: Feed,
    prose: Option<ProseStream>,
    /// The text with names in place of labels.
    revealed: Revealed,
    /// The text for people, without markers.
    unmarked: MarkerStream,
    /// The length of the answer when something was last sent.
    arrived: usize,
    /// How much of the answer has been taken in, and how much of that is text for people.
    taken: usize,
    spoken: usize,
}

impl Pieces {
    pub(crate) fn of(call: &Arc<Call>, feed: Feed) -> Self {
        let prose = call.prose().map(|(prose, mark)| ProseStream::new(prose, mark));
        let unmarked = MarkerStream::new(&call.cited);
        let revealed = Revealed::default();
        Pieces { call: call.clone(), feed, prose, revealed, unmarked, arrived: 0, taken: 0, spoken: 0 }
    }

    /// Sends what is new in the answer so far. Without subscribers nothing is done: the first one
    /// gets all of it.
    pub(crate) fn send(&mut self, answer: &str) {
        if self.arrived < answer.len() && self.feed.has_subscribers() {
            self.arrived = answer.len();
            self.advance(before_stop(answer, &self.call.stop), false);
        }
    }

    /// Sends the rest of a whole answer, with what was held back because it could have been the
    /// beginning of data or of a label.
    pub(crate) fn end(&mut self, answer: &str) {
        if self.feed.has_subscribers() {
            self.advance(until_stop(answer, &self.call.stop), true);
        }
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
        let offset = self.unmarked.length();
        self.revealed.push(&self.call.labels, &self.call.nonce, said, is_complete);
        let text = self.unmarked.push(self.revealed.shown(), is_complete);
        if !text.is_empty() || 0 < hidden {
            self.feed.piece(|| piece(&self.call, offset, text.to_owned(), hidden));
        }
    }
}

fn piece(call: &Call, offset: usize, text: String, hidden: usize) -> Piece {
    Piece {
        discussion: call.discussion,
        step: call.step.clone(),
        attempt: call.attempt,
        participant: call.participant.name.clone(),
        round: call.round,
        offset,
        text,
        hidden,
    }
}
