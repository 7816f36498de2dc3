//! The view of a participant: the turns it is shown, fitted to its model's window by the context
//! strategy.

use std::sync::Arc;

use crate::{
    call::{
        Message,
        tokens::{self, Family},
    },
    floor::{
        ask::{Ask, Hears, Stretch},
        window::{FENCE, Window},
    },
    model::{
        id::Step,
        state::State,
        transcript::{Bill, Finish, Turn},
    },
    registry::{Before, Covered, Fit, Length, SumUp},
};

/// The messages of one request, and what had to be left out.
pub(crate) struct View {
    pub(crate) messages: Vec<Message>,
    /// How many turns did not fit.
    pub(crate) unheard: u32,
    /// The size of the whole request, system text included.
    pub(crate) bytes: usize,
    /// The same size in tokens, by our count.
    pub(crate) counted: u64,
    /// What the strategy wants summarised first.
    pub(crate) sum_up: Option<SumUp>,
    /// How much of the room the talk would take, if that is worth a warning.
    pub(crate) tight: Option<u32>,
}

/// The author of users' notes, as participants see it. It can't be a seat's name, because those
/// have no spaces.
const OUTSIDE: &str = "a note from outside the table";

impl View {
    /// An upper bound of the request's tokens. With many short turns the fences are the larger
    /// part.
    pub(crate) fn at_worst(&self) -> u64 {
        let fenced = self.messages.iter().filter(|it| !matches!(it, Message::Ask(_)));
        tokens::at_worst(self.bytes) + FENCE * fenced.count() as u64
    }

    /// Inserts the users' notes right before the question.
    pub(crate) fn show(&mut self, ask: &Ask, state: &State) {
        let question = self.messages.len().saturating_sub(1);
        let covered = |text: &Arc<str>| match &ask.mask {
            Some(mask) => mask.cover(text).into(),
            None => text.clone(),
        };
        let remarks: Vec<Arc<str>> = state.notes.iter().map(covered).collect();
        // Their size as shown: a label may be longer than the name it masks.
        self.bytes += remarks.iter().map(|text| text.len()).sum::<usize>();
        let said = remarks.into_iter().map(|text| Message::Said { own: false, turn: remark(state, text) });
        self.messages.splice(question..question, said);
    }
}

/// The tokens that the users' notes take of a window.
pub(crate) fn size_of_notes(state: &State, family: Family) -> u64 {
    state.notes.iter().map(|text| FENCE + family.estimate(text)).sum()
}

fn remark(state: &State, text: Arc<str>) -> Arc<Turn> {
    Arc::new(Turn {
        step: Step::from("note"),
        participant: OUTSIDE.to_owned(),
        round: state.round,
        phase: String::new(),
        form: None,
        text,
        started_at: state.last_at,
        duration_ms: 0,
        finish: Finish::Stop,
        bill: Bill::default(),
        model: None,
        answered_by: None,
        reused: false,
    })
}

/// Builds the view of `who`. Its cost depends on the size of the window, not on the length of the
/// discussion.
pub(crate) fn view(who: &str, ask: &Ask, window: &Window<'_>) -> View {
    let family = window.family;
    let asked = family.estimate(&ask.system)
        + family.estimate(&ask.prompt)
        + ask.exchange.iter().map(|it| tokens_of(it, family)).sum::<u64>();
    let asked_bytes = ask.system.len() + ask.prompt.len() + ask.exchange.iter().map(size).sum::<usize>();
    let heard = select_turns(ask, window, window.room.saturating_sub(asked));
    let bytes = asked_bytes + heard.turns.iter().map(|turn| shown_size(ask, &turn.text)).sum::<usize>();
    // A summariser, or a participant that may see no names, gets no turn as its own.
    let is_own = |turn: &Turn| ask.mask.is_none() && ask.stretch.is_none() && turn.participant == who;
    let said = heard.turns.into_iter().map(|turn| Message::Said { own: is_own(&turn), turn });
    let asking = [Message::Ask(ask.prompt.clone())];
    // In a retry the question stands before the failed answer; the current prompt comes last.
    let messages = said.chain(ask.exchange.iter().cloned()).chain(asking).collect();
    let (unheard, counted) = (heard.unheard, asked + heard.counted);
    View { messages, unheard, bytes, counted, sum_up: heard.sum_up, tight: heard.tight }
}

/// The part of the talk that is shown.
#[derive(Default)]
struct SelectedTurns {
    turns: Vec<Arc<Turn>>,
    counted: u64,
    unheard: u32,
    sum_up: Option<SumUp>,
    tight: Option<u32>,
}

