//! The facade: checks requests and runs discussions. Commands, servers and programs use this crate
//! and none of those behind it.
//!
//! ```no_run
//! # async fn example() -> Result<(), quorum::Error> {
//! use quorum::{Config, Quorum, Request, model::id::Tenant};
//!
//! let quorum = Quorum::open(Config::load()?)?;
//! let scope = quorum.scope(Tenant::default(), "ann");
//! let spec = scope.check(&Request::on("Tabs or spaces?"))?;
//! let (_, handle) = scope.start(spec).await?;
//! println!("{}", handle.finished().await?.outcome().synthesis);
//! # Ok(())
//! # }
//! ```
//!
//! A program with its own store, voices or clock uses [`Quorum::builder`]. The traits to implement
//! are in [`seams`]; the building blocks for its own patterns are in [`floor`], [`vocabulary`] and
//! [`registry`].

pub mod agents;
mod clock;
mod complaint;
pub mod config;
pub mod database;
pub mod doctor;
mod error;
pub mod eval;
pub mod export;
mod facade;
pub mod listing;
pub mod request;
pub mod seeds;
pub mod setup;
mod telemetry;
pub mod text;
pub mod voices;
pub mod workflow;

pub use complaint::{Complaint, Fault, Origin, Remedy};
pub use config::Config;
pub use error::{Candidate, Error, MissingVoice};
pub use facade::{
    Builder, CalibrationReport, CapEntry, CapFit, CellEntry, Checked, DefaultsEntry, Discussion, Figures,
    ForkedRun, Forking, FormEntry, LONGEST_ANSWER, MethodEntry, ModelEntry, NamedEntry, OptionEntry,
    OrderKey, PairReport, PatternEntry, Plan, PlannedAgent, PlannedPhase, PlannedSeat, PresetEntry,
    PriceEntry, ProviderEntry, Quorum, Resolved, ResultEntry, RulingChoiceEntry, RulingEntry, RunForking,
    Scope, SentMessage, SentRequest, Started, Steered, StrategyEntry, Unanswered, VoiceReport, complaints,
};
pub use quorum_core::{
    call, choices,
    engine::{
        MOST_SAID, NodeHealth, RunError, SayError,
        feed::{Piece, Signal},
        handle::{Finished, Handle},
    },
    floor, memory, model,
    registry::{self, Registry, Snapshot},
    seams,
    seams::{AuditEntry, Expired, KnownOutcome, Leap, StoreError},
    vocabulary,
};
pub use quorum_patterns as patterns;
pub use quorum_patterns::registry as built_in;
pub use request::Request;
pub use telemetry::TracingStatus;
