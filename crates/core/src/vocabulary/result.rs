//! Fields that a pattern or a method adds to the result.

use serde_json::Value;

use crate::{model::state::State, vocabulary::view::View};

/// A field of the result, computed from the state.
#[derive(Clone, Copy)]
pub struct ResultField {
    /// The name in the JSON: `verdict`.
    pub name: &'static str,
    /// The heading for people: `Verdict`.
    pub title: &'static str,
    /// How it is displayed.
    pub view: View,
    /// Computes the value; `None` omits the field.
    pub of: fn(&State) -> Option<Value>,
}

impl std::fmt::Debug for ResultField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ResultField").field("name", &self.name).finish_non_exhaustive()
    }
}
