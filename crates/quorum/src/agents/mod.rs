//! Agents: profiles and abilities in files, from which an order's seats are made.
//!
//! A profile is read when an order names its agent, and at no other time. Everything of it that
//! shapes the discussion becomes part of the record, so a resumed or forked discussion reads no
//! profile.

mod ability;
mod document;
mod error;
mod folders;
mod library;
mod profile;
mod resolve;

pub use error::AgentError;
pub use folders::{Folder, FolderKind, Folders};
pub use library::{AgentEntry, Imported, Registered, Shown, ShownAgentAbility};
pub use profile::{Profile, is_agent_id};

pub(crate) use resolve::{Situation, seat, seat_again};

/// The range of an agent's weight (INV-DISC-642).
pub const WEIGHT: std::ops::RangeInclusive<f64> = 0.5..=3.0;

/// The most tokens of all abilities of an agent together (INV-DISC-641).
pub const MOST_ABILITY_TOKENS: u64 = 10_000;

/// The longest id of an agent or an ability, in characters.
pub const LONGEST_ID: usize = 50;

/// The ids of agents, as a pattern for JSON schemas.
pub const ID_PATTERN: &str = "^[a-z][a-z0-9-]*$";
