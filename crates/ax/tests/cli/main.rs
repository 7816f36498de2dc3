//! The real binary from outside: arguments, output on each stream, and exit codes.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod agents;
mod as_a_model;
mod audit;
mod bad_input;
mod bad_surroundings;
mod caps;
mod cluster;
mod config;
mod db;
mod debate;
mod desk;
mod detach;
mod discuss;
mod eval;
mod examples;
mod exits;
mod flows;
mod forked_runs;
mod history;
mod hostile;
mod kept;
mod mcp;
mod newcomer;
mod outcomes;
mod panel;
mod people;
mod plan;
mod prompts;
mod recall;
mod recovery;
mod retention;
mod ruled;
mod serve;
mod setup;
mod shell;
mod sources;
mod steer;
mod store;
mod streams;
mod watch;
mod workflows;
