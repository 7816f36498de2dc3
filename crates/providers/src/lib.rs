//! Who answers.
//!
//! # Layout
//!
//! - [`catalog`]: what is known of each provider; a row is a provider.

pub mod catalog;
