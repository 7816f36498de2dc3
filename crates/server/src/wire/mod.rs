//! Our JSON formats of requests and responses.

pub(crate) mod answers;
pub(crate) mod bounds;
pub(crate) mod defaults;
pub(crate) mod enums;
pub(crate) mod listing;
pub(crate) mod meanings;
pub(crate) mod order;
pub(crate) mod panel;
pub(crate) mod panel_model;
pub(crate) mod ruling;
pub(crate) mod spending;
