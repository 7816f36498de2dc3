//! Removes thoughts from the beginning of an answer. Servers that don't separate a model's thoughts
//! from its answer send them between tags.

use quorum_core::model::money::Usage;

use crate::wire::Quirks;

/// Opening and closing tags of thoughts.
const TAGS: &[(&str, &str)] =
    &[("<think>", "</think>"), ("<thinking>", "</thinking>"), ("[THINK]", "[/THINK]")];

/// The length in bytes of the longest tag, which may be split between two pieces.
const LONGEST_TAG: usize = "</thinking>".len();

/// The most leading white space held back while waiting for a tag; more is passed through.
const MAX_WHITE_SPACE: usize = 1_024;

/// Passes an answer through, except for thoughts at its very beginning. Later tags are ordinary
/// text.
#[derive(Debug, Default)]
pub(super) struct ThinkFilter {
    state: State,
    /// Whether thoughts may lack their opening tag.
    unopened: bool,
    /// Text held back, which may contain a part of a tag.
    held: String,
    /// How many bytes of `held` were already searched for a tag.
    searched: usize,
    /// How many bytes were thoughts, and how many were passed through.
    thought: usize,
    said: usize,
}

#[derive(Debug, Default)]
enum State {
    /// Only white space so far, and perhaps a part of a tag.
    #[default]
    Beginning,
    /// Text that is thoughts if the first tag in it is a closing one.
    Unsure,
    /// Inside thoughts, up to this closing tag.
    Thinking(&'static str),
    /// In the white space between the thoughts and the answer.
    AfterThoughts,
    Answer,
}

impl ThinkFilter {
    pub(super) fn of(quirks: &Quirks) -> Self {
        ThinkFilter { unopened: quirks.unopened_thoughts, ..ThinkFilter::default() }
    }

    /// Adds a piece and returns the text to pass through, which may be empty.
    pub(super) fn feed(&mut self, piece: &str) -> String {
        let said = match self.state {
            State::Answer => piece.to_owned(),
            State::Beginning | State::Unsure | State::Thinking(_) | State::AfterThoughts => {
                self.held.push_str(piece);
                self.advance()
            }
        };
        self.said += said.len();
        said
    }

    /// Ends the answer and returns the text that was held back. Thoughts without a closing tag are
    /// not part of the answer.
    pub(super) fn end(&mut self) -> String {
        let rest = std::mem::take(&mut self.held);
        match self.state {
            State::Beginning | State::Unsure => rest,
            State::Thinking(_) | State::AfterThoughts | State::Answer => String::new(),
        }
    }

    /// The usage, with an estimated share of thoughts if the server does not count them.
    pub(super) fn counted(&self, usage: Usage) -> Usage {
        if usage.reasoning > 0 || self.thought == 0 {
            return usage;
        }
        let (thought, all) = (self.thought as u64, (self.thought + self.said) as u64);
        Usage { reasoning: usage.completion.saturating_mul(thought) / all, ..usage }
    }

    fn advance(&mut self) -> String {
        if let State::Beginning = self.state {
            let begun = self.held.trim_start();
            if let Some((open, close)) = TAGS.iter().find(|(open, _)| begun.starts_with(open)) {
                let begins = self.held.len() - begun.len() + open.len();
                self.held.drain(..begins);
                self.state = State::Thinking(close);
            } else if TAGS.iter().any(|(open, _)| open.starts_with(begun))
                && self.held.len() < MAX_WHITE_SPACE
            {
                return String::new();
            } else if self.unopened {
                self.state = State::Unsure;
            } else {
                return self.pass_through();
            }
        }
        if let State::Unsure = self.state {
            let from = self.held.floor_char_boundary(self.searched.saturating_sub(LONGEST_TAG));
            match first_tag(&self.held[from..]) {
                Some(Tag::Ends(close)) => self.state = State::Thinking(close),
                Some(Tag::Begins) => return self.pass_through(),
                None => {
                    self.searched = self.held.len();
                    return String::new();
                }
            }
        }
        if let State::Thinking(close) = self.state {
            self.drop_thoughts(close);
        }
        if let State::AfterThoughts = self.state {
            self.held.drain(..self.held.len() - self.held.trim_start().len());
        }
        match self.state {
            State::AfterThoughts if !self.held.is_empty() => self.pass_through(),
            State::Beginning | State::Unsure | State::Thinking(_) | State::AfterThoughts | State::Answer => {
                String::new()
            }
        }
    }

    /// Drops thoughts, except for a possible beginning of the closing tag.
    fn drop_thoughts(&mut self, close: &'static str) {
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
            self.state = State::AfterThoughts;
        }
    }

    fn pass_through(&mut self) -> String {
        self.state = State::Answer;
        std::mem::take(&mut self.held)
    }
}

enum Tag {
    Begins,
    Ends(&'static str),
}

/// The first tag in this text.
fn first_tag(text: &str) -> Option<Tag> {
    let tags = TAGS.iter().flat_map(|(open, close)| [(open, Tag::Begins), (close, Tag::Ends(close))]);
    let found = tags.filter_map(|(tag, kind)| Some((text.find(tag)?, kind)));
    found.min_by_key(|(at, _)| *at).map(|(_, kind)| kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text passed through of an answer in pieces of this many characters.
    fn said(answer: &str, each: usize) -> String {
        said_by(ThinkFilter::default(), answer, each)
    }

    fn said_by(mut filter: ThinkFilter, answer: &str, each: usize) -> String {
        let letters: Vec<char> = answer.chars().collect();
        let pieces = letters.chunks(each).map(|it| it.iter().collect::<String>());
        let said: String = pieces.map(|piece| filter.feed(&piece)).collect();
        said + &filter.end()
    }

    #[test]
    fn thoughts_at_the_beginning_are_removed() {
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
    fn thoughts_without_an_opening_tag_are_removed_where_the_model_is_known_for_them() {
        let quirks = Quirks { unopened_thoughts: true, ..Quirks::default() };
        let check = |answer: &str, expected: &str| {
            for each in [1, 2, 3, 7, 1_000] {
                let said = said_by(ThinkFilter::of(&quirks), answer, each);
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
    fn text_outside_of_thoughts_is_not_delayed() {
        let mut filter = ThinkFilter::default();
        let pieces = ["<", "th", "ick> ", "as", " a brick"];
        assert_eq!(pieces.map(|piece| filter.feed(piece)), ["", "", "<thick> ", "as", " a brick"]);
    }

    #[test]
    fn f7_blanks_without_end_are_let_through() {
        let blanks = " \n".repeat(100_000);
        assert_eq!(said(&blanks, 7), blanks);
        assert_eq!(said(&format!("<think></think>{blanks}Tabs."), 7), "Tabs.");
    }

    #[test]
    fn f7_thoughts_without_end_are_not_kept() {
        let mut filter = ThinkFilter::default();
        filter.feed("<think>");
        (0..100_000).for_each(|_| assert_eq!(filter.feed("so </thi and so on "), ""));
        assert!(filter.held.len() < 100, "{}", filter.held.len());
    }

    #[test]
    fn d10_thoughts_are_counted_as_such() {
        let mut filter = ThinkFilter::default();
        filter.feed("<think>12345678901234567890</think>12345678901234");
        let check = |usage: Usage, reasoning: u64| assert_eq!(filter.counted(usage).reasoning, reasoning);
        check(Usage::new(5, 100), 66);
        check(Usage { reasoning: 7, ..Usage::new(5, 100) }, 7);
        assert_eq!(ThinkFilter::default().counted(Usage::new(5, 100)), Usage::new(5, 100));
    }
}
