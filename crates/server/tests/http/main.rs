//! The server over real sockets: tests send what clients send, and compare what clients receive.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod bad_input;
mod bounds;
mod catalog;
mod control;
mod dialogue;
mod events;
mod foreign;
mod guard;
mod harness;
mod mcp;
mod orders;
mod people;
mod plan;
mod restart;
mod ruling;
mod seed_client;
mod server;
mod unread;
mod web;
