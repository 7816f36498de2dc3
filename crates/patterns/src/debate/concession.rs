//! Concessions: a debater that gives its position up says so in words that it is told, and only
//! these words count.

use quorum_core::model::state::State;
use serde::{Deserialize, Serialize};

use crate::readers::unquoted::{own_words, without_code};

/// The kind of a concession in the record.
pub(crate) const CONCESSION: &str = "concession";

/// The most characters of an argument that are recorded.
const LONGEST_ARGUMENT: usize = 500;

/// The words that concede.
const WORDS: &str = "i concede";

/// What may be conceded as a whole; anything else is a point that is granted.
const WHOLE: [&str; 6] =
    ["my position", "my case", "the debate", "this debate", "the whole debate", "defeat"];

/// What may follow instead of the end of the sentence.
const REASONS: [&str; 3] = ["because", "since", "given"];

/// What may follow such a word and is no part of the reason.
const LINKS: [&str; 2] = ["of", "that"];

/// A debater that gave its position up.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Concession {
    /// The debater.
    pub participant: String,
    /// The round in which it conceded.
    pub round: u32,
    /// The argument that did it, in the debater's words; empty if it named none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub argument: String,
}

/// All concessions of a debate.
pub(crate) fn concessions(state: &State) -> Vec<Concession> {
    state.noted(CONCESSION).collect()
}

/// The argument to which a speech concedes, empty if it names none; `None` if it doesn't concede.
///
/// A concession is a sentence of the speaker's own that begins with the words *I concede* and ends
/// there, goes on after a colon, a semicolon or a dash, names the whole position or debate, or
/// gives its reason. *I concede that …* and *I concede the point* grant a point and are none.
pub(crate) fn conceded_to(speech: &str) -> Option<String> {
    let own = without_code(&own_words(speech));
    let at = sentence_starts(&own)
        .find_map(|start| after_concession(&own[start..]).map(|rest| own.len() - rest.len()))?;
    let rest = &own[at..];
    Some(argument(reason(rest).unwrap_or(rest)))
}

/// The reason after the word that introduces it, if the sentence goes on with one.
fn reason(rest: &str) -> Option<&str> {
    let rest = rest.trim_start_matches([',', ' ', '\t', '*', '_']);
    let reason = REASONS.iter().find_map(|it| words(rest, it))?;
    Some(LINKS.iter().find_map(|it| words(reason, it)).unwrap_or(reason))
}

/// The places where a sentence begins that is not inside quotation marks.
fn sentence_starts(text: &str) -> impl Iterator<Item = usize> {
    let (mut ended, mut quoted) = (true, Quotes::default());
    text.char_indices().filter_map(move |(at, letter)| {
        let starts = ended && quoted.is_outside() && letter.is_alphabetic();
        quoted.pass(letter);
        ended = match letter {
            '.' | '!' | '?' | '…' | '。' | '！' | '？' | '\n' => true,
            // Spaces, emphasis, list marks and closing brackets stand between two sentences.
            _ => ended && !letter.is_alphanumeric() && !matches!(letter, ',' | ':' | ';' | '('),
        };
        if letter == '\n' {
            quoted = Quotes::default();
        }
        starts.then_some(at)
    })
}

/// Which quotation marks are open. A line that leaves one open doesn't affect the next.
#[derive(Default)]
struct Quotes {
    straight: bool,
    depth: usize,
}

impl Quotes {
    fn pass(&mut self, letter: char) {
        match letter {
            '"' => self.straight = !self.straight,
            '„' | '«' | '「' | '『' => self.depth += 1,
            // In German, this one closes what „ opened.
            '“' if 0 < self.depth => self.depth -= 1,
            '“' => self.depth += 1,
            '”' | '»' | '」' | '』' => self.depth = self.depth.saturating_sub(1),
            _ => {}
        }
    }

    fn is_outside(&self) -> bool {
        !self.straight && self.depth == 0
    }
}

/// What follows if this sentence concedes.
fn after_concession(sentence: &str) -> Option<&str> {
    let rest = words(sentence, WORDS)?;
    let whole = WHOLE.iter().find_map(|it| words(rest, it)).unwrap_or(rest);
    let whole = whole.trim_start_matches(['*', '_']);
    let ends = |rest: &&str| {
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.is_empty() || rest.starts_with(['.', '!', ':', ';', '—', '–', '-', '\n', '\r', '。', '！', '：'])
    };
    Some(whole).filter(|rest| ends(rest) || reason(rest).is_some())
}

