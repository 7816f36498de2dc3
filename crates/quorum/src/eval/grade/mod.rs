//! Graders: whether an answer is the right one. Pure functions of the answer's text; nothing in a
//! question or an answer can change how it is graded.

mod choice;
mod number;
mod pattern;
mod plain;

use serde::{Deserialize, Serialize};

pub use choice::{letter, option_named};
pub use number::{Amount, Tolerance};
pub use pattern::{LONGEST_PATTERN, Pattern};
pub use plain::{final_answer, folded};

/// The most bytes of an answer that are looked at.
pub const LONGEST_GRADED: usize = 64 * 1024;

/// The right answer of a question.
#[derive(Debug, Clone, PartialEq)]
pub enum Key {
    /// The place of the right option.
    Choice(usize),
    /// All of these must hold.
    Checks(Vec<Check>),
}

/// A condition that a right answer satisfies.
#[derive(Debug, Clone, PartialEq)]
pub struct Check {
    /// Whether the test must fail instead.
    pub is_negated: bool,
    /// The test.
    pub test: Test,
}

/// A test of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// It is one of these texts, whatever its case, spaces and punctuation.
    Exact(Vec<String>),
    /// It is exactly this text.
    Equal(String),
    /// It is this number.
    Number(Amount, Tolerance),
    /// It contains these texts.
    Contains(Contained),
    /// It begins with this text.
    StartsWith(String),
    /// It matches this pattern.
    Regex(Pattern),
    /// A model finds that it meets this description.
    Rubric(String),
}

/// Texts that an answer must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Contained {
    /// The texts.
    pub texts: Vec<String>,
    /// Whether one of them is enough.
    pub any: bool,
    /// Whether case counts.
    pub cased: bool,
}

impl Check {
    /// This must hold.
    #[must_use]
    pub fn that(test: Test) -> Check {
        Check { is_negated: false, test }
    }
}

/// The grade of an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    /// Right.
    Right,
    /// Wrong.
    Wrong,
    /// No answer could be read from it: wrong, and counted apart.
    Unread,
}

impl Mark {
    /// Right or wrong.
    #[must_use]
    pub fn of(is_right: bool) -> Mark {
        if is_right { Mark::Right } else { Mark::Wrong }
    }

    /// 1 for a right answer, 0 for any other.
    #[must_use]
    pub fn score(self) -> f64 {
        f64::from(u8::from(self == Mark::Right))
    }
}

/// The grade of an answer, as far as it can be given without a model.
#[derive(Debug, Clone, PartialEq)]
pub enum Graded {
    /// Its grade.
    Marked(Mark),
    /// Everything else holds, and a model must say whether it meets these descriptions.
    Open(Vec<Description>),
}

/// A description that a model compares an answer with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// The description.
    pub text: String,
    /// Whether the answer must not meet it.
    pub is_negated: bool,
}

/// Grades an answer in prose. `shown` are the options in the order in which they were shown, if the
/// question has options.
#[must_use]
pub fn grade(key: &Key, shown: &[String], answer: &str) -> Graded {
    let answer = &answer[..answer.floor_char_boundary(LONGEST_GRADED)];
    match key {
        Key::Choice(right) => Graded::Marked(match letter(answer, shown) {
            Some(place) => Mark::of(place == *right),
            None => Mark::Unread,
        }),
        Key::Checks(checks) => graded_by(checks, answer),
    }
}

fn graded_by(checks: &[Check], answer: &str) -> Graded {
    if answer.trim().is_empty() {
        return Graded::Marked(Mark::Unread);
    }
    let mut open = Vec::new();
    for check in checks {
        let is_negated = check.is_negated;
        match (holds(&check.test, answer), is_negated) {
            (Holds::Yes, false) | (Holds::No, true) => {}
            (Holds::Yes, true) | (Holds::No, false) => return Graded::Marked(Mark::Wrong),
            (Holds::Unread, _) => return Graded::Marked(Mark::Unread),
            (Holds::AskModel(text), _) => open.push(Description { text, is_negated }),
        }
    }
    if open.is_empty() { Graded::Marked(Mark::Right) } else { Graded::Open(open) }
}

enum Holds {
    Yes,
    No,
    Unread,
    AskModel(String),
}

impl From<bool> for Holds {
    fn from(holds: bool) -> Self {
        if holds { Holds::Yes } else { Holds::No }
    }
}

fn holds(test: &Test, answer: &str) -> Holds {
    match test {
        Test::Exact(accepted) => plain::is_one_of(answer, accepted).into(),
        Test::Equal(text) => {
            (answer.trim() == text.trim() || final_answer(answer) == Some(text.trim())).into()
        }
        Test::Number(expected, tolerance) => match number::stated(answer) {
            Some(stated) => expected.is_met_by(&stated, *tolerance).into(),
            None => Holds::Unread,
        },
        Test::Contains(contained) => contained.is_in(answer).into(),
        Test::StartsWith(beginning) => answer.trim_start().starts_with(beginning.trim_start()).into(),
        Test::Regex(pattern) => pattern.matches(answer).into(),
        Test::Rubric(text) => Holds::AskModel(text.clone()),
    }
}

impl Contained {
    fn is_in(&self, answer: &str) -> bool {
        let cased = |text: &str| if self.cased { text.to_owned() } else { text.to_lowercase() };
        let answer = cased(answer);
        let mut found = self.texts.iter().map(|it| answer.contains(&cased(it)));
        if self.any { found.any(|it| it) } else { found.all(|it| it) }
    }
}

#[cfg(test)]
mod tests;