fn select_turns(ask: &Ask, window: &Window<'_>, room: u64) -> SelectedTurns {
    let covered = window.summary.map(|it| Covered { turns: it.summary.covers as usize, size: it.size });
    let talk = Length { sums: window.sums, summary: covered, room, settings: window.settings };
    let (fit, to) = match (ask.hears, ask.stretch) {
        (_, Some(stretch)) => (stretched(&talk, stretch), stretch.to),
        (Hears::Nothing, None) => return SelectedTurns::default(),
        (Hears::Everything | Hears::Alphabetically, None) => {
            let newest =
                || Fit { before: Before::Nothing, from: talk.newest(0, room), sum_up: None, tight: None };
            (window.strategy.map_or_else(newest, |it| (it.fit)(&talk)), talk.turns())
        }
    };
    let from = fit.from.min(to);
    let mut turns = window.transcript.get(from..to).unwrap_or_default().to_vec();
    let first = window.transcript.first().filter(|_| fit.before == Before::First && from > 0);
    let covered = covered.filter(|_| fit.before == Before::Summary);
    let (counted, unheard) = match (first, covered) {
        (Some(_), _) => (talk.size(0, 1), from - 1),
        (None, Some(covered)) => (covered.size, from.saturating_sub(covered.turns)),
        (None, None) => (0, from),
    };
    turns.splice(0..0, first.cloned());
    let mut turns = arranged(ask, turns);
    let summary = window.summary.filter(|_| covered.is_some()).and_then(|it| it.summary.shown());
    turns.splice(0..0, summary.map(|turn| in_front(ask, turn)));
    let counted = counted + talk.size(from, to);
    SelectedTurns { turns, counted, unheard: unheard as u32, sum_up: fit.sum_up, tight: fit.tight }
}

/// The view for a summary: the previous summary, and as many of the newest turns since as fit.
fn stretched(talk: &Length<'_>, stretch: Stretch) -> Fit {
    let (before, size) = match talk.summary {
        Some(summary) if stretch.from > 0 => (Before::Summary, summary.size),
        _ => (Before::Nothing, 0),
    };
    // Counted from the end of the stretch, not from the end of the talk.
    let room = talk.room.saturating_sub(size) + talk.since(stretch.to);
    Fit { before, from: talk.newest(stretch.from, room), sum_up: None, tight: None }
}

/// The turns as this participant is shown them: in order, or sorted by name, or under labels.
fn arranged(ask: &Ask, mut turns: Vec<Arc<Turn>>) -> Vec<Arc<Turn>> {
    if let Some(mask) = &ask.mask {
        turns.iter_mut().for_each(|turn| *turn = mask.over(turn));
        turns.sort_by_key(|turn| (turn.round, mask.place(&turn.participant)));
    } else if ask.hears == Hears::Alphabetically {
        turns.sort_by(|one, other| (one.round, &one.participant).cmp(&(other.round, &other.participant)));
    }
    turns
}

/// The summary in front of all turns, with names masked if the question says so.
fn in_front(ask: &Ask, summary: Turn) -> Arc<Turn> {
    let text =
        ask.mask.as_ref().map_or_else(|| summary.text.clone(), |mask| mask.cover(&summary.text).into());
    Arc::new(Turn { text, ..summary })
}

/// The most bytes of a turn as it is shown: where a form is asked for, each line may get a `> `.
fn shown_size(ask: &Ask, text: &str) -> usize {
    let lines = if ask.shape.is_some() { 1 + text.matches('\n').count() } else { 0 };
    text.len() + 2 * lines
}

fn size(message: &Message) -> usize {
    match message {
        Message::Said { turn, .. } => turn.text.len(),
        Message::Found { topic, text } => topic.len() + text.len(),
        Message::Ask(text) => text.len(),
    }
}

