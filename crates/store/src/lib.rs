//! The store on one machine: facts in one SQLite file, which any number of processes may share.
//!
//! # Layout
//! - [`SqliteStore`] (`sqlite.rs`) is the entry point: it passes writes to the one `writer` thread
//!   and reads to the pool of `readers`.
//! - `record`, `claims`, `inbox`, `retention`, `audit`, `outcomes`, `idempotency` and `spending`
//!   have the statements; `archive` answers listings, `find` full-text queries by the index that
//!   `search` keeps.
//! - `write_context` is what the writer thread works with, `cache` its cache of discussions.
//! - `seeds` fills the tables of requirement C.
//! - `checkpointer` moves pages from the write-ahead log into the database file.
//! - `nodes` is the registry of nodes, and `liveness` knows which of their processes are alive;
//!   `watch` notices what other processes wrote.
//! - `connection` and `migrate` open a database, accessible to its owner only (`private`); `error`
//!   words its errors.
//! - `transfer` reads and writes whole discussions, to move them, and `flaws` checks the tables.
//! - `salvage` recovers what can be read of a damaged database.

mod archive;
mod audit;
mod cache;
mod checkpointer;
mod claims;
mod connection;
mod error;
mod find;
mod flaws;
mod idempotency;
mod inbox;
mod liveness;
mod memory;
mod migrate;
mod nodes;
mod outcomes;
mod private;
mod readers;
mod record;
mod retention;
mod salvage;
mod search;
mod seeds;
mod spending;
mod sqlite;
mod transfer;
mod watch;
mod write_context;
mod writer;

pub use connection::Options;
pub use salvage::{Salvaged, salvage};
pub use sqlite::SqliteStore;
