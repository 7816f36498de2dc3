//! The binary `ax`: the command with the parts that come with Quorum.

use std::process::ExitCode;

fn main() -> ExitCode {
    ax::Command::new().run(std::env::args_os())
}
