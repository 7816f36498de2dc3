//! Citations: `[KX:2]` for what @KX said in round 2, and their many spellings.

use super::words::Word;
use crate::model::recall::{after_letter, is_number};

/// The element at a place of a text that may still be arriving.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Found {
    /// Nothing to replace.
    Nothing,
    /// Something that may be replaced once more of the text has come.
    Unfinished,
    /// A number of bytes, and the text that replaces them.
    Replace(usize, String),
}

/// The longest citation, in bytes.
const LONGEST: usize = 240;

/// The longest round in a citation, in bytes: ` round 10-12`.
const LONGEST_ROUND: usize = 14;

const OPEN: [char; 3] = ['[', '［', '【'];
const CLOSE: [char; 3] = [']', '］', '】'];
const SEPARATORS: [char; 7] = [',', ';', '、', '，', '；', '&', '/'];

/// One entry of a citation.
enum Entry<'t> {
    /// A speaker and a round, as they become, and what follows.
    Known(String, &'t str),
    /// Anything else, and what follows.
    Other(&'t str, &'t str),
    /// The text ends within the entry.
    Unfinished,
    /// No entry of a citation.
    Nothing,
}

/// The citation at the start of this text, with these speakers in it replaced.
pub(super) fn citation_at(text: &str, speakers: &[Word]) -> Found {
    let Some(mut rest) = text.strip_prefix(OPEN) else { return Found::Nothing };
    let mut entries: Vec<String> = Vec::new();
    let mut is_known = false;
    loop {
        if LONGEST < text.len() - rest.len() {
            return Found::Nothing;
        }
        match entry_at(rest, speakers, entries.is_empty()) {
            Entry::Nothing => return Found::Nothing,
            Entry::Unfinished => return Found::Unfinished,
            Entry::Known(entry, after) => {
                is_known = true;
                entries.push(entry);
                rest = after;
            }
            Entry::Other(entry, after) => {
                entries.push(entry.to_owned());
                rest = after;
            }
        }
        let mut after = rest.chars();
        match after.next() {
            None => return Found::Unfinished,
            Some(it) if CLOSE.contains(&it) => break,
            Some(_) => rest = after.as_str(),
        }
    }
    let close = rest.chars().next().map_or(0, char::len_utf8);
    let length = text.len() - rest.len() + close;
    if is_known { Found::Replace(length, format!("[{}]", entries.join(", "))) } else { Found::Nothing }
}

fn entry_at<'t>(text: &'t str, speakers: &[Word], is_first: bool) -> Entry<'t> {
    let text = text.trim_start_matches([' ', '\u{3000}']);
    let bare = text.strip_prefix(['@', '＠']).unwrap_or(text);
    let ends = |it: char| CLOSE.contains(&it) || SEPARATORS.contains(&it);
    let known = speakers.iter().find_map(|it| Some((it.length_inflected(bare)?, it)));
    if let Some((length, speaker)) = known {
        let after = &bare[length..];
        let number = unworded(after.trim_start_matches([' ', ':', '：', '.']));
        if number.is_empty() {
            return Entry::Unfinished;
        }
        let digits = |text: &str| text.len() - text.trim_start_matches(|it: char| it.is_ascii_digit()).len();
        let length = match digits(number) {
            0 => 0,
            first => first + range(&number[first..], digits),
        };
        let rest = number[length..].trim_start_matches(' ');
        if 0 < length && (rest.is_empty() || rest.starts_with(ends)) {
            return Entry::Known(format!("{}:{}", speaker.becomes, &number[..length]), rest);
        }
    }
    let Some(end) = text.find(|it: char| ends(it) || it == '\n' || OPEN.contains(&it)) else {
        let is_round = known.is_some_and(|(length, _)| bare.len() - length <= LONGEST_ROUND);
        let may_begin = !is_first || is_round || speakers.iter().any(|it| may_become(bare, &it.text()));
        return if may_begin && text.len() < LONGEST { Entry::Unfinished } else { Entry::Nothing };
    };
    if !text[end..].starts_with(ends) || (is_first && !is_other(text[..end].trim_end())) {
        return Entry::Nothing;
    }
    Entry::Other(text[..end].trim_end(), &text[end..])
}

/// The number of a round without the word before it.
fn unworded(text: &str) -> &str {
    let word = ["round", "r"]
        .into_iter()
        .find(|word| text.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word)));
    word.map_or(text, |word| text[word.len()..].trim_start_matches([' ', '.', ':']))
}

/// The length of the second half of `2-3`.
fn range(text: &str, digits: impl Fn(&str) -> usize) -> usize {
    let dash = text.chars().next().filter(|it| matches!(it, '-' | '–')).map_or(0, char::len_utf8);
    match digits(&text[dash..]) {
        0 => 0,
        length => dash + length,
    }
}

/// Whether a first entry that names nobody may stand in a citation.
fn is_other(entry: &str) -> bool {
    entry.eq_ignore_ascii_case("all") || is_number(entry)
}

/// Whether a text that ends here may still become an entry with this speaker.
fn may_become(begun: &str, speaker: &str) -> bool {
    let is_short = begun.len() < 4;
    let begins_number =
        is_short && after_letter(begun).is_some_and(|it| it.bytes().all(|it| it.is_ascii_digit()));
    let begun = begun.to_lowercase();
    begins_number || speaker.starts_with(&begun) || "all".starts_with(&begun)
}
