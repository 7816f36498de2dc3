//! A vendor to speak to: the test server in a process of its own, so that nothing it uses is counted as ours.

use std::io::{Read, Write};

use anyhow::{Context, Result};
use quorum_testkit::server::server;

use crate::helper::Helper;

/// The argument by which this program becomes a vendor.
pub(crate) const VENDOR: &str = "--vendor";

/// How a vendor's answers come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Pace {
    /// Milliseconds to the first piece.
    pub(crate) first: u64,
    /// Milliseconds between pieces.
    pub(crate) next: u64,
    /// How many.
    pub(crate) pieces: usize,
}

impl Pace {
    /// As a program's arguments.
    pub(crate) fn arguments(self) -> Vec<String> {
        vec![self.first.to_string(), self.next.to_string(), self.pieces.to_string()]
    }

    /// As it was written in a program's arguments.
    pub(crate) fn read(arguments: &[String]) -> Result<Pace> {
        let number = |index: usize| -> Result<u64> { Ok(arguments.get(index).context("a number")?.parse()?) };
        Ok(Pace { first: number(0)?, next: number(1)?, pieces: usize::try_from(number(2)?)? })
    }
}

/// A vendor that is gone when this is.
pub(crate) struct Vendor {
    _process: Helper,
    pub(crate) url: String,
}

impl Vendor {
    /// Starts one whose answers come like this.
    pub(crate) fn start(pace: Pace) -> Result<Vendor> {
        Vendor::of_kind(VENDOR, pace)
    }

    /// The same with another program in the vendor's place.
    pub(crate) fn of_kind(kind: &str, pace: Pace) -> Result<Vendor> {
        let mut process = Helper::start(kind, &pace.arguments())?;
        let url = process.line()?;
        Ok(Vendor { _process: process, url })
    }
}

/// Is a vendor until the input ends.
pub(crate) fn be_one(arguments: &[String]) -> Result<()> {
    let Pace { first, next, pieces } = Pace::read(arguments)?;
    // About four characters a piece, as models speak; at least what a speech has.
    let speech = "It depends on what is measured, and how. ".repeat(30.max(pieces / 10));
    let script = server().forgetful().says("*", &speech).paced(first, next, pieces);
    let server = script.on_thread();
    println!("{}", server.url());
    std::io::stdout().flush()?;
    std::io::stdin().read_to_end(&mut Vec::new())?;
    drop(server);
    Ok(())
}
