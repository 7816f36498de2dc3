//! What a pattern, a consensus method, a context strategy or a detector may declare of its own:
//! options, forms, ways to end, rulings it asks people for, and result fields with the view that
//! draws them.
//!
//! Every surface (flags, help, schemas, the page, exports) is made from these declarations, so a
//! pattern in somebody else's crate is as complete as ours.

pub mod check;
pub mod ending;
pub mod form;
pub mod option;
mod option_value;
pub mod result;
pub mod ruling;
pub mod sample;
mod schema;
mod stub;
pub mod view;
