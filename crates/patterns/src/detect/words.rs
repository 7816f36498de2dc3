//! Splits text into words for comparison: by script, without inflection, and marked if negated, so
//! that *not better* equals *worse* and differs from *better*.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::LazyLock,
};

/// One sentence as a list of words.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Sentence(pub(crate) Vec<Word>);

/// One word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its base form; an antonym has the form of its opposite and the other sign.
    pub(crate) form: String,
    /// Whether it is negated.
    pub(crate) negated: bool,
    /// Whether it is a content word rather than a function word.
    pub(crate) content: bool,
    /// The index of its clause within the sentence, from 0.
    pub(crate) clause: usize,
}

/// How many content words a negation covers.
const REACH: usize = 4;

/// The text as sentences.
pub(crate) fn sentences(text: &str) -> Vec<Sentence> {
    let text = text.to_lowercase().replace(['’', 'ʼ'], "'");
    let split = split_sentences(&text).into_iter().map(sentence);
    split.filter(|it| !it.0.is_empty()).collect()
}

fn split_sentences(text: &str) -> Vec<&str> {
    let (mut pieces, mut start) = (Vec::new(), 0);
    let mut letters = text.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map_or(' ', |it| it.1);
        if ends_sentence(letter, next) || matches!(letter, ';' | '\n' | '；') {
            pieces.push(&text[start..at]);
            start = at + letter.len_utf8();
        }
    }
    pieces.push(&text[start..]);
    pieces
}

/// Whether a sentence ends with this character, before that one.
pub(crate) fn ends_sentence(letter: char, next: char) -> bool {
    // A full stop within 3.5 or example.com doesn't end a sentence.
    matches!(letter, '!' | '?' | '。' | '！' | '？') || (letter == '.' && next.is_whitespace())
}

/// Reads one sentence from left to right, tracking negation.
fn sentence(text: &str) -> Sentence {
    let mut reader = Reader::default();
    let pieces = pieces(text);
    for (place, piece) in pieces.iter().enumerate() {
        let next = pieces.get(place + 1).map_or("", |it| it.as_str());
        reader.read_piece(piece, next);
    }
    reader.close();
    let mut words = reader.words;
    order_equals(&mut words);
    Sentence(words)
}

/// Sorts words joined as equals: *tabs and spaces* equals *spaces and tabs*.
fn order_equals(words: &mut [Word]) {
    for place in 1..words.len().saturating_sub(1) {
        let [one, join, other] = &words[place - 1..=place + 1] else { continue };
        let equals = one.content && other.content && JOINS.contains(&join.form.as_str());
        if equals && other.form < one.form {
            words.swap(place - 1, place + 1);
        }
    }
}

#[derive(Default)]
struct Reader {
    words: Vec<Word>,
    /// How many more content words the negation covers, and how many it has covered.
    left: usize,
    reached: usize,
    negating: bool,
    clause: usize,
}

impl Reader {
    fn read_piece(&mut self, piece: &str, next: &str) {
        if piece == "," || TURNS.contains(&piece) {
            self.clause += 1;
            if 0 < self.reached || piece != "," {
                self.close();
            }
        } else if NEGATORS.contains(piece) {
            if !is_idiom(piece, next) {
                // A negation within the reach of another cancels it; a new negation after it
                // doesn't.
                self.negating = !(self.negating && 0 < self.left && !RENEWING.contains(&piece));
                (self.left, self.reached) = (REACH, 0);
            }
        } else {
            self.push(piece);
        }
    }

    fn push(&mut self, piece: &str) {
        let content = !GRAMMAR.contains(piece);
        let (form, opposite) = plain(piece);
        let negated = content && (opposite ^ (self.negating && 0 < self.left));
        self.words.push(Word { form: form.clone(), negated, content, clause: self.clause });
        if content && 0 < self.left {
            // In *not better than spaces* only *better* is denied: a word with an opposite ends the
            // negation.
            let polar = POLAR.contains(form.as_str());
            (self.left, self.reached) = (if polar { 0 } else { self.left - 1 }, self.reached + 1);
        }
    }

    /// Ends a negation. If it covered nothing, it came last, as in *I think not*, and negates the
    /// words before it.
    fn close(&mut self) {
        if self.negating && self.reached == 0 && 0 < self.left {
            let before = self.words.iter_mut().rev().filter(|it| it.content).take(REACH);
            before.for_each(|it| it.negated = !it.negated);
        }
        (self.negating, self.left, self.reached) = (false, 0, 0);
    }
}

/// Words and commas, with contractions split. Scripts without spaces give one piece per character.
fn pieces(text: &str) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    let mut word = String::new();
    for letter in text.chars() {
        if is_unspaced(letter) {
            finish(&mut word, &mut pieces);
            pieces.push(letter.to_string());
        } else if letter.is_alphanumeric() || letter == '\'' {
            word.push(letter);
        } else {
            finish(&mut word, &mut pieces);
            if matches!(letter, ',' | '，' | '、' | '(' | ')' | ':' | '—' | '–') {
                pieces.push(",".to_owned());
            }
        }
    }
    finish(&mut word, &mut pieces);
    pieces
}