/// What follows these words at the beginning of the text, ignoring case, spacing and emphasis.
fn words<'t>(text: &'t str, wanted: &str) -> Option<&'t str> {
    let mut rest = text;
    for word in wanted.split(' ') {
        rest = rest.trim_start_matches([' ', '\t', '*', '_']);
        let begins = rest.get(..word.len()).is_some_and(|it| it.eq_ignore_ascii_case(word));
        rest = rest[if begins { word.len() } else { return None }..].trim_start_matches('’');
        if rest.starts_with(|it: char| it.is_alphanumeric() || it == '\'') {
            return None;
        }
    }
    Some(rest)
}

/// The argument after the words: the rest of their paragraph, or else the next one.
fn argument(rest: &str) -> String {
    let paragraphs = rest.split("\n\n").map(|it| {
        let plain = it.split_whitespace().collect::<Vec<_>>().join(" ");
        plain.trim_matches(|it: char| it.is_whitespace() || ".!:;,—–-*_。！：".contains(it)).to_owned()
    });
    let argument = paragraphs.into_iter().find(|it| !it.is_empty()).unwrap_or_default();
    argument.chars().take(LONGEST_ARGUMENT).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(speech: &str, expected: Option<&str>) {
        assert_eq!(conceded_to(speech).as_deref(), expected, "{speech}");
    }

    #[test]
    fn d03_a_debater_concedes_in_a_sentence_of_its_own() {
        check("I concede.", Some(""));
        check("I concede", Some(""));
        check("I concede! The cost decides it.", Some("The cost decides it"));
        check("I concede: the cost decides it.", Some("the cost decides it"));
        check("I concede – @bob's figures hold.", Some("@bob's figures hold"));
        check("I concede because the figures hold.", Some("the figures hold"));
        check("I concede, since nobody pays for it.", Some("nobody pays for it"));
        check("I concede, given that it costs too much.", Some("it costs too much"));
        check("I concede because of the costs.", Some("the costs"));
        check("I concede. Since 2019 nobody has paid for it.", Some("Since 2019 nobody has paid for it"));
        check("i  CONCEDE my position. It costs too much.", Some("It costs too much"));
        check("I concede the debate: it costs too much", Some("it costs too much"));
        check(
            "It is dear.\nI concede.\n\n@bob showed what it costs.\n\nBye.",
            Some("@bob showed what it costs"),
        );
        check("They are right. I concede. It costs too much.", Some("It costs too much"));
        check("**I concede.** It costs too much.", Some("It costs too much"));
        check("**I concede**: it costs too much.", Some("it costs too much"));
        check("- I concede; it costs too much", Some("it costs too much"));
        check("Das stimmt. I concede. Die Kosten entscheiden.", Some("Die Kosten entscheiden"));
        check("その通りです。I concede。費用が決め手です。", Some("費用が決め手です"));
    }

    #[test]
    fn d03_a_point_that_is_granted_is_no_concession() {
        for granted in [
            "I concede that it costs a lot.",
            "I concede the point about costs.",
            "I concede this point. Still, it is right.",
            "I concede as much.",
            "I concede for the sake of argument.",
            "I concede nothing.",
            "I concede my position on costs was weak.",
            "I concede, however, that it costs a lot.",
            "I concede?",
            "I conceded. That was in round 1.",
            "I concede's not what I say.",
            "If it fails, I concede.",
            "Shall I concede: yes or no?",
            "I do not concede.",
            "We concede.",
            "",
        ] {
            check(granted, None);
        }
    }

    #[test]
    fn d03_words_of_others_are_no_concession() {
        for quoted in [
            "> I concede.",
            "\"I concede.\" is what @bob should write.",
            "@bob wrote: \"Fine. I concede. It is dear.\" That is wrong.",
            "“Fine. I concede.” So it ends.",
            "„Gut. I concede.“ So endet es.",
            "「わかった。I concede。」と書くべきです。",
            "`I concede` is what one writes.\nNot I.",
            "```\nI concede.\n```",
            "<said-1f by=\"@bob\" round=\"1\">\nI concede.\n</said-1f>",
        ] {
            check(quoted, None);
        }
        check("It's 5\" wide.\nI concede.", Some(""));
    }
}
