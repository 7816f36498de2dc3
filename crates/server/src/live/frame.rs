//! Events as SSE frames.

use std::{fmt, num::ParseIntError, str::FromStr};

use axum::body::Bytes;
use quorum::{
    model::{
        event::Fact,
        id::{DiscussionId, Seq, Step},
    },
    seeds::events::Announcement,
};
use serde::Serialize;
use serde_json::{Value, json};

/// The first frame: how long a browser waits before it reconnects.
pub(crate) const RETRY: &[u8] = b"retry: 2000\n\n";

/// The keep-alive frame, so that no proxy takes silence for the end.
pub(crate) const SILENCE: &[u8] = b": keep-alive\n\n";

/// The id of an event: its number, after the epoch of the log if the store has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct EventId {
    pub(crate) epoch: Option<u64>,
    pub(crate) seq: Seq,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.epoch {
            Some(epoch) => write!(f, "{epoch}-{}", self.seq),
            None => write!(f, "{}", self.seq),
        }
    }
}

impl FromStr for EventId {
    type Err = ParseIntError;

    fn from_str(text: &str) -> Result<Self, ParseIntError> {
        let (epoch, seq) = match text.split_once('-') {
            Some((epoch, seq)) => (Some(epoch.parse()?), seq),
            None => (None, text),
        };
        Ok(EventId { epoch, seq: Seq(seq.parse()?) })
    }
}

impl EventId {
    /// The number after which a client goes on that has seen this event. One that has seen another
    /// epoch may have seen facts that are lost, so it starts over.
    pub(crate) fn resumed_in(self, epoch: Option<u64>) -> Seq {
        match (self.epoch, epoch) {
            (Some(seen), Some(now)) if seen != now => Seq::START,
            _ => self.seq,
        }
    }
}

/// One of the public events. Text deltas have no id, so that a browser never resumes
/// after one.
pub(crate) fn announced(announcement: &Announcement, epoch: Option<u64>) -> Bytes {
    let id = announcement.seq.map(|seq| EventId { epoch, seq });
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let name = announcement.name;
    format!("{id}event: {name}\ndata: {}\n\n", announcement.data).into()
}

/// What the frames of a turn's text have in common. A turn has hundreds of them, so they are
/// written without a document in between.
pub(crate) struct ChunkHeading {
    name: &'static str,
    discussion: String,
    role: Option<String>,
    participant: String,
}

/// The fields of such a frame, in their order.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Chunk<'c> {
    discussion_id: &'c str,
    timestamp: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'c str>,
    participant: &'c str,
    chunk: &'c str,
    step: &'c Step,
    attempt: u32,
    offset: usize,
}

impl ChunkHeading {
    /// The heading of a turn one of whose chunks is announced in this way.
    pub(crate) fn of(announced: &Announcement) -> Self {
        let text = |name: &str| announced.data[name].as_str().map(str::to_owned);
        ChunkHeading {
            name: announced.name,
            discussion: text("discussionId").unwrap_or_default(),
            role: text("role"),
            participant: text("participant").unwrap_or_default(),
        }
    }

    /// The frame of some text at this offset, sent at this time.
    pub(crate) fn chunk(
        &self,
        step: &Step,
        timestamp: i64,
        attempt: u32,
        (offset, chunk): (usize, &str),
    ) -> Bytes {
        let ChunkHeading { name, discussion, role, participant } = self;
        let (discussion_id, role) = (discussion.as_str(), role.as_deref());
        let data = Chunk { discussion_id, timestamp, role, participant, chunk, step, attempt, offset };
        let mut frame = Vec::with_capacity(chunk.len() + USUAL_CHUNK);
        frame.extend_from_slice(b"event: ");
        frame.extend_from_slice(name.as_bytes());
        frame.extend_from_slice(b"\ndata: ");
        // Never fails: strings and numbers are written to memory.
        let _ = serde_json::to_writer(&mut frame, &data);
        frame.extend_from_slice(b"\n\n");
        frame.into()
    }
}

/// The usual size of such a frame without its text.
const USUAL_CHUNK: usize = 288;

/// A fact as recorded, for subscribers to all facts.
pub(crate) fn fact(id: DiscussionId, fact: &Fact, epoch: Option<u64>) -> Bytes {
    let mut data = serde_json::to_value(fact).unwrap_or_default();
    if let Value::Object(fields) = &mut data {
        fields.insert("discussionId".to_owned(), json!(id));
    }
    format!("id: {}\nevent: fact\ndata: {data}\n\n", EventId { epoch, seq: fact.seq }).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_written_as_its_announcement_would_be() {
        for role in [json!("critic"), Value::Null] {
            let (discussion, step) = (DiscussionId::fresh(), Step::from("1/talking/ann \"A\""));
            let mut data = json!({ "discussionId": discussion, "timestamp": 7 });
            if !role.is_null() {
                data["role"] = role;
            }
            (data["participant"], data["chunk"]) = (json!("ann \"A\""), json!("so\n\u{1f600}"));
            let (seq, name) = (None, "turn-chunk");
            let heading = ChunkHeading::of(&Announcement { seq, name, data: data.clone() });
            (data["step"], data["attempt"], data["offset"]) = (json!(step), json!(2), json!(30));
            let written = heading.chunk(&step, 7, 2, (30, "so\n\u{1f600}"));
            assert_eq!(written, announced(&Announcement { seq, name, data }, Some(3)));
        }
    }

    #[test]
    fn an_older_epoch_makes_a_client_begin_anew_and_a_plain_number_does_not() {
        let check = |given: &str, epoch, expected: u64| {
            let id: EventId = given.parse().unwrap();
            assert_eq!((id.to_string(), id.resumed_in(epoch)), (given.to_owned(), Seq(expected)), "{given}");
        };
        check("12", None, 12);
        check("12", Some(3), 12);
        check("3-12", Some(3), 12);
        check("2-12", Some(3), 0);
        check("4-12", Some(3), 0);
        // The store was moved to one that loses nothing, with all its facts.
        check("3-12", None, 12);
        for wrong in ["x", "-", "3-", "-12", "1-2-3", "1.5", ""] {
            assert!(wrong.parse::<EventId>().is_err(), "{wrong}");
        }
    }
}
