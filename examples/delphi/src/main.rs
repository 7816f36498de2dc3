//! A build of `ax` with the Delphi pattern: `cargo run -p delphi -- discuss "How many?" --pattern
//! delphi`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ax::Command::new().pattern(&delphi::PATTERN).run(std::env::args_os())
}
