//! The binary `ax`: the command with Quorum's built-in parts.

use std::process::ExitCode;

fn main() -> ExitCode {
    ax::Command::new().run(std::env::args_os())
}
