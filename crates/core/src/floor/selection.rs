//! The turns that a participant is shown: all of them if they fit beside its answer, otherwise a
//! shorter answer, otherwise shorter turns with marks where they were cut.

use std::{collections::BTreeMap, sync::Arc};

use crate::{
    call::tokens::Family,
    floor::{
        ask::{Ask, Coverage, Hears, Stretch},
        lengths::Speaker,
        share::{self, Excerpt, Stretched},
        view::aside,
        window::{FENCE, Window},
    },
    model::{
        mention::{mention, plain},
        transcript::{Finish, Turn},
    },
    registry::{Before, Covered, Fit, Length, SumUp},
};

/// The shortest limit of an answer, in tokens.
const LEAST_ANSWER_TOKENS: u64 = 256;

/// More tokens than the hint has that an answer must be short.
const HINT: u64 = 32;

/// The room that the talk has beside everything else, depending on the length of the answer.
#[derive(Clone, Copy)]
pub(super) struct Rooms {
    /// The room for the talk and the answer together.
    all: u64,
    /// The most room for the talk, whatever the answer.
    cap: u64,
    /// The size of a talk that was refused without a limit. Half of it is tried, or a little more
    /// if half is not worth showing.
    refused: Option<u64>,
    /// The usual limit of the answer.
    answer: u64,
    /// A limit that is shorter, but still long enough for this question.
    shorter: u64,
    /// The shortest limit.
    least: u64,
}

impl Rooms {
    /// The rooms beside a question of this size.
    pub(super) fn beside(asked: u64, ask: &Ask, window: &Window<'_>) -> Rooms {
        let refused = window.bound.and_then(|it| it.refused).map(|it| it.saturating_sub(asked));
        let cap = match (refused, window.bound) {
            (Some(refused), _) => refused / 2,
            (None, Some(bound)) => bound.prompt.saturating_sub(asked),
            (None, None) => u64::MAX,
        };
        let answer = window.in_ours(window.answer);
        let least = window.in_ours(LEAST_ANSWER_TOKENS).min(answer);
        let shorter = ask.least_tokens.map_or(least, |it| window.in_ours(it.into()).clamp(least, answer));
        let all = window.capacity.saturating_sub(asked.saturating_add(window.in_ours(window.thinking)));
        Rooms { all, cap, refused, answer, shorter, least }
    }

    /// The room for the talk beside an answer with this limit.
    fn beside_answer(self, answer: u64) -> u64 {
        let hint = if answer < self.answer { HINT } else { 0 };
        self.all.saturating_sub(answer + hint).min(self.cap)
    }

    /// The limit of the answer beside a talk of this size, as the provider counts it.
    fn limit(self, size: u64, window: &Window<'_>) -> u64 {
        let left = self.all.saturating_sub(size);
        if self.answer <= left {
            return window.answer;
        }
        let limit = window.in_theirs(left.saturating_sub(HINT));
        limit.clamp(LEAST_ANSWER_TOKENS.min(window.answer), window.answer)
    }
}

/// A view that would show less than is worth showing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unfit {
    /// The tokens that it needs at least.
    pub(crate) needed: u64,
    /// The tokens that there are.
    pub(crate) room: u64,
}

/// The part of the talk that is shown.
#[derive(Default)]
pub(super) struct SelectedTurns {
    pub(super) turns: Vec<Arc<Turn>>,
    pub(super) counted: u64,
    pub(super) left_out: u32,
    pub(super) shortened: u32,
    /// The limit of the answer, without thinking.
    pub(super) answer: u64,
    pub(super) sum_up: Option<SumUp>,
    pub(super) tight: Option<u32>,
    pub(super) unfit: Option<Unfit>,
}

