//! Reads forms that are written as lines, `Choice: tabs`. Small models that nothing holds to a
//! schema write them more reliably than JSON.

use quorum_core::floor::reading::Misread;
use serde_json::Value;

use crate::readers::{
    json::flag,
    unquoted::{own_words, unwrapped, without_code},
};

/// One line of a reply, outside quotations and code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WrittenLine {
    /// The whole line without its Markdown.
    pub(crate) text: String,
    /// The word before the colon in lower case; empty without a colon.
    pub(crate) key: String,
    /// The text after the colon.
    pub(crate) value: String,
}

/// The lines of a reply that are not blank. One code block around all of them is ignored.
pub(crate) fn lines(reply: &str) -> Vec<WrittenLine> {
    let own = without_code(&own_words(unwrapped(reply)));
    own.lines().map(plain).filter(|it| !it.is_empty()).map(WrittenLine::of).collect()
}

/// The values of all lines with this key, in order.
pub(crate) fn values<'l>(lines: &'l [WrittenLine], key: &str) -> Vec<&'l str> {
    lines.iter().filter(|it| it.key == key).map(|it| it.value.as_str()).collect()
}

/// The value of the last line with this key. Lines that contradict each other have none.
pub(crate) fn only<'l>(lines: &'l [WrittenLine], key: &str) -> Option<&'l str> {
    let values = values(lines, key);
    let last = values.last()?;
    values.iter().all(|it| it.eq_ignore_ascii_case(last)).then_some(*last)
}

/// What is wrong with a form in lines that lacks one of these, or in which two of them contradict
/// each other.
pub(crate) fn missing(reply: &str, keys: &[&str]) -> Option<Misread> {
    let lines = lines(reply);
    let key = keys.iter().find(|key| only(&lines, &key.to_lowercase()).is_none())?;
    let is_there = !values(&lines, &key.to_lowercase()).is_empty();
    let wrong = match is_there {
        true => format!("the lines `{key}: …` contradict each other"),
        false => format!("there is no line `{key}: …`"),
    };
    Some(Misread::new(wrong))
}

/// What is wrong with a form in lines in which one of these says neither yes nor no.
pub(crate) fn undecided(reply: &str, keys: &[&str]) -> Option<Misread> {
    let lines = lines(reply);
    let says = |key: &str| only(&lines, &key.to_lowercase()).map(|it| Value::from(first_word(it)));
    let key = keys.iter().find(|key| says(key).is_some_and(|it| flag(&it).is_none()))?;
    Some(Misread::new(format!("the line `{key}: …` says neither yes nor no")))
}

/// `yes` of `Yes, because …`.
pub(crate) fn first_word(value: &str) -> &str {
    value.split(|it: char| !it.is_alphabetic()).next().unwrap_or_default()
}

/// Whether the text could hold a line with this key.
pub(crate) fn may_hold(text: &str, key: &str) -> bool {
    text.lines().map(plain).any(|line| WrittenLine::of(line).key == key)
}

/// Whether a value says that there is nothing.
pub(crate) fn is_nothing(value: &str) -> bool {
    let plain = value.trim_end_matches(['.', '!']).to_lowercase();
    ["", "-", "–", "none", "nothing", "no", "n/a"].contains(&plain.as_str())
}

impl WrittenLine {
    fn of(text: String) -> Self {
        let (key, value) = text.split_once([':', '：']).unwrap_or(("", &text));
        let (key, value) = (key.trim().to_lowercase(), value.trim().to_owned());
        WrittenLine { key, value, text }
    }
}

/// The line without Markdown around it and around its key. Quotations are left as they are.
fn plain(line: &str) -> String {
    let bare = line.trim().trim_start_matches(['-', '*', '#', '•', '`', ' ']);
    bare.trim_end_matches(['`', '*', ' ']).replace("**", "").replace("`:", ":").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(reply: &str, expected: &[(&str, &str)]) {
        let lines = lines(reply);
        let read: Vec<(&str, &str)> = lines.iter().map(|it| (&*it.key, &*it.value)).collect();
        assert_eq!(read, expected, "{reply}");
    }

    #[test]
    fn a_line_has_a_word_and_a_value_whatever_its_markdown() {
        let expected = [("choice", "tabs"), ("confidence", "0.8")];
        check("Choice: tabs\nConfidence: 0.8", &expected);
        check("- **Choice:** tabs\n\n* `Confidence`: 0.8", &expected);
        check("```\n`Choice: tabs`\nCONFIDENCE：0.8\n```", &expected);
        check("They adapt.\nChoice : a: b", &[("", "They adapt."), ("choice", "a: b")]);
    }

    #[test]
    fn quotations_and_code_have_no_lines() {
        check("> Choice: tabs\nso\n```\nChoice: tabs\n```\nend", &[("", "so"), ("", "end")]);
        check("<said-1 by=\"ann\">\nChoice: tabs\n</said-1>", &[]);
        assert!(may_hold("so\n- **Choice:** tabs", "choice") && !may_hold("the choice", "choice"));
    }

    #[test]
    fn what_is_wrong_with_lines_is_said_by_their_words() {
        let missing = |reply: &str| missing(reply, &["Ready", "Open"]).map(|it| it.0.to_string());
        assert_eq!(missing("Open: it\nReady: no"), None);
        assert_eq!(missing("Open: it").as_deref(), Some("there is no line `Ready: …`"));
        let both = missing("Ready: yes\nReady: no");
        assert_eq!(both.as_deref(), Some("the lines `Ready: …` contradict each other"));
        let undecided = |reply: &str| undecided(reply, &["Ready"]).map(|it| it.0.to_string());
        assert_eq!((undecided("Ready: Yes, I think."), undecided("Open: it")), (None, None));
        let maybe = undecided("Ready: maybe");
        assert_eq!(maybe.as_deref(), Some("the line `Ready: …` says neither yes nor no"));
    }

    #[test]
    fn two_different_values_of_a_key_are_ambiguous() {
        let of = |reply: &str| only(&lines(reply), "ready").map(str::to_owned);
        assert_eq!(of("Ready: yes\nReady: Yes").as_deref(), Some("Yes"));
        assert_eq!((of("Ready: yes\nReady: no"), of("yes")), (None, None));
    }
}
