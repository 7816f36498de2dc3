//! Whole words in text, ignoring case.

use std::cmp::Reverse;

/// A word and what it becomes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Word {
    letters: Vec<char>,
    pub(super) becomes: String,
}

impl Word {
    pub(super) fn text(&self) -> String {
        self.letters.iter().collect()
    }

    /// How many bytes this word takes at the start of the text, if the text starts with it as a
    /// whole word.
    pub(super) fn length_at(&self, text: &str) -> Option<usize> {
        let length = self.prefix_of(text)?;
        let after = text[length..].chars().next().unwrap_or(' ');
        (!is_joined(*self.letters.last()?, after)).then_some(length)
    }

    /// The same, but the word may have a genitive or plural `s`.
    pub(super) fn length_inflected(&self, text: &str) -> Option<usize> {
        let length = self.prefix_of(text)?;
        let rest = &text[length..];
        let ends = |rest: &str| rest.chars().next().is_none_or(|it| !is_joined('s', it));
        (ends(rest) || rest.strip_prefix('s').is_some_and(ends)).then_some(length)
    }

    fn prefix_of(&self, text: &str) -> Option<usize> {
        let mut letters = self.letters.iter();
        let mut characters = text.chars();
        while let Some(wanted) = letters.next() {
            let mut lower = characters.next()?.to_lowercase();
            if lower.next() != Some(*wanted) || !lower.all(|it| letters.next() == Some(&it)) {
                return None;
            }
        }
        Some(text.len() - characters.as_str().len())
    }
}

/// These words, longest first, so that a model's name is replaced before its vendor's.
pub(super) fn longest_first(words: impl IntoIterator<Item = (String, String)>) -> Vec<Word> {
    let words = words.into_iter().filter(|(word, _)| !word.is_empty());
    let mut words: Vec<Word> =
        words.map(|(word, becomes)| Word { letters: word.chars().collect(), becomes }).collect();
    words.sort_by_key(|it| Reverse(it.letters.len()));
    words
}

/// Replaces whole words. Looks only where a word begins; `stays` may leave a word as it is.
pub(super) fn replaced(text: &str, words: &[Word], stays: impl Fn(usize, usize, &Word) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut before) = (0, ' ');
    let first_letters = first_letters(words);
    for (at, letter) in text.char_indices() {
        let last = std::mem::replace(&mut before, letter);
        // Most letters begin no name. This runs over every turn that a participant is shown.
        if letter.is_ascii() && !first_letters[letter as usize] {
            continue;
        }
        if at < copied || is_joined(last, letter) {
            continue;
        }
        let (rest, first) = (&text[at..], letter.to_lowercase().next());
        let mut alike = words.iter().filter(|it| it.letters.first().copied() == first);
        let found = alike.find_map(|it| Some((it.length_at(rest)?, it)));
        if let Some((length, word)) = found.filter(|(length, word)| !stays(at, at + length, word)) {
            out.push_str(&text[copied..at]);
            out.push_str(&word.becomes);
            copied = at + length;
        }
    }
    out.push_str(&text[copied..]);
    out
}

/// The first of these words that the text starts with.
pub(super) fn first_at<'w>(words: &'w [Word], text: &str) -> Option<(usize, &'w Word)> {
    words.iter().find_map(|it| Some((it.length_at(text)?, it)))
}

/// Whether the text has this word.
pub(crate) fn has_word(text: &str, word: &str) -> bool {
    let word = longest_first([(word.to_lowercase(), String::new())]);
    let mut before = ' ';
    text.char_indices().any(|(at, letter)| {
        let last = std::mem::replace(&mut before, letter);
        !is_joined(last, letter) && first_at(&word, &text[at..]).is_some()
    })
}

/// Which ASCII characters begin one of these words, in either case.
fn first_letters(words: &[Word]) -> [bool; 128] {
    let mut begins = [false; 128];
    for first in words.iter().filter_map(|it| it.letters.first()).filter(|it| it.is_ascii()) {
        begins[first.to_ascii_lowercase() as usize] = true;
        begins[first.to_ascii_uppercase() as usize] = true;
    }
    begins
}

/// Whether two neighbouring characters belong to one word.
pub(super) fn is_joined(one: char, other: char) -> bool {
    [one, other].into_iter().all(|it| it.is_alphanumeric() && !is_written_without_spaces(it))
}

/// Scripts that write no spaces between words, so a name may directly follow another word.
fn is_written_without_spaces(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{ffef}')
        || '\u{20000}' <= letter
}
