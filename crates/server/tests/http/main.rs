//! The server over real sockets: what is sent is what clients send, what is compared is what they get.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod bad_input;
mod catalog;
mod control;
mod dialogue;
mod events;
mod guard;
mod harness;
mod judge;
mod orders;
mod people;
mod plan;
mod restart;
mod server;
mod web;
