//! Reads a text word by word with offsets, and knows the content words that sources are looked up
//! by.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::model::relevance;

use crate::detect::words::is_unspaced;

/// The number of a content word.
pub(super) type Term = u32;

/// A word of a text, or a character of a script without blanks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word {
    /// Its place in Unicode scalar values.
    pub(super) start: usize,
    pub(super) end: usize,
    /// A hash of it in lower case.
    pub(super) hash: u64,
    pub(super) is_unspaced: bool,
}

/// The content words that may be looked up, with a number for each.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    terms: BTreeMap<String, Term>,
    /// Which beginnings of words the terms have.
    beginnings: Beginnings,
    /// The term of each spelling that was met.
    spellings: BTreeMap<String, Option<Term>>,
}

impl Vocabulary {
    /// The content words of these texts, without these names: who is mentioned says nothing about
    /// who said it.
    pub(super) fn of<'t>(
        texts: impl Iterator<Item = &'t str>,
        names: impl Iterator<Item = &'t str>,
    ) -> Vocabulary {
        let names: BTreeSet<String> = names.flat_map(relevance::terms).collect();
        let mut vocabulary = Vocabulary::default();
        for text in texts {
            let words = SpelledWords::of(text);
            let folded: Vec<String> = words.all_folded().cloned().collect();
            let is_function_word = relevance::function_words(&folded);
            for (word, folded) in words.each_once() {
                let is_content = folded.first().is_some_and(|it| !is_function_word(it));
                if is_content && let Some(term) = term_of(word).filter(|it| !names.contains(it)) {
                    vocabulary.add(term);
                }
            }
        }
        vocabulary
    }

    fn add(&mut self, term: String) {
        self.beginnings.add(&term);
        let next = self.terms.len() as Term;
        self.terms.entry(term).or_insert(next);
    }

    pub(super) fn len(&self) -> usize {
        self.terms.len()
    }

    /// The number of this word, in lower case, if it is a content word.
    fn term(&mut self, word: &str) -> Option<Term> {
        if !self.beginnings.may_begin(word) {
            return None;
        }
        if let Some(known) = self.spellings.get(word) {
            return *known;
        }
        let term = term_of(word).and_then(|it| self.terms.get(&it).copied());
        self.spellings.insert(word.to_owned(), term);
        term
    }

    /// The words and content words of a text; each content word with its place.
    pub(super) fn read(&mut self, text: &str) -> (Vec<Word>, Vec<(usize, Term)>) {
        let (mut words, mut terms) = (Vec::new(), Vec::new());
        scan(text, |word, place| {
            terms.extend(self.term(word).map(|term| (place.start, term)));
            // Of a pair of characters, only the first is new.
            words.push(place);
        });
        (words, terms)
    }

    /// The content words of a text, each once.
    pub(super) fn terms(&mut self, text: &str) -> Vec<Term> {
        each_once(&self.read(text).1)
    }
}

/// Content words without their places, sorted, each once.
pub(super) fn each_once(terms: &[(usize, Term)]) -> Vec<Term> {
    let mut terms: Vec<Term> = terms.iter().map(|it| it.1).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The spelled words of a text, each folded once however often it stands there.
struct SpelledWords {
    /// Each word, in the order of their first places, with its folded words.
    words: Vec<(String, Vec<String>)>,
    /// The whole text, as indices of `words`.
    text: Vec<usize>,
}

impl SpelledWords {
    fn of(text: &str) -> SpelledWords {
        let mut known: BTreeMap<String, usize> = BTreeMap::new();
        let mut read = SpelledWords { words: Vec::new(), text: Vec::new() };
        scan(text, |word, _| {
            let index = known.get(word).copied().unwrap_or_else(|| {
                let index = read.words.len();
                known.insert(word.to_owned(), index);
                read.words.push((word.to_owned(), relevance::words(word)));
                index
            });
            read.text.push(index);
        });
        read
    }

    fn all_folded(&self) -> impl Iterator<Item = &String> {
        self.text.iter().flat_map(|it| &self.words[*it].1)
    }

    fn each_once(&self) -> impl Iterator<Item = (&str, &[String])> {
        self.words.iter().map(|(word, folded)| (word.as_str(), folded.as_slice()))
    }
}

/// A filter: which pairs of first letters the terms have. Most words of a talk are not in the
/// answer, and this tells so without looking them up.
#[derive(Debug, Default)]
struct Beginnings([u64; 16]);

impl Beginnings {
    fn add(&mut self, term: &str) {
        let bit = Beginnings::bit(term);
        self.0[bit / 64] |= 1 << (bit % 64);
    }

    /// Whether this word may have one of the terms. A plain word begins as its term does, because
    /// only endings are cut; other words are always looked up.
    fn may_begin(&self, word: &str) -> bool {
        let is_plain = word.bytes().all(|it| it.is_ascii_alphanumeric());
        let bit = Beginnings::bit(word);
        !is_plain || self.0[bit / 64] & (1 << (bit % 64)) != 0
    }

    /// Of 1,024: the lowest five bits of each of the first two bytes.
    fn bit(word: &str) -> usize {
        let mut bytes = word.bytes().map(|it| usize::from(it & 31));
        32 * bytes.next().unwrap_or_default() + bytes.next().unwrap_or_default()
    }
}

/// What all forms of a word have in common. A pair of characters that is grammar has nothing.
fn term_of(word: &str) -> Option<String> {
    if word.chars().any(is_unspaced) {
        let is_grammar = |it: char| matches!(it, '\u{3041}'..='\u{309f}');
        return (1 < word.chars().count() && !word.chars().any(is_grammar)).then(|| word.to_owned());
    }
    relevance::terms(word).next()
}

/// Calls `take` with each word in lower case. A script without blanks gives pairs of neighbouring
/// characters, and the last character of a run alone.
fn scan(text: &str, mut take: impl FnMut(&str, Word)) {
    let mut word = String::new();
    let (mut start, mut place) = (0, 0);
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let is_apart = !letter.is_ascii() && is_unspaced(letter);
        if is_apart {
            end_word(&mut word, start, place, &mut take);
            let next = letters.peek().copied().filter(|it| is_unspaced(*it));
            let pair: String = [Some(letter), next].into_iter().flatten().collect();
            let hash = hash_of(letter.encode_utf8(&mut [0; 4]));
            take(&pair, Word { start: place, end: place + 1, hash, is_unspaced: true });
        } else if letter.is_ascii_alphanumeric() || is_part(letter, letters.peek().copied(), &word) {
            if word.is_empty() {
                start = place;
            }
            match letter.is_ascii() {
                true => word.push(letter.to_ascii_lowercase()),
                false => word.extend(letter.to_lowercase()),
            }
        } else {
            end_word(&mut word, start, place, &mut take);
        }
        place += 1;
    }
    end_word(&mut word, start, place, &mut take);
}

