//! The protocol over streams in memory, in virtual time, with simulated voices.

mod asked;
mod client;
mod orders;
mod people;
mod runs;
mod schemas;
mod tasks;
mod times;
