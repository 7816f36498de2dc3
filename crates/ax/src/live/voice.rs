//! One participant on the screen: what it is doing, and its status line.

use anstyle::{AnsiColor, Style};
use quorum::{
    model::{
        error::ErrorClass,
        event::Placed,
        id::Step,
        participant::{Participant, Role},
        reading::Reading,
        state::Spending,
        transcript::Turn,
    },
    text::{line, time},
};

use crate::{
    live::columns::Columns,
    render::{
        line::{BAD, DIM, GOOD, Line, PLAIN, WORRY, tail},
        role_name, wording,
    },
};

/// The colours of the seats, repeated in this order.
const COLOURS: [AnsiColor; 6] = [
    AnsiColor::Cyan,
    AnsiColor::Magenta,
    AnsiColor::Blue,
    AnsiColor::Green,
    AnsiColor::Yellow,
    AnsiColor::BrightRed,
];

/// The shortest stream whose rate is shown: before that, it would be arbitrary.
const SPEED_AFTER_MS: u64 = 500;

/// The usual number of bytes in a token, for data of which only the size is known.
const BYTES_PER_TOKEN: u64 = 4;

/// Shown in place of a form that is being written.
pub(super) const FILLS_IN: &str = "fills in a form";

/// The colour of this seat.
pub(crate) fn colour(seat: usize) -> Style {
    COLOURS[seat % COLOURS.len()].on_default()
}

/// A participant as the screen shows it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Voice {
    pub(super) name: String,
    pub(super) role: Role,
    pub(super) doing: Doing,
    /// The model of its last call.
    model: Option<String>,
    /// The step and attempt of its last call.
    call: Option<(Step, u32)>,
    /// The errors of its attempts at that step.
    failures: Vec<ErrorClass>,
    /// The text for people in its reply so far.
    pub(super) text: String,
    /// How many bytes of its reply are data of a form.
    hidden: usize,
    /// The estimated number of tokens in it.
    tokens: u64,
}

/// What a participant is doing. Times are those of the screen's clock.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Doing {
    Waiting,
    Thinking { since: u64 },
    Speaking { since: u64 },
    Retrying { class: ErrorClass, until: u64 },
    Convening { topic: String },
    Awaited,
    Done { took_ms: u64, reused: bool },
    LetGo,
    Failed { why: String },
}

impl Voice {
    pub(super) fn of(seat: &Participant) -> Voice {
        let (name, role) = (seat.name.clone(), seat.role.clone());
        Voice {
            name,
            role,
            doing: Doing::Waiting,
            model: None,
            call: None,
            failures: Vec::new(),
            text: String::new(),
            hidden: 0,
            tokens: 0,
        }
    }

    /// A call to it was placed.
    pub(super) fn asked(&mut self, step: Option<&Step>, placed: &Placed, now: u64) {
        if self.call.as_ref().map(|call| &call.0) != step {
            self.failures.clear();
        }
        self.call = step.map(|step| (step.clone(), placed.attempt));
        self.model.clone_from(&placed.model);
        self.doing = Doing::Thinking { since: now };
        self.text.clear();
        (self.hidden, self.tokens) = (0, 0);
    }

    /// Its attempt failed, and will be retried.
    pub(super) fn failed(&mut self, class: ErrorClass, until: u64) {
        self.failures.push(class);
        self.doing = Doing::Retrying { class, until };
    }

    /// A piece of its reply arrived. Pieces of an earlier call or attempt are ignored.
    pub(super) fn receive(&mut self, piece: &quorum::Piece, now: u64) {
        let current = self
            .call
            .as_ref()
            .is_some_and(|(step, attempt)| (step, *attempt) == (&piece.step, piece.attempt));
        if !current {
            return;
        }
        match self.doing {
            Doing::Thinking { .. } => self.doing = Doing::Speaking { since: now },
            Doing::Speaking { .. } => {}
            _ => return,
        }
        self.text.push_str(&piece.text);
        self.hidden += piece.hidden;
        self.tokens = quorum::text::tokens(&self.text) + self.hidden as u64 / BYTES_PER_TOKEN;
    }

    /// Its turn is complete. The data of a form is shown once it is read.
    pub(super) fn spoke(&mut self, turn: &Turn) {
        turn.prose().clone_into(&mut self.text);
        self.doing = Doing::Done { took_ms: turn.duration_ms, reused: turn.reused };
    }

    /// Its form was read. What was read is shown unless the form has text of its own.
    pub(super) fn read(&mut self, reading: &Reading) {
        if self.text.is_empty() {
            self.text = reading.told.clone().unwrap_or_default();
        }
    }

    /// A new phase begins: a participant that was done waits again.
    pub(super) fn turn_page(&mut self) {
        if matches!(self.doing, Doing::Done { .. } | Doing::LetGo) {
            self.doing = Doing::Waiting;
        }
    }

    /// Whether the line changes with time alone.
    pub(super) fn is_timed(&self) -> bool {
        matches!(self.doing, Doing::Thinking { .. } | Doing::Speaking { .. } | Doing::Retrying { .. })
    }

