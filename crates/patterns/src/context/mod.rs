//! Context strategies: what a participant is shown of a talk that no longer fits its model's
//! context window (D09). Each is one file and one line in a list.

pub(crate) mod hybrid;
pub(crate) mod slide;
pub(crate) mod summarise;
pub(crate) mod truncate;
mod words;

use quorum_core::registry::{Before, Fit, Length};

/// The share of the room, in per cent, above which a window is tight.
const TIGHT: u64 = 80;

/// This percentage of the room.
fn share(room: u64, percent: u64) -> u64 {
    (u128::from(room) * u128::from(percent) / 100) as u64
}

/// How much of the room a talk of this size takes, in per cent, if that is worth a warning.
fn tight(size: u64, room: u64) -> Option<u32> {
    let percent = u128::from(size) * 100 / u128::from(room.max(1));
    (size > share(room, TIGHT)).then_some(u32::try_from(percent).unwrap_or(u32::MAX))
}

/// The talk in this share of the room, with a warning if it is tight.
fn fit_in(talk: &Length<'_>, before: Before, room: u64) -> Fit {
    Fit { before, room, sum_up: None, tight: tight(talk.since(0), talk.room) }
}

#[cfg(test)]
mod tests {
    use quorum_core::{
        model::settings::Settings,
        registry::{ContextStrategy, Covered},
    };

    use super::*;
    use crate::CONTEXTS;

    /// Fits a talk of ten turns of 10 tokens each.
    fn fit(strategy: &ContextStrategy, room: u64, summary: Option<(usize, u64)>, summaries: bool) -> Fit {
        let sums: Vec<u64> = (0..=10).map(|turns| turns * 10).collect();
        let summary = summary.map(|(turns, size)| Covered { turns, size });
        let settings = Settings::default().with(hybrid::SUMMARIES.name(), summaries);
        (strategy.fit)(&Length { sums: &sums, summary, room, settings: &settings })
    }

    #[track_caller]
    fn check(name: &str, room: u64, summary: Option<(usize, u64)>, summaries: bool, expected: &str) {
        let strategy = CONTEXTS.iter().find(|it| it.name == name).expect("it is in the list");
        let Fit { before, room: used, sum_up, tight } = fit(strategy, room, summary, summaries);
        let before = match before {
            Before::Openings => "openings",
            Before::FirstTurns => "first turns",
            Before::Summary => "summary",
        };
        let sum_up = sum_up.map(|it| format!(", sum up {} in {}", it.turns, it.most)).unwrap_or_default();
        let tight = tight.map(|percent| format!(", {percent} %")).unwrap_or_default();
        assert_eq!(format!("{before} in {used}{sum_up}{tight}"), expected, "{name} in {room}");
    }

    #[test]
    fn d09_truncating_keeps_the_opening_words_of_each_speaker() {
        let check = |room, expected| check("truncate", room, None, false, expected);
        check(125, "openings in 125");
        check(100, "openings in 100, 100 %");
        check(35, "openings in 35, 285 %");
        check(0, "openings in 0, 10000 %");
    }

    #[test]
    fn d09_sliding_keeps_the_first_turn_of_each_speaker() {
        let check = |room, expected| check("slide", room, None, false, expected);
        check(125, "first turns in 125");
        check(100, "first turns in 100, 100 %");
        check(35, "first turns in 35, 285 %");
    }

    #[test]
    fn d09_summarising_replaces_the_older_half_by_a_fifth_of_it() {
        let check = |room, summary, expected| check("summarise", room, summary, false, expected);
        check(125, None, "first turns in 125");
        check(120, None, "first turns in 120, sum up 5 in 10, 83 %");
        // The kept turns take at most half the room.
        check(60, None, "first turns in 60, sum up 7 in 12, 166 %");
        check(120, Some((5, 10)), "summary in 120");
        check(75, Some((5, 10)), "summary in 75");
        check(74, Some((5, 10)), "summary in 74, sum up 8 in 8, 81 %");
        // A summary that has become too long is not used.
        check(60, Some((5, 40)), "first turns in 60, sum up 7 in 12, 166 %");
        check(5, Some((9, 1)), "summary in 5, 220 %");
    }

    #[test]
    fn d09_hybrid_has_its_limits_at_80_and_90_per_cent() {
        let off = |room, expected| check("hybrid", room, None, false, expected);
        off(125, "first turns in 112");
        off(120, "first turns in 108, 83 %");
        off(110, "first turns in 99, 90 %");
        let on = |room, summary, expected| check("hybrid", room, summary, true, expected);
        on(125, None, "first turns in 125");
        on(120, None, "first turns in 120, sum up 5 in 10, 83 %");
        on(100, None, "first turns in 100, sum up 5 in 10, 100 %");
        on(100, Some((5, 10)), "summary in 100");
    }
}
