//! One marker in its many spellings: `[ann:2]`, `[@ann 2]`, `[ann:1, bob:2-3]`, `[all]`, with wide
//! brackets, escaped or between backticks.

use crate::model::recall::{after_letter, is_number};

/// What stands at a place of a text that may still be arriving.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// No marker.
    Nothing,
    /// The beginning of what may become one.
    Unfinished,
    /// A marker.
    Marker(Taken),
}

/// A marker to be taken out.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Taken {
    /// Its length in bytes.
    pub(super) length: usize,
    /// What it cites.
    pub(super) cites: Vec<String>,
    /// What of it stays: numbers of past discussions, `[R1]` and `[F1]`, mean something to people.
    pub(super) kept: Option<String>,
}

/// The longest marker, in bytes.
const LONGEST: usize = 240;

/// The most digits of a round.
const ROUND_DIGITS: usize = 3;

const OPEN: [char; 3] = ['[', '［', '【'];
const CLOSE: [char; 3] = [']', '］', '】'];
const SEPARATORS: [char; 7] = [',', ';', '、', '，', '；', '&', '/'];

/// Letters of labels. A label that no seat has is taken out, too, and cites nothing.
const RARE: &str = "JKQVWXZ";

/// The marker between backticks at the start of this text.
pub(super) fn wrapped_at(text: &str, speakers: &[String], is_complete: bool) -> Found {
    let Some(inner) = text.strip_prefix('`') else { return Found::Nothing };
    if inner.is_empty() {
        return if is_complete { Found::Nothing } else { Found::Unfinished };
    }
    match marker_at(inner, None, speakers, is_complete) {
        Found::Marker(taken) => match inner[taken.length..].chars().next() {
            Some('`') => Found::Marker(Taken { length: taken.length + 2, ..taken }),
            None if !is_complete => Found::Unfinished,
            Some(_) | None => Found::Nothing,
        },
        other => other,
    }
}

/// The marker at the start of this text, which follows this character.
pub(super) fn marker_at(text: &str, before: Option<char>, speakers: &[String], is_complete: bool) -> Found {
    let unescaped = text.strip_prefix('\\').unwrap_or(text);
    let Some(within) = unescaped.strip_prefix(OPEN) else {
        let may_open = unescaped.is_empty() && !is_complete;
        return if may_open { Found::Unfinished } else { Found::Nothing };
    };
    let near = &within[..within.floor_char_boundary(LONGEST)];
    let Some(close) = near.find(|it: char| it == '\n' || CLOSE.contains(&it)) else {
        let may_go_on = !is_complete && near.len() == within.len() && may_become(within, speakers);
        return if may_go_on { Found::Unfinished } else { Found::Nothing };
    };
    let inside = within[..close].strip_suffix('\\').unwrap_or(&within[..close]);
    let Some(entries) = entries(inside, speakers).filter(|_| !within[close..].starts_with('\n')) else {
        return Found::Nothing;
    };
    let rest = &within[close..];
    let rest = &rest[rest.chars().next().map_or(0, char::len_utf8)..];
    if rest.is_empty() && !is_complete {
        return Found::Unfinished;
    }
    // A link, or an index as in `packages[all]`.
    let is_word = before.is_some_and(char::is_alphanumeric);
    if rest.starts_with('(') || (entries.cites == [ALL] && is_word) {
        return Found::Nothing;
    }
    let kept = (!entries.kept.is_empty()).then(|| format!("[{}]", entries.kept.join(", ")));
    Found::Marker(Taken { length: text.len() - rest.len(), cites: entries.cites, kept })
}

/// The citation of everyone.
pub(super) const ALL: &str = "all";

#[derive(Default)]
struct Entries {
    cites: Vec<String>,
    kept: Vec<String>,
}

