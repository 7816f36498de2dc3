//! The protocol over streams in memory, in virtual time, with simulated voices.

mod answers;
mod asked;
mod bounds;
mod callers;
mod client;
mod control;
mod counted;
mod fixture;
mod handshake;
mod listed;
mod orders;
mod people;
mod progress;
mod runs;
mod schemas;
mod tasks;
mod times;
