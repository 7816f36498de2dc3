//! Processor time against input size: whatever is sent, typed or written to a file, the real
//! program spends at most three times as long as parsing takes, beyond what it spends on the
//! smallest input of the kind.
//!
//! Fields, parameters and flags are taken from the OpenAPI document and the help, so a new one is
//! measured automatically. Times are those of release builds: `cargo xtask bounds` runs this.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod files;
mod flags;
mod measure;
mod routes;
