//! The talk as a voice perceives it: who said what, which positions were stated, and what can be
//! quoted.

use quorum_core::{
    call::{Call, Message},
    model::transcript::Turn,
};

use super::{bank::Bank, random::Random, topic::clipped};

/// The length of a quotation in characters, those of Japanese counted twice: neither too long nor
/// too short to say anything.
const QUOTED: std::ops::RangeInclusive<usize> = 28..=150;

/// A full stop nearer than this to the previous one belongs to an abbreviation.
const SHORTEST: usize = 12;

/// The talk as one voice perceives it.
#[derive(Debug)]
pub(super) struct Table<'a> {
    /// Everyone else that spoke, without judges, in the order of their first turns.
    pub(super) others: Vec<Speaker<'a>>,
    /// The voice's own turns in which it took a position.
    pub(super) own: Vec<&'a str>,
    /// The topic and the answer of its sub-discussion.
    pub(super) found: Option<(&'a str, &'a str)>,
    /// The current question.
    pub(super) asked: &'a str,
}

/// Another participant and its turns.
#[derive(Debug, Clone)]
pub(super) struct Speaker<'a> {
    /// Its label, or its name if the call shows names.
    pub(super) name: &'a str,
    /// Its name in the panel.
    pub(super) seat: &'a str,
    /// Its turns, in order.
    pub(super) said: Vec<&'a str>,
    /// The round of its last turn.
    pub(super) round: u32,
}

impl<'a> Table<'a> {
    pub(super) fn of(call: &'a Call) -> Table<'a> {
        let mut table = Table { others: Vec::new(), own: Vec::new(), found: None, asked: "" };
        for message in &call.messages {
            match message {
                // Text before a sub-discussion takes no position yet.
                Message::Said { turn, own: true } if position(&turn.text).is_none() => {}
                Message::Said { turn, own: true } => table.own.push(&turn.text),
                Message::Said { turn, own: false } => table.add_turn(call, turn),
                Message::Found { topic, text } => table.found = Some((topic, text)),
                Message::Ask(text) => table.asked = text,
            }
        }
        table
    }

    fn add_turn(&mut self, call: &'a Call, turn: &'a Turn) {
        let seat = call.labels.name(&turn.participant).unwrap_or(&turn.participant);
        let judges = call.spec.seat(seat).is_some_and(|it| it.aside);
        match self.others.iter_mut().find(|it| it.name == turn.participant) {
            _ if judges => {}
            // A writer is shown its own turns under a label.
            _ if seat == call.participant.name && !is_judged(call, &turn.participant) => {
                self.own.extend(position(&turn.text).map(|_| &*turn.text));
            }
            Some(speaker) => {
                speaker.said.push(&turn.text);
                speaker.round = turn.round;
            }
            None => {
                self.others.push(Speaker {
                    name: &turn.participant,
                    seat,
                    said: vec![&turn.text],
                    round: turn.round,
                });
            }
        }
    }
}

/// Whether the form asks about the participant with this label.
fn is_judged(call: &Call, label: &str) -> bool {
    let schema = call.shape.as_ref().and_then(|it| it.schema.as_deref());
    schema.is_some_and(|it| it.to_string().contains(&format!("\"{label}\"")))
}

impl Speaker<'_> {
    /// The last position it stated.
    pub(super) fn position(&self) -> Option<String> {
        self.said.iter().rev().find_map(|text| position(text))
    }

    /// The first position it stated.
    pub(super) fn first_position(&self) -> Option<String> {
        self.said.iter().find_map(|text| position(text))
    }

    /// The newest sentence of it that can be quoted on its own.
    pub(super) fn quote(&self, random: Random) -> Option<String> {
        self.said.iter().rev().find_map(|text| quote(text, random))
    }

    /// The main point of its last turn: the first sentence that can be quoted on its own,
    /// preferably a reason.
    pub(super) fn main_point(&self) -> Option<String> {
        let points = || self.said.iter().rev().filter_map(|text| main_point(text));
        points().find(|it| !Bank::is_afterthought(it)).or_else(|| points().next())
    }

