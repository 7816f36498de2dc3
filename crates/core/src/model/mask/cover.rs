//! Puts labels in place of names, without damaging the text around them.

use crate::model::participant::Participant;

use super::{
    Mask,
    citation::{Found, citation_at},
    product::{begins_with_product_word, is_product_word},
    self_named::is_self_named,
    words::{Word, first_at, is_joined, replaced},
};

/// Words that are common in English or German prose. A seat may be called like one of them, but the
/// word alone doesn't mean the seat.
const COMMON: &[&str] = &[
    "a",
    "about",
    "ace",
    "after",
    "against",
    "agent",
    "ai",
    "al",
    "all",
    "alpha",
    "am",
    "an",
    "and",
    "answer",
    "any",
    "april",
    "are",
    "art",
    "as",
    "assistant",
    "at",
    "august",
    "author",
    "be",
    "best",
    "beta",
    "bill",
    "black",
    "blue",
    "bot",
    "but",
    "by",
    "can",
    "chair",
    "chance",
    "chat",
    "chris",
    "code",
    "command",
    "con",
    "critic",
    "das",
    "dawn",
    "der",
    "die",
    "do",
    "dot",
    "drew",
    "echo",
    "editor",
    "er",
    "es",
    "expert",
    "faith",
    "first",
    "for",
    "frank",
    "gene",
    "grace",
    "grant",
    "gray",
    "green",
    "guest",
    "he",
    "her",
    "him",
    "his",
    "hope",
    "host",
    "human",
    "i",
    "ich",
    "if",
    "in",
    "is",
    "it",
    "jack",
    "joy",
    "june",
    "just",
    "law",
    "lead",
    "leader",
    "left",
    "local",
    "major",
    "man",
    "manager",
    "mark",
    "max",
    "may",
    "me",
    "mean",
    "meta",
    "might",
    "miles",
    "min",
    "model",
    "more",
    "most",
    "my",
    "never",
    "no",
    "not",
    "now",
    "of",
    "off",
    "on",
    "one",
    "or",
    "other",
    "our",
    "page",
    "participant",
    "pat",
    "perplexity",
    "person",
    "pi",
    "point",
    "poll",
    "pro",
    "ray",
    "red",
    "rich",
    "right",
    "rob",
    "rose",
    "round",
    "second",
    "set",
    "she",
    "sie",
    "so",
    "speaker",
    "specialist",
    "stone",
    "sue",
    "summer",
    "system",
    "test",
    "that",
    "the",
    "them",
    "they",
    "third",
    "this",
    "three",
    "to",
    "two",
    "up",
    "us",
    "user",
    "van",
    "von",
    "vote",
    "was",
    "we",
    "were",
    "what",
    "who",
    "will",
    "win",
    "wir",
    "with",
    "writer",
    "yes",
    "you",
];

/// Whether a word alone is too common to mean a seat.
pub(super) fn is_common(word: &str) -> bool {
    let mut letters = word.chars();
    let is_short = letters.next().is_none() || letters.next().is_none();
    is_short || word.chars().all(|it| it.is_ascii_digit()) || COMMON.contains(&word)
}

/// The names of an agent that are ordinary words, in lower case: its id if that is one word, and a
/// display name that is a word of the id. No other participant knows these names, and an agent
/// called *editor* must not turn every editor of a text into a label.
pub(super) fn ordinary_names(who: &Participant) -> Vec<String> {
    let Some(agent) = &who.agent else { return Vec::new() };
    let id = who.name.to_lowercase();
    let words: Vec<&str> = id.split('-').collect();
    let displayed = agent.display_name.as_ref().map(|it| it.to_lowercase());
    let displayed = displayed.filter(|it| words.contains(&it.as_str()));
    let named = [id.clone()].into_iter().chain(displayed);
    named.filter(|it| 2 < it.len() && it.chars().all(char::is_alphabetic)).collect()
}

/// What an agent is by its profile, in lower case: *security engineer*.
pub(super) fn role_in_profile(who: &Participant) -> Option<String> {
    let role = who.agent.as_ref()?.role.as_ref()?;
    let role = role.split_whitespace().map(str::to_lowercase).collect::<Vec<_>>().join(" ");
    (2 < role.len() && !is_common(&role)).then_some(role)
}

impl Mask {
    /// Text of participants or users, with labels in place of names: of `@ann` always, in
    /// citations, and of names, providers and models that stand alone.
    #[must_use]
    pub fn cover(&self, text: &str) -> String {
        self.cover_words(&self.with_labels_after_signs(text, |_| false))
    }

    /// Replaces names that stand alone, and ordinary words by which a speaker calls itself.
    fn cover_words(&self, text: &str) -> String {
        let text =
            replaced(text, &self.covers, |from, to, word| self.is_part_of_more(text, (from, to), word));
        replaced(&text, &self.roles, |from, to, _| !is_self_named(&text[..from], &text[to..]))
    }

    /// The text of a prompt with labels in place of `@ann`, unless the question itself has that.
    pub(super) fn cover_signs(&self, text: &str) -> String {
        self.with_labels_after_signs(text, |word| self.asked_about.iter().any(|it| *it == word.text()))
    }

