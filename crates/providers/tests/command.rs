//! Tests of programs as voices, with real processes: their answers arrive, and they leave nothing
//! behind.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

#[path = "command/call.rs"]
mod call;
#[path = "command/remains.rs"]
mod remains;
#[path = "command/speaking.rs"]
mod speaking;
#[path = "command/stage.rs"]
mod stage;
#[path = "command/trouble.rs"]
mod trouble;
