//! The body of an exported page, for a page with its own head and content security policy.

use quorum_core::registry::Snapshot;

use crate::{
    export::{
        Extras, html,
        transcript::{ShowsNotes, transcript},
    },
    text::clean,
};

/// The style sheet.
pub const STYLE: &str = html::STYLE;

/// The name that a person gave it, or its topic, as plain text.
#[must_use]
pub fn title(state: &Snapshot, extras: &Extras) -> String {
    clean(extras.title.as_ref().unwrap_or(&state.spec.topic))
}

/// The document as HTML without scripts or styles. Text of models and people adds no markup of its
/// own to it. Discussions of steps are linked with addresses that begin with `link`.
#[must_use]
pub fn body(state: &Snapshot, extras: &Extras, link: &str) -> String {
    html::body(&transcript(state, extras, ShowsNotes::Yes), Some(link))
}
