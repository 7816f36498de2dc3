//! Context windows: how long the talk is for each family of models, and how far a provider's token
//! counts differ from ours.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    call::tokens::Family,
    floor::{Floor, seat::Seat},
    model::{
        event::Summarised,
        settings::Settings,
        spec::WindowSpec,
        state::Counted,
        transcript::{Bill, Turn},
    },
    registry::{ContextStrategy, OnOverflow},
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

/// The length of the talk after each turn, by family. Updated with every turn, so that the talk is
/// not counted again.
#[derive(Default)]
pub(crate) struct Lengths(BTreeMap<Family, Vec<u64>>);

impl Lengths {
    /// Adds a turn, for every family on the panel.
    pub(crate) fn add_turn(&mut self, families: impl Iterator<Item = Family>, text: &str) {
        let turns = self.0.values().map(Vec::len).max().unwrap_or(1);
        for family in families {
            let sums = self.0.entry(family).or_insert_with(|| vec![0]);
            if sums.len() == turns {
                let last = sums.last().copied().unwrap_or_default();
                sums.push(last + FENCE + family.estimate(text));
            }
        }
    }

    /// The total size of the first 0, 1, 2 … turns.
    pub(crate) fn sums(&self, family: Family) -> &[u64] {
        self.0.get(&family).map_or(&[0], Vec::as_slice)
    }
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

    /// How many of the provider's tokens one of ours is.
    pub(crate) fn value(self) -> f64 {
        if self.ours > 0.0 { (self.theirs / self.ours).clamp(CORRECTED.0, CORRECTED.1) } else { 1.0 }
    }
}

/// What to do if a request is too long.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overflow {
    /// Wind up the talk.
    End,
    /// Retry once right away, with half the room.
    Shrink,
    /// Retry once with half the room, after older turns are summarised.
    SumUp,
}

/// One participant's window, and everything that decides what is shown in it.
pub(crate) struct Window<'f> {
    pub(crate) family: Family,
    /// The room besides the answer and the reserve, in tokens by our count.
    pub(crate) room: u64,
    pub(crate) strategy: Option<&'static ContextStrategy>,
    pub(crate) settings: &'f Settings,
    pub(crate) transcript: &'f [Arc<Turn>],
    pub(crate) sums: &'f [u64],
    pub(crate) summary: Option<Weighed<'f>>,
}

impl Floor {
    /// The current window of this seat.
    pub(crate) fn window(&self, seat: &Seat) -> Window<'_> {
        let spec = &self.record.state.spec;
        let family = Family::of(&seat.question.asked.who);
        let tokens = seat.voice.as_ref().map_or(u64::MAX, |voice| voice.window);
        let answer = seat.longest_answer(self);
        let ratio = self.now.ratios.get(seat.name()).copied().unwrap_or_default().value();
        let room = tokens.saturating_sub(RESERVE.min(tokens / 4) + answer);
        let room = (room as f64 / ratio) as u64;
        let usual = || self.services.registry.strategy(&spec.window.strategy);
        Window {
            family,
            room: if seat.overflowed() { room / 2 } else { room },
            strategy: if seat.overflowed() { self.overflow_strategy() } else { usual() },
            settings: &spec.settings,
            transcript: &self.now.transcript,
            sums: self.now.lengths.sums(family),
            summary: self.summary().map(|summary| Weighed { summary, size: self.size_of(summary, family) }),
        }
    }

    /// What to do if a request is too long. While deciding, the talk is at its end already, and the
    /// request must get through.
    pub(crate) fn overflow(&self) -> Overflow {
        let wanted = &self.record.state.spec.window.overflow;
        if wanted == WindowSpec::END && self.now.is_talking() {
            return Overflow::End;
        }
        match self.overflow_strategy().map(|it| it.overflow) {
            Some(OnOverflow::SumsUp) => Overflow::SumUp,
            Some(OnOverflow::Shrinks | OnOverflow::NotOffered) | None => Overflow::Shrink,
        }
    }

    /// The strategy for the retry: the one in the spec, otherwise the first that shrinks.
    fn overflow_strategy(&self) -> Option<&'static ContextStrategy> {
        let registry = &self.services.registry;
        let shrinks = || registry.strategies().iter().copied().find(|it| it.overflow == OnOverflow::Shrinks);
        registry.strategy(&self.record.state.spec.window.overflow).or_else(shrinks)
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

    /// Learns from the provider's report how large the request was that this turn answers.
    pub(crate) fn learn_size(&mut self, turn: &Turn) {
        let of_source = || self.source.counted(&turn.step).filter(|_| turn.reused);
        if let Some(counted) = self.record.state.counts.get(&turn.step).or_else(of_source) {
            self.now.ratios.entry(turn.participant.clone()).or_default().learn(*counted);
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

    #[test]
    fn lengths_are_kept_for_each_family_once() {
        let mut lengths = Lengths::default();
        let table = || [Family::O200k, Family::Claude, Family::O200k].into_iter();
        lengths.add_turn(table(), "one two three");
        lengths.add_turn(table(), "four");
        let sizes = lengths.sums(Family::O200k);
        assert_eq!(sizes.len(), 3);
        assert_eq!(sizes[2] - sizes[1], FENCE + Family::O200k.estimate("four"));
        assert_eq!(lengths.sums(Family::Claude).len(), 3);
        assert_eq!(lengths.sums(Family::Gemini), [0]);
    }
}
