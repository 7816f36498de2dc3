//! What a seat is shown before its call, and what the call can cost at most.

use super::Seat;
use crate::{
    call::Message,
    floor::{
        Floor,
        reuse::digest,
        view::{View, findings, size_of_findings, size_of_notes, view},
        window::Window,
    },
    model::money::{Spent, Usage},
};

impl Seat {
    /// The most that this seat's next call can cost.
    pub(crate) fn worst_case(&mut self, floor: &Floor) -> Spent {
        let written = self.longest_answer(floor);
        let usage = Usage::new(self.look(floor).at_worst() + 64, written);
        let price = self.question.price;
        Spent { calls: 1, tokens: usage.total(), usd: price.map(|price| price.of(usage)).unwrap_or_default() }
    }

    pub(crate) fn longest_answer(&self, floor: &Floor) -> u64 {
        u64::from(self.token_limit(floor))
    }

    /// The token limit sent to the provider: for the answer and for the thinking before it.
    pub(super) fn token_limit(&self, floor: &Floor) -> u32 {
        let words = self.question.ask().max_tokens.unwrap_or(floor.record.state.spec.manner.max_tokens);
        words.saturating_add(self.voice.as_ref().map_or(0, |voice| voice.thinking))
    }

    /// The view for the next call, built once per call.
    pub(crate) fn look(&mut self, floor: &Floor) -> &View {
        let view = self.view.take().unwrap_or_else(|| self.view(floor));
        self.view.insert(view)
    }

    pub(super) fn view(&self, floor: &Floor) -> View {
        let (ask, state) = (self.question.ask(), &floor.record.state);
        let window = floor.window(self);
        let findings = if floor.now.deciding { findings(ask, state) } else { Vec::new() };
        let notes = if ask.stretch.is_none() { size_of_notes(state, window.family) } else { 0 };
        let notes = notes + size_of_findings(&findings, window.family);
        let mut view = view(self.name(), ask, &Window { room: window.room.saturating_sub(notes), ..window });
        view.counted += notes;
        if ask.stretch.is_none() {
            view.show(ask, state);
        }
        view.show_findings(findings);
        if !self.nested.is_empty() {
            // The question already stands before the sub-discussion's result, so it is not
            // repeated.
            view.messages.pop();
        }
        view
    }

    /// A short hash of what is asked here.
    pub(crate) fn digest(&self, floor: &Floor) -> String {
        let ask = self.question.ask();
        match &self.view {
            Some(view) => digest(ask, &view.messages),
            None if self.question.asked.who.is_person() => digest(ask, &self.all_said(floor)),
            None => digest(ask, &self.view(floor).messages),
        }
    }

    /// The messages for a person: all turns, because people have no context window.
    fn all_said(&self, floor: &Floor) -> Vec<Message> {
        let said = floor.now.transcript.iter();
        let said =
            said.map(|turn| Message::Said { own: turn.participant == self.name(), turn: turn.clone() });
        said.chain([Message::Ask(self.question.ask().prompt.clone())]).collect()
    }
}
