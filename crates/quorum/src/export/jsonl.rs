//! JSON Lines: what watchers are told, one event a line, under the names and numbers of the live stream.

use quorum_core::model::{
    announcement::{Announcement, Announcer},
    event::Fact,
    state::State,
};
use serde_json::{Map, Value, json};

use crate::{export::Format, text::escaped};

pub(super) const FORMAT: Format = Format {
    name: "jsonl",
    summary: "Every event on a line of its own, for programs that follow",
    ending: "jsonl",
    write,
};

/// The first line: what the others are.
#[must_use]
pub fn header() -> String {
    json!({ "schema": "quorum.events", "version": 1 }).to_string()
}

/// One event as a line. Pieces of text have no `seq`.
#[must_use]
pub fn line(announcement: &Announcement) -> String {
    let mut fields = Map::new();
    fields.extend(announcement.seq.map(|seq| ("seq".to_owned(), json!(seq))));
    fields.insert("type".to_owned(), json!(announcement.name));
    fields.extend(announcement.data.as_object().cloned().unwrap_or_default());
    escaped(&Value::Object(fields).to_string())
}

fn write(state: &State, facts: &[Fact]) -> String {
    let mut announcer = Announcer::new(state.id);
    let events = facts.iter().filter_map(|fact| announcer.announce(fact)).map(|it| line(&it));
    std::iter::once(header()).chain(events).map(|line| line + "\n").collect()
}
