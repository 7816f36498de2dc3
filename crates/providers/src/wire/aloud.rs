//! Thinking aloud: models on servers that don't know them begin an answer with their thoughts, between marks. Those are not said.

use quorum_core::model::money::Usage;

use crate::wire::Quirks;

/// What thoughts stand between.
const MARKS: &[(&str, &str)] =
    &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")];

/// In bytes; no mark that is split between two pieces is longer.
const LONGEST_MARK: usize = "</thinking>".len();

/// Nobody waits longer for a first word; so many blanks are let through.
const MOST_BLANKS: usize = 1_024;

/// Lets an answer through, but for thoughts at its very beginning. Further on, marks are words like others.
#[derive(Debug, Default)]
pub(super) struct Aloud {
    stage: Stage,
    /// Whether thoughts may begin without a mark.
    unopened: bool,
    /// What may be a part of a mark.
    held: String,
    /// How much of it has no mark in it.
    looked: usize,
    /// How many bytes were thought, and how many said.
    thought: usize,
    said: usize,
}

#[derive(Debug, Default)]
enum Stage {
    /// Nothing but blanks, and perhaps a part of a mark.
    #[default]
    Beginning,
    /// Words that are thoughts if the first mark among them is one that ends them.
    Unsure,
    /// Up to this mark.
    Thinking(&'static str),
    /// The blanks between the thoughts and the answer.
    Pausing,
    Speaking,
}

impl Aloud {
    pub(super) fn of(quirks: &Quirks) -> Self {
        Aloud { unopened: quirks.unopened_thoughts, ..Aloud::default() }
    }

    /// As much of it as is said; empty where nothing is.
    pub(super) fn take(&mut self, piece: &str) -> String {
        let said = match self.stage {
            Stage::Speaking => piece.to_owned(),
            Stage::Beginning | Stage::Unsure | Stage::Thinking(_) | Stage::Pausing => {
                self.held.push_str(piece);
                self.sift()
            }
        };
        self.said += said.len();
        said
    }

    /// At the end of the answer: what was held back in vain. Thoughts that nothing ends are no answer.
    pub(super) fn end(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        match self.stage {
            Stage::Beginning | Stage::Unsure => rest,
            Stage::Thinking(_) | Stage::Pausing | Stage::Speaking => String::new(),
        }
    }

    /// What the answer used, with the share of the thoughts where its server does not count them.
    pub(super) fn counted(&self, usage: Usage) -> Usage {
        if usage.reasoning > 0 || self.thought == 0 {
            return usage;
        }
        let (thought, all) = (self.thought as u64, (self.thought + self.said) as u64);
        Usage { reasoning: usage.completion.saturating_mul(thought) / all, ..usage }
    }

    fn sift(&mut self) -> String {
        if let Stage::Beginning = self.stage {
            let begun = self.held.trim_start();
            if let Some((open, close)) = MARKS.iter().find(|(open, _)| begun.starts_with(open)) {
                let begins = self.held.len() - begun.len() + open.len();
                self.held.drain(..begins);
                self.stage = Stage::Thinking(close);
            } else if MARKS.iter().any(|(open, _)| open.starts_with(begun)) && self.held.len() < MOST_BLANKS {
                return String::new();
            } else if self.unopened {
                self.stage = Stage::Unsure;
            } else {
                return self.speak();
            }
        }
        if let Stage::Unsure = self.stage {
            let from = self.held.floor_char_boundary(self.looked.saturating_sub(LONGEST_MARK));
            match first_mark(&self.held[from..]) {
                Some(Mark::Ends(close)) => self.stage = Stage::Thinking(close),
                Some(Mark::Begins) => return self.speak(),
                None => {
                    self.looked = self.held.len();
                    return String::new();
                }
            }
        }
        if let Stage::Thinking(close) = self.stage {
            self.think(close);
        }
        if let Stage::Pausing = self.stage {
            self.held.drain(..self.held.len() - self.held.trim_start().len());
        }
        match self.stage {
            Stage::Pausing if !self.held.is_empty() => self.speak(),
            Stage::Beginning | Stage::Unsure | Stage::Thinking(_) | Stage::Pausing | Stage::Speaking => {
                String::new()
            }
        }
    }

    /// Drops what was thought, but for what may be the beginning of the mark that ends it.
    fn think(&mut self, close: &'static str) {
        let ended = self.held.find(close);
        let end = match ended {
            Some(at) => at + close.len(),
            None => {
                let may_end = (1..close.len()).rev().find(|length| self.held.ends_with(&close[..*length]));
                self.held.len() - may_end.unwrap_or_default()
            }
        };
        self.thought += end;
        self.held.drain(..end);
        if ended.is_some() {
            self.stage = Stage::Pausing;
        }
    }

