//! Builds the benchmarks for release and prints their table.

use anyhow::Result;

use crate::{Verb, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "bench",
    arguments: "[NAME…]",
    summary: "Measure time, memory and the store in one run, and print a table; names choose rows",
    run: bench,
};

fn bench(names: &[String]) -> Result<()> {
    // The start of `ax` is measured, too, so the binary must be beside the benchmarks.
    cargo::run(&mut cargo::command(&[
        "build",
        "--release",
        "--package",
        "quorum-ax",
        "--package",
        "quorum-bench",
    ]))?;
    let run = ["run", "--release", "--quiet", "--package", "quorum-bench", "--bin", "quorum-bench", "--"];
    cargo::run(cargo::command(&run).args(names))
}
