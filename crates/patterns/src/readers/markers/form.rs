//! Splits a reply at its markers. Only the voter's own words count.

use crate::readers::unquoted::{own_words, unwrapped, without_code};

const CHECK: &str = "[CONSENSUS_CHECK]";
const ANSWER: &str = "HAS_CONSENSUS";
const CONFIDENCE: &str = "[CONFIDENCE]";
pub(super) const REASONING: &str = "[REASONING]";
pub(super) const SOLUTION: &str = "[PROPOSED_SOLUTION]";

/// The same markers without their brackets, which models often leave out.
const BARE: [(&str, &str); 3] =
    [("CONFIDENCE", CONFIDENCE), ("REASONING", REASONING), ("PROPOSED_SOLUTION", SOLUTION)];

/// A reply, split at its markers.
pub(super) struct Marked<'r> {
    reply: &'r str,
    /// The reply with everything but the voter's own words blanked.
    pub(super) own: String,
    /// The markers, in order.
    markers: Vec<Marker>,
}

/// A marker: where it begins, and where the text under it begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Marker {
    at: usize,
    text_at: usize,
    name: &'static str,
}

impl<'r> Marked<'r> {
    pub(super) fn of(reply: &'r str) -> Self {
        let reply = unwrapped(reply);
        let own = without_code(&own_words(reply));
        let upper = own.to_ascii_uppercase();
        let all = [CHECK, CONFIDENCE, REASONING, SOLUTION].into_iter();
        let bracketed = all.flat_map(|name| {
            let places = upper.match_indices(name);
            places.map(move |(at, _)| Marker { at, text_at: at + name.len(), name }).collect::<Vec<_>>()
        });
        let mut markers: Vec<Marker> = bracketed.collect();
        // In the middle of a line the check is only mentioned.
        markers.retain(|it| it.name != CHECK || begins_line(&upper, it.at));
        markers.extend(bare(&own, &upper));
        markers.sort_unstable();
        Marked { reply, own, markers }
    }

    /// The byte ranges between each of these markers and the next marker.
    fn sections(&self, marker: &str) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let ends = self.markers.iter().map(|it| it.at).skip(1).chain([self.reply.len()]);
        let sections = self.markers.iter().zip(ends.collect::<Vec<_>>());
        let wanted = sections.filter(move |(it, _)| it.name == marker);
        wanted.map(|(it, end)| (it.text_at, end.max(it.text_at))).collect::<Vec<_>>().into_iter()
    }

    /// The distinct answers given: none, one, or both.
    pub(super) fn answers(&self) -> Vec<bool> {
        let mut answers: Vec<bool> =
            self.sections(CHECK).filter_map(|(from, to)| answer(&self.own[from..to])).collect();
        answers.sort_unstable();
        answers.dedup();
        answers
    }

    /// The confidence, from the last section that states one.
    pub(super) fn confidence(&self) -> Option<u8> {
        self.sections(CONFIDENCE).rev().find_map(|(from, to)| percent(&self.own[from..to]))
    }

    /// The text under the last of these markers that has any.
    pub(super) fn last(&self, marker: &str) -> Option<&'r str> {
        let texts = self.sections(marker).rev().map(|(from, to)| without_markup(&self.reply[from..to]));
        texts.into_iter().find(|it| !it.is_empty())
    }
}

/// The markers without brackets: each begins a line and has a colon after it. The answer needs no
/// marker before it.
fn bare<'o>(own: &'o str, upper: &'o str) -> impl Iterator<Item = Marker> + 'o {
    let answers = upper.match_indices(ANSWER).map(|(at, _)| Marker { at, text_at: at, name: CHECK });
    let others = BARE.iter().flat_map(|(label, name)| {
        // In capitals, as in the form: "Reasoning:" may well begin a line of a solution.
        let places = own.match_indices(label).map(|(at, _)| (at, at + label.len()));
        let labelled =
            places.filter(|(_, end)| own[*end..].trim_start_matches(['*', '_', ' ']).starts_with([':', '=']));
        labelled.map(|(at, end)| Marker { at, text_at: end, name })
    });
    answers.chain(others).filter(|it| begins_line(upper, it.at))
}

/// Whether the text could hold a marker.
pub(super) fn may_hold(text: &str) -> bool {
    let upper = text.to_ascii_uppercase();
    [CHECK, ANSWER, CONFIDENCE].iter().any(|marker| upper.contains(marker))
}

/// The text without Markdown that belongs to the markers around it: `**[REASONING]**: why\n**`.
fn without_markup(text: &str) -> &str {
    let text = text.trim_start_matches([' ', ':', '=', '*']).trim();
    match text.rsplit_once('\n') {
        Some((before, markup)) if is_markup(markup) => before.trim_end(),
        _ => text,
    }
}

fn is_markup(text: &str) -> bool {
    text.chars().all(|it| it.is_whitespace() || "#*-_".contains(it))
}

fn begins_line(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    is_markup(line)
}

/// The yes or no after `HAS_CONSENSUS:`. The blank form, `[YES or NO]`, is not an answer.
fn answer(section: &str) -> Option<bool> {
    let at = section.to_ascii_uppercase().find(ANSWER)? + ANSWER.len();
    let line = section[at..].trim_start_matches(|it: char| !it.is_alphanumeric()).lines().next()?;
    let upper = line.to_ascii_uppercase();
    let words: Vec<&str> =
        upper.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty()).collect();
    match words[..] {
        ["YES", "OR", "NO", ..] | ["YES", "NO"] => None,
        ["YES", ..] => Some(true),
        ["NO" | "NOT", ..] => Some(false),
        _ => None,
    }
}

/// The number right after `[CONFIDENCE]`, clamped to 0 to 100.
fn percent(section: &str) -> Option<u8> {
    let text = section.trim_start_matches(|it: char| it.is_whitespace() || ":=*_`[(".contains(it));
    let end =
        text.char_indices().find(|(at, it)| !(it.is_ascii_digit() || *it == '.' || (*at == 0 && *it == '-')));
    let number = text[..end.map_or(text.len(), |it| it.0)].trim_end_matches('.');
    let value: f64 = number.parse().ok()?;
    // Some models answer with a fraction instead of a percentage: 0.85.
    let is_share = number.contains('.') && (0.0..=1.0).contains(&value);
    let value = if is_share { value * 100.0 } else { value };
    Some(value.clamp(0.0, 100.0).round() as u8)
}