    /// Whether it mentions this participant by name.
    pub(super) fn mentions(&self, name: &str) -> bool {
        let is_word = |text: &str| {
            text.split(|it: char| !it.is_alphanumeric() && !"-_./@".contains(it))
                .any(|word| word.trim_matches(['.', '-']).trim_end_matches("'s") == name)
        };
        self.said.iter().any(|text| is_word(text))
    }
}

/// The position that a text states in its first line, or chooses in a ballot. Anything else is
/// ignored.
pub(super) fn position(text: &str) -> Option<String> {
    if let Ok(ballot) = serde_json::from_str::<serde_json::Value>(text) {
        return ballot.get("choice")?.as_str().map(str::to_owned);
    }
    let line = text.trim_start().lines().next()?.replace("**", "");
    Bank::all().iter().find_map(|bank| {
        let (before, after) = bank.position.split_once("{position}")?;
        let stated = line.trim().strip_prefix(before)?.strip_suffix(after)?;
        Some(stated.to_owned())
    })
}

/// One of the points of a text.
pub(super) fn quote(text: &str, random: Random) -> Option<String> {
    let points = quotable(text);
    let chosen = points.get(random.derive("quote").below(points.len())).cloned();
    chosen.or_else(|| main_point(text))
}

/// The first point of a text, or else its first sentence.
pub(super) fn main_point(text: &str) -> Option<String> {
    let anything = || Some(clipped(sentences(spoken_lines(text).next()?).first()?, *QUOTED.end()));
    quotable(text).into_iter().next().or_else(anything)
}

/// The points of a text: of each paragraph the first sentence that can be quoted on its own. That
/// is one that isn't an introduction, contains no quotation and makes sense without the one before.
pub(super) fn quotable(text: &str) -> Vec<String> {
    if let Ok(reply) = serde_json::from_str::<serde_json::Value>(text) {
        let reason = ["reasoning", "summary", "synthesis"].iter().find_map(|key| reply.get(key)?.as_str());
        return reason.map(|it| clipped(it, *QUOTED.end())).into_iter().collect();
    }
    let long_enough = |it: &String| it.chars().map(width).sum::<usize>() >= *QUOTED.start();
    let plain = |it: &String| !it.contains(['“', '”', '„', '"', '[', '「', '」']) && !Bank::is_frame(it);
    let alone = |it: &String| long_enough(it) && plain(it) && !Bank::is_dangling(it);
    let points = spoken_lines(text).filter_map(|line| sentences(line).into_iter().find(alone));
    points.map(|it| clipped(&it, *QUOTED.end())).collect()
}

fn width(it: char) -> usize {
    if it < WIDE { 1 } else { 2 }
}

/// The first of the characters of Japanese, its punctuation included.
const WIDE: char = '\u{3000}';

/// The numbered points of a proposal.
pub(super) fn points(text: &str) -> Vec<(usize, String)> {
    let point = |line: &str| {
        let (number, rest) = line.trim().split_once(". ")?;
        let first = sentences(rest).into_iter().next()?;
        Some((number.parse().ok()?, clipped(&first, *QUOTED.end())))
    };
    text.lines().filter_map(point).collect()
}

fn spoken_lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter(|line| position(line).is_none() && !is_markup(line))
}

fn is_markup(line: &str) -> bool {
    let line = line.trim();
    line.is_empty() || line.starts_with('#') || line.starts_with("Confidence:") || line.ends_with([':', '：'])
}

/// What ends a sentence.
const STOPS: [char; 7] = ['.', '!', '?', '…', '。', '！', '？'];