/// The turns to show, and the limit of the answer beside them. First the answer gets shorter, then
/// the turns.
pub(super) fn select_turns(ask: &Ask, window: &Window<'_>, rooms: Rooms) -> SelectedTurns {
    if ask.stretch.is_none() && ask.hears == Hears::Nothing {
        return SelectedTurns { answer: rooms.limit(0, window), ..SelectedTurns::default() };
    }
    let usual = Selection::of(ask, window, rooms.beside_answer(rooms.answer));
    let every = usual.coverage == Coverage::EveryTurnRequired;
    let needed = share::least(window.talk, usual.stretch, every) + usual.summary_size(window);
    let selected = usual.whole(ask, window).or_else(|| shortened(ask, window, rooms));
    let selected = selected.or_else(|| {
        let cap = rooms.refused.filter(|it| needed + notice_size(window) < *it)?;
        shortened(ask, window, Rooms { cap, ..rooms })
    });
    let selected = selected.unwrap_or_else(|| {
        let unfit = Some(unfit(ask, window, rooms));
        SelectedTurns { unfit, ..SelectedTurns::default() }
    });
    let answer = rooms.limit(selected.counted, window);
    SelectedTurns { answer, sum_up: usual.sum_up, tight: usual.tight, ..selected }
}

/// How much room the talk needs at least, and how much the strategy has beside the shortest answer.
fn unfit(ask: &Ask, window: &Window<'_>, rooms: Rooms) -> Unfit {
    let cap = rooms.refused.unwrap_or(rooms.cap);
    let room = Rooms { cap, ..rooms }.beside_answer(rooms.least);
    let selection = Selection::of(ask, window, room);
    let every = selection.coverage == Coverage::EveryTurnRequired;
    let shown = share::least(window.talk, selection.stretch, every);
    // Where turns are left out, a notice says so.
    let notice = if every || selection.shows_all_at_least(window) { 0 } else { notice_size(window) };
    Unfit { needed: shown + selection.summary_size(window) + notice, room: selection.room }
}

/// The turns beside a shorter answer: all of them, or shorter ones.
fn shortened(ask: &Ask, window: &Window<'_>, rooms: Rooms) -> Option<SelectedTurns> {
    [rooms.shorter, rooms.least].into_iter().find_map(|answer| {
        let selection = Selection::of(ask, window, rooms.beside_answer(answer));
        selection.whole(ask, window).or_else(|| selection.shared(ask, window))
    })
}

/// The turns that a view is about, before they are fitted to its room.
#[derive(Clone, Copy)]
struct Selection {
    stretch: Stretched,
    before: Before,
    /// Whether the existing summary is shown.
    summary: bool,
    coverage: Coverage,
    room: u64,
    sum_up: Option<SumUp>,
    tight: Option<u32>,
}

impl Selection {
    /// The turns to show in this much room: for a summary, the previous one and the turns since;
    /// for everything else, as the strategy wants it.
    fn of(ask: &Ask, window: &Window<'_>, room: u64) -> Selection {
        let Some(Stretch { from, to }) = ask.stretch else {
            return match ask.hears {
                Hears::Since(from) => Selection::since(from, ask, window, room),
                Hears::Everything | Hears::ForSynthesis | Hears::Nothing => {
                    Selection::fitted(ask, window, room)
                }
            };
        };
        Selection {
            stretch: Stretched { from, to, keeps_first: false },
            before: Before::Openings,
            summary: window.summary.is_some() && from > 0,
            coverage: Coverage::EveryTurnRequired,
            room,
            sum_up: None,
            tight: None,
        }
    }

    /// The turns from this one on, without a summary of those before.
    fn since(from: usize, ask: &Ask, window: &Window<'_>, room: u64) -> Selection {
        Selection {
            stretch: Stretched { from, to: window.talk.turns(), keeps_first: false },
            before: Before::FirstTurns,
            summary: false,
            coverage: ask.coverage,
            room,
            sum_up: None,
            tight: None,
        }
    }

    fn fitted(ask: &Ask, window: &Window<'_>, room: u64) -> Selection {
        let covered = window.summary.map(|it| Covered { turns: it.summary.covers as usize, size: it.size });
        let talk = Length { sums: &window.talk.sums, summary: covered, room, settings: window.settings };
        let plain = || Fit { before: Before::FirstTurns, room, sum_up: None, tight: None };
        let fit = window.strategy.map_or_else(plain, |it| (it.fit)(&talk));
        let covered = covered.filter(|_| fit.before == Before::Summary);
        let from = covered.map_or(0, |it| it.turns);
        Selection {
            stretch: Stretched { from, to: window.talk.turns(), keeps_first: true },
            before: fit.before,
            summary: covered.is_some(),
            coverage: ask.coverage,
            room: fit.room,
            sum_up: fit.sum_up,
            tight: fit.tight,
        }
    }

