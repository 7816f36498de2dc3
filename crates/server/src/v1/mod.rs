//! The panel as if it were one model: what the endpoints of both vendors' formats share.
//!
//! # Layout
//! - `fault`: errors in the vendors' own forms; `body`, `given`: bodies and their fields
//! - `conversation`, `wanted`, `schema`: a request, whatever its format; `names`: models
//! - `order`: the request as a checked order; `ignored`: what has no effect on it; `tasks`: small
//!   tasks of chat clients
//! - `attendance`, `start`: discussions that run while a client waits, and their repetitions
//! - `told`: the talk and the answer as they come; `cut`: bounds of the answer
//! - `answer`: the finished answer; `stream`: it as server-sent events
//! - `fusion`: the same in the terms of OpenRouter's Fusion

pub(crate) mod answer;
pub(crate) mod attendance;
pub(crate) mod body;
pub(crate) mod conversation;
pub(crate) mod cut;
pub(crate) mod fault;
pub(crate) mod fusion;
pub(crate) mod given;
mod ignored;
mod names;
mod order;
pub(crate) mod schema;
pub(crate) mod start;
pub(crate) mod stream;
mod tasks;
#[cfg(test)]
mod tests;
mod told;
pub(crate) mod waited;
pub(crate) mod wanted;

pub(crate) use names::{Listed, found, listed};
pub(crate) use order::{Waiting, client_order};
