//! Which sentence a marker belongs to, and which turns it cites.

use quorum_core::vocabulary::prose::Marker;

use super::{Said, quotes::quoted_parts, units::Unit};

/// A citation of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cited<'m> {
    /// As the writer put it: `ann:2`.
    pub(super) written: &'m str,
    /// The turns that may be meant; none if no such participant took a turn in these rounds.
    pub(super) turns: Vec<usize>,
}

/// The most citations of one sentence.
const MOST_CITED: usize = 20;

/// The citations of each unit of an answer. A marker within a quotation is somebody else's, and
/// cites nothing.
pub(super) fn by_unit<'m>(
    text: &str,
    markers: &'m [Marker],
    units: &[Unit],
    talk: &[Said<'_>],
) -> Vec<Vec<Cited<'m>>> {
    let mut cited: Vec<Vec<Cited<'m>>> = vec![Vec::new(); units.len()];
    if markers.is_empty() {
        return cited;
    }
    let (lines, quoted) = (lines(text), quoted_parts(text));
    let is_quoted = |at: usize| {
        let next = quoted.partition_point(|it| it.end < at);
        quoted.get(next).is_some_and(|it| it.start < at)
    };
    for marker in markers.iter().filter(|it| !is_quoted(it.at)) {
        let Some(unit) = unit_of(&lines, units, marker.at) else { continue };
        for cite in &marker.cites {
            let is_new = !cited[unit].iter().any(|it| it.written == cite);
            if is_new && cited[unit].len() < MOST_CITED {
                cited[unit].extend(resolved(cite, talk));
            }
        }
    }
    cited
}

/// A line of a text, in Unicode scalar values.
struct Line {
    end: usize,
    /// Where its first letter or digit stands; its end if it has none.
    text: usize,
}

fn lines(text: &str) -> Vec<Line> {
    let mut start = 0;
    let line = |it: &str| {
        let length = it.chars().count();
        let text = it.chars().position(char::is_alphanumeric).unwrap_or(length);
        let line = Line { end: start + length, text: start + text };
        start = line.end;
        line
    };
    text.split_inclusive('\n').map(line).collect()
}

/// The unit that a marker at this place belongs to: the one that it ends, or the one that it begins
/// at the start of a line.
fn unit_of(lines: &[Line], units: &[Unit], at: usize) -> Option<usize> {
    let line = lines.get(lines.partition_point(|it| it.end <= at));
    let next = units.partition_point(|it| it.chars.start < at);
    let begins =
        units.get(next).zip(line).filter(|(unit, line)| at <= line.text && unit.chars.start < line.end);
    if begins.is_some() { Some(next) } else { next.checked_sub(1) }
}

/// The turns that a citation means.
fn resolved<'m>(written: &'m str, talk: &[Said<'_>]) -> Vec<Cited<'m>> {
    let by = |is_meant: &dyn Fn(&Said<'_>) -> bool| {
        talk.iter().enumerate().filter(|it| is_meant(it.1)).map(|it| it.0).collect::<Vec<usize>>()
    };
    if written == "all" {
        let mut names: Vec<&str> = talk.iter().map(|it| &*it.participant).collect();
        names.sort_unstable();
        names.dedup();
        let of = |name: &str| by(&|it: &Said<'_>| it.participant == name);
        return names.iter().map(|name| Cited { written, turns: of(name) }).collect();
    }
    let turns = written.rsplit_once(':').and_then(|(name, rounds)| {
        let (first, last) = rounds.split_once('-').unwrap_or((rounds, rounds));
        let (first, last): (u32, u32) = (first.parse().ok()?, last.parse().ok()?);
        Some(by(&|it: &Said<'_>| it.participant == name && (first..=last).contains(&it.round)))
    });
    vec![Cited { written, turns: turns.unwrap_or_default() }]
}
