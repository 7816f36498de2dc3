//! Prints a discussion in the form that `--output-format` names.

use anyhow::Context;
use quorum::{Discussion, Snapshot, export::Extras, workflow::RunResult};

use crate::{
    args::{Output, Shape},
    render::{print_json, print_markdown, result::markdown, wording::to_see_it_again, write},
};

/// Prints a discussion in the requested form. Without an answer, nothing is printed.
pub(crate) async fn print_discussion(
    discussion: &Discussion,
    state: &Snapshot,
    output: Output,
) -> anyhow::Result<()> {
    match output.shape() {
        Shape::Json => match RunResult::of(state) {
            Some(run) => print_json(&run),
            None => print_json(&state.outcome()),
        },
        Shape::Md => print_export(discussion, "markdown", output).await,
        Shape::Jsonl => print_export(discussion, "jsonl", output).await,
        Shape::Text => match answer(state, output) {
            text if text.is_empty() => Ok(()),
            text => print_markdown(&text),
        },
    }
}

/// The text of a discussion for people.
pub(crate) fn answer(state: &Snapshot, output: Output) -> String {
    markdown(state, output.detail(), output.notes())
}

async fn print_export(discussion: &Discussion, format: &str, output: Output) -> anyhow::Result<()> {
    let format = quorum::export::named(format).context("there is no such format")?;
    let extras =
        Extras { commands: to_see_it_again(discussion.id()), sources: output.sources, ..Extras::default() };
    write(&discussion.export_with(format, extras).await?)
}
