//! The system text of a seat: the same for all its questions in a discussion, so that providers can
//! cache it. Everything that changes is in the last message.

use quorum_core::model::{
    client::Utterance,
    participant::{Participant, Role},
    spec::Spec,
};

use super::{fill, listed, mentioned, plain, quoted};
use crate::roles::{JUDGE, MODERATOR, NEUTRAL, OPPONENT, PROPONENT};

/// The system text of this participant, with the manner of the pattern.
pub(crate) fn system(spec: &Spec, who: &Participant, manner: &str) -> String {
    system_with_part(spec, who, manner, "")
}

/// The same with the participant's part in the discussion.
pub(crate) fn system_with_part(spec: &Spec, who: &Participant, manner: &str, part: &str) -> String {
    let others: Vec<String> =
        spec.speakers().iter().filter(|it| it.name != who.name).map(introduced).collect();
    let values = [("who", &*introduced(who)), ("others", &listed(&others))];
    joined(&[
        &fill(include_str!("frame.md"), &values),
        manner,
        include_str!("frame_rules.md"),
        include_str!("fences.md"),
        &question(spec),
        &background(spec),
        part,
        &brief(who),
    ])
}

/// A participant as everyone is told of it. The roles of a debate are told as positions instead.
/// Participants that don't speak are not introduced: nobody should argue to please a certain judge,
/// and a fork that only changes the judge can reuse the debaters' answers.
fn introduced(who: &Participant) -> String {
    let is_plain = [Role::SPEAKER, PROPONENT, OPPONENT, NEUTRAL, MODERATOR, JUDGE].contains(&who.role);
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

/// The user's instructions for this participant.
pub(crate) fn brief(who: &Participant) -> String {
    let given = who.brief.as_deref().map(plain);
    given.map_or_else(String::new, |text| fill(include_str!("brief.md"), &[("brief", &text)]))
}
