//! Rules of wording for all text of ours that a model reads: the files, and what is sent.

/// Words that a prompt must not contain, unless it is about them.
pub const FORBIDDEN: &[&str] = &[
    "step by step",
    "take a deep breath",
    "you are an expert",
    "as an ai",
    "helpful assistant",
    "great point",
    "acknowledge",
    "appreciate",
    "common ground",
    "consensus",
    "majority",
    "most of you",
    "best in the world",
    "be concise",
    "be brief",
    "stand firm",
    "build on",
];

/// Words that nothing has in capitals.
const SHOUTED: [&str; 4] = ["MUST", "NEVER", "IMPORTANT", "CRITICAL"];

/// Quotation marks that are not ASCII.
const QUOTES: [char; 7] = ['\u{201c}', '\u{201d}', '\u{2018}', '\u{2019}', '\u{201e}', '\u{ab}', '\u{bb}'];

/// The most characters of a line.
const LONGEST_LINE: usize = 600;

/// The rules that this text breaks: each forbidden word in it, or what else is wrong.
#[must_use]
pub fn breaches(text: &str) -> Vec<&'static str> {
    let lower = text.to_lowercase();
    let forbidden = FORBIDDEN.iter().filter(|it| lower.contains(**it));
    let mut words = text.split(|it: char| !it.is_alphabetic());
    let others = [
        (words.any(|it| SHOUTED.contains(&it)), "a word in capitals"),
        (text.contains(QUOTES), "quotation marks that are not ASCII"),
        (text.lines().any(|line| LONGEST_LINE < line.chars().count()), "a line that is too long"),
    ];
    forbidden.copied().chain(others.into_iter().filter(|it| it.0).map(|it| it.1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_breach_is_named() {
        let long = "x".repeat(601);
        for (text, expected) in [
            ("Answer with \"yes\" or NO.", &[][..]),
            ("Think Step by step.", &["step by step"][..]),
            ("You MUST build on it.", &["build on", "a word in capitals"][..]),
            ("Say “yes”.", &["quotation marks that are not ASCII"][..]),
            (&long[..], &["a line that is too long"][..]),
        ] {
            assert_eq!(breaches(text), expected, "{text}");
        }
    }
}
