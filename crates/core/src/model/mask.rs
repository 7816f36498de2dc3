//! Masks: labels in place of participants' names, so a judge can't favour anyone by name.

use std::{cmp::Reverse, collections::BTreeMap, sync::Arc};

use crate::model::{participant::Participant, transcript::Turn};

/// Replaces a word that reveals a provider but not which participant is meant.
const SOMEONE: &str = "a participant";

/// Labels for a whole panel. Masked text can be unmasked again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    /// Names and labels, in display order.
    labels: Vec<(String, String)>,
    /// Replacements, longest word first, so that a model's name is replaced before its vendor's.
    covers: Vec<Word>,
    reveals: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Word {
    letters: Vec<char>,
    becomes: String,
}

impl Mask {
    /// A mask with a label for each participant, in this display order.
    #[must_use]
    pub fn new(labels: &[(&Participant, &str)]) -> Self {
        let mut words: BTreeMap<String, String> = BTreeMap::new();
        for (who, label) in labels {
            for word in [&who.provider].into_iter().chain(&who.model).chain(&who.aliases) {
                let becomes = words.entry(word.to_lowercase()).or_insert_with(|| (*label).to_owned());
                // Two participants of one provider: the word doesn't say which of them is meant.
                if becomes != label {
                    SOMEONE.clone_into(becomes);
                }
            }
        }
        // A participant's own name wins over any other word spelled the same.
        words.extend(labels.iter().map(|(who, label)| (who.name.to_lowercase(), (*label).to_owned())));
        let pairs = labels.iter().map(|(who, label)| (who.name.clone(), (*label).to_owned()));
        let labels: Vec<(String, String)> = pairs.collect();
        let reveals = labels.iter().map(|(name, label)| (label.to_lowercase(), name.clone()));
        Mask { covers: longest_first(words), reveals: longest_first(reveals), labels }
    }

    /// The labels in display order, each with the name behind it.
    #[must_use]
    pub fn labels(&self) -> Vec<(String, String)> {
        self.labels.iter().map(|(name, label)| (label.clone(), name.clone())).collect()
    }

    /// The label of this name.
    #[must_use]
    pub fn label(&self, name: &str) -> Option<&str> {
        self.labels.iter().find(|it| it.0 == name).map(|it| it.1.as_str())
    }

    /// The name behind this label, ignoring case.
    #[must_use]
    pub fn name(&self, label: &str) -> Option<&str> {
        let label = label.trim().to_lowercase();
        self.labels.iter().find(|it| it.1.to_lowercase() == label).map(|it| it.0.as_str())
    }

    /// The text with labels in place of names, providers and models.
    #[must_use]
    pub fn cover(&self, text: &str) -> String {
        replaced(text, &self.covers)
    }

    /// The text with names in place of labels.
    #[must_use]
    pub fn reveal(&self, text: &str) -> String {
        replaced(text, &self.reveals)
    }

    /// The label's position in display order.
    pub(crate) fn place(&self, label: &str) -> usize {
        self.labels.iter().position(|it| it.1 == label).unwrap_or(usize::MAX)
    }

    /// The turn with masked speaker and text.
    pub(crate) fn over(&self, turn: &Turn) -> Arc<Turn> {
        let participant = self.label(&turn.participant).unwrap_or(SOMEONE).to_owned();
        Arc::new(Turn { participant, text: self.cover(&turn.text).into(), ..turn.clone() })
    }
}

/// The text with names in place of these labels.
#[must_use]
pub fn reveal(text: &str, labels: &[(String, String)]) -> String {
    let words = labels.iter().map(|(label, name)| (label.to_lowercase(), name.clone()));
    replaced(text, &longest_first(words))
}

fn longest_first(words: impl IntoIterator<Item = (String, String)>) -> Vec<Word> {
    let words = words.into_iter().filter(|(word, _)| !word.is_empty());
    let mut words: Vec<Word> =
        words.map(|(word, becomes)| Word { letters: word.chars().collect(), becomes }).collect();
    words.sort_by_key(|it| Reverse(it.letters.len()));
    words
}

