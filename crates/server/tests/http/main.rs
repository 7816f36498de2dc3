//! The server over real sockets: tests send what clients send, and compare what clients receive.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod agents;
mod api_page;
mod bad_input;
mod bounds;
mod caps;
mod catalog;
mod conforms;
mod control;
mod dialogue;
mod events;
mod foreign;
mod forked_runs;
mod guard;
mod harness;
mod labels;
mod managed;
mod mcp;
mod nodes;
mod orders;
mod outcomes;
mod panel;
mod people;
mod plan;
mod recall;
mod restart;
mod ruling;
mod seed_client;
mod server;
mod unread;
mod web;
mod workflows;
