//! The live screen in a real pseudo-terminal, read as a person would: whole screens, keys, signals,
//! and the terminal afterwards.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod hostile;
mod keys;
mod labels;
mod newcomer;
mod password;
mod people;
mod piped;
mod pty;
mod restored;
mod runs;
mod screens;
