//! Splits a text into the units that have sources: sentences, list items, headings, and code blocks
//! and tables as one unit each.

use std::ops::Range;

use crate::detect::words::ends_sentence;

/// A unit of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Unit {
    /// Its place in bytes.
    pub(super) bytes: Range<usize>,
    /// Its place in Unicode scalar values.
    pub(super) chars: Range<usize>,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Sentence,
    /// A heading, or the line that introduces a list.
    Heading,
    /// A code block or a table.
    Block,
}

/// The units of a text, in order.
pub(super) fn units(text: &str) -> Vec<Unit> {
    let lines = lines(text);
    let mut found: Vec<(Range<usize>, Kind)> = Vec::new();
    let mut at = 0;
    while let Some(line) = lines.get(at) {
        let next = at
            + match line_kind(text, line) {
                Line::Empty => 1,
                Line::Heading => {
                    found.push((content(text, line), Kind::Heading));
                    1
                }
                Line::Fence(fence) => {
                    let inside = lines[at + 1..].iter();
                    let length =
                        inside.take_while(|it| !text[(*it).clone()].trim_start().starts_with(fence)).count();
                    let last = (at + 1 + length).min(lines.len() - 1);
                    found.push((line.start..lines[last].end, Kind::Block));
                    last - at + 1
                }
                Line::Row => {
                    let rows = lines[at..].iter().take_while(|it| line_kind(text, it) == Line::Row).count();
                    found.push((line.start..lines[at + rows - 1].end, Kind::Block));
                    rows
                }
                Line::Text => {
                    let further = lines[at + 1..].iter().zip(&lines[at..]);
                    let wrapped = further.take_while(|(next, last)| is_wrapped(text, last, next)).count();
                    let paragraph = content(text, line).start..lines[at + wrapped].end;
                    found.extend(sentences(text, paragraph));
                    wrapped + 1
                }
            };
        at = next;
    }
    placed(text, found)
}

/// The lines of a text, without their ends.
fn lines(text: &str) -> Vec<Range<usize>> {
    let mut start = 0;
    let line = |it: &str| {
        let range = start..start + it.trim_end_matches(['\n', '\r']).len();
        start += it.len();
        range
    };
    text.split_inclusive('\n').map(line).collect()
}

