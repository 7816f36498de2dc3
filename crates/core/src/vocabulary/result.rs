//! Fields that a pattern or a method adds to the result document.

use serde_json::Value;

use crate::{model::state::State, vocabulary::view::View};

/// A field of the result document, computed from the record.
#[derive(Clone, Copy)]
pub struct ResultField {
    /// The name in the JSON: `verdict`.
    pub name: &'static str,
    /// The heading people read: `Verdict`.
    pub title: &'static str,
    /// How it is drawn.
    pub view: View,
    /// Its value; `None` leaves the field out.
    pub of: fn(&State) -> Option<Value>,
}

impl std::fmt::Debug for ResultField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultField").field("name", &self.name).finish_non_exhaustive()
    }
}
