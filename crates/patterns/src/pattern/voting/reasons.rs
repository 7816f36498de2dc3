//! The reasons of a vote as later voters are shown them: by option, without their authors, and with
//! an equal share of words for each option.

use crate::readers::CastBallot;

/// The share of an option that nothing reduces, in words: the length of a short reason.
const LEAST_WORDS: usize = 60;

/// A run of characters longer than this is no word but a text in a script without spaces.
const LONGEST_WORD: usize = 30;

/// Characters that count as a word in a script without spaces.
const CHARACTERS_A_WORD: usize = 2;

/// The reasons by option. `order` is a permutation of the ballots: options and reasons come in the
/// order in which it names them.
///
/// No option gets more words than the one with the fewest, or than a short reason has, so that many
/// voters weigh no more than their arguments.
pub(super) fn by_option(ballots: &[CastBallot], order: &[usize]) -> Vec<(String, Vec<String>)> {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for cast in order.iter().filter_map(|place| ballots.get(*place)) {
        let (choice, reason) = (&cast.ballot.choice, cast.ballot.reasoning.trim());
        if reason.is_empty() {
            continue;
        }
        match groups.iter_mut().find(|it| it.0 == *choice) {
            Some(group) => group.1.push(reason.to_owned()),
            None => groups.push((choice.clone(), vec![reason.to_owned()])),
        }
    }
    let words = |reasons: &[String]| reasons.iter().map(|it| length(it)).sum::<usize>();
    let fewest = groups.iter().map(|it| words(&it.1)).min().unwrap_or_default();
    let share = fewest.max(LEAST_WORDS);
    groups.into_iter().map(|(option, reasons)| (option, shared(&reasons, share))).collect()
}

/// The reasons within this many words together. Each gets as much as the others; what a short one
/// leaves over goes to the longer ones.
fn shared(reasons: &[String], words: usize) -> Vec<String> {
    let mut lengths: Vec<usize> = reasons.iter().map(|it| length(it)).collect();
    lengths.sort_unstable();
    let (mut left, mut most) = (words, 0);
    for (place, length) in lengths.iter().enumerate() {
        most = left / (lengths.len() - place);
        if most < *length {
            break;
        }
        (left, most) = (left - length, *length);
    }
    reasons.iter().map(|it| beginning(it, most)).collect()
}

/// How many words a text has.
fn length(text: &str) -> usize {
    text.split_whitespace().map(|word| weight(word.chars().count())).sum()
}

/// The number of words that a run of this length, in characters, counts as.
fn weight(characters: usize) -> usize {
    if characters > LONGEST_WORD { characters / CHARACTERS_A_WORD } else { 1 }
}

/// The beginning of a text with at most this many words, marked where it was cut.
fn beginning(text: &str, most: usize) -> String {
    if length(text) <= most {
        return text.to_owned();
    }
    let mut left = most;
    let mut kept = String::new();
    for word in text.split_whitespace() {
        let characters = word.chars().count();
        let part: String = if weight(characters) <= left {
            word.to_owned()
        } else if characters > LONGEST_WORD {
            word.chars().take(left * CHARACTERS_A_WORD).collect()
        } else {
            String::new()
        };
        let is_whole = part.len() == word.len();
        if !part.is_empty() {
            kept.extend([if kept.is_empty() { "" } else { " " }, &part]);
        }
        if !is_whole {
            break;
        }
        left -= weight(characters);
    }
    format!("{kept} …").trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use quorum_core::model::reading::Source;

    use super::*;
    use crate::readers::{Ballot, Confidence};

    fn cast(participant: &str, choice: &str, reasoning: &str) -> CastBallot {
        let (choice, reasoning) = (choice.to_owned(), reasoning.to_owned());
        let ballot = Ballot { choice, confidence: Confidence::clamped(0.9), reasoning };
        CastBallot { participant: participant.to_owned(), round: 1, source: Source::Stated, ballot }
    }

    fn words(count: usize) -> String {
        vec!["word"; count].join(" ")
    }

    /// Checks the words of each option.
    #[track_caller]
    fn check(reasons: &[(&str, usize)], expected: &[(&str, &[usize])]) {
        let ballots: Vec<CastBallot> = reasons.iter().map(|it| cast("ann", it.0, &words(it.1))).collect();
        let order: Vec<usize> = (0..ballots.len()).collect();
        let shown = by_option(&ballots, &order);
        // Without the mark of a cut.
        let count = |reasons: &[String]| -> Vec<usize> {
            reasons.iter().map(|it| it.trim_end_matches(" …").split_whitespace().count()).collect()
        };
        let shown: Vec<(&str, Vec<usize>)> = shown.iter().map(|it| (it.0.as_str(), count(&it.1))).collect();
        let expected: Vec<(&str, Vec<usize>)> = expected.iter().map(|it| (it.0, it.1.to_vec())).collect();
        assert_eq!(shown, expected);
    }

    #[test]
    fn inv_disc_013_reasons_come_by_option_in_the_order_of_the_lot_and_without_names() {
        let ballots = [
            cast("ann", "tabs", "they are short"),
            cast("bob", "spaces", "they line up"),
            cast("cyd", "tabs", "  "),
            cast("dan", "tabs", "they scale"),
        ];
        let owned = |option: &str, reasons: &[&str]| {
            (option.to_owned(), reasons.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
        };
        let expected = [owned("tabs", &["they scale", "they are short"]), owned("spaces", &["they line up"])];
        assert_eq!(by_option(&ballots, &[3, 2, 1, 0]), expected);
        let expected = [owned("spaces", &["they line up"]), owned("tabs", &["they are short", "they scale"])];
        assert_eq!(by_option(&ballots, &[1, 0, 3, 2]), expected);
    }

    #[test]
    fn every_option_has_the_same_share_of_words() {
        check(&[("tabs", 90), ("tabs", 90), ("spaces", 90)], &[("tabs", &[45, 45]), ("spaces", &[90])]);
        check(&[("tabs", 10), ("tabs", 100), ("spaces", 80)], &[("tabs", &[10, 70]), ("spaces", &[80])]);
        check(&[("tabs", 20), ("spaces", 20), ("tabs", 20)], &[("tabs", &[20, 20]), ("spaces", &[20])]);
    }

    #[test]
    fn a_terse_voter_does_not_silence_the_others() {
        check(&[("tabs", 200), ("spaces", 2)], &[("tabs", &[60]), ("spaces", &[2])]);
        check(&[("tabs", 200)], &[("tabs", &[200])]);
    }

    #[test]
    fn a_text_without_spaces_is_cut_too() {
        let long = "空".repeat(400);
        let shown = by_option(&[cast("ann", "tabs", &long), cast("bob", "spaces", "no")], &[0, 1]);
        assert_eq!(shown[0].1, [format!("{} …", "空".repeat(120))]);
    }
}