fn tokens_of(message: &Message, family: Family) -> u64 {
    match message {
        Message::Said { turn, .. } => FENCE + family.estimate(&turn.text),
        Message::Found { topic, text } => FENCE + family.estimate(topic) + family.estimate(text),
        Message::Ask(text) => family.estimate(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::window::{Lengths, Weighed};
    use crate::model::{
        event::Summarised, id::Step, mask::Mask, settings::Settings, transcript::sample_turn,
    };
    use crate::registry::{ContextStrategy, OnOverflow};

    fn turn(participant: &str, round: u32, text: &str) -> Arc<Turn> {
        let step = Step::new(round, "speaking", participant);
        Arc::new(sample_turn(step, (round, "speaking"), participant, text))
    }

    /// Builds the view in a window with this much room, with a strategy as plain as sliding.
    fn shown(
        who: &str,
        transcript: &[Arc<Turn>],
        ask: &Ask,
        room: u64,
        summary: Option<&Summarised>,
    ) -> View {
        let family = Family::Other;
        let mut lengths = Lengths::default();
        transcript.iter().for_each(|turn| lengths.add_turn([family].into_iter(), &turn.text));
        let (sums, settings) = (lengths.sums(family), &Settings::default());
        let summary = summary.map(|summary| Weighed { summary, size: summary.tokens(family) });
        view(who, ask, &Window { family, room, strategy: Some(&PLAIN), settings, transcript, sums, summary })
    }

    const PLAIN: ContextStrategy = ContextStrategy {
        name: "plain",
        summary: "The summary or the first turn, and the newest that fit",
        fit: |talk| {
            let (before, done, size) = match talk.summary {
                Some(summary) => (Before::Summary, summary.turns, summary.size),
                None => (Before::First, 1, talk.size(0, 1)),
            };
            let from = talk.newest(done, talk.room.saturating_sub(size));
            Fit { before, from, sum_up: None, tight: None }
        },
        options: &[],
        overflow: OnOverflow::NotOffered,
        words: |_, _| Ask::new("", ""),
    };

    fn heard(view: &View) -> Vec<&str> {
        let texts = view.messages.iter().map(|message| match message {
            Message::Said { turn, .. } => &*turn.text,
            Message::Found { text, .. } => text,
            Message::Ask(text) => text,
        });
        texts.collect()
    }

    fn four() -> [Arc<Turn>; 4] {
        let long = "many words ".repeat(300);
        [turn("ann", 1, "first"), turn("bob", 1, &long), turn("ann", 2, "late"), turn("bob", 2, "last")]
    }

    #[test]
    fn the_first_and_the_newest_turns_are_kept() {
        let view = shown("ann", &four(), &Ask::new("", "now"), 400, None);
        assert_eq!(heard(&view), ["first", "late", "last", "now"]);
        assert_eq!(view.unheard, 1);
    }

    #[test]
    fn a_summary_replaces_the_turns_it_covers_and_has_no_speaker() {
        let summary = Summarised { covers: 2, heard: 3, turn: Some(turn("ann", 1, "so far")) };
        let view = shown("ann", &four(), &Ask::new("", "now"), 400, Some(&summary));
        assert_eq!(heard(&view), ["so far", "late", "last", "now"]);
        assert_eq!(view.unheard, 0);
        assert!(
            matches!(&view.messages[0], Message::Said { own: false, turn } if turn.participant == "summary of turns 1 to 2")
        );
    }

    #[test]
    fn the_summarizer_is_shown_the_last_summary_and_the_turns_since() {
        let summary = Summarised { covers: 1, heard: 2, turn: Some(turn("ann", 1, "so far")) };
        let ask = |from, to| Ask { stretch: Some(Stretch { from, to }), ..Ask::new("", "sum up") };
        let all = shown("ann", &four(), &ask(2, 3), 400, Some(&summary));
        assert_eq!(heard(&all), ["so far", "late", "sum up"]);
        let cramped = shown("ann", &four(), &ask(0, 3), 400, None);
        assert_eq!(heard(&cramped), ["late", "sum up"]);
    }

    #[test]
    fn inv_disc_012_a_synthesis_hears_by_name_not_by_speed() {
        let transcript =
            [turn("cyd", 1, "c1"), turn("ann", 1, "a1"), turn("bob", 2, "b2"), turn("ann", 2, "a2")];
        let ask = Ask::new("", "now").hearing(Hears::Alphabetically);
        assert_eq!(heard(&shown("cyd", &transcript, &ask, 100_000, None)), ["a1", "c1", "a2", "b2", "now"]);
    }

    #[test]
    fn a_masked_view_has_labels_in_their_order_and_no_names() {
        let table = ["ann", "bob"].map(crate::model::participant::Participant::of);
        let labels = [(&table[1], "Debater A"), (&table[0], "Debater B")];
        let mask = Arc::new(Mask::new(&labels));
        let transcript =
            [turn("ann", 1, "I am Ann"), turn("bob", 1, "no, ANN's wrong"), turn("ann", 2, "annex")];
        let view = shown("ann", &transcript, &Ask::new("", "now").masked(&mask), 100_000, None);
        assert_eq!(heard(&view), ["no, Debater B's wrong", "I am Debater B", "annex", "now"]);
        let labels: Vec<(&str, bool)> = view
            .messages
            .iter()
            .filter_map(|message| match message {
                Message::Said { turn, own } => Some((turn.participant.as_str(), *own)),
                _ => None,
            })
            .collect();
        assert_eq!(labels, [("Debater A", false), ("Debater B", false), ("Debater B", false)]);
    }
}