/// The entries of a marker; `None` if this is none.
fn entries(inside: &str, speakers: &[String]) -> Option<Entries> {
    let mut entries = Entries::default();
    let mut is_marker = false;
    let mut rest = inside;
    loop {
        rest = rest.trim_start();
        let bare = rest.strip_prefix(['@', '＠']).unwrap_or(rest);
        let after = if let Some((cite, after)) = cite_at(bare, speakers) {
            is_marker = true;
            entries.cites.push(cite);
            after
        } else {
            let end = rest.find(SEPARATORS).unwrap_or(rest.len());
            let (entry, after) = rest.split_at(end);
            other_entry(entry.trim(), &mut entries)?;
            after
        };
        let mut after = after.trim_start().chars();
        match after.next() {
            None => break,
            Some(it) if SEPARATORS.contains(&it) => rest = after.as_str(),
            Some(_) => return None,
        }
    }
    is_marker.then_some(entries)
}

/// The citation at the start of this text, and what follows it.
fn cite_at<'t>(text: &'t str, speakers: &[String]) -> Option<(String, &'t str)> {
    if let Some(rest) = without_prefix(text, ALL).filter(|it| !it.starts_with(char::is_alphanumeric)) {
        return Some((ALL.to_owned(), rest));
    }
    let named = speakers.iter().find_map(|name| {
        let (round, rest) = round_at(without_prefix(text, name)?)?;
        Some((format!("{name}:{round}"), rest))
    });
    named.or_else(|| {
        let length = text.bytes().take_while(|it| RARE.as_bytes().contains(it)).count();
        let (label, rest) = text.split_at(length);
        let (round, after) = round_at(rest.strip_prefix([':', '：'])?)?;
        (2..=3).contains(&length).then(|| (format!("{label}:{round}"), after))
    })
}

/// The rest of a text that begins with this name, ignoring the case of ASCII letters.
fn without_prefix<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let begins = text.get(..name.len())?;
    begins.eq_ignore_ascii_case(name).then(|| &text[name.len()..])
}

/// The round or range of rounds at the start of this text, and what follows it.
fn round_at(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start_matches([' ', ':', '：', '.']);
    let word = ["rounds", "round", "r"].into_iter().find_map(|word| without_prefix(text, word));
    let text = word.map_or(text, |it| it.trim_start_matches([' ', '.', ':']));
    let (first, rest) = digits(text)?;
    let second = rest.strip_prefix(['-', '–']).and_then(digits);
    Some(match second {
        Some((last, rest)) => (format!("{first}-{last}"), rest),
        None => (first.to_owned(), rest),
    })
}

fn digits(text: &str) -> Option<(&str, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    (1..=ROUND_DIGITS).contains(&length).then(|| text.split_at(length))
}

/// An entry that cites no participant: the number of a past discussion stays, an unknown speaker is
/// kept as it is. `None` if it is not an entry of a marker.
fn other_entry(entry: &str, entries: &mut Entries) -> Option<()> {
    if is_number(entry) {
        entries.kept.push(entry.to_owned());
        return Some(());
    }
    let (speaker, round) = entry.split_once(':')?;
    let is_round = digits(round.trim()).is_some_and(|(_, rest)| rest.is_empty());
    (is_round && !speaker.contains(char::is_whitespace)).then(|| entries.cites.push(entry.to_owned()))
}

/// Whether a text that ends here may still become the inside of a marker.
fn may_become(begun: &str, speakers: &[String]) -> bool {
    let begun = begun.trim_start();
    let begun = begun.strip_prefix(['@', '＠']).unwrap_or(begun);
    let meets = |word: &str| {
        let length = word.len().min(begun.len());
        word.as_bytes()[..length].eq_ignore_ascii_case(&begun.as_bytes()[..length])
    };
    let label = begun.trim_start_matches(|it| RARE.contains(it));
    let is_label = (1..=3).contains(&(begun.len() - label.len())) && label.starts_with([':', '：']);
    meets(ALL)
        || speakers.iter().any(|it| meets(it))
        || label.is_empty()
        || is_label
        || after_letter(begun)
            .is_some_and(|it| it.is_empty() || it.starts_with(|it: char| it.is_ascii_digit()))
}
