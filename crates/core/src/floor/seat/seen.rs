//! The view that a seat is shown before its call, and the maximum cost of the call.

use std::sync::Arc;

use super::Seat;
use crate::{
    call::Message,
    floor::{
        Floor,
        request::Failed,
        reuse::{digest, digest_of},
        selection::Unfit,
        view::{View, findings, size_of_findings, view},
        window::{Overflow, Window},
    },
    model::{
        error::{ErrorClass, ProviderError},
        money::{Spent, Usage},
        transcript::Turn,
    },
};

/// Distinguishes questions with names from questions with labels.
const NAMES: &str = "names";

impl Seat {
    /// The most that this seat's next call can cost.
    pub(crate) fn worst_case(&mut self, floor: &Floor) -> Spent {
        let view = self.look(floor);
        let usage = Usage::new(view.at_worst() + 64, u64::from(view.max_tokens));
        let price = self.question.price;
        let usd = price.map(|price| price.at_worst(usage)).unwrap_or_default();
        Spent { calls: 1, tokens: usage.total(), usd }
    }

    /// The view for the next call, built once per call.
    pub(crate) fn look(&mut self, floor: &Floor) -> &View {
        let view = self.view.take().unwrap_or_else(|| self.view(floor));
        self.view.insert(view)
    }

    pub(super) fn view(&self, floor: &Floor) -> View {
        let (ask, state, window) = (self.question.ask(), &floor.record.state, floor.window(self));
        let findings = if floor.now.deciding { findings(ask, state) } else { Vec::new() };
        let notes = window.notes + size_of_findings(&findings, window.family);
        let window = Window { notes, ..window };
        let mut shown = view(self.name(), ask, &window);
        if shown.unfit.is_some() && ask.stretch.is_none() && floor.overflow(self.name()) == Overflow::SumUp {
            let strategy = floor.overflow_strategy(self.name());
            shown = view(self.name(), ask, &Window { strategy, ..window });
        }
        let mut view = shown;
        if ask.stretch.is_none() {
            view.show(state);
        }
        view.show_findings(findings);
        if !self.nested.is_empty() {
            // The question already stands before the sub-discussion's result, so it is not
            // repeated.
            view.messages.pop();
        }
        view.digest = self.digest_of(floor, &view.messages);
        let known = |turn: &Arc<Turn>| floor.now.covered_turn(turn).filter(|_| !self.labels.own);
        let quoted_forms = floor.services.registry.quoted_forms(&state.spec);
        view.masked(ask, &quoted_forms, &self.labels.mask, known)
    }

    /// A short hash of these messages. Labels never change it, but a question that shows names has
    /// another hash.
    fn digest_of(&self, floor: &Floor, messages: &[Message]) -> String {
        let digest = digest(self.question.ask(), messages);
        if floor.record.state.spec.show_names {
            digest_of([digest.as_str(), NAMES].into_iter())
        } else {
            digest
        }
    }

    /// Why this seat can't be asked: its window has too little room for what has to be shown.
    pub(crate) fn unfit(&mut self, floor: &Floor) -> Option<Failed> {
        let Unfit { needed, room } = self.look(floor).unfit?;
        let message = format!(
            "its context window is too small for this discussion: what has to be shown needs at least {needed} tokens, \
             and there is room for {room}"
        );
        let error = ProviderError::new(ErrorClass::ContextOverflow, message);
        Some(Failed::of(error))
    }

    /// A short hash of what is asked here.
    pub(crate) fn digest(&self, floor: &Floor) -> String {
        match &self.view {
            Some(view) => view.digest.clone(),
            None if self.question.asked.who.is_person() => digest(self.question.ask(), &self.all_said(floor)),
            None => self.view(floor).digest,
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
