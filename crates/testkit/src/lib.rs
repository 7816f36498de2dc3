//! Test helpers: scripted panels, servers in the vendors' formats, a virtual clock, stores that
//! fail, the event log as text.

#![expect(clippy::expect_used, reason = "a test that can't go on should say so and stop")]

pub mod attack;
pub mod call;
pub mod clock;
pub mod collector;
pub mod conformance;
pub mod coverage;
pub mod embedder;
pub mod faulty;
pub mod forgeries;
pub mod kill;
pub mod labels;
pub mod log;
pub mod own_postgres;
pub mod panel;
pub mod postgres;
pub mod proxy;
mod replies;
pub mod seed_client;
pub mod server;
pub mod spec;
pub mod stopwatch;
pub mod table;
pub mod wording;