#[derive(Debug, PartialEq, Eq)]
enum Line {
    Empty,
    Heading,
    Fence(&'static str),
    Row,
    Text,
}

fn line_kind(text: &str, line: &Range<usize>) -> Line {
    let line = text[line.clone()].trim();
    let fence = ["```", "~~~"].into_iter().find(|it| line.starts_with(it));
    let is_rule = 3 <= line.len() && line.chars().all(|it| "-*_= ".contains(it));
    let is_bold = 4 < line.len() && line.starts_with("**") && line.ends_with("**");
    let is_title = is_bold && !line[2..line.len() - 2].contains("**") && !line.contains(". ");
    match fence {
        _ if line.is_empty() || is_rule => Line::Empty,
        Some(fence) => Line::Fence(fence),
        None if line.starts_with('#') || is_title => Line::Heading,
        None if line.starts_with('|') && 1 < line.len() => Line::Row,
        None => Line::Text,
    }
}

/// The line without the mark of a list or a quotation.
fn content(text: &str, line: &Range<usize>) -> Range<usize> {
    let mut rest = &text[line.clone()];
    loop {
        let trimmed = rest.trim_start().trim_start_matches(['>', '#', '•', '·', '–']).trim_start();
        let bullet = ["- ", "* ", "+ ", "[ ] ", "[x] "].iter().find_map(|it| trimmed.strip_prefix(it));
        let number = trimmed.trim_start_matches(|it: char| it.is_ascii_digit());
        let is_number = (1..=2).contains(&(trimmed.len() - number.len()));
        let number = [". ", ") "].iter().find_map(|it| number.strip_prefix(it)).filter(|_| is_number);
        let shorter = bullet.or(number).unwrap_or(trimmed);
        if shorter.len() == rest.len() {
            return line.end - rest.len()..line.end;
        }
        rest = shorter;
    }
}

/// Whether a line goes on with the sentence of the line before.
fn is_wrapped(text: &str, last: &Range<usize>, line: &Range<usize>) -> bool {
    let ends = text[last.clone()].trim_end().ends_with(['.', '!', '?', ':', '。', '！', '？']);
    let goes_on = text[line.clone()].starts_with(|it: char| it.is_lowercase() || it.is_ascii_digit());
    !ends && goes_on && line_kind(text, line) == Line::Text && content(text, line).start == line.start
}

/// The sentences of a paragraph.
fn sentences(text: &str, paragraph: Range<usize>) -> Vec<(Range<usize>, Kind)> {
    let (mut found, mut start) = (Vec::new(), paragraph.start);
    let part = &text[paragraph.clone()];
    let mut letters = part.char_indices().peekable();
    while let Some((at, letter)) = letters.next() {
        let next = letters.peek().map_or(' ', |it| it.1);
        let closed = matches!(next, '"' | '”' | '“' | '’' | '»' | ')' | ']' | '*' | '_' | '」' | '』');
        if !(ends_sentence(letter, next) || matches!(letter, '.' | '…') && closed) {
            continue;
        }
        let rest = &part[at + letter.len_utf8()..];
        let after = rest.trim_start_matches(CLOSING);
        let end = part.len() - after.len();
        let is_wide = matches!(letter, '。' | '！' | '？');
        let follows = after.chars().find(|it| !it.is_whitespace());
        let is_end = after.is_empty() || is_wide || after.starts_with(char::is_whitespace);
        let is_inner = letter == '.' && (is_abbreviation(&part[..at]) || is_ordinal(&part[..at], after));
        let goes_on = follows.is_some_and(char::is_lowercase);
        if is_end && !is_inner && (is_wide || !goes_on) {
            found.push((start..paragraph.start + end, Kind::Sentence));
            start = paragraph.start + end;
        }
        while letters.next_if(|it| it.0 < end).is_some() {}
    }
    found.push((start..paragraph.end, Kind::Sentence));
    if let Some(last) = found.iter_mut().rfind(|it| !text[it.0.clone()].trim().is_empty())
        && text[last.0.clone()].trim_end().trim_end_matches('*').ends_with([':', '：'])
    {
        last.1 = Kind::Heading;
    }
    found
}

/// Marks that belong to the sentence before them.
const CLOSING: &[char] =
    &['.', '!', '?', '…', '。', '！', '？', '"', '”', '“', '’', '»', ')', ']', '*', '_', '」', '』'];

/// Whether a full stop after this text belongs to an abbreviation.
fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit(|it: char| !it.is_alphanumeric()).next().unwrap_or_default();
    let is_contraction = before[..before.len() - word.len()].ends_with(['\'', '’']);
    let is_letter = word.chars().count() == 1 && word.chars().all(char::is_alphabetic);
    (is_letter && !is_contraction) || ABBREVIATIONS.contains(&word.to_lowercase().as_str())
}

/// Whether a full stop between these texts belongs to an ordinal number, as in *am 3. Mai* and *im
/// 2. Quartal*.
fn is_ordinal(before: &str, after: &str) -> bool {
    let mut words = before.rsplit(|it: char| !it.is_alphanumeric());
    let number = words.next().unwrap_or_default();
    let is_number = (1..=2).contains(&number.len()) && number.bytes().all(|it| it.is_ascii_digit());
    let lower = |word: Option<&str>| word.unwrap_or_default().to_lowercase();
    let next = after.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty());
    is_number && (MONTHS.contains(&lower(next).as_str()) || ARTICLES.contains(&lower(words.next()).as_str()))
}

