//! The protocol over streams in memory, in virtual time, with simulated voices.

mod asked;
mod client;
mod orders;
mod people;
mod schemas;
mod tasks;
mod times;
