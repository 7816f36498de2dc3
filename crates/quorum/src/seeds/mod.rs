//! Shapes that the seeds' own clients read. What is named after a single pattern elsewhere in this crate
//! belongs here.

pub mod events;
