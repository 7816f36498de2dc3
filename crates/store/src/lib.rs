//! Where facts are kept on one machine: SQLite, one file, any number of processes.
//!
//! # Layout
//! - [`SqliteStore`] (`sqlite.rs`) is the door: it passes writes to the one `writer` thread and reads to the `readers`.
//! - `record`, `claims`, `inbox`, `retention` are what is written; `archive` and `search` are what is looked up.
//! - `desk` is what the writer has at hand, `known` what it remembers of discussions between two writes.
//! - `projection` turns facts into the rows of requirement C's tables, `tables` writes them.
//! - `keeper` moves what was written from the log to its place.
//! - `runner` knows which processes live, `watch` hears of other processes' commands.
//! - `connection` and `migrate` open a database, `error` says what is wrong with it.

mod archive;
mod claims;
mod connection;
mod desk;
mod error;
mod inbox;
mod keeper;
mod known;
mod ledger;
mod migrate;
mod projection;
mod readers;
mod record;
mod retention;
mod runner;
mod search;
mod sqlite;
mod tables;
mod watch;
mod writer;

pub use connection::Options;
pub use sqlite::SqliteStore;
