//! Whole discussions with real voices: over HTTP, streaming, against servers that implement the
//! vendors' formats and inject faults.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod caching;
mod discussions;
mod forms;
mod losses;
mod mixed;
mod providers;
mod thinking;
