//! The numbers of a text, in one spelling.

use std::collections::BTreeSet;

/// The numbers that are known: those of the question, of given texts and of every turn.
#[derive(Debug, Default)]
pub(super) struct KnownNumbers(BTreeSet<String>);

impl KnownNumbers {
    pub(super) fn of<'t>(texts: impl Iterator<Item = &'t str>) -> KnownNumbers {
        let mut known = BTreeSet::new();
        for text in texts {
            for number in numbers(text) {
                known.extend(number.spellings);
            }
            let words = text.split(|it: char| !it.is_alphabetic());
            known.extend(words.filter_map(spelled_out));
        }
        KnownNumbers(known)
    }

    /// Whether the text has a number that nobody gave. Counts of participants, `2 of 3`, are the
    /// writer's own.
    pub(super) fn lack_one_of(&self, text: &str, participants: usize) -> bool {
        let found = numbers(text);
        let is_count = |at: usize| {
            let counts = |one: usize, other: usize| match (found.get(one), found.get(other)) {
                (Some(one), Some(other)) => {
                    let between = text.get(one.end..other.start).unwrap_or_default().trim();
                    COUNTING.contains(&between) && other.is(participants)
                }
                _ => false,
            };
            counts(at, at + 1) || at.checked_sub(1).is_some_and(|before| counts(before, at))
        };
        let is_known = |number: &Number| number.spellings.iter().any(|it| self.0.contains(it));
        found.iter().enumerate().any(|(at, number)| !is_known(number) && !is_count(at))
    }
}

/// What stands between the two numbers of a count.
const COUNTING: &[&str] = &["of", "out of", "of the", "of all", "von", "der", "sur", "de"];

#[derive(Debug)]
struct Number {
    /// Its place in bytes.
    start: usize,
    end: usize,
    /// Its value with a decimal point and without separators; both readings of `1.200`.
    spellings: Vec<String>,
}

impl Number {
    fn is(&self, count: usize) -> bool {
        self.spellings.contains(&count.to_string())
    }
}

/// The numbers of a text. Digits within a word, as in `utf8`, are part of its name.
fn numbers(text: &str) -> Vec<Number> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(start) = text[at..].find(|it: char| it.is_ascii_digit()).map(|it| at + it) {
        let is_sign = |it: char| matches!(it, '.' | ',' | '\'' | '’' | '\u{a0}' | '\u{202f}');
        let length = text[start..].find(|it: char| !(it.is_ascii_digit() || is_sign(it)));
        let end = length.map_or(text.len(), |it| start + it);
        let written = text[start..end].trim_end_matches(is_sign);
        at = end.max(start + 1);
        if !text[..start].ends_with(char::is_alphabetic) {
            found.push(Number { start, end: start + written.len(), spellings: spellings(written) });
        }
    }
    found
}

/// A number as it may be meant: `1.200` is 1200 in German and 1.2 in English.
fn spellings(written: &str) -> Vec<String> {
    let digits: String = written.chars().filter(char::is_ascii_digit).collect();
    let groups: Vec<&str> = written.split(|it: char| !it.is_ascii_digit()).collect();
    let [whole @ .., last] = &groups[..] else { return vec![digits] };
    let plain = |it: &str| {
        let short = it.trim_start_matches('0');
        if short.is_empty() { "0".to_owned() } else { short.to_owned() }
    };
    if whole.is_empty() {
        return vec![plain(last)];
    }
    let decimals = last.trim_end_matches('0');
    let point = if decimals.is_empty() { "" } else { "." };
    let decimal = format!("{}{point}{decimals}", plain(&whole.concat()));
    let is_grouped = groups[1..].iter().all(|it| it.len() == 3);
    if is_grouped { vec![plain(&digits), decimal] } else { vec![decimal] }
}

/// The value of a number that is written as a word.
fn spelled_out(word: &str) -> Option<String> {
    const WORDS: &[(&str, u32)] = &[
        ("two", 2),
        ("three", 3),
        ("four", 4),
        ("five", 5),
        ("six", 6),
        ("seven", 7),
        ("eight", 8),
        ("nine", 9),
        ("ten", 10),
        ("eleven", 11),
        ("twelve", 12),
        ("twenty", 20),
        ("thirty", 30),
        ("fifty", 50),
        ("hundred", 100),
        ("thousand", 1_000),
        ("one", 1),
        ("half", 50),
        ("zwei", 2),
        ("drei", 3),
        ("vier", 4),
        ("fünf", 5),
        ("sechs", 6),
        ("sieben", 7),
        ("acht", 8),
        ("neun", 9),
        ("zehn", 10),
        ("elf", 11),
        ("zwölf", 12),
        ("zwanzig", 20),
        ("dreißig", 30),
        ("fünfzig", 50),
        ("hundert", 100),
        ("tausend", 1_000),
        ("ein", 1),
        ("eins", 1),
        ("hälfte", 50),
    ];
    if word.len() < 3 || 9 < word.len() {
        return None;
    }
    // Most words begin with none of these letters; only the others are put in lower case.
    let first = word.chars().next().and_then(|it| it.to_lowercase().next());
    if !first.is_some_and(|it| "tfsenohzvda".contains(it)) {
        return None;
    }
    let word = word.to_lowercase();
    WORDS.iter().find(|it| it.0 == word).map(|it| it.1.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(known: &str, text: &str, lacks: bool) {
        let known = KnownNumbers::of([known].into_iter());
        assert_eq!(known.lack_one_of(text, 4), lacks, "{text}");
    }

    #[test]
    fn a_number_is_known_in_every_spelling() {
        check("It costs 1,200 EUR.", "Es kostet 1.200 Euro.", false);
        check("It costs 1200 EUR.", "It costs 1'200.", false);
        check("3.50 %", "3,5 percent", false);
        check("Three of us.", "All 3 agree.", false);
        check("In 2024, 05 days.", "5 days in 2024.", false);
        check("It costs 1,200 EUR.", "It costs 1,300 EUR.", true);
        check("3.5 %", "35 %", true);
        check("none", "utf8 and h264 are names.", false);
    }

    #[test]
    fn a_count_of_the_participants_is_the_writers_own() {
        check("none", "3 of 4 agree, 2 von 4 nicht.", false);
        check("none", "3 of 5 agree.", true);
        check("none", "3 days in 4 weeks.", true);
    }
}
