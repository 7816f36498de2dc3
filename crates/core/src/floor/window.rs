//! Context windows: what a seat has room for, how far a provider's token counts differ from ours,
//! and what happens if a request is too long.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    call::tokens::Family,
    floor::{Floor, ask::Ask, lengths::Talk, seat::Seat, view::size_of_notes},
    model::{
        event::Summarised,
        participant::Participant,
        settings::Settings,
        spec::{Spec, WindowSpec},
        state::Counted,
        transcript::{Bill, Turn},
        window::Bound,
    },
    registry::{ContextStrategy, OnOverflow},
    vocabulary::ruling::{WINDOW, WINDOW_SUM_UP},
};

/// Tokens kept free in every window besides the answer (D09); in a small window, a quarter of it.
const RESERVE: u64 = 4_096;

/// Tokens of the fence around a turn: the nonce twice, the name, the round.
pub(crate) const FENCE: u64 = 48;

/// The plausible ratios of a provider's count to ours. A report outside counts something else: only
/// uncached tokens, for instance.
const BELIEVED: std::ops::RangeInclusive<f64> = 0.5..=4.0;
/// The limits of the correction: for the same reason, counts much lower than ours are not trusted.
const CORRECTED: (f64, f64) = (0.8, 2.5);
/// The weight of earlier reports relative to a new one.
const FADING: f64 = 0.75;

/// The room for thinking beyond the limit of an answer, in tokens.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct RoomToThink {
    /// That of the next call.
    pub(crate) now: u64,
    /// That of a call after one that was all thinking.
    pub(crate) most: u64,
}

/// The length of the summary in front, counted once for each family.
#[derive(Default)]
pub(crate) struct SummarySize {
    covers: u32,
    sizes: BTreeMap<Family, u64>,
}

/// A summary and its size in tokens.
#[derive(Clone, Copy)]
pub(crate) struct Weighed<'f> {
    pub(crate) summary: &'f Summarised,
    pub(crate) size: u64,
}

/// How a provider's counts compare with ours, with more weight on newer reports.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ratio {
    ours: f64,
    theirs: f64,
}

impl Ratio {
    pub(crate) fn learn(&mut self, counted: Counted) {
        let (ours, theirs) = (counted.ours as f64, counted.theirs as f64);
        if BELIEVED.contains(&(theirs / ours)) {
            self.ours = self.ours * FADING + ours;
            self.theirs = self.theirs * FADING + theirs;
        }
    }

    /// The provider's tokens per token by our count.
    pub(crate) fn value(self) -> f64 {
        if self.ours > 0.0 { (self.theirs / self.ours).clamp(CORRECTED.0, CORRECTED.1) } else { 1.0 }
    }
}

/// What to do if a request is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Wind up the talk.
    End,
    /// Retry once right away, with a smaller request.
    Shrink,
    /// Retry once with a smaller request, after older turns are summarised.
    SumUp,
    /// Wait until people have decided.
    Ask,
}

/// One participant's window, and everything that decides what is shown in it.
pub(crate) struct Window<'f> {
    pub(crate) family: Family,
    /// The room for a prompt and its answer, in tokens by our count.
    pub(crate) capacity: u64,
    /// What a refusal said about it.
    pub(crate) bound: Option<Bound>,
    /// The answer's usual limit, without thinking, and the limit of thinking, both as the provider
    /// counts.
    pub(crate) answer: u64,
    pub(crate) thinking: u64,
    /// The provider's tokens per token by our count.
    pub(crate) ratio: f64,
    /// The size of the users' notes.
    pub(crate) notes: u64,
    pub(crate) strategy: Option<&'static ContextStrategy>,
    pub(crate) settings: &'f Settings,
    pub(crate) seats: &'f [Participant],
    pub(crate) transcript: &'f [Arc<Turn>],
    pub(crate) talk: &'f Talk,
    pub(crate) summary: Option<Weighed<'f>>,
}

