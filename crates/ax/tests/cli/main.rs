//! The real binary from outside: what is typed, what is printed where, and how it ends.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod bad_input;
mod debate;
mod desk;
mod discuss;
mod hostile;
mod kept;
mod past;
mod people;
mod serve;
mod steer;
mod store;
