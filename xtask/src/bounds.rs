//! Work against size: whatever is sent, typed or written into a file costs a few times what parsing
//! it does.

use anyhow::Result;

use crate::{Verb, cargo, refuse_arguments};

pub(crate) const VERB: Verb = Verb {
    name: "bounds",
    arguments: "",
    summary: "Measure the work for every field, flag and file against its size, in a release build",
    run,
};

fn run(arguments: &[String]) -> Result<()> {
    refuse_arguments(arguments)?;
    // One after the other, so that nothing but the program itself is measured.
    let test = [
        "test",
        "--release",
        "--package",
        "quorum-ax",
        "--test",
        "bounds",
        "--",
        "--test-threads=1",
        "--nocapture",
    ];
    cargo::run(&mut cargo::command(&test))
}
