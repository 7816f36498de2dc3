//! Any other program: what it writes is the answer, and ending well is its end.

use super::{Dialect, Output};

pub(super) const DIALECT: Dialect = Dialect {
    name: "plain",
    summary: "Any program that reads a prompt and writes an answer",
    arguments: &[],
    // A program nothing is known of might take any argument for a question and have it answered, for money.
    probe: &[],
    environment: &[],
    output: Output::Text,
};