    /// All of it, if that fits.
    fn whole(&self, ask: &Ask, window: &Window<'_>) -> Option<SelectedTurns> {
        let Stretched { from, to, .. } = self.stretch;
        let room = self.room.checked_sub(self.summary_size(window))?;
        if room < window.talk.size(from, to) {
            return None;
        }
        let all: Vec<Excerpt> = if from > 0 {
            let all = share::recent(window.talk, self.stretch, self.before, room)?;
            // The opening words beside a summary must not push out later turns.
            let is_whole = |it: &Excerpt| from <= it.turn && it.tokens.is_none();
            (all.iter().filter(|it| is_whole(it)).count() == to - from).then_some(all)?
        } else {
            (from..to).map(|turn| Excerpt { turn, tokens: None }).collect()
        };
        Some(self.shown(ask, window, &all))
    }

    /// As much of it as fits, with the same room for every speaker.
    fn shared(&self, ask: &Ask, window: &Window<'_>) -> Option<SelectedTurns> {
        let room = self.room.checked_sub(self.summary_size(window))?;
        let every = || share::every(window.talk, self.stretch, room);
        let excerpts = match self.coverage {
            Coverage::Recent => self.recent(window, room),
            Coverage::EveryTurn => every().or_else(|| self.recent(window, room)),
            Coverage::EveryTurnRequired => every(),
        };
        Some(self.shown(ask, window, &excerpts?))
    }

    /// Each speaker's first and newest turns, beside a notice if others are left out.
    fn recent(&self, window: &Window<'_>, room: u64) -> Option<Vec<Excerpt>> {
        let within = |room: u64| share::recent(window.talk, self.stretch, self.before, room);
        let all = within(room)?;
        if self.left_out(window, &all).is_empty() {
            return Some(all);
        }
        within(room.checked_sub(notice_size(window))?)
    }

    /// Whether no speaker has more turns than its first and its newest, which are always shown.
    fn shows_all_at_least(&self, window: &Window<'_>) -> bool {
        let Stretched { from, to, .. } = self.stretch;
        let place = |speaker: &Speaker, end: usize| speaker.turns.partition_point(|turn| *turn < end);
        window.talk.speakers.iter().all(|it| place(it, to) - place(it, from) <= 2)
    }

    fn summary_size(&self, window: &Window<'_>) -> u64 {
        window.summary.filter(|_| self.summary).map_or(0, |it| it.size)
    }

    /// These excerpts as the participant is shown them.
    fn shown(&self, ask: &Ask, window: &Window<'_>, excerpts: &[Excerpt]) -> SelectedTurns {
        let mut counted = self.summary_size(window);
        let mut turns = Vec::with_capacity(excerpts.len() + 2);
        let mut shortened = 0;
        for excerpt in excerpts {
            let Some(turn) = window.transcript.get(excerpt.turn) else { continue };
            let turn = turn.clone();
            let Some(most) = excerpt.tokens else {
                counted += window.talk.size(excerpt.turn, excerpt.turn + 1);
                turns.push(turn);
                continue;
            };
            // The opening words beside a summary lose nothing: the summary covers the turn.
            shortened += u32::from(self.stretch.from <= excerpt.turn);
            let turn = Arc::new(shorten(&turn, most, window.family));
            counted += FENCE + window.family.estimate(&turn.text);
            turns.push(turn);
        }
        let mut turns = arranged(ask, window, turns);
        let missing = self.left_out(window, excerpts);
        let notice = (!missing.is_empty()).then(|| Arc::new(notice(&missing)));
        counted += notice.as_ref().map_or(0, |it| FENCE + window.family.estimate(&plain(&it.text)));
        turns.splice(0..0, notice);
        let summary = window.summary.filter(|_| self.summary).and_then(|it| it.summary.shown());
        turns.splice(0..0, summary.map(Arc::new));
        let left_out = missing.iter().map(|it| it.1).sum::<usize>() as u32;
        SelectedTurns { turns, counted, left_out, shortened, ..SelectedTurns::default() }
    }

