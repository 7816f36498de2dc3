//! Shares the room of a window among the speakers of a talk that is too long for it. Every speaker
//! gets the same room, the first turn of each is kept, and no turn is cut to less than is worth
//! showing.

use std::ops::Range;

use super::{
    lengths::{Speaker, Talk},
    window::FENCE,
};
use crate::registry::Before;

/// The fewest tokens of a turn that are worth showing.
pub(crate) const SHORTEST: u64 = 150;

/// Tokens of the mark after a turn that was shortened.
pub(crate) const MARK: u64 = 24;

/// The size of the shortest excerpt, with its fence and its mark.
const EXCERPT: u64 = FENCE + SHORTEST + MARK;

/// How much of one turn is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Excerpt {
    /// The turn's place in the transcript.
    pub(crate) turn: usize,
    /// The most tokens of its text; `None` shows all of it.
    pub(crate) tokens: Option<u64>,
}

/// The turns of the talk that a view is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stretched {
    /// Turns before this one are covered by a summary.
    pub(crate) from: usize,
    /// Turns from this one on are not asked about.
    pub(crate) to: usize,
    /// Whether each speaker's first turn is shown even if it is covered.
    pub(crate) keeps_first: bool,
}

/// One speaker's turns that may be shown. Sizes include the fences.
struct Shown<'t> {
    speaker: &'t Speaker,
    /// The first turn, unless it is neither in the stretch nor kept.
    first: Option<Opening>,
    /// The places of its other turns.
    later: Range<usize>,
}

/// A speaker's first turn.
#[derive(Clone, Copy)]
struct Opening {
    turn: usize,
    size: u64,
    /// The most room it is given: of a turn that a summary covers, the opening words are enough.
    most: u64,
}

/// The excerpts of turns when every speaker's first and newest turns have to be shown; `None`
/// if the room is too small for that.
pub(crate) fn recent(talk: &Talk, stretch: Stretched, before: Before, room: u64) -> Option<Vec<Excerpt>> {
    shared(talk, stretch, room, |speaker, share| newest(speaker, before, share))
}

/// The excerpts of turns when all of them have to be shown, at least in part; `None` if the room
/// is too small for that.
pub(crate) fn every(talk: &Talk, stretch: Stretched, room: u64) -> Option<Vec<Excerpt>> {
    shared(talk, stretch, room, |speaker, share| {
        let first = speaker.first.map(|it| it.size.min(it.most));
        let level = level(first.into_iter().chain(speaker.later().map(|it| it.1)).collect(), share);
        let first = speaker.first.map(|it| excerpt(it.turn, it.size, level.min(it.most)));
        first.into_iter().chain(speaker.later().map(|(turn, size)| excerpt(turn, size, level))).collect()
    })
}

/// The least room in which all of these turns, or the first and the newest of each speaker, could
/// be shown.
pub(crate) fn least(talk: &Talk, stretch: Stretched, every: bool) -> u64 {
    let need = |speaker: &Shown<'_>| {
        let later = speaker.later().rev().take(if every { usize::MAX } else { 1 });
        let first = speaker.first.map(|it| it.size);
        first.into_iter().chain(later.map(|it| it.1)).map(|size| size.min(EXCERPT)).sum::<u64>()
    };
    // All get the same share, so the speaker that needs most decides how large it is.
    let share = speakers(talk, stretch).map(|it| need(&it)).max().unwrap_or_default();
    speakers(talk, stretch).map(|it| it.total().min(share)).sum()
}

fn shared(
    talk: &Talk,
    stretch: Stretched,
    room: u64,
    part: impl Fn(&Shown<'_>, u64) -> Option<Vec<Excerpt>>,
) -> Option<Vec<Excerpt>> {
    let speakers: Vec<Shown<'_>> = speakers(talk, stretch).collect();
    let level = level(speakers.iter().map(Shown::total).collect(), room);
    let mut excerpts = Vec::new();
    for speaker in &speakers {
        excerpts.extend(part(speaker, speaker.total().min(level))?);
    }
    excerpts.sort_unstable();
    Some(excerpts)
}

fn speakers(talk: &Talk, stretch: Stretched) -> impl Iterator<Item = Shown<'_>> {
    let shown = talk.speakers.iter().map(move |speaker| {
        let from = speaker.turns.partition_point(|it| *it < stretch.from);
        let to = speaker.turns.partition_point(|it| *it < stretch.to);
        let most = if from > 0 { EXCERPT } else { u64::MAX };
        let is_shown = to > 0 && (from == 0 || stretch.keeps_first);
        let first = is_shown.then(|| Opening { turn: speaker.turns[0], size: speaker.size(0), most });
        Shown { speaker, first, later: from.max(1)..to.max(1) }
    });
    shown.filter(|it| it.total() > 0)
}

impl Shown<'_> {
    /// The other turns and their sizes, in order.
    fn later(&self) -> impl DoubleEndedIterator<Item = (usize, u64)> {
        self.later.clone().map(|place| (self.speaker.turns[place], self.speaker.size(place)))
    }

    fn total(&self) -> u64 {
        let first = self.first.map_or(0, |it| it.size.min(it.most));
        let Range { start, end } = self.later.clone();
        if end > start { first + self.speaker.sums[end] - self.speaker.sums[start] } else { first }
    }
}

