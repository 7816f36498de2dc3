//! Reads forms that are written as lines, `Choice: tabs`. Small models that nothing holds to a
//! schema write them more reliably than JSON.

use crate::readers::unquoted::{own_words, unwrapped, without_code};

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
    fn two_different_values_of_a_key_are_ambiguous() {
        let of = |reply: &str| only(&lines(reply), "ready").map(str::to_owned);
        assert_eq!(of("Ready: yes\nReady: Yes").as_deref(), Some("Yes"));
        assert_eq!((of("Ready: yes\nReady: no"), of("yes")), (None, None));
    }
}
