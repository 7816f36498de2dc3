//! How the panel of an order without participants differs from the default one.

use quorum::request::PanelChoice;
use serde::Serialize;
use utoipa::ToSchema;

use crate::wording;

/// The difference as data and as a sentence.
#[derive(Debug, Serialize, ToSchema)]
#[schema(example = json!({
    "kind": "narrowed", "panel": ["claude", "gemini"], "missing": ["glm", "qwen"],
    "message": "glm, qwen can't be asked here, so the panel is claude, gemini",
}))]
pub(crate) struct Panel {
    /// The `kind` is `one-vendor` with `provider` and `models`, `one-program` with `provider` and
    /// `panel`, `narrowed` with `panel` and `missing`, or `filled-up` with `panel` and `added`. The
    /// last two have `unasked` where other providers could be asked.
    #[serde(flatten)]
    #[schema(value_type = Object)]
    choice: PanelChoice,
    /// The same in a sentence.
    message: String,
}

impl From<PanelChoice> for Panel {
    fn from(choice: PanelChoice) -> Self {
        Panel { message: wording::panel(&choice), choice }
    }
}