fn finish(word: &mut String, pieces: &mut Vec<String>) {
    let taken = std::mem::take(word);
    let taken = taken.trim_matches('\'');
    if let Some((_, parts)) = CONTRACTIONS.iter().find(|it| it.0 == taken) {
        pieces.extend(parts.iter().map(|it| (*it).to_owned()));
    } else if let Some(verb) = taken.strip_suffix("n't") {
        pieces.extend([verb.to_owned(), "not".to_owned()]);
    } else {
        // Short parts next to an apostrophe are grammar: ann's, we'll, l'eau.
        let parts = taken.split('\'').enumerate().filter(|(place, part)| {
            if *place == 0 {
                1 < part.chars().count() || !taken.contains('\'')
            } else {
                2 < part.chars().count()
            }
        });
        pieces.extend(parts.map(|it| it.1.to_owned()).filter(|it| !it.is_empty()));
    }
}

/// Whether the letter belongs to a script without blanks between words.
pub(crate) fn is_unspaced(letter: char) -> bool {
    letter.is_alphanumeric()
        && matches!(letter, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}'
            | '\u{2e80}'..='\u{abff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The base form, and whether the piece is the opposite of that form.
fn plain(piece: &str) -> (String, bool) {
    let singular = match piece.strip_suffix('s') {
        Some(stem) if 2 < stem.chars().count() && !stem.ends_with(['s', 'u', 'i']) => stem,
        _ => piece,
    };
    match OPPOSITES.get(singular).or_else(|| OPPOSITES.get(piece)) {
        Some(form) => ((*form).to_owned(), true),
        None => (singular.to_owned(), false),
    }
}

fn is_idiom(negator: &str, next: &str) -> bool {
    match negator {
        "not" => ["only", "just", "merely", "simply"].contains(&next),
        "no" | "without" => ["doubt", "question", "wonder"].contains(&next),
        _ => false,
    }
}

const CONTRACTIONS: &[(&str, &[&str])] = &[
    ("can't", &["can", "not"]),
    ("cannot", &["can", "not"]),
    ("won't", &["will", "not"]),
    ("shan't", &["shall", "not"]),
    ("ain't", &["is", "not"]),
];

/// Negators that continue a negation instead of cancelling it.
const RENEWING: &[&str] = &["nor", "no", "neither", "weder", "nem"];

/// Words whose two sides can be swapped without changing the meaning.
pub(crate) const JOINS: &[&str] = &["and", "or", "plus", "und", "oder", "et", "ou", "y", "o", "e"];

/// Words that end a negation.
const TURNS: &[&str] = &[
    "but", "however", "yet", "although", "though", "because", "whereas", "while", "aber", "sondern", "mais",
    "pero", "sino",
];

/// Negating words in the languages we know best.
static NEGATORS: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| include_str!("lists/negators.txt").split_whitespace().collect());

/// Function words, and fillers that add nothing.
static GRAMMAR: LazyLock<BTreeSet<&str>> =
    LazyLock::new(|| include_str!("lists/grammar.txt").split_whitespace().collect());

/// Antonyms, each with the form that stands for both.
static OPPOSITES: LazyLock<BTreeMap<&str, &str>> = LazyLock::new(|| {
    let pairs = include_str!("lists/opposites.txt").lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(form, opposite)| (opposite, form)).collect()
});

/// Forms that have an antonym.
static POLAR: LazyLock<BTreeSet<&str>> = LazyLock::new(|| OPPOSITES.values().copied().collect());

#[cfg(test)]
mod tests {
    use super::*;

    fn signed(word: &Word) -> String {
        if word.negated { format!("¬{}", word.form) } else { word.form.clone() }
    }

    #[track_caller]
    fn check(text: &str, expected: &str) {
        let sentences = sentences(text);
        let told = sentences.iter().map(|it| {
            let words = it.0.iter().filter(|word| word.content).map(signed);
            words.collect::<Vec<_>>().join(" ")
        });
        assert_eq!(told.collect::<Vec<_>>().join(" | "), expected, "{text}");
    }

    #[test]
    fn words_are_split_by_script() {
        check("Naïve Ärzte, 3.5 example.com!", "naïve ärzte 3 5 example com");
        check("Tab's width; we'll see", "tab width | see");
        check("标签更好。空格", "标 签 更 好 | 空 格");
        check("", "");
    }

    #[test]
    fn negated_words_are_marked() {
        check("Tabs are not better", "tab ¬better");
        check("Tabs aren't better, spaces win", "tab ¬better space win");
        check("We cannot adopt tabs but we can adopt spaces", "¬adopt ¬tab adopt space");
        check("Do tabs win? I think not", "tab win | ¬think");
        check("Ich mag Tabs nicht", "¬ich ¬mag ¬tab");
        check("Neither tabs nor spaces", "¬tab ¬space");
        check("标签不好", "标 签 ¬好");
    }

    #[test]
    fn opposites_are_one_form_with_two_signs() {
        check("Tabs are worse", "tab ¬better");
        check("Tabs are not worse", "tab better");
        check("It increases cost", "increase cost");
        check("It reduces cost", "¬increase cost");
    }

    #[test]
    fn idioms_negate_nothing() {
        check("Not only tabs adapt", "tab adapt");
        check("No doubt tabs adapt", "doubt tab adapt");
    }
}
