//! Events as SSE frames.

use axum::body::Bytes;
use quorum::{
    model::{event::Fact, id::DiscussionId},
    seeds::events::Announcement,
};
use serde_json::{Value, json};

/// The first frame: how long a browser waits before it reconnects.
pub(crate) const RETRY: &[u8] = b"retry: 2000\n\n";

/// The keep-alive frame, so that no proxy takes silence for the end.
pub(crate) const SILENCE: &[u8] = b": keep-alive\n\n";

/// One of the public events. Text deltas have no id, so that a browser never resumes
/// after one.
pub(crate) fn announced(announcement: &Announcement) -> Bytes {
    let id = announcement.seq.map(|seq| format!("id: {seq}\n")).unwrap_or_default();
    let name = announcement.name;
    format!("{id}event: {name}\ndata: {}\n\n", announcement.data).into()
}

/// A fact as recorded, for subscribers to all facts.
pub(crate) fn fact(id: DiscussionId, fact: &Fact) -> Bytes {
    let mut data = serde_json::to_value(fact).unwrap_or_default();
    if let Value::Object(fields) = &mut data {
        fields.insert("discussionId".to_owned(), json!(id));
    }
    format!("id: {}\nevent: fact\ndata: {data}\n\n", fact.seq).into()
}
