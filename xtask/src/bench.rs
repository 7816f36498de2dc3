//! What it costs: builds for release and prints one table.

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "bench",
    arguments: "",
    summary: "Measure time, memory and the store in one run, and print a table",
    run: |arguments| refuse_arguments(arguments).and_then(|()| bench()),
};

fn bench() -> Result<()> {
    // The start of the command is measured, too, so it must lie beside the bench.
    cargo::run(&mut cargo::command(&["build", "--release", "--package", "ax", "--package", "quorum-bench"]))?;
    cargo::run(&mut cargo::command(&["run", "--release", "--quiet", "--package", "quorum-bench"]))
}