    /// How many turns of each speaker are not shown at all.
    fn left_out<'w>(&self, window: &Window<'w>, excerpts: &[Excerpt]) -> Vec<(&'w str, usize)> {
        let Stretched { from, to, .. } = self.stretch;
        let shown = excerpts.iter().filter(|it| from <= it.turn).count();
        if shown == to - from {
            return Vec::new();
        }
        let mut shown: BTreeMap<&str, usize> = BTreeMap::new();
        let within = excerpts.iter().filter(|it| from <= it.turn);
        for turn in within.filter_map(|it| window.transcript.get(it.turn)) {
            *shown.entry(turn.participant.as_str()).or_default() += 1;
        }
        let of_speaker = |speaker: &'w Speaker| {
            let before = |end: usize| speaker.turns.partition_point(|turn| *turn < end);
            let all = before(to) - before(from);
            let missing = all - shown.get(speaker.name.as_str()).copied().unwrap_or_default().min(all);
            (missing > 0).then_some((speaker.name.as_str(), missing))
        };
        window.talk.speakers.iter().filter_map(of_speaker).collect()
    }
}

/// The author of the notice about turns that are left out. It can't be a seat's name, because those
/// have no spaces.
const LEFT_OUT: &str = "turns left out";

/// More tokens than the notice has.
fn notice_size(window: &Window<'_>) -> u64 {
    let name = |speaker: &Speaker| window.family.estimate(&speaker.name) + 16;
    FENCE + 40 + window.talk.speakers.iter().map(name).sum::<u64>()
}

/// The notice for a participant about the turns that it is not shown.
fn notice(missing: &[(&str, usize)]) -> Turn {
    let listed = missing.iter().map(|(name, count)| format!("{count} of {}", mention(name)));
    let text = format!(
        "Turns that your context window has no room for are not shown: {}.",
        listed.collect::<Vec<_>>().join(", ")
    );
    Turn { participant: LEFT_OUT.to_owned(), ..aside("window", text.into()) }
}

/// The turn, cut to this many tokens and marked where it was cut.
fn shorten(turn: &Turn, most: u64, family: Family) -> Turn {
    let all = family.estimate(&turn.text);
    let kept = beginning(&turn.text, most, all, family);
    let shown = family.estimate(kept);
    let mark = format!("[shortened to fit your context window: about {shown} of {all} tokens are shown]");
    Turn { text: format!("{kept} …\n{mark}").into(), finish: Finish::Stop, ..turn.clone() }
}

/// The longest beginning of a text that ends with a whole word and has at most this many tokens.
fn beginning(text: &str, most: u64, all: u64, family: Family) -> &str {
    let mut end = (text.len() as u128 * u128::from(most) / u128::from(all.max(1))) as usize;
    loop {
        let kept = &text[..text.floor_char_boundary(end)];
        let words = kept.rfind(char::is_whitespace).map_or(kept, |at| &kept[..at]);
        // Scripts without spaces are cut between characters.
        let kept = if words.len() * 10 < kept.len() * 9 { kept } else { words };
        if end == 0 || family.estimate(kept) <= most {
            return kept;
        }
        end = end * 19 / 20;
    }
}

/// The turns as this participant is shown them: in order, or as a writer is shown them, or in the
/// order drawn for a judge.
fn arranged(ask: &Ask, window: &Window<'_>, mut turns: Vec<Arc<Turn>>) -> Vec<Arc<Turn>> {
    if let Some(mask) = &ask.mask {
        turns.sort_by_key(|turn| (turn.round, mask.place(&turn.participant)));
    } else if ask.hears == Hears::ForSynthesis {
        let mut phases: BTreeMap<&str, usize> = BTreeMap::new();
        for turn in window.transcript {
            let next = phases.len();
            phases.entry(turn.phase.as_str()).or_insert(next);
        }
        let phase = |turn: &Turn| phases.get(turn.phase.as_str()).copied();
        let provider = |turn: &Turn| {
            let seat = window.seats.iter().find(|it| it.name == turn.participant);
            seat.map_or_else(|| turn.participant.clone(), |it| it.provider.clone())
        };
        turns.sort_by_cached_key(|it| (it.round, phase(it), provider(it), it.participant.clone()));
    }
    turns
}
