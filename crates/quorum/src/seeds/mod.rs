//! Formats for the seeds' own clients. Code in this crate that must name a single pattern belongs
//! here.

pub mod dialogue;
pub mod events;
