//! The store on one machine: facts in one SQLite file that any number of processes may share.
//!
//! # Layout
//! - [`SqliteStore`] (`sqlite.rs`) is the entry: it passes writes to the one `writer` thread and
//!   reads to the pool of `readers`.
//! - `record`, `claims`, `inbox`, `retention`, `audit` and `idempotency` hold the statements;
//!   `archive` and `search` answer lists and full-text queries.
//! - `write_context` is what the writer thread works with, `cache` what it remembers of
//!   discussions between two writes.
//! - `standing` folds facts into what lists show; `seeds` keeps the tables of requirement C.
//! - `checkpointer` moves pages from the write-ahead log into the database file.
//! - `liveness` knows which processes are alive, `watch` notices commands of other processes.
//! - `connection` and `migrate` open a database, for its owner alone (`private`); `error` words what
//!   is wrong with it.
//! - `salvage` saves what can be read of a damaged database.

mod archive;
mod audit;
mod cache;
mod checkpointer;
mod claims;
mod connection;
mod error;
mod idempotency;
mod inbox;
mod liveness;
mod migrate;
mod private;
mod readers;
mod record;
mod retention;
mod salvage;
mod search;
mod seeds;
mod sqlite;
mod standing;
mod watch;
mod write_context;
mod writer;

pub use connection::Options;
pub use salvage::{Salvaged, salvage};
pub use sqlite::SqliteStore;