/// Whether a character belongs to a word: a letter or digit, or the sign within a number.
fn is_part(letter: char, next: Option<char>, word: &str) -> bool {
    let is_digit = |it: Option<char>| it.is_some_and(|it| it.is_ascii_digit());
    letter.is_alphanumeric()
        || is_combining(letter)
        || (matches!(letter, '.' | ',') && is_digit(word.chars().next_back()) && is_digit(next))
}

/// An accent that is a character of its own belongs to the letter before it.
fn is_combining(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}')
}

fn end_word(word: &mut String, start: usize, end: usize, take: &mut impl FnMut(&str, Word)) {
    if !word.is_empty() {
        take(word, Word { start, end, hash: hash_of(word), is_unspaced: false });
        word.clear();
    }
}

/// FNV-1a.
pub(super) fn hash_of(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let mut words: Vec<String> = Vec::new();
        let letters: Vec<char> = text.chars().collect();
        scan(text, |word, place| {
            assert!(place.start < place.end && place.end <= letters.len(), "{text}: {place:?}");
            words.push(word.to_owned());
        });
        assert_eq!(words, expected, "{text}");
    }

    #[test]
    fn words_numbers_and_pairs_of_characters_are_read() {
        check("Naïve Ärzte, 3.5 % (1,200)!", &["naïve", "ärzte", "3.5", "1,200"]);
        check("It's 5. Next", &["it", "s", "5", "next"]);
        check("标签 ab好", &["标签", "签", "ab", "好"]);
        check("ไทย", &["ไท", "ทย", "ย"]);
        check("", &[]);
    }

    #[test]
    fn content_words_have_numbers_whatever_their_ending() {
        let text = "The migration of databases is not cheap for Ann.";
        let mut vocabulary = Vocabulary::of([text].into_iter(), ["ann"].into_iter());
        assert_eq!(vocabulary.len(), 3);
        let terms = vocabulary.terms("Cheap migrations, and a database or two.");
        assert_eq!(terms.len(), 3);
        assert!(vocabulary.terms("Rents rose.").is_empty());
    }

    #[test]
    fn the_filter_of_beginnings_passes_every_form_of_a_content_word() {
        let text = "Policies 3.5 Zürich STRASSEN zu\u{308}ge ab 标签 naïve Is go";
        let mut vocabulary = Vocabulary::of([text].into_iter(), [].into_iter());
        let all = vocabulary.len();
        for spelled in ["policy", "3.5", "zurich", "straße", "züge", "标签", "NAIVE"] {
            assert_eq!(vocabulary.terms(spelled).len(), 1, "{spelled} of {all}");
        }
        for spelled in ["rents", "4.5", "标", ""] {
            assert!(vocabulary.terms(spelled).is_empty(), "{spelled}");
        }
    }

    #[test]
    fn a_word_that_stands_twice_is_counted_twice_in_finding_the_language() {
        let words = SpelledWords::of("war war war over");
        assert_eq!(words.all_folded().collect::<Vec<_>>(), ["war", "war", "war", "over"]);
        let once: Vec<_> = words.each_once().map(|it| it.0).collect();
        assert_eq!(once, ["war", "over"]);
    }
}
