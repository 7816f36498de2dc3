//! Sample replies of simulated voices, one file for each form.

pub(crate) mod assessment;
pub(crate) mod ballot;
pub(crate) mod casting;
pub(crate) mod consensus_check;
pub(crate) mod synthesis;
pub(crate) mod verdict;

use serde::Serialize;

/// The value as JSON. A value that can't be written so would be an empty object; ours are plain
/// structs.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_else(|_| "{}".to_owned())
}
