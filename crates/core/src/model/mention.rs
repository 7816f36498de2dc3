//! Mentions: a participant's name inside a prompt, marked so that each reader is shown what it may
//! see of it, a label or the name.
//!
//! Prompts are written with mentions, compared with mentions (so that a fork with other labels asks
//! the same questions), and resolved last, when a request is sent.

use std::borrow::Cow;

/// Around a mention. Both are private-use characters, which no text contains by accident.
const OPEN: char = '\u{f8f0}';
const CLOSE: char = '\u{f8f1}';

/// The name as a mention.
#[must_use]
pub fn mention(name: &str) -> String {
    format!("{OPEN}{name}{CLOSE}")
}

/// The text with plain names in place of mentions.
#[must_use]
pub fn plain(text: &str) -> Cow<'_, str> {
    if text.contains([OPEN, CLOSE]) { resolve(text, str::to_owned).into() } else { text.into() }
}

/// The text with every mention replaced by what `shown` returns for its name. Stray marks are
/// dropped.
#[must_use]
pub fn resolve(text: &str, shown: impl Fn(&str) -> String) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(OPEN) {
        push_unmarked(&mut out, before);
        match after.split_once(CLOSE).filter(|(name, _)| !name.contains(OPEN)) {
            Some((name, tail)) => {
                out.push_str(&shown(name));
                rest = tail;
            }
            None => rest = after,
        }
    }
    push_unmarked(&mut out, rest);
    out
}

/// Adds the text without closing marks.
fn push_unmarked(out: &mut String, text: &str) {
    text.split(CLOSE).for_each(|it| out.push_str(it));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mention_is_shown_as_its_reader_may_see_it() {
        let text = format!("You are {}; {} agrees.", mention("ann"), mention("bob"));
        let label = |name: &str| format!("@{}", name.to_uppercase());
        assert_eq!(resolve(&text, label), "You are @ANN; @BOB agrees.");
        assert_eq!(resolve("ann \u{f8f1}and\u{f8f0} bob", label), "ann and bob");
    }
}
