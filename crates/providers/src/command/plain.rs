//! Dialect of any other program: its output is the answer, which is complete when the program exits
//! with 0.

use super::{Dialect, Output};

pub(super) const DIALECT: Dialect = Dialect {
    name: "plain",
    summary: "Any program that reads a prompt and writes an answer",
    arguments: &[],
    probe: &[],
    login: "",
    tells_cost: false,
    environment: &[],
    variables: &[],
    files: &[],
    codes: &[],
    output: Output::Text,
};