const MONTHS: &[&str] = &[
    "januar",
    "februar",
    "märz",
    "april",
    "mai",
    "juni",
    "juli",
    "august",
    "september",
    "oktober",
    "november",
    "dezember",
];

/// Words before a German ordinal number.
const ARTICLES: &[&str] = &[
    "am", "im", "der", "die", "das", "dem", "den", "des", "vom", "zum", "bis", "ab", "seit", "jeder", "jede",
];

const ABBREVIATIONS: &[&str] = &[
    "dr", "mr", "mrs", "ms", "prof", "vs", "etc", "eg", "ie", "cf", "approx", "fig", "no", "nr", "bzw", "ca",
    "abs", "evtl", "ggf", "inkl", "usw", "vgl", "mio", "mrd", "sog", "bspw", "st",
];

/// The units that have any text, with their places in characters.
fn placed(text: &str, found: Vec<(Range<usize>, Kind)>) -> Vec<Unit> {
    let (mut at, mut chars) = (0, 0);
    let mut units = Vec::with_capacity(found.len());
    for (bytes, kind) in found {
        let part = &text[bytes.clone()];
        if !part.contains(char::is_alphanumeric) {
            continue;
        }
        let start = bytes.start + part.len() - part.trim_start().len();
        let end = start + text[start..bytes.end].trim_end().len();
        chars += text[at..start].chars().count();
        let length = text[start..end].chars().count();
        units.push(Unit { bytes: start..end, chars: chars..chars + length, kind });
        (at, chars) = (end, chars + length);
    }
    units
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, expected: &[&str]) {
        let found = units(text);
        let shown: Vec<String> = found
            .iter()
            .map(|it| {
                let by_chars: String = text.chars().skip(it.chars.start).take(it.chars.len()).collect();
                assert_eq!(by_chars, text[it.bytes.clone()], "{text}");
                let kind = match it.kind {
                    Kind::Sentence => "",
                    Kind::Heading => "# ",
                    Kind::Block => "= ",
                };
                format!("{kind}{by_chars}")
            })
            .collect();
        assert_eq!(shown, expected, "{text}");
    }

    #[test]
    fn prose_is_split_into_sentences() {
        check("Tabs adapt. Spaces don't! Do they?", &["Tabs adapt.", "Spaces don't!", "Do they?"]);
        check("He said “tabs.” Then he left.", &["He said “tabs.”", "Then he left."]);
        check(
            "Version 3.5 of example.com, e.g. this, costs 5 EUR",
            &["Version 3.5 of example.com, e.g. this, costs 5 EUR"],
        );
        check("Am 3. Mai kam z. B. Dr. Meier. Er blieb.", &["Am 3. Mai kam z. B. Dr. Meier.", "Er blieb."]);
        check("标签更好。空格不好！", &["标签更好。", "空格不好！"]);
        check("Use line 7. Im 2. Quartal; ab 5. Then", &["Use line 7.", "Im 2. Quartal; ab 5. Then"]);
        check("**Tabs adapt.** Spaces *don't.* So", &["**Tabs adapt.**", "Spaces *don't.*", "So"]);
        check("", &[]);
        check(" ---\n\n***", &[]);
    }

    #[test]
    fn lists_headings_blocks_and_wrapped_lines_are_told_apart() {
        let text = "# Answer\n\nTabs are\nbetter for all. Ja:\n\n- One point.\n2. Two.\n   > Three\n\n**Open**\n\
                    ```rust\nfn a() {}\n\nb\n```\n| a | b |\n|---|---|\n| 1 | 2 |\nEnd";
        check(
            text,
            &[
                "# Answer",
                "Tabs are\nbetter for all.",
                "# Ja:",
                "One point.",
                "Two.",
                "Three",
                "# **Open**",
                "= ```rust\nfn a() {}\n\nb\n```",
                "= | a | b |\n|---|---|\n| 1 | 2 |",
                "End",
            ],
        );
        check("```\nnever closed. At all.", &["= ```\nnever closed. At all."]);
    }
}
