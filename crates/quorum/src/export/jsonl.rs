//! JSON Lines: the public events, one per line, under the names and numbers of the live stream.

use quorum_core::{model::event::Fact, registry::Snapshot};

use crate::{
    export::{Extras, Format},
    seeds::events::{Announcement, Announcer},
    text::escaped,
};

pub(super) const FORMAT: Format =
    Format { name: "jsonl", summary: "One event per line, for programs", ending: "jsonl", write };

/// The first line: describes the others.
#[must_use]
pub fn header() -> String {
    r#"{"schema":"quorum.events","version":1}"#.to_owned()
}

/// One event as a line. Text deltas have no `seq`.
#[must_use]
pub fn line(announcement: &Announcement) -> String {
    let seq = announcement.seq.map(|seq| format!("\"seq\":{seq},")).unwrap_or_default();
    // The type comes first, for human readers. A payload is an object and never empty.
    let data = announcement.data.to_string();
    let fields = data.strip_prefix('{').unwrap_or(&data);
    escaped(&format!("{{{seq}\"type\":\"{}\",{fields}", announcement.name))
}

fn write(state: &Snapshot, facts: &[Fact], _: &Extras) -> String {
    let mut announcer = Announcer::new(state.id, state.registry().clone());
    let events = facts.iter().filter_map(|fact| announcer.announce(fact)).map(|it| line(&it));
    std::iter::once(header()).chain(events).map(|line| line + "\n").collect()
}
