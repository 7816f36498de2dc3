//! Events as they go over the wire.

use axum::body::Bytes;
use quorum::{
    model::{event::Fact, id::DiscussionId},
    seeds::events::Announcement,
};
use serde_json::{Value, json};

/// Said first: how long a browser waits before it comes back.
pub(crate) const RETRY: &[u8] = b"retry: 2000\n\n";

/// Said when there is nothing to say, so that nobody on the way takes the silence for the end.
pub(crate) const SILENCE: &[u8] = b": keep-alive\n\n";

/// One of requirement A's twelve events. Pieces of text have no number, so that a browser never asks for what follows them.
pub(crate) fn announced(announcement: &Announcement) -> Bytes {
    let id = announcement.seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    let name = announcement.name.replace('_', "-");
    format!("{id}event: {name}\ndata: {}\n\n", announcement.data).into()
}

/// A fact as it is recorded, for who wants to know everything.
pub(crate) fn fact(id: DiscussionId, fact: &Fact) -> Bytes {
    let mut data = serde_json::to_value(fact).unwrap_or_default();
    if let Value::Object(fields) = &mut data {
        fields.insert("discussionId".to_owned(), json!(id));
    }
    format!("id: {}\nevent: fact\ndata: {data}\n\n", fact.seq).into()
}
