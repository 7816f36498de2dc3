//! JSON: the result document, as `ax show --json` prints it.

use quorum_core::{model::event::Fact, registry::Snapshot};

use crate::{
    export::{Extras, Format},
    text::escaped,
};

pub(super) const FORMAT: Format =
    Format { name: "json", summary: "The result as one document, for programs", ending: "json", write };

fn write(state: &Snapshot, _: &[Fact], _: &Extras) -> String {
    // An outcome has neither maps with odd keys nor numbers JSON can't write.
    let document = serde_json::to_string_pretty(&state.outcome()).unwrap_or_default();
    format!("{}\n", escaped(&document))
}