/// The sentences of a line, without a leading list number.
fn sentences(line: &str) -> Vec<String> {
    let line = line.trim().trim_start_matches(|it: char| it.is_ascii_digit() || "-*. ".contains(it));
    let mut found = Vec::new();
    let mut start = 0;
    for (at, stop) in line.match_indices(STOPS) {
        let closing = |it: char| STOPS.contains(&it) || "”“」".contains(it);
        let end = line[at..].find(|it| !closing(it)).map_or(line.len(), |length| at + length);
        // A sentence continues if a lowercase letter follows: “Why?” is a question.
        let after = line[end..].strip_prefix(' ').map(|it| it.chars().next().is_some_and(char::is_lowercase));
        // In Japanese no space follows.
        let ends = line[end..].is_empty() || stop.starts_with(|it| WIDE < it) || after == Some(false);
        if ends && end > start + SHORTEST {
            found.push(line[start..end].trim().to_owned());
            start = end;
        }
    }
    let rest = line[start..].trim();
    if !rest.is_empty() {
        let rest = rest.trim_end_matches([',', ';', ':']);
        let stop = match rest {
            ended if ended.ends_with(STOPS) => "",
            wide if wide.ends_with(|it| WIDE < it) => "。",
            _ => ".",
        };
        found.push(format!("{rest}{stop}"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_from_the_first_line_only() {
        let check = |text: &str, expected: Option<&str>| assert_eq!(position(text).as_deref(), expected);
        check("My position: event sourcing.\n\nBecause.", Some("event sourcing"));
        check("**My position: event sourcing.**", Some("event sourcing"));
        check("Meine Position: noch nicht.", Some("noch nicht"));
        check("私の立場：まだ早い。", Some("まだ早い"));
        check("Well.\nMy position: event sourcing.", None);
        check(r#"{"choice":"REST","confidence":0.5}"#, Some("REST"));
        check("I like REST.", None);
    }

    #[test]
    fn frames_and_quotations_are_not_quoted() {
        let text = "My position: REST.\n\nOn APIs, the loudest arguments aren't the ones that decide it. \
                    REST is understood by everyone here.\n\nann says: “Never mind the rest of it all.” \
                    Short one.\n\nConfidence: 0.70";
        assert_eq!(quotable(text), ["REST is understood by everyone here."]);
    }

    #[test]
    fn sentences_in_japanese_need_no_space_between_them() {
        let text = "期限は見当たらない。足りないのは、今日困っている問題だ。";
        assert_eq!(sentences(text), ["期限は見当たらない。", "足りないのは、今日困っている問題だ。"]);
        assert_eq!(quotable(text), ["足りないのは、今日困っている問題だ。"]);
        assert_eq!(quotable("@KX は言う：「足りないのは、今日困っている問題だ。」"), [""; 0]);
        assert_eq!(sentences("1. 担当者と期限を決める"), ["担当者と期限を決める。"]);
    }

    #[test]
    fn every_reason_has_something_to_quote() {
        for bank in Bank::all() {
            let stances = bank.should.iter().chain(&bank.open).chain(&bank.whether).chain(&bank.explain);
            let sides = [&bank.sides.favour, &bank.sides.against, &bank.sides.weigh];
            let reasons = stances.chain(sides).flat_map(|it| &it.because).chain(&bank.option.because);
            let lenses = bank.lens.iter().flat_map(|it| &it.words);
            let mute: Vec<&String> = reasons.chain(lenses).filter(|it| quotable(it).is_empty()).collect();
            assert_eq!(mute, Vec::<&String>::new());
        }
    }

    #[test]
    fn points_keep_their_numbers() {
        let text = "I propose:\n\n1. First do this. And that.\n2. Then do the other thing.";
        assert_eq!(
            points(text),
            [(1, "First do this.".to_owned()), (2, "Then do the other thing.".to_owned())]
        );
    }

    #[test]
    fn mentions_are_whole_words() {
        let speaker = |text| Speaker { name: "ann", seat: "ann", said: vec![text], round: 1 };
        assert!(speaker("I am with bob here.").mentions("bob"));
        assert!(speaker("bob's point").mentions("bob"));
        assert!(speaker("So says gpt-4.1.").mentions("gpt-4.1"));
        assert!(!speaker("bobby says").mentions("bob"));
        assert!(speaker("私は @KX に賛成だ。").mentions("@KX"));
    }
}
