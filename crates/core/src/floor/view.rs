//! What a participant is shown: what was said, cut to what fits its model's window.

use std::sync::Arc;

use crate::{
    call::{Message, tokens},
    floor::ask::{Ask, Hears},
    model::transcript::Turn,
};

/// Tokens kept free in every window beside the answer (D09).
const RESERVE: u64 = 4_096;

/// The messages for one request, and what had to be left out.
pub(crate) struct View {
    pub(crate) messages: Vec<Message>,
    /// How many turns did not fit.
    pub(crate) unheard: u32,
    /// The size of all of it, system text included.
    pub(crate) bytes: usize,
}

/// Builds what `who` is shown in a window less the answer. Costs as much as fits the window, however long the discussion has become.
pub(crate) fn view(who: &str, transcript: &[Arc<Turn>], ask: &Ask, window: u64) -> View {
    let asked = ask.system.len() + ask.prompt.len() + ask.exchange.iter().map(size).sum::<usize>();
    let room = window.saturating_sub(RESERVE + tokens::at_worst(asked));
    let (heard, unheard) = match ask.hears {
        Hears::Nothing => (Vec::new(), 0),
        Hears::Everything => fitting(transcript, room),
        Hears::Alphabetically => {
            let (mut heard, unheard) = fitting(transcript, room);
            heard.sort_by(|one, other| (one.round, &one.participant).cmp(&(other.round, &other.participant)));
            (heard, unheard)
        }
    };
    let bytes = asked + heard.iter().map(|turn| turn.text.len()).sum::<usize>();
    let said = heard.into_iter().map(|turn| Message::Said { own: turn.participant == who, turn });
    let asking = [Message::Ask(ask.prompt.clone())];
    // In a second try the question was put before the failed answer; what is said now comes last.
    let messages = said.chain(ask.exchange.iter().cloned()).chain(asking).collect();
    View { messages, unheard, bytes }
}

/// The newest turns that fit, the very first always among them.
fn fitting(transcript: &[Arc<Turn>], room: u64) -> (Vec<Arc<Turn>>, u32) {
    let Some((first, rest)) = transcript.split_first() else { return (Vec::new(), 0) };
    let mut left = room.saturating_sub(tokens::at_worst(first.text.len()));
    let newest = rest.iter().rev().take_while(|turn| {
        let needed = tokens::at_worst(turn.text.len());
        let fits = needed <= left;
        left = left.saturating_sub(needed);
        fits
    });
    let mut heard: Vec<Arc<Turn>> = newest.cloned().collect();
    let unheard = (rest.len() - heard.len()) as u32;
    heard.push(first.clone());
    heard.reverse();
    (heard, unheard)
}

fn size(message: &Message) -> usize {
    match message {
        Message::Said { turn, .. } => turn.text.len(),
        Message::Found { topic, text } => topic.len() + text.len(),
        Message::Ask(text) => text.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{
        id::Step,
        time::Timestamp,
        transcript::{Bill, Finish},
    };

    fn turn(participant: &str, round: u32, text: &str) -> Arc<Turn> {
        Arc::new(Turn {
            step: Step::new(round, "speaking", participant),
            participant: participant.to_owned(),
            round,
            phase: "speaking".to_owned(),
            text: text.into(),
            started_at: Timestamp(0),
            duration_ms: 0,
            finish: Finish::Stop,
            bill: Bill::default(),
        })
    }

    fn heard(view: &View) -> Vec<&str> {
        let texts = view.messages.iter().map(|message| match message {
            Message::Said { turn, .. } => &*turn.text,
            Message::Found { text, .. } => text,
            Message::Ask(text) => text,
        });
        texts.collect()
    }

    #[test]
    fn the_first_and_the_newest_turns_are_kept() {
        let long = "x".repeat(300);
        let transcript =
            [turn("ann", 1, "first"), turn("bob", 1, &long), turn("ann", 2, "late"), turn("bob", 2, "last")];
        let view = view("ann", &transcript, &Ask::new("", "now"), RESERVE + 20);
        assert_eq!(heard(&view), ["first", "late", "last", "now"]);
        assert_eq!(view.unheard, 1);
    }

    #[test]
    fn inv_disc_012_a_synthesis_hears_by_name_not_by_speed() {
        let transcript =
            [turn("cyd", 1, "c1"), turn("ann", 1, "a1"), turn("bob", 2, "b2"), turn("ann", 2, "a2")];
        let ask = Ask::new("", "now").hearing(Hears::Alphabetically);
        assert_eq!(heard(&view("cyd", &transcript, &ask, 100_000)), ["a1", "c1", "a2", "b2", "now"]);
    }
}
