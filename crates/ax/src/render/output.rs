//! Prints a discussion in the form that `--output-format` names.

use anyhow::Context;
use quorum::{
    Quorum,
    model::{id::Seq, outcome::Outcome, state::State},
};

use crate::{
    args::{Output, Shape},
    render::{print_json, print_markdown, result::markdown, write},
};

/// Prints a discussion in the form asked for. No answer is no output.
pub(crate) async fn print_discussion(quorum: &Quorum, state: &State, output: Output) -> anyhow::Result<()> {
    match output.shape() {
        Shape::Json => print_json(&Outcome::of(state)),
        Shape::Md => print_export(quorum, state, "markdown").await,
        Shape::Jsonl => print_export(quorum, state, "jsonl").await,
        Shape::Text => match answer(state, output) {
            text if text.is_empty() => Ok(()),
            text => print_markdown(&text),
        },
    }
}

/// What people read of a discussion.
pub(crate) fn answer(state: &State, output: Output) -> String {
    markdown(&Outcome::of(state), output.detail())
}

async fn print_export(quorum: &Quorum, state: &State, format: &str) -> anyhow::Result<()> {
    let format = quorum::export::named(format).context("there is no such format")?;
    write(&(format.write)(state, &quorum.facts(state.id, Seq::START).await?))
}
