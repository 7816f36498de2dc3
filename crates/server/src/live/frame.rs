//! Events as SSE frames.

use std::{fmt, num::ParseIntError, str::FromStr};

use axum::body::Bytes;
use quorum::{
    model::{
        event::Fact,
        id::{DiscussionId, Seq},
    },
    seeds::events::Announcement,
};
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
    /// epoch may have seen facts that are lost, so it begins anew.
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
