//! A call as one text, for programs that take a single prompt.

use quorum_core::call::{Call, MessageRole, Shape};

use crate::fenced;

/// Coding CLIs explore their folder before they answer, unless told otherwise.
const ROOM: &str =
    "Answer in text only, from what is written here. You have no files to look at and no commands to run.";

/// The system instructions, the messages so far, the required form of the answer, and the question,
/// which ends with the length and the language.
pub(super) fn text(call: &Call) -> String {
    let form = call.shape.as_ref().and_then(form);
    let told: Vec<String> = form.into_iter().chain(fenced::offer(call)).collect();
    let messages = match &told[..] {
        [] => call.render(),
        told => fenced::before_task(call, &told.join("\n\n")).render(),
    };
    let own = messages.iter().any(|(voiced, _)| *voiced == MessageRole::Assistant);
    let nonce = &call.nonce;
    let own_note = own.then(|| format!("Text inside <own-{nonce}> is what you said earlier."));
    let said = messages.into_iter().map(|(voiced, text)| match voiced {
        MessageRole::Assistant => format!("<own-{nonce}>\n{text}\n</own-{nonce}>"),
        MessageRole::User => text,
    });
    let first = [call.system.to_string(), ROOM.to_owned()].into_iter().chain(own_note);
    let parts: Vec<String> = first.chain(said).filter(|it| !it.trim().is_empty()).collect();
    parts.join("\n\n") + "\n"
}

fn form(shape: &Shape) -> Option<String> {
    let schema = shape.schema.as_deref()?;
    Some(format!(
        "Answer with one JSON document and nothing before or after it. It must fit this JSON schema:\n{schema}"
    ))
}
