//! The column widths of a status line.

use quorum::model::{participant::Role, state::Spending};

use crate::{
    live::voice::Voice,
    render::{
        line::{Line, PLAIN, width},
        role_name,
    },
};

/// A glyph with the blanks around it.
const GLYPH: usize = 3;
/// ` 41 tok/s  `
const RATE: usize = 11;
/// `  612 tok `
const TOKENS: usize = 10;
/// `$0.013  `
const COST: usize = 8;
const LONGEST_NAME: usize = 16;
/// The fewest columns of a reply's text worth showing.
const SHORTEST_TAIL: usize = 20;

/// The column widths of a status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Columns {
    pub(super) all: usize,
    pub(super) name: usize,
    /// 0 if no participant has a role, or there is no room for it.
    pub(super) role: usize,
    pub(super) figures: usize,
    pub(super) tail: usize,
    /// Whether every line begins with the key of its seat.
    pub(super) numbered: bool,
    with: With,
}

/// Which figures are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct With {
    rate: bool,
    tokens: bool,
    cost: bool,
}

impl Columns {
    /// The most detailed layout that leaves room for the reply's text.
    pub(super) fn of(voices: &[Voice], all: usize, priced: bool) -> Columns {
        let name = voices.iter().map(|it| width(&it.name)).max().unwrap_or_default().min(LONGEST_NAME);
        let part = |it: &Voice| if it.role == Role::SPEAKER { 0 } else { role_name(it.role.name()).len() };
        let role = voices.iter().map(part).max().unwrap_or_default();
        let ways = [
            (role, With { rate: true, tokens: true, cost: priced }),
            (role, With { rate: true, tokens: true, cost: false }),
            (role, With { rate: false, tokens: true, cost: false }),
            (0, With { rate: false, tokens: true, cost: false }),
            (0, With { rate: false, tokens: false, cost: false }),
        ];
        let ways = ways.map(|(role, with)| Columns::shared(all, name, role, with));
        let [.., barest] = &ways;
        ways.iter().find(|way| SHORTEST_TAIL <= way.tail).unwrap_or(barest).clone()
    }

    fn shared(all: usize, name: usize, role: usize, with: With) -> Columns {
        let figure = |shown: bool, takes: usize| if shown { takes } else { 0 };
        let figures = figure(with.rate, RATE) + figure(with.tokens, TOKENS) + figure(with.cost, COST);
        let head = GLYPH + name + 1 + if role == 0 { 0 } else { role + 1 };
        Columns { all, name, role, figures, tail: all.saturating_sub(head + figures), numbered: false, with }
    }

    /// The same, with the seats' keys if `numbered`.
    pub(super) fn numbered_if(self, numbered: bool) -> Columns {
        Columns { numbered, ..self }
    }

    /// The figures, padded to their column.
    pub(super) fn figures(&self, rate: Option<u64>, tokens: u64, spending: Spending) -> Line {
        let mut text = String::new();
        if self.with.rate {
            text += &rate.map_or(String::new(), |rate| format!("{rate:>3} tok/s"));
            text = format!("{text:<RATE$}");
        }
        if self.with.tokens {
            text += &if tokens == 0 {
                " ".repeat(TOKENS)
            } else {
                format!("{:>9} ", format!("{} tok", brief(tokens)))
            };
        }
        if self.with.cost {
            let spent = spending.usage.total() > 0 || spending.estimated || spending.unpriced;
            let about = if spending.estimated { "≈" } else { "" };
            let cost = match spending.unpriced {
                true => "no price".to_owned(),
                false => format!("{about}{}", money(spending.cost.dollars())),
            };
            text += &format!("{:<COST$}", if spent { cost } else { String::new() });
        }
        Line::of(&text, PLAIN).padded(self.figures)
    }
}

/// `612`, `12.3k`.
fn brief(number: u64) -> String {
    match number {
        0..10_000 => number.to_string(),
        10_000..1_000_000 => format!("{:.1}k", number as f64 / 1_000.0),
        _ => format!("{:.1}M", number as f64 / 1_000_000.0),
    }
}

/// `$0.013`, `$12.50`.
pub(super) fn money(dollars: f64) -> String {
    if dollars < 10.0 { format!("${dollars:.3}") } else { format!("${dollars:.2}") }
}
