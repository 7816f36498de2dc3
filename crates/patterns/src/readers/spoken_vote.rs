//! Reads a vote from a plain sentence: `I vote for tabs, 90 % sure`.
//!
//! Only a sentence that begins like a vote counts, with the option right after it, outside
//! quotations and code. Two different votes are none.

use crate::readers::{
    Confidence,
    ballot::{QUOTES, at_place},
    confidence,
    unquoted::{own_words, without_code},
};

/// How such a sentence begins, longer beginnings first.
const BEGINNINGS: &[&str] = &[
    "i vote for",
    "i vote",
    "i choose",
    "my vote goes to",
    "my vote is for",
    "my vote is",
    "my vote",
    "my choice is",
    "my choice",
];

/// Beginnings that need a colon: `Vote: tabs`.
const LABELS: &[&str] = &["vote", "choice", "my vote", "my choice"];

/// Words right after the option that make the vote a condition or a second one.
const UNSURE: &[&str] = &["if", "unless", "and", "or", "provided", "only"];

/// The option that is voted for, and the confidence if one is stated.
pub(crate) fn read<'o>(reply: &str, options: &'o [String]) -> Option<(&'o String, Option<Confidence>)> {
    let own = without_code(&own_words(reply));
    let mut voted: Vec<(&String, Option<Confidence>)> = Vec::new();
    for line in own.lines() {
        voted.extend(
            sentences(&with_plain_spaces(line)).filter_map(|sentence| in_sentence(sentence, options)),
        );
    }
    let (choice, _) = *voted.first()?;
    let stated = voted.iter().find_map(|it| it.1).or_else(|| own.lines().find_map(confidence::in_last_line));
    voted.iter().all(|it| it.0 == choice).then_some((choice, stated))
}

/// Whether a sentence of the text begins like a vote, whatever it votes for.
pub(crate) fn may_hold(text: &str) -> bool {
    let begins_like_vote = |sentence: &str| after_beginning(sentence.trim_start_matches(MARKDOWN)).is_some();
    text.lines().any(|line| sentences(&with_plain_spaces(line)).any(begins_like_vote))
}

fn with_plain_spaces(line: &str) -> String {
    line.chars().map(|it| if it.is_whitespace() { ' ' } else { it }).collect()
}

/// Whether a line is a vote and nothing else: `Choice: tabs`.
pub(crate) fn is_labelled(line: &str) -> bool {
    let plain = line.trim_start_matches(MARKDOWN);
    LABELS
        .iter()
        .filter_map(|it| after(plain, it))
        .any(|it| it.trim_start_matches(MARKDOWN).starts_with(COLONS))
}

/// Markdown before a vote.
const MARKDOWN: &[char] = &[' ', '*', '_', '#', '-', '`'];

/// What stands between a label and the option.
const COLONS: &[char] = &[':', '=', '：'];

/// The line from the beginning of each sentence on.
fn sentences(line: &str) -> impl Iterator<Item = &str> {
    let ends = line.match_indices(['.', '!', '?', ';']).map(|(at, end)| at + end.len());
    let starts = ends.filter(|at| line[*at..].starts_with(' '));
    std::iter::once(0).chain(starts.collect::<Vec<_>>()).map(|at| &line[at..])
}

fn in_sentence<'o>(sentence: &str, options: &'o [String]) -> Option<(&'o String, Option<Confidence>)> {
    let plain = sentence.trim_start_matches(MARKDOWN);
    let rest = after_beginning(plain)?;
    let numbered = || at_place(rest, options).map(|option| (option, ""));
    let (option, rest) = leading_option(rest, options).or_else(numbered)?;
    let is_plain = !follows(rest, UNSURE);
    is_plain.then(|| (option, confidence_in(rest)))
}

/// What comes after the beginning of a vote.
fn after_beginning(sentence: &str) -> Option<&str> {
    let labelled = LABELS.iter().filter_map(|it| after(sentence, it));
    let labelled = labelled.filter_map(|it| it.trim_start_matches([' ', '*', '_', '`']).strip_prefix(COLONS));
    let spoken = BEGINNINGS.iter().filter_map(|it| after(sentence, it));
    let rest = labelled.chain(spoken).next()?;
    Some(rest.trim_start_matches([' ', ':', '*', '_', '`', '"', '\'', '“', '„', '«']))
}

/// What comes after these words at the beginning of the text, whatever their case.
fn after<'t>(text: &'t str, words: &str) -> Option<&'t str> {
    let (start, rest) = text.split_at_checked(words.len())?;
    let is_whole = !rest.starts_with(char::is_alphanumeric);
    (is_whole && start.eq_ignore_ascii_case(words)).then_some(rest)
}

/// The longest option that the text begins with, and the text after it.
fn leading_option<'o, 't>(text: &'t str, options: &'o [String]) -> Option<(&'o String, &'t str)> {
    // The text begins after any quotation mark.
    let bare = |option: &'o String| option.trim().trim_matches(QUOTES);
    let found = options.iter().filter_map(|option| Some((option, after_option(text, bare(option))?)));
    let (option, rest) = found.min_by_key(|(_, rest)| rest.len())?;
    let alike = |it: &&String| it.trim().to_lowercase() == option.trim().to_lowercase();
    (options.iter().filter(alike).count() == 1).then_some((option, rest))
}