impl Window<'_> {
    /// A number of the provider's tokens in ours.
    pub(crate) fn in_ours(&self, tokens: u64) -> u64 {
        (tokens as f64 / self.ratio).ceil() as u64
    }

    /// A number of our tokens in the provider's.
    pub(crate) fn in_theirs(&self, tokens: u64) -> u64 {
        (tokens as f64 * self.ratio) as u64
    }
}

/// The token limit of an answer. An agent's own limit applies to its speeches only, because a
/// structured reply needs room for its form.
fn longest(ask: &Ask, spec: &Spec, who: &Participant) -> u32 {
    let usual = ask.max_tokens.unwrap_or(spec.manner.max_tokens);
    let own = who.agent.as_ref().and_then(|it| it.max_tokens).filter(|_| ask.spoken);
    own.map_or(usual, |own| own.min(usual))
}

impl Floor {
    /// The current window of this seat.
    pub(crate) fn window(&self, seat: &Seat) -> Window<'_> {
        let (state, ask) = (&self.record.state, seat.question.ask());
        let spec = &state.spec;
        let family = Family::of(&seat.question.asked.who);
        let tokens = seat.voice.as_ref().map_or(u64::MAX, |voice| voice.window);
        let ratio = self.now.ratios.get(seat.name()).copied().unwrap_or_default().value();
        let capacity = (tokens.saturating_sub(RESERVE.min(tokens / 4)) as f64 / ratio) as u64;
        let refused = state.bounds.get(seat.step()).or_else(|| self.source.bound(seat.step()));
        let bound = refused.or_else(|| self.now.bounds.get(seat.name())).copied();
        let usual = || self.services.registry.strategy(&spec.window.strategy);
        Window {
            family,
            capacity: bound.map_or(capacity, |it| it.total.min(capacity)),
            bound,
            answer: u64::from(longest(ask, spec, &seat.question.asked.who)),
            thinking: self.room_to_think(seat).now,
            ratio,
            notes: if ask.stretch.is_none() { size_of_notes(state, family) } else { 0 },
            strategy: if refused.is_some() { self.overflow_strategy(seat.name()) } else { usual() },
            settings: &spec.settings,
            seats: &spec.participants,
            transcript: &self.now.transcript,
            talk: self.now.lengths.talk(family),
            summary: self.summary().map(|summary| Weighed { summary, size: self.size_of(summary, family) }),
        }
    }

    /// The room that this seat's next call has for thinking. It is doubled once a call spent all
    /// its tokens on thinking, as far as the window allows that.
    pub(crate) fn room_to_think(&self, seat: &Seat) -> RoomToThink {
        let Some(voice) = &seat.voice else { return RoomToThink::default() };
        let (usual, most) = (u64::from(voice.thinking), voice.most_thinking());
        let now = if seat.tried.failures.needs_room_to_think() { most } else { usual };
        RoomToThink { now, most }
    }

    /// What to do if a request to this participant is too long. While deciding, the talk is at its
    /// end already, and the request must get through.
    pub(crate) fn overflow(&self, name: &str) -> Overflow {
        match self.overflow_wanted(name) {
            WindowSpec::END if self.now.is_talking() => return Overflow::End,
            WindowSpec::ASK if self.now.is_talking() => return Overflow::Ask,
            _ => {}
        }
        match self.overflow_strategy(name).map(|it| it.overflow) {
            Some(OnOverflow::SumsUp) => Overflow::SumUp,
            Some(OnOverflow::Shrinks | OnOverflow::NotOffered) | None => Overflow::Shrink,
        }
    }

    /// The reaction in the spec, or the one that people chose for this participant.
    fn overflow_wanted(&self, name: &str) -> &str {
        let wanted = self.record.state.spec.window.overflow.as_str();
        if wanted != WindowSpec::ASK {
            return wanted;
        }
        let mut ruled = self.record.state.ruled.iter();
        let ruled = ruled.find(|it| it.ruling.kind == WINDOW.name && it.about == name);
        ruled.map_or(wanted, |it| it.ruling.choice.as_str())
    }

    /// The strategy for the retry: the one that is wanted, otherwise the first that shrinks.
    pub(crate) fn overflow_strategy(&self, name: &str) -> Option<&'static ContextStrategy> {
        let registry = &self.services.registry;
        let first = |reaction| registry.strategies().iter().copied().find(|it| it.overflow == reaction);
        match self.overflow_wanted(name) {
            WINDOW_SUM_UP if self.record.state.spec.window.overflow == WindowSpec::ASK => {
                first(OnOverflow::SumsUp)
            }
            wanted => registry.strategy(wanted).or_else(|| first(OnOverflow::Shrinks)),
        }
    }

    /// The summary at this point of the talk.
    pub(crate) fn summary(&self) -> Option<&Summarised> {
        self.summaries_so_far().find(|it| it.turn.is_some())
    }

    /// Counts the summary in front for every family on the panel, unless that is done.
    pub(crate) fn weigh_summary(&mut self) {
        let Some(summary) = self.summary().filter(|it| it.covers != self.now.summary_size.covers) else {
            return;
        };
        let covers = summary.covers;
        let families = self.now.families.iter().flatten();
        let sizes = families.map(|family| (*family, summary.tokens(*family))).collect();
        self.now.summary_size = SummarySize { covers, sizes };
    }

    fn size_of(&self, summary: &Summarised, family: Family) -> u64 {
        let known = Some(&self.now.summary_size).filter(|it| it.covers == summary.covers);
        known.and_then(|it| it.sizes.get(&family)).copied().unwrap_or_else(|| summary.tokens(family))
    }

    /// Every summary that was tried up to this point of the talk, newest first.
    pub(crate) fn summaries_so_far(&self) -> impl Iterator<Item = &Summarised> {
        let heard = self.now.transcript.len() as u32;
        self.record.state.summaries.iter().rev().filter(move |it| it.heard <= heard)
    }

    /// Learns from the provider's report how large the request was that this turn answers, and from
    /// its refusals how large one may be.
    pub(crate) fn learn_size(&mut self, turn: &Turn) {
        let of_source = || self.source.counted(&turn.step).filter(|_| turn.reused);
        if let Some(counted) = self.record.state.counts.get(&turn.step).or_else(of_source) {
            self.now.ratios.entry(turn.participant.clone()).or_default().learn(*counted);
        }
        let of_source = || self.source.bound(&turn.step).filter(|_| turn.reused);
        let bound = self.record.state.bounds.get(&turn.step).or_else(of_source);
        if let Some(bound) = bound {
            self.now.bounds.insert(turn.participant.clone(), *bound);
        }
    }
}

