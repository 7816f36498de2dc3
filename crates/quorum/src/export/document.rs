//! What an exported page has in it, for a page that has its own head and its own policy.

use quorum_core::registry::Snapshot;

use crate::{
    export::{html, transcript::transcript},
    text::clean,
};

/// How it looks.
pub const STYLE: &str = html::STYLE;

/// What it is about, as plain text.
#[must_use]
pub fn title(state: &Snapshot) -> String {
    clean(&state.spec.topic)
}

/// The document as HTML without scripts or styles; what models and people wrote brings no markup of its own into it.
#[must_use]
pub fn body(state: &Snapshot, commands: &[String]) -> String {
    html::body(&transcript(state, commands))
}
