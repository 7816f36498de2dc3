//! A fake vendor: the test server in a separate process, so that its resources are not counted as
//! ours.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use quorum_testkit::server::server;

use crate::helper::Helper;

/// The argument that selects this role.
pub(crate) const VENDOR: &str = "--vendor";

/// The last argument of a vendor that runs on the second core.
pub(crate) const SECOND_CORE: &str = "second-core";

/// The timing of a vendor's answers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Milliseconds to the first piece.
    pub(crate) first: u64,
    /// Milliseconds between pieces.
    pub(crate) next: u64,
    /// The number of pieces.
    pub(crate) pieces: usize,
}

impl Pace {
    /// Formats it as command-line arguments.
    pub(crate) fn arguments(self) -> Vec<String> {
        vec![self.first.to_string(), self.next.to_string(), self.pieces.to_string()]
    }

    /// Parses it from command-line arguments.
    pub(crate) fn read(arguments: &[String]) -> Result<Pace> {
        let number = |index: usize| -> Result<u64> { Ok(arguments.get(index).context("a number")?.parse()?) };
        Ok(Pace { first: number(0)?, next: number(1)?, pieces: usize::try_from(number(2)?)? })
    }
}

/// A vendor process that is killed on drop.
pub(crate) struct Vendor {
    _process: Helper,
    pub(crate) url: String,
}

impl Vendor {
    /// Starts a vendor with this timing.
    pub(crate) fn start(pace: Pace) -> Result<Vendor> {
        Vendor::of_kind(VENDOR, pace)
    }

    /// Starts a vendor of another kind with this timing.
    pub(crate) fn of_kind(kind: &str, pace: Pace) -> Result<Vendor> {
        Vendor::with(kind, &pace.arguments())
    }

    /// Starts a vendor of another kind on the second core.
    pub(crate) fn on_second_core(kind: &str, pace: Pace) -> Result<Vendor> {
        Vendor::with(kind, &[pace.arguments(), vec![SECOND_CORE.to_owned()]].concat())
    }

    fn with(kind: &str, arguments: &[String]) -> Result<Vendor> {
        let mut process = Helper::start(kind, arguments)?;
        let url = process.line()?;
        Ok(Vendor { _process: process, url })
    }
}

/// Runs as a vendor until the input ends.
pub(crate) fn run(arguments: &[String]) -> Result<()> {
    let Pace { first, next, pieces } = Pace::read(arguments)?;
    // About four characters per piece, like a model's tokens; at least the length of a usual
    // answer.
    let speech = "It depends on what is measured, and how. ".repeat(30.max(pieces / 10));
    let script = server().forgetful().says("*", &speech).paced(first, next, pieces);
    let server = script.on_thread();
    println!("{}", server.url());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(server);
    Ok(())
}
