//! Invisible characters: zero-width characters, tags, line and paragraph separators. A person must
//! not read another text than the one that was written.
//!
//! A character that a script or an emoji needs is kept, as it changes what is displayed:
//!
//! - a joiner or non-joiner after a letter of a script that has joined forms (Persian, Hindi …),
//! - a joiner between two emoji,
//! - one variation selector after a character it can vary,
//! - the tags of the flags of England, Scotland and Wales.

use std::iter::Peekable;

/// A character of a text, and whether it is hidden there.
pub(super) struct Placed {
    pub(super) letter: char,
    pub(super) is_hidden: bool,
}

/// The characters of a text, each marked as hidden or not.
pub(super) fn placed(text: &str) -> impl Iterator<Item = Placed> {
    let mut rest = text.chars().peekable();
    let (mut before, mut flag) = (None, 0);
    std::iter::from_fn(move || {
        let letter = rest.next()?;
        if letter == BLACK_FLAG {
            flag = tags_of_flag(&rest);
        } else if flag > 0 {
            flag -= 1;
            return Some(Placed { letter, is_hidden: false });
        }
        let is_hidden = is_ignorable(letter) && !is_needed(before, letter, rest.peek().copied());
        before = Some(letter).filter(|_| !is_hidden);
        Some(Placed { letter, is_hidden })
    })
}

/// The displayed form: `<U+200B>`.
pub(super) fn named(letter: char) -> String {
    format!("<U+{:04X}>", u32::from(letter))
}

/// Whether it is invisible: a code point that Unicode ignores in display, or a separator.
fn is_ignorable(letter: char) -> bool {
    matches!(letter,
        '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}' | '\u{2028}'..='\u{2029}' | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}')
}

/// Whether the character changes what is displayed.
fn is_needed(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let Some(before) = before.filter(|it| !it.is_whitespace()) else { return false };
    match letter {
        '\u{200d}' if ends_emoji(before) => after.is_some_and(is_pictograph),
        '\u{200c}' | '\u{200d}' => has_joined_forms(before),
        '\u{180b}'..='\u{180d}' | '\u{180f}' => matches!(before, '\u{1820}'..='\u{18aa}'),
        '\u{fe00}'..='\u{fe0f}' => !is_ignorable(before),
        '\u{e0100}'..='\u{e01ef}' => is_ideograph(before),
        _ => false,
    }
}

fn ends_emoji(letter: char) -> bool {
    is_pictograph(letter) || letter == '\u{fe0f}'
}

fn is_pictograph(letter: char) -> bool {
    matches!(letter, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

fn is_ideograph(letter: char) -> bool {
    matches!(letter, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// Arabic and its neighbours, the scripts of India and Southeast Asia, Tibetan, Mongolian.
fn has_joined_forms(letter: char) -> bool {
    matches!(letter,
        '\u{600}'..='\u{7ff}' | '\u{840}'..='\u{fff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17b3}'
        | '\u{17b6}'..='\u{17ff}' | '\u{1820}'..='\u{18aa}' | '\u{1900}'..='\u{1cff}'
        | '\u{a800}'..='\u{abff}' | '\u{fb50}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}'
        | '\u{11000}'..='\u{11fff}')
}

const BLACK_FLAG: char = '\u{1f3f4}';

const FLAGS: [&str; 3] = ["gbeng", "gbsct", "gbwls"];

/// The number of tags after a black flag that make it the flag of a country.
fn tags_of_flag(rest: &Peekable<std::str::Chars<'_>>) -> usize {
    let tag = |letter: char| char::from_u32(0xe0000 + u32::from(letter));
    let is_followed_by = |flag: &&str| {
        let tags = flag.chars().chain(['\u{7f}']).map(tag);
        tags.eq(rest.clone().take(flag.len() + 1).map(Some))
    };
    FLAGS.into_iter().find(is_followed_by).map_or(0, |flag| flag.len() + 1)
}
