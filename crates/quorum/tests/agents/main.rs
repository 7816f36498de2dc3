//! Agents from their files to the prompts they are sent: seats, providers, abilities, weights, and
//! what is recorded of them.

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod corpus;
mod fixture;
mod prompts;
mod record;
mod refusals;
mod seats;
mod weights;