/// Replaces whole words, ignoring case. Looks only where a word begins.
fn replaced(text: &str, words: &[Word]) -> String {
    let mut out = String::with_capacity(text.len());
    let (mut copied, mut before) = (0, ' ');
    let first_letters = first_letters(words);
    for (at, letter) in text.char_indices() {
        let last = std::mem::replace(&mut before, letter);
        // Most letters begin no name. This runs over every turn that a judge is shown.
        if letter.is_ascii() && !first_letters[letter as usize] {
            continue;
        }
        if at < copied || is_joined(last, letter) {
            continue;
        }
        let (rest, first) = (&text[at..], letter.to_lowercase().next());
        let mut alike = words.iter().filter(|it| it.letters.first().copied() == first);
        let found = alike.find_map(|it| Some((it.length_at(rest)?, &it.becomes)));
        if let Some((length, becomes)) = found {
            out.push_str(&text[copied..at]);
            out.push_str(becomes);
            copied = at + length;
        }
    }
    out.push_str(&text[copied..]);
    out
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

impl Word {
    /// How many bytes this word takes at the start of the text, if the text starts with it as a
    /// whole word.
    fn length_at(&self, text: &str) -> Option<usize> {
        let mut letters = self.letters.iter();
        let mut characters = text.chars();
        while let Some(wanted) = letters.next() {
            let mut lower = characters.next()?.to_lowercase();
            if lower.next() != Some(*wanted) || !lower.all(|it| letters.next() == Some(&it)) {
                return None;
            }
        }
        let after = characters.clone().next().unwrap_or(' ');
        let ends = !is_joined(*self.letters.last()?, after);
        ends.then(|| text.len() - characters.as_str().len())
    }
}

fn is_joined(one: char, other: char) -> bool {
    [one, other].into_iter().all(|it| it.is_alphanumeric() && !is_written_without_spaces(it))
}

/// Scripts that write no spaces between words, so a name may directly follow another word.
fn is_written_without_spaces(letter: char) -> bool {
    matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{2e80}'..='\u{ffef}')
        || '\u{20000}' <= letter
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seat(name: &str, provider: &str, model: Option<&str>) -> Participant {
        let model = model.map(str::to_owned);
        Participant { name: name.into(), model, ..Participant::of(provider) }
    }

    fn mask() -> Mask {
        let table = [
            seat("Ann", "claude", Some("claude-opus-4")),
            Participant { aliases: vec!["google".into()], ..seat("bob", "gemini", None) },
            seat("claude-2", "claude", None),
            seat("Ümit", "太郎", None),
        ];
        let labels = ["Debater B", "Debater A", "the judge", "Guest A"];
        Mask::new(&table.iter().zip(labels).collect::<Vec<_>>())
    }

    #[track_caller]
    fn check(said: &str, expected: &str) {
        assert_eq!(mask().cover(said), expected);
    }

    #[test]
    fn names_providers_and_models_are_covered_as_whole_words() {
        check("ann, ANN's and Anna", "Debater B, Debater B's and Anna");
        check("I am claude-opus-4!", "I am Debater B!");
        check("as **Gemini** said", "as Debater A said".replace("Debater A", "**Debater A**").as_str());
        check("by Google, googled", "by Debater A, googled");
        check("@bob_ (bob)", "@Debater A_ (Debater A)");
        check("ÜMIT spoke, ümits did not", "Guest A spoke, ümits did not");
        check("太郎は言った", "Guest Aは言った");
        check("", "");
    }

    #[test]
    fn a_provider_of_two_is_someone_and_a_name_is_always_the_named() {
        check("Claude models agree", "a participant models agree");
        check("claude-2 judges", "the judge judges");
    }

    #[test]
    fn what_was_covered_is_uncovered_again() {
        let mask = mask();
        assert_eq!(
            mask.reveal("debater a beat Debater B; Debater AB did not"),
            "bob beat Ann; Debater AB did not"
        );
        assert_eq!((mask.name(" debater b "), mask.name("Debater C")), (Some("Ann"), None));
        assert_eq!((mask.label("Ann"), mask.label("ann")), (Some("Debater B"), None));
    }

    #[test]
    fn labels_on_record_reveal_the_same_as_their_mask() {
        let labels = mask().labels();
        let expected =
            [("Debater B", "Ann"), ("Debater A", "bob"), ("the judge", "claude-2"), ("Guest A", "Ümit")];
        assert_eq!(labels, expected.map(|(label, name)| (label.to_owned(), name.to_owned())));
        for said in
            ["DEBATER A, debater b's and the judge.", "Debater AB, Debaters A", "Guest A は言った", "", "bob"]
        {
            assert_eq!(reveal(said, &labels), mask().reveal(said));
        }
        assert_eq!(reveal("(Debater A) met the judge", &labels), "(bob) met claude-2");
    }

    #[test]
    fn the_longer_of_two_labels_is_revealed_first_and_none_is_revealed_twice() {
        let pair = |label: &str, name: &str| (label.to_owned(), name.to_owned());
        let labels = [pair("Guest A", "bob"), pair("Guest A 2", "ann"), pair("bob", "cyd"), pair("", "dan")];
        assert_eq!(reveal("Guest A 2 answered Guest A and bob", &labels), "ann answered bob and cyd");
        assert_eq!(reveal("Guest A", &[]), "Guest A");
    }
}
