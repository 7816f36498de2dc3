//! Splits a reply at its markers. Only the voter's own words count.

use crate::readers::unquoted::{own_words, unwrapped, without_code};

const CHECK: &str = "[CONSENSUS_CHECK]";
const ANSWER: &str = "HAS_CONSENSUS";
const CONFIDENCE: &str = "[CONFIDENCE]";
pub(super) const REASONING: &str = "[REASONING]";
pub(super) const SOLUTION: &str = "[PROPOSED_SOLUTION]";

/// A reply, split at its markers.
pub(super) struct Marked<'r> {
    reply: &'r str,
    /// The reply with everything blanked that is not the voter's own.
    pub(super) own: String,
    /// The positions of the markers, in order.
    markers: Vec<(usize, &'static str)>,
}

impl<'r> Marked<'r> {
    pub(super) fn of(reply: &'r str) -> Self {
        let reply = unwrapped(reply);
        let own = without_code(&own_words(reply));
        let upper = own.to_ascii_uppercase();
        let all = [CHECK, CONFIDENCE, REASONING, SOLUTION].into_iter();
        let places =
            |marker| upper.match_indices(marker).map(move |(at, _)| (at, marker)).collect::<Vec<_>>();
        let mut markers: Vec<(usize, &'static str)> = all.flat_map(places).collect();
        // In the middle of a line the check is only mentioned.
        markers.retain(|(at, marker)| *marker != CHECK || begins_line(&upper, *at));
        markers.sort_unstable();
        Marked { reply, own, markers }
    }

    /// The byte ranges between each of these markers and the next marker.
    fn sections(&self, marker: &str) -> impl DoubleEndedIterator<Item = (usize, usize)> {
        let ends = self.markers.iter().map(|it| it.0).skip(1).chain([self.reply.len()]);
        let sections = self.markers.iter().zip(ends.collect::<Vec<_>>());
        let wanted = sections.filter(move |((_, it), _)| *it == marker);
        wanted.map(|((at, it), end)| (at + it.len(), end)).collect::<Vec<_>>().into_iter()
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
        let texts = self.sections(marker).rev().map(|(from, to)| undressed(&self.reply[from..to]));
        texts.into_iter().find(|it| !it.is_empty())
    }
}

/// The text without Markdown that belongs to the markers around it: `**[REASONING]**: why\n**`.
fn undressed(text: &str) -> &str {
    let text = text.trim_start_matches([':', '*']).trim();
    match text.rsplit_once('\n') {
        Some((before, dress)) if is_dress(dress) => before.trim_end(),
        _ => text,
    }
}

fn is_dress(text: &str) -> bool {
    text.chars().all(|it| it.is_whitespace() || "#*-_".contains(it))
}

fn begins_line(text: &str, at: usize) -> bool {
    let line = text[..at].rsplit('\n').next().unwrap_or_default();
    is_dress(line)
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
