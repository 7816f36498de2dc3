//! Suites that every implementation of a seam passes. A skip is declared where the suite is used,
//! with its reason.

pub mod columns;
pub mod provider;
pub mod store;
