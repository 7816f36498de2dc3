//! Everything that a pattern, a consensus method, a context strategy or a detector can declare:
//! options, forms, endings, rulings, ready-made orders, and result fields with their views.
//!
//! Flags, help, schemas, the web page and exports are generated from these declarations, so a
//! pattern from another crate is supported as fully as ours.

pub mod check;
pub mod ending;
pub mod form;
pub mod json_schema;
pub mod option;
mod option_value;
pub mod prose;
pub mod result;
pub mod ruling;
pub mod sample;
mod schema;
pub mod starter;
mod stub;
pub mod view;
