//! Any other program: what it writes is the answer, and ending well is its end.

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
