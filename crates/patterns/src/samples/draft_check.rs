//! The check of a critique's last draft.

use quorum_core::vocabulary::sample::Mind;
use serde_json::{Value, json};

/// Ready, unless the critic is stubborn: then its own argument is still unanswered.
pub(crate) fn sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let objects = mind.chance("check") < mind.stubbornness() / 2.0;
    let objection = json!({ "objection": mind.argument(), "breaks": mind.phrase("check.open", &[]) });
    let open = if objects { vec![objection] } else { Vec::new() };
    json!({ "open": open, "ready": !objects }).to_string()
}