impl Summarised {
    /// The summary's size as a turn in front of the others.
    pub(crate) fn tokens(&self, family: Family) -> u64 {
        self.turn.as_ref().map_or(0, |turn| FENCE + family.estimate(&turn.text))
    }

    /// The summary as a turn in front of the others. In place of an author it names the turns that
    /// it covers.
    pub(crate) fn shown(&self) -> Option<Turn> {
        let turn = self.turn.as_ref()?;
        let participant = format!("summary of turns 1 to {}", self.covers);
        Some(Turn { participant, bill: Bill::default(), ..(**turn).clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn d10_what_providers_report_corrects_our_count_within_reason() {
        let check = |reports: &[(u64, u64)], expected: f64| {
            let mut ratio = Ratio::default();
            reports.iter().for_each(|(ours, theirs)| ratio.learn(Counted { ours: *ours, theirs: *theirs }));
            assert!((ratio.value() - expected).abs() < 0.005, "{reports:?}: {}", ratio.value());
        };
        check(&[], 1.0);
        check(&[(1_000, 1_200)], 1.2);
        check(&[(1_000, 1_000), (1_000, 1_200)], 1.114);
        check(&[(1_000, 3_900)], 2.5);
        // A provider that reports only uncached tokens.
        check(&[(10_000, 12), (0, 7)], 1.0);
        check(&[(1_000, 600)], 0.8);
    }
}
