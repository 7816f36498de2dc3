//! Recall of past discussions and follow-up questions, through the facade (INV-DISC-630 to 632).

#![expect(clippy::unwrap_used, reason = "a test that can't go on should stop")]

mod corpus;
mod fixture;
mod follow;
mod prompts;
mod refused;