/// What comes after this option at the beginning of the text. `C` is no beginning of `C++`, and
/// `Java` none of `Java 21`.
pub(super) fn after_option<'t>(text: &'t str, option: &str) -> Option<&'t str> {
    let mut characters = text.chars();
    for wanted in option.chars() {
        if !characters.next()?.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    let rest = characters.as_str();
    let next = rest.trim_start().chars().next();
    let ends = rest.chars().next().is_none_or(|it| it.is_whitespace() || ".,;:!?()\"'*_`”“»–—".contains(it));
    (ends
        && !option.is_empty()
        && !next.is_some_and(|it| it.is_ascii_digit() && !rest.starts_with([',', '(', ';', ':'])))
    .then_some(rest)
}

fn follows(rest: &str, words: &[&str]) -> bool {
    let next = rest.split(|it: char| !it.is_alphanumeric()).find(|it| !it.is_empty());
    let direct = rest.starts_with([' ', '"', '*', '”']);
    direct && next.is_some_and(|next| words.iter().any(|it| it.eq_ignore_ascii_case(next)))
}

/// The confidence stated after a vote: `90 % sure`, `confidence 0.8`.
fn confidence_in(text: &str) -> Option<Confidence> {
    let lower = text.to_lowercase();
    if let Some((_, after)) = lower.split_once("confidence") {
        let number = after.trim_start_matches(|it: char| !it.is_ascii_digit() && it != '.');
        return confidence::from_text(number);
    }
    let (before, _) = lower.split_once('%')?;
    let before = before.trim_end();
    let start = before.rfind(|it: char| !(it.is_ascii_digit() || it == '.' || it == ','));
    confidence::from_text(&format!("{} %", &before[start.map_or(0, |at| at + 1)..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: Option<(&str, Option<f64>)>) {
        let options = ["yes", "no", "C", "C++", "Java", "Go", "go", "yes, later"].map(str::to_owned);
        let read = read(reply, &options);
        let read = read.map(|(option, stated)| (option.as_str(), stated.map(Confidence::get)));
        assert_eq!(read, expected, "{reply}");
    }

    #[test]
    fn a_plain_sentence_is_a_vote() {
        check("I vote yes, 90 % sure", Some(("yes", Some(0.9))));
        check("i VOTE FOR Java!", Some(("Java", None)));
        check("I vote yes, later.", Some(("yes, later", None)));
        check("I vote C++.", Some(("C++", None)));
        check("I vote for C", Some(("C", None)));
        check("Well. My vote goes to **Java** (85%).", Some(("Java", Some(0.85))));
        check("Vote: no\nConfidence: 0.7", Some(("no", Some(0.7))));
        check("- **Choice**: no", Some(("no", None)));
        check("I vote no. I vote no, 60 % sure.", Some(("no", Some(0.6))));
    }

    #[test]
    fn a_line_with_the_number_of_an_option_is_a_vote() {
        let check = |line: &str, expected: Option<&str>| {
            let options = ["tabs", "spaces"].map(str::to_owned);
            assert_eq!(read(line, &options).map(|it| it.0.as_str()), expected, "{line}");
        };
        for second in [
            "Choice: 2",
            "They look alike.\n**Choice:** 2\nConfidence: 0.8",
            "`Choice: 2`",
            "Choice: Option 2.",
            "choice = #2",
            "Choice: (2) spaces",
            "Choice: 2. Spaces",
            "Vote: 2 - spaces",
            "I vote for option 2.",
        ] {
            check(second, Some("spaces"));
        }
        for none in [
            "2",
            "Choice: 0",
            "Choice: 3",
            "Choice: 2.5",
            "Choice: 1 or 2",
            "Choice: 1. spaces",
            "Choice: 1\nChoice: 2",
            "Choice: tabs\nChoice: 2",
            "I vote for 2 of them.",
            "> Choice: 2",
        ] {
            check(none, None);
        }
        let weeks = ["2 weeks", "1 week"].map(str::to_owned);
        assert_eq!(read("Choice: 2", &weeks), None, "the number could be meant as a part of an option");
    }

    #[test]
    fn a_speech_that_only_mentions_votes_is_not_quoted_in_ballots() {
        for vote in [
            "I choose tabs.",
            "So it is.\nWell. my\u{a0}vote is for tabs.",
            "- **Choice**: tabs",
            "Vote：tabs",
            "# My choice",
            "I vote for",
        ] {
            assert!(may_hold(vote), "{vote}");
        }
        for mention in [
            "Whoever has to choose has a choice: tabs or spaces.",
            "They vote. We choose. I voted.",
            "I chose tabs; the choice of tabs is mine.",
            "> I choose tabs.",
            "bob: I vote tabs",
            "",
        ] {
            assert!(!may_hold(mention), "{mention}");
        }
    }

    #[test]
    fn anything_else_is_no_vote() {
        for reply in [
            "",
            "yes",
            "I vote against no.",
            "I vote Java 21.",
            "I vote for GO.",
            "I vote yes and no.",
            "I vote yes if it rains.",
            "I vote yes. I vote no.",
            "She said I vote yes.",
            "ann: I vote yes",
            "I never vote yes.",
            "I voted yes.",
            "The choice is yours: no.",
            "> I vote yes",
            "\"I vote yes\"",
            "I vote for\nyes",
        ] {
            check(reply, None);
        }
    }
}
