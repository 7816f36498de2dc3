//! What an exported page has in it, for a page that has its own head and its own policy.

use quorum_core::model::state::State;

use crate::{
    export::{html, transcript::transcript},
    text::clean,
};

/// How it looks.
pub const STYLE: &str = html::STYLE;

/// What it is about, as plain text.
#[must_use]
pub fn title(state: &State) -> String {
    clean(&state.spec.topic)
}

/// The document as HTML without scripts or styles; what models and people wrote brings no markup of its own into it.
#[must_use]
pub fn body(state: &State, commands: &[String]) -> String {
    html::body(&transcript(state, commands))
}
