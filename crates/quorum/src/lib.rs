//! The door: requests in, discussions out. Commands, servers and programs use this crate and none of those behind it.
//!
//! ```no_run
//! # async fn example() -> Result<(), quorum::Error> {
//! use quorum::{Config, Quorum, Request};
//!
//! let quorum = Quorum::open(Config::load()?)?;
//! let handle = quorum.start(&Request::on("Tabs or spaces?")).await?;
//! println!("{}", handle.finished().await?.outcome().synthesis);
//! # Ok(())
//! # }
//! ```

mod clock;
pub mod config;
pub mod doctor;
mod door;
mod error;
pub mod export;
pub mod listing;
pub mod request;
pub mod setup;
pub mod text;

pub use config::Config;
pub use door::{
    Discussion, Figures, Forking, ModelEntry, OrderKey, Plan, PlannedPhase, PlannedSeat, PresetEntry,
    PriceEntry, ProviderEntry, Quorum, Resumed, Scope, Started, Steered, complaints,
};
pub use error::Error;
pub use quorum_core::{
    craft::{Consensus, Pattern},
    engine::{
        MOST_SAID, RunError, SayError,
        feed::{Piece, Signal},
        handle::{Finished, Handle},
    },
    model,
    seams::{Deed, Expired, Leap, StoreError},
};
pub use quorum_patterns::detect::Detector;
pub use request::Request;