    fn speak(&mut self) -> String {
        self.stage = Stage::Speaking;
        std::mem::take(&mut self.held)
    }
}

enum Mark {
    Begins,
    Ends(&'static str),
}

/// The mark that comes first in this text.
fn first_mark(text: &str) -> Option<Mark> {
    let marks = MARKS.iter().flat_map(|(open, close)| [(open, Mark::Begins), (close, Mark::Ends(close))]);
    let found = marks.filter_map(|(mark, kind)| Some((text.find(mark)?, kind)));
    found.min_by_key(|(at, _)| *at).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is said of an answer in pieces of this many characters.
    fn said(answer: &str, each: usize) -> String {
        said_by(Aloud::default(), answer, each)
    }

    fn said_by(mut aloud: Aloud, answer: &str, each: usize) -> String {
        let letters: Vec<char> = answer.chars().collect();
        let pieces = letters.chunks(each).map(|it| it.iter().collect::<String>());
        let said: String = pieces.map(|piece| aloud.take(&piece)).collect();
        said + &aloud.end()
    }

    #[test]
    fn thoughts_at_the_beginning_are_not_said() {
        let check = |answer: &str, expected: &str| {
            for each in [1, 2, 3, 7, 1_000] {
                assert_eq!(said(answer, each), expected, "{answer:?} in pieces of {each}");
            }
        };
        check("<think>\nHm – or?\n</think>\n\nTabs.", "Tabs.");
        check("\n <think></think>Tabs.", "Tabs.");
        check("<thinking>Hm.</thinking> Tabs.", "Tabs.");
        check("[THINK]Hm.[/THINK]Tabs.", "Tabs.");
        check("<think>a < b </thin </think>Tabs: <think>so</think>", "Tabs: <think>so</think>");
        check("<think>never ends", "");
        check("<think>Hm.</think>  ", "");
        check("Tabs. <think>Hm.</think>", "Tabs. <think>Hm.</think>");
        check("<thin", "<thin");
        check("<thinner> than tabs", "<thinner> than tabs");
        check("\n\n  Tabs.", "\n\n  Tabs.");
        check("", "");
    }

    #[test]
    fn thoughts_that_nothing_opens_are_not_said_where_the_model_is_known_for_them() {
        let quirks = Quirks { unopened_thoughts: true, ..Quirks::default() };
        let check = |answer: &str, expected: &str| {
            for each in [1, 2, 3, 7, 1_000] {
                let said = said_by(Aloud::of(&quirks), answer, each);
                assert_eq!(said, expected, "{answer:?} in pieces of {each}");
            }
        };
        check("Hm – or?\n</think>\n\nTabs.", "Tabs.");
        check("</think>Tabs.", "Tabs.");
        check("Hm.[/THINK]Tabs: </think> <think>", "Tabs: </think> <think>");
        check("<think>Hm.</think>Tabs.", "Tabs.");
        check("\nTabs, <think> and </think>.", "\nTabs, <think> and </think>.");
        check("Tabs.", "Tabs.");
        check("Hm.</think> ", "");
        assert_eq!(said("Hm.</think>Tabs.", 3), "Hm.</think>Tabs.");
    }

    #[test]
    fn words_are_not_held_back() {
        let mut aloud = Aloud::default();
        let pieces = ["<", "th", "ick> ", "as", " a brick"];
        assert_eq!(pieces.map(|piece| aloud.take(piece)), ["", "", "<thick> ", "as", " a brick"]);
    }

    #[test]
    fn f7_blanks_without_end_are_let_through() {
        let blanks = " \n".repeat(100_000);
        assert_eq!(said(&blanks, 7), blanks);
        assert_eq!(said(&format!("<think></think>{blanks}Tabs."), 7), "Tabs.");
    }

    #[test]
    fn f7_thoughts_without_end_are_not_kept() {
        let mut aloud = Aloud::default();
        aloud.take("<think>");
        (0..100_000).for_each(|_| assert_eq!(aloud.take("so </thi and so on "), ""));
        assert!(aloud.held.len() < 100, "{}", aloud.held.len());
    }

    #[test]
    fn d10_thoughts_are_counted_as_such() {
        let mut aloud = Aloud::default();
        aloud.take("<think>12345678901234567890</think>12345678901234");
        let check = |usage: Usage, reasoning: u64| assert_eq!(aloud.counted(usage).reasoning, reasoning);
        check(Usage::new(5, 100), 66);
        check(Usage { reasoning: 7, ..Usage::new(5, 100) }, 7);
        assert_eq!(Aloud::default().counted(Usage::new(5, 100)), Usage::new(5, 100));
    }
}
