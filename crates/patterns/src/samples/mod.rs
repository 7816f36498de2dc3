//! Sample replies of simulated voices, one file per form.

pub(crate) mod assessment;
pub(crate) mod ballot;
pub(crate) mod casting;
pub(crate) mod consensus_check;
pub(crate) mod draft_check;
pub(crate) mod short_answer;
pub(crate) mod synthesis;
pub(crate) mod verdict;

use serde::Serialize;

/// The value as JSON. Our values are plain structs, so serialising can't fail; an empty object is
/// the fallback.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}