    /// The line for this participant.
    pub(super) fn line(&self, seat: usize, spending: Spending, columns: &Columns, now: u64) -> Line {
        let (glyph, style) = self.glyph();
        let idle = matches!(self.doing, Doing::Waiting | Doing::Done { .. } | Doing::LetGo);
        let name = if idle { PLAIN } else { colour(seat).bold() };
        let number = if columns.numbered { (seat + 1).to_string() } else { " ".to_owned() };
        let head = Line::of(&number, DIM)
            .and(glyph, style)
            .and(" ", PLAIN)
            .then(Line::of(&self.name, name).cut(columns.name).padded(columns.name))
            .and(" ", PLAIN);
        let role = if self.role == Role::SPEAKER { "" } else { role_name(self.role.name()) };
        let head =
            if columns.role == 0 { head } else { head.then(Line::of(role, DIM).padded(columns.role + 1)) };
        head.then(self.rest(spending, columns, now)).cut(columns.all)
    }

    fn glyph(&self) -> (&'static str, Style) {
        match &self.doing {
            Doing::Waiting => ("○", DIM),
            Doing::Thinking { .. } => ("◐", WORRY),
            Doing::Speaking { .. } => ("●", GOOD),
            Doing::Retrying { .. } => ("✖", WORRY),
            Doing::Convening { .. } => ("◇", WORRY),
            Doing::Awaited => ("▸", WORRY),
            Doing::Done { .. } => ("✔", GOOD),
            Doing::LetGo => ("–", DIM),
            Doing::Failed { .. } => ("✖", BAD),
        }
    }

    /// The rest of the line, after the name and the role.
    fn rest(&self, spending: Spending, columns: &Columns, now: u64) -> Line {
        let seconds = |since: u64| now.saturating_sub(since) / 1_000;
        let figures = |rate| {
            columns.figures(rate, spending.usage.completion + self.tokens_under_way().unwrap_or(0), spending)
        };
        match &self.doing {
            Doing::Waiting => figures(None),
            Doing::Thinking { since } => {
                let thinking = Line::of(&format!("thinking {} s", seconds(*since)), PLAIN);
                let of = self.model.as_ref().map(|it| format!("{it}: ")).unwrap_or_default();
                thinking
                    .and("  ", PLAIN)
                    .padded(columns.figures)
                    .and(&format!("{of}first token pending"), DIM)
            }
            Doing::Speaking { since } if self.is_form() => {
                figures(self.rate(now.saturating_sub(*since))).and(FILLS_IN, DIM).and("▌", DIM)
            }
            Doing::Speaking { since } => {
                let end = tail(&self.text, columns.tail.saturating_sub(1));
                figures(self.rate(now.saturating_sub(*since))).and(&end, PLAIN).and("▌", DIM)
            }
            Doing::Retrying { class, until } => {
                // Each class of failure has its own number of retries.
                let attempt = self.failures.iter().filter(|it| *it == class).count();
                let (retries, left) = (class.retries(), until.saturating_sub(now).div_ceil(1_000));
                Line::of(
                    &format!("{}, retry {attempt}/{retries} in {left} s", wording::failure(*class)),
                    WORRY,
                )
            }
            Doing::Convening { topic } => {
                figures(None).and(&format!("asks others: {}", line(topic, columns.tail.max(2))), DIM)
            }
            Doing::Awaited => Line::of("it is this person's turn", WORRY),
            Doing::Done { took_ms: 0, .. } => figures(None).and("done", DIM),
            Doing::Done { reused: true, .. } => figures(None).and("answer reused", DIM),
            Doing::Done { took_ms, .. } => figures(None).and(&format!("done in {}", time(*took_ms)), DIM),
            Doing::LetGo => figures(None).and("not waited for", DIM),
            Doing::Failed { why } => Line::of(&line(why, columns.all.max(2)), BAD),
        }
    }

    /// Whether all that has arrived is data of a form, which is not shown.
    pub(super) fn is_form(&self) -> bool {
        self.text.is_empty() && 0 < self.hidden
    }

    /// The estimated tokens of the reply that it is giving; `None` if it isn't speaking.
    pub(super) fn tokens_under_way(&self) -> Option<u64> {
        matches!(self.doing, Doing::Speaking { .. }).then_some(self.tokens)
    }

    fn rate(&self, for_ms: u64) -> Option<u64> {
        (SPEED_AFTER_MS <= for_ms).then(|| self.tokens * 1_000 / for_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_synthesis_is_shown_and_not_taken_for_a_form() {
        let step = Step::from("1/deciding/ann");
        let mut voice = Voice::of(&Participant::of("ann"));
        let placed = serde_json::json!({
            "attempt": 1, "participant": "ann", "provider": "ann", "nonce": "",
            "reserved": { "calls": 1, "tokens": 0, "usd": 0 },
        });
        voice.asked(Some(&step), &serde_json::from_value(placed).unwrap(), 0);
        let mut hear = |text: &str, hidden: usize| {
            let (discussion, participant) = (quorum::model::id::DiscussionId::fresh(), "ann".to_owned());
            let (step, text) = (step.clone(), text.to_owned());
            let piece = quorum::Piece {
                discussion,
                step,
                attempt: 1,
                participant,
                round: 1,
                offset: 0,
                text,
                hidden,
            };
            voice.receive(&piece, 0);
            (voice.text.clone(), voice.is_form())
        };
        assert_eq!(hear("", 4), (String::new(), true));
        assert_eq!(hear("{so} it is: ", 0), ("{so} it is: ".to_owned(), false));
        assert_eq!(hear("tabs.", 40), ("{so} it is: tabs.".to_owned(), false));
        assert_eq!(hear("", 400), ("{so} it is: tabs.".to_owned(), false));
        assert!(100 < voice.tokens, "{}", voice.tokens);
    }
}