    /// A quotation in a prompt: like [`Mask::cover`], but the question itself may be quoted.
    pub(super) fn cover_quoted(&self, text: &str) -> String {
        self.cover_words(&self.cover_signs(text))
    }

    /// Replaces names after `@` and in citations.
    fn with_labels_after_signs(&self, text: &str, stays: impl Fn(&Word) -> bool) -> String {
        let has_names = !self.mentioned.is_empty() || !self.cited.is_empty();
        if !has_names || !text.contains(['@', '＠', '[', '［', '【']) {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        let (mut copied, mut last) = (0, ' ');
        for (at, letter) in text.char_indices() {
            let before = std::mem::replace(&mut last, letter);
            if at < copied {
                continue;
            }
            let found = match letter {
                '@' | '＠' if !is_joined(before, 'x') => {
                    let after = &text[at + letter.len_utf8()..];
                    let named = self.mentioned.iter().find_map(|it| Some((it.length_inflected(after)?, it)));
                    named
                        .filter(|it| !stays(it.1))
                        .map(|(length, it)| (letter.len_utf8() + length, it.becomes.clone()))
                }
                '[' | '［' | '【' => match citation_at(&text[at..], &self.cited) {
                    Found::Replace(length, becomes) => Some((length, becomes)),
                    Found::Nothing | Found::Unfinished => None,
                },
                _ => None,
            };
            if let Some((length, becomes)) = found {
                out.push_str(&text[copied..at]);
                out.push_str(&becomes);
                copied = at + length;
            }
        }
        out.push_str(&text[copied..]);
        out
    }

    /// Whether the word in this range is a part of an address, a compound or a product's name:
    /// `gemini.google.com`, `claude-code`, `Google Cloud`.
    fn is_part_of_more(&self, text: &str, (from, to): (usize, usize), word: &Word) -> bool {
        let (before, after) = (&text[..from], &text[to..]);
        self.is_compound(before, after, word) || self.is_product((before, &text[from..to], after), word)
    }

    fn is_compound(&self, before: &str, after: &str, word: &Word) -> bool {
        let mut next = after.chars();
        let joins_next = match (next.next(), next.next()) {
            (Some('.'), Some(it)) => it.is_lowercase() || it.is_ascii_digit(),
            (Some('/'), Some(it)) => it.is_alphanumeric() && !self.means_another(next_text(after), word),
            (Some('-' | '_'), Some(it)) => it.is_alphanumeric(),
            _ => false,
        };
        let mut last = before.chars().rev();
        let joins_last = match (last.next(), last.next()) {
            // A sign that doesn't begin a word, as in an address: names after others are covered
            // already.
            (Some('@'), _) => true,
            (Some('.' | '-' | '_'), Some(it)) => it.is_alphanumeric(),
            (Some('/'), Some(it)) => {
                it.is_alphanumeric() && !self.means_another(last_word(&before[..before.len() - 1]), word)
            }
            _ => false,
        };
        joins_next || joins_last
    }

    /// Whether a capitalised name stands beside another capitalised word that isn't another seat's.
    /// Where nouns have capitals, the other word must be one of a product's name.
    fn is_product(&self, (before, name, after): (&str, &str, &str), word: &Word) -> bool {
        if !name.chars().any(char::is_uppercase) {
            return false;
        }
        if begins_with_product_word(after) {
            return true;
        }
        let means_it =
            |other: &str| first_at(&self.covers, other).is_some_and(|it| it.1.becomes == word.becomes);
        let is_name = |other: &str| !self.nouns_are_capitalised || is_product_word(other) || means_it(other);
        let names_product = |other: &str| is_capitalised(other) && is_name(other);
        let next = after.strip_prefix(' ').filter(|it| names_product(first_word(it)));
        if next.is_some_and(|it| !self.means_another(it, word)) {
            return true;
        }
        let Some(before) = before.strip_suffix(' ') else { return false };
        let last = last_word(before);
        let begins = before[..before.len() - last.len()]
            .trim_end_matches([' ', '"', '“', '„', '(', '*', '_', '#', '>', '-']);
        let begins_sentence =
            begins.is_empty() || begins.ends_with(['.', '!', '?', ':', ';', '\n', '…', '。']);
        let beside = !begins_sentence && names_product(last) && !self.means_another(last, word);
        is_capitalised(last) && (means_it(last) || beside)
    }

    /// Whether the text begins with a word that means another seat.
    fn means_another(&self, text: &str, word: &Word) -> bool {
        first_at(&self.covers, text).is_some_and(|it| it.1.becomes != word.becomes)
    }
}

/// The text after a joining character.
fn next_text(after: &str) -> &str {
    after.get(1..).unwrap_or_default()
}

fn first_word(text: &str) -> &str {
    let end = text.find(|it: char| !it.is_alphanumeric()).unwrap_or(text.len());
    &text[..end]
}

fn last_word(text: &str) -> &str {
    let start = text.char_indices().rev().take_while(|(_, it)| it.is_alphanumeric()).last();
    start.map_or("", |(at, _)| &text[at..])
}

/// Whether a word is capitalised and longer than one letter: `I` says nothing.
fn is_capitalised(word: &str) -> bool {
    let mut letters = word.chars();
    letters.next().is_some_and(char::is_uppercase) && letters.next().is_some()
}
