//! The system text of a seat: the same for all its questions in a discussion, so that providers can
//! cache it. Everything that changes is in the last message.

use std::sync::Arc;

use quorum_core::model::{
    client::Utterance,
    mask::Mask,
    participant::{Participant, Role},
    recall::{Recalled, Why, numbered},
    spec::Spec,
    time::iso,
};

use super::{fill, listed, mentioned, plain, quoted};
use crate::{pattern::roundtable, roles};

/// The system text of a seat in two sizes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct SystemText {
    pub(crate) usual: Arc<str>,
    /// For a small model.
    pub(crate) compact: Arc<str>,
}

impl SystemText {
    /// The text with which a participant was asked before, in whichever size.
    pub(crate) fn known(text: Arc<str>) -> Self {
        SystemText { usual: text.clone(), compact: text }
    }
}

/// The system text of this participant, with the manner of the pattern. Without a manner, as for a
/// vote, nobody has a role.
pub(crate) fn system(spec: &Spec, who: &Participant, manner: &str) -> SystemText {
    system_with_part(spec, who, manner, "")
}

/// The same with the participant's part in the discussion.
pub(crate) fn system_with_part(spec: &Spec, who: &Participant, manner: &str, part: &str) -> SystemText {
    let named = if manner.is_empty() { mentioned } else { introduced };
    let others: Vec<String> = spec.speakers().iter().filter(|it| it.name != who.name).map(named).collect();
    let values =
        [("who", &*named(who)), ("others", &listed(&others)), ("manner", &one_a_line(manner.trim()))];
    let earlier = earlier_for_speakers(spec);
    let usual = joined(&[
        &fill(include_str!("frame.md"), &values),
        manner,
        include_str!("frame_rules.md"),
        include_str!("fences.md"),
        &question(spec),
        &background(spec),
        &earlier,
        part,
        &brief(who),
    ]);
    let compact = joined(&[
        &without_empty_lines(&fill(include_str!("compact_frame.md"), &values)),
        &compact_question(spec),
        &background(spec),
        &earlier,
        part,
        &brief(who),
    ]);
    SystemText { usual: usual.into(), compact: compact.into() }
}

/// The text with every sentence of ours on a line of its own, which small models follow better.
/// Quotations and lists stay as they are, and a number stays before its text.
pub(crate) fn one_a_line(text: &str) -> String {
    let lines = text.split('\n').map(|line| match line.starts_with(['>', '-', '`']) {
        true => line.to_owned(),
        false => {
            let (number, rest) = line.split_at(list_number(line));
            format!("{number}{}", rest.replace(". ", ".\n").replace("? ", "?\n"))
        }
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// The length of the number that a line of a list begins with, `1. `; 0 if there is none.
pub(super) fn list_number(line: &str) -> usize {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    if 0 < digits && line[digits..].starts_with(". ") { digits + 2 } else { 0 }
}

fn without_empty_lines(text: &str) -> String {
    text.lines().filter(|line| !line.is_empty()).collect::<Vec<_>>().join("\n")
}

/// A participant as everyone is told of it. The roles of a debate are told as positions instead.
/// Participants that don't speak are not introduced: nobody should argue to please a certain judge,
/// and a fork that only changes the judge can reuse the debaters' answers.
fn introduced(who: &Participant) -> String {
    let of_a_debate = || roles::OF_A_DEBATE.iter().any(|it| it.name == who.role.name());
    let is_plain = who.role == Role::SPEAKER || of_a_debate();
    if is_plain { mentioned(who) } else { format!("{} ({})", mentioned(who), who.role) }
}

/// The sections of a text that are not empty, with a blank line between them.
pub(crate) fn joined(sections: &[&str]) -> String {
    let sections = sections.iter().map(|it| it.trim()).filter(|it| !it.is_empty());
    sections.collect::<Vec<_>>().join("\n\n")
}

/// The question as everyone is asked it.
pub(crate) fn question(spec: &Spec) -> String {
    fill(include_str!("question.md"), &[("topic", &plain(&spec.topic))])
}

/// The question as a small model is asked it.
pub(crate) fn compact_question(spec: &Spec) -> String {
    fill(include_str!("compact_question.md"), &[("topic", &plain(&spec.topic))])
}

/// The question as it is repeated after much talk.
pub(crate) fn question_again(spec: &Spec) -> String {
    fill(include_str!("question_again.md").trim_end(), &[("topic", &plain(&spec.topic))])
}

/// The background given by the user, as data, and what a client sent beside the question: its
/// instructions, and the conversation so far, as data.
pub(crate) fn background(spec: &Spec) -> String {
    let given = spec.background.as_deref().map(quoted);
    let given =
        given.map_or_else(String::new, |text| fill(include_str!("background.md"), &[("background", &text)]));
    let client = spec.client.as_ref();
    let told = client.and_then(|it| it.instructions.as_deref()).map(plain);
    let told = told
        .map_or_else(String::new, |text| fill(include_str!("instructions.md"), &[("instructions", &text)]));
    let before = client.map_or(&[][..], |it| &it.conversation);
    joined(&[&given, &told, &conversation(before)])
}

/// The conversation so far, quoted message by message: it may hold text of others.
fn conversation(before: &[Utterance]) -> String {
    if before.is_empty() {
        return String::new();
    }
    let said = before.iter().map(|it| format!("{}:\n{}", it.by.name(), quoted(&it.text)));
    let said = said.collect::<Vec<_>>().join("\n\n");
    fill(include_str!("conversation.md"), &[("conversation", &said)])
}

/// What everyone is shown of earlier discussions, as data: those that this one follows, then those
/// that were recalled.
pub(crate) fn earlier(spec: &Spec) -> String {
    earlier_cited_as(spec, |number| format!("[{number}]"))
}

/// The same for those that speak. At a roundtable a bracket ends a speech (C03), so a number is
/// cited without one.
fn earlier_for_speakers(spec: &Spec) -> String {
    match spec.pattern == roundtable::PATTERN.name {
        true => earlier_cited_as(spec, str::to_owned),
        false => earlier(spec),
    }
}

fn earlier_cited_as(spec: &Spec, cited: fn(&str) -> String) -> String {
    let entries = |why: Why| -> String {
        let shown = numbered(spec.shown()).filter(|(_, it)| it.why == why);
        let entry = |(number, it): (String, &Recalled)| {
            let on = iso(it.ended_at);
            format!("[{number}] {}\n{}", on.get(..10).unwrap_or(&on), quoted(&it.text))
        };
        shown.map(entry).collect::<Vec<_>>().join("\n\n")
    };
    let section = |template: &str, example: &str, entries: &str| match entries {
        "" => String::new(),
        entries => fill(template, &[("entries", entries), ("example", &cited(example))]),
    };
    joined(&[
        &section(include_str!("followed.md"), "F1", &entries(Why::Followed)),
        &section(include_str!("recalled.md"), "R1", &entries(Why::Recalled)),
    ])
}

/// The user's instructions for this participant.
pub(crate) fn brief(who: &Participant) -> String {
    let given = who.brief.as_deref().map(plain);
    given.map_or_else(String::new, |text| fill(include_str!("brief.md"), &[("brief", &text)]))
}

/// The same for one that must not know who is who: a judge, or the writer. Names in it are
/// mentions, so that it is shown the labels.
pub(crate) fn covered_brief(spec: &Spec, who: &Participant) -> String {
    Mask::mentions(spec).cover(&brief(who))
}