/// A speaker's first turn and its newest ones that fit; those in between are left out.
fn newest(speaker: &Shown<'_>, before: Before, share: u64) -> Option<Vec<Excerpt>> {
    let Some((last, last_size)) = speaker.later().next_back() else {
        return speaker.first.map(|it| excerpt(it.turn, it.size, share.min(it.most))).into_iter().collect();
    };
    let mut rest = share;
    let mut excerpts = Vec::new();
    if let Some(first) = speaker.first {
        let spare = share.checked_sub(last_size.min(EXCERPT))?;
        let most = match before {
            Before::FirstTurns => spare.min(share / 2).max(EXCERPT),
            Before::Openings | Before::Summary => EXCERPT,
        };
        let kept = first.size.min(most).min(first.most);
        excerpts.push(excerpt(first.turn, first.size, kept)?);
        rest = share.checked_sub(kept)?;
    }
    if rest < last_size {
        excerpts.push(excerpt(last, last_size, rest)?);
        return Some(excerpts);
    }
    for (turn, size) in speaker.later().rev() {
        let Some(left) = rest.checked_sub(size) else { break };
        rest = left;
        excerpts.push(Excerpt { turn, tokens: None });
    }
    Some(excerpts)
}

/// A turn of this size in this much room; `None` if that is too little to be worth showing.
fn excerpt(turn: usize, size: u64, room: u64) -> Option<Excerpt> {
    if size <= room {
        return Some(Excerpt { turn, tokens: None });
    }
    let tokens = Some(room.checked_sub(FENCE + MARK)?);
    (EXCERPT <= room).then_some(Excerpt { turn, tokens })
}

/// The most that each may have, so that all together have at most `room`: those that want less give
/// the rest to the others.
fn level(mut wanted: Vec<u64>, room: u64) -> u64 {
    wanted.sort_unstable();
    let (mut left, mut level) = (room, 0);
    for (place, wants) in wanted.iter().enumerate() {
        level = left / (wanted.len() - place) as u64;
        if level < *wants {
            return level;
        }
        left -= wants;
        level = *wants;
    }
    level
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHOLE: Stretched = Stretched { from: 0, to: usize::MAX, keeps_first: true };

    /// A talk with turns of these sizes, fences included.
    fn talk(turns: &[(&str, u64)]) -> Talk {
        let mut talk = Talk::default();
        turns.iter().for_each(|(speaker, size)| talk.add(speaker, *size));
        talk
    }

    fn told(excerpts: Option<Vec<Excerpt>>) -> String {
        let Some(excerpts) = excerpts else { return "too little room".to_owned() };
        let one = |it: &Excerpt| match it.tokens {
            Some(tokens) => format!("{}:{tokens}", it.turn),
            None => it.turn.to_string(),
        };
        excerpts.iter().map(one).collect::<Vec<_>>().join(" ")
    }

    /// Three rounds of two speakers: ann at length, bob in few words.
    fn three_rounds() -> Talk {
        talk(&[("ann", 1_000), ("bob", 100), ("ann", 1_000), ("bob", 100), ("ann", 1_000), ("bob", 100)])
    }

    #[test]
    fn f18_a_speaker_that_floods_only_shortens_its_own_turns() {
        let recent = |room, before| told(recent(&three_rounds(), WHOLE, before, room));
        assert_eq!(recent(3_300, Before::FirstTurns), "0 1 2 3 4 5");
        assert_eq!(recent(2_500, Before::FirstTurns), "0 1 3 4 5");
        assert_eq!(recent(1_300, Before::FirstTurns), "0:428 1 3 4:428 5");
        assert_eq!(recent(1_300, Before::Openings), "0:150 1 3 4:706 5");
        assert_eq!(recent(744, Before::FirstTurns), "0:150 1 3 4:150 5");
        assert_eq!(recent(743, Before::FirstTurns), "too little room");
    }

    #[test]
    fn a_judge_is_shown_a_part_of_every_turn() {
        let every = |room| told(every(&three_rounds(), WHOLE, room));
        assert_eq!(every(3_300), "0 1 2 3 4 5");
        assert_eq!(every(1_500), "0:328 1 2:328 3 4:328 5");
        assert_eq!(every(966), "0:150 1 2:150 3 4:150 5");
        assert_eq!(every(965), "too little room");
    }

    #[test]
    fn the_least_room_is_that_of_the_speaker_that_needs_most() {
        assert_eq!(least(&three_rounds(), WHOLE, true), 966);
        assert_eq!(least(&three_rounds(), WHOLE, false), 744);
    }

    #[test]
    fn beside_a_summary_the_opening_words_of_each_speaker_stay() {
        let covered = Stretched { from: 4, ..WHOLE };
        assert_eq!(told(recent(&three_rounds(), covered, Before::Summary, 2_000)), "0:150 1 4 5");
        assert_eq!(told(every(&three_rounds(), covered, 2_000)), "0:150 1 4 5");
        let to_sum_up = Stretched { from: 2, to: 4, keeps_first: false };
        assert_eq!(told(every(&three_rounds(), to_sum_up, 2_000)), "2 3");
    }

    #[test]
    fn room_that_one_speaker_leaves_goes_to_the_others() {
        assert_eq!(level(vec![10, 100, 100], 110), 50);
        assert_eq!(level(vec![100, 10, 20], 90), 60);
        assert_eq!(level(vec![10, 20], 90), 20);
        assert_eq!(level(Vec::new(), 90), 0);
    }
}
