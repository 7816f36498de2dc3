//! The store for many machines: facts in one PostgreSQL database, which any number of nodes share.
//!
//! # Layout
//! - [`PostgresStore`] (`store.rs`) is the entry point: it passes appends to the one `writer` task,
//!   and everything else to the `pool`.
//! - `record`, `claims`, `nodes`, `inbox`, `retention`, `spending` and `kept` (audit entries,
//!   idempotency keys, sessions, memory) have the statements; `archive` answers listings, `find`
//!   full-text queries by the index that `search` keeps. `batch` builds the one statement that
//!   writes the facts of many discussions.
//! - `lanes` shares the rate limits of providers between nodes.
//! - `figures` counts what the process does with the database, for its metrics.
//! - `news` carries hints between nodes by LISTEN and NOTIFY, packed by `bag`.
//! - `transfer` reads and writes whole discussions, to move them, and `flaws` checks the tables.
//! - `address` reads the URL and prepares TLS, `connection` is one connection with its prepared
//!   statements, `migrate` brings the tables up to date, and `error` words errors.

mod address;
mod archive;
mod bag;
mod batch;
mod claims;
mod connection;
mod error;
mod figures;
mod find;
mod flaws;
mod inbox;
mod kept;
mod lanes;
mod migrate;
mod news;
mod nodes;
mod outcomes;
mod pool;
mod record;
mod retention;
mod search;
mod seats;
mod spending;
mod store;
mod transfer;
mod writer;

pub use address::Address;
pub use migrate::Tables;
pub use store::{Options, PostgresStore};
