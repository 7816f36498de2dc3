//! Finds sentences that repeat several words in a row of a turn, and text that is in quotation
//! marks.

use std::ops::Range;

use super::scan::Word;

/// How many words in a row make a quotation.
const WORDS: usize = 8;

/// The same in characters of a script without blanks.
const CHARACTERS: usize = 16;

/// A run of words that stands in a turn and in a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Quote {
    /// The index of the sentence.
    pub(super) sentence: usize,
    /// The index of the turn.
    pub(super) turn: usize,
    /// The place in the turn, in Unicode scalar values.
    pub(super) chars: Range<usize>,
}

/// The longest quotation of each sentence that has one, in the first turn that has it.
pub(super) fn quotes(sentences: &[&[Word]], turns: &[Vec<Word>]) -> Vec<Quote> {
    let runs = [WORDS, CHARACTERS].map(|length| (length, Runs::of(sentences, length)));
    let mut longest: Vec<Option<Quote>> = vec![None; sentences.len()];
    for (turn, words) in turns.iter().enumerate() {
        for (length, runs) in &runs {
            runs.look_up(words, *length, |sentence, at| {
                let found = words[at].start..words[at + length - 1].end;
                extend(&mut longest[sentence], Quote { sentence, turn, chars: found });
            });
        }
    }
    longest.into_iter().flatten().collect()
}

/// Adds a run that was found: it goes on with the last one, or replaces a shorter one.
fn extend(longest: &mut Option<Quote>, found: Quote) {
    match longest {
        Some(known) if known.turn == found.turn && found.chars.start < known.chars.end => {
            known.chars.end = known.chars.end.max(found.chars.end);
        }
        Some(known) if found.chars.len() <= known.chars.len() => {}
        _ => *longest = Some(found),
    }
}

/// How many words in a row of this sentence make a quotation.
fn length(words: &[Word]) -> usize {
    let unspaced = words.iter().filter(|it| it.is_unspaced).count();
    if words.len() < 2 * unspaced { CHARACTERS } else { WORDS }
}

/// A hash of every run of this many words.
fn hashes(words: &[Word], length: usize) -> impl Iterator<Item = u64> {
    words.windows(length).map(hash)
}

fn hash(run: &[Word]) -> u64 {
    run.iter().fold(run.len() as u64, |hash, word| (hash ^ word.hash).wrapping_mul(FACTOR).rotate_left(5))
}

/// The most sentences with the same run that are looked at.
const MOST_ALIKE: usize = 50;

const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The runs of one length in all sentences for which that is a quotation.
struct Runs {
    /// The hash of each run and its sentence, sorted, each once.
    runs: Vec<(u64, usize)>,
    /// A filter: the lowest bits of the hashes. Nearly all runs of a talk are in no sentence.
    filter: [u64; 64],
}

impl Runs {
    fn of(sentences: &[&[Word]], length: usize) -> Runs {
        let (mut runs, mut filter) = (Vec::new(), [0; 64]);
        for (sentence, words) in sentences.iter().enumerate().filter(|it| self::length(it.1) == length) {
            runs.extend(hashes(words, length).map(|hash| (hash, sentence)));
        }
        runs.iter().for_each(|(hash, _)| filter[slot(*hash)] |= bit(*hash));
        runs.sort_unstable();
        runs.dedup();
        Runs { runs, filter }
    }

    /// Calls `found` with each sentence and each place in these words at which they have the same
    /// run.
    fn look_up(&self, words: &[Word], length: usize, mut found: impl FnMut(usize, usize)) {
        if self.runs.is_empty() {
            return;
        }
        for (at, hash) in hashes(words, length).enumerate() {
            if self.filter[slot(hash)] & bit(hash) == 0 {
                continue;
            }
            let first = self.runs.partition_point(|it| it.0 < hash);
            let same = self.runs[first..].iter().take(MOST_ALIKE).take_while(|it| it.0 == hash);
            same.for_each(|it| found(it.1, at));
        }
    }
}

fn slot(hash: u64) -> usize {
    (hash >> 6) as usize % 64
}

fn bit(hash: u64) -> u64 {
    1 << (hash % 64)
}

/// The parts of a line in quotation marks, and lines that are quotations, in Unicode scalar values.
pub(super) fn quoted_parts(text: &str) -> Vec<Range<usize>> {
    let (mut parts, mut line_start) = (Vec::new(), 0);
    for line in text.split_inclusive('\n') {
        let length = line.chars().count();
        if line.trim_start().starts_with('>') {
            parts.push(line_start..line_start + line.trim_end_matches('\n').chars().count());
        } else {
            let found = quoted_in_line(line);
            parts.extend(found.into_iter().map(|it| line_start + it.start..line_start + it.end));
        }
        line_start += length;
    }
    parts
}

fn quoted_in_line(line: &str) -> Vec<Range<usize>> {
    let (mut parts, mut open): (Vec<Range<usize>>, Option<(char, usize)>) = (Vec::new(), None);
    for (at, letter) in line.chars().enumerate() {
        open = match open {
            Some((closing, start)) if letter == closing || closing == '“' && letter == '”' => {
                parts.push(start..at);
                None
            }
            None => closing_mark(letter).map(|closing| (closing, at)),
            Some(_) => open,
        };
    }
    parts
}

/// The mark that ends a quotation begun by this one.
fn closing_mark(letter: char) -> Option<char> {
    let pairs = [('"', '"'), ('“', '”'), ('„', '“'), ('«', '»'), ('»', '«'), ('「', '」'), ('『', '』')];
    pairs.into_iter().find(|it| it.0 == letter).map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::scan::Vocabulary;

    fn words(text: &str) -> Vec<Word> {
        Vocabulary::default().read(text).0
    }

    #[track_caller]
    fn check(sentence: &str, turn: &str, expected: Option<&str>) {
        let (sentence, said) = (words(sentence), vec![words("Another turn."), words(turn)]);
        let found = quotes(&[&sentence], &said);
        let shown = found.first().map(|it| {
            assert_eq!(it.turn, 1);
            turn.chars().skip(it.chars.start).take(it.chars.len()).collect::<String>()
        });
        assert_eq!(shown.as_deref(), expected);
    }

    #[test]
    fn eight_words_in_a_row_are_a_quotation() {
        let turn = "I say: Tabs let every reader choose the width of a line, and more.";
        let part = "Tabs let every reader choose the width of a line";
        check("As ann said, tabs LET every reader choose the width of a line.", turn, Some(part));
        check("Tabs let every reader choose the width.", turn, None);
        check("Tabs let a reader choose the width of each line they read.", turn, None);
        check("", turn, None);
    }

    #[test]
    fn sixteen_characters_of_a_script_without_blanks_are_a_quotation() {
        let turn = "我认为制表符让每个读者自己选择缩进的宽度，很好。";
        check("制表符让每个读者自己选择缩进的宽度。", turn, Some("制表符让每个读者自己选择缩进的宽度"));
        check("制表符让每个读者选择。", turn, None);
    }

    #[test]
    fn text_in_quotation_marks_is_found() {
        let check = |text: &str, expected: &[&str]| {
            let cut = |it: &Range<usize>| text.chars().skip(it.start).take(it.len()).collect::<String>();
            let found: Vec<String> = quoted_parts(text).iter().map(cut).collect();
            assert_eq!(found, expected, "{text}");
        };
        check("She said “yes” and „nein“ and \"no\".", &["“yes", "„nein", "\"no"]);
        check("A 5\" disk.\n> quoted\nNot.", &["> quoted"]);
    }
}
