//! Moves everything from one database to another.
//!
//! The source is only read. Each discussion is written with a mark in one transaction, so a move
//! that was cut off goes on where it was. At the end everything is read again on both sides.

use std::{collections::HashSet, time::Duration};

use futures::{StreamExt, TryStreamExt, stream};
use quorum_core::{
    model::id::DiscussionId,
    seams::{
        NodeStatus, StoreError,
        transfer::{BELONGINGS, Bundle, Bundles, DISCUSSIONS, Mark, Page, Row, SHELVES, Table, Totals},
    },
};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Database;

/// How many discussions are read at once.
const PAGE: usize = 64;

/// How many are written at once.
const WRITERS: usize = 4;

/// How many rows of a table without discussions are moved at once.
const ROWS: usize = 2_000;

/// Why a move failed. What was moved so far stays, and the next move goes on from there.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A database refused.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Both are the same.
    #[error("both databases are the same, {0}; nothing was moved")]
    Same(String),
    /// Processes use one of them.
    #[error(
        "{database} is in use by {}; end those processes first (they finish the calls under way), then move again",
        .nodes.join(", ")
    )]
    InUse {
        /// The database.
        database: String,
        /// The names of the processes.
        nodes: Vec<String>,
    },
    /// The target has discussions that did not come from the source.
    #[error(
        "{database} has {discussions} discussions that are not from {source_database}; move into an empty database"
    )]
    NotEmpty {
        /// The target.
        database: String,
        /// How many it has.
        discussions: u64,
        /// The source.
        source_database: String,
    },
    /// Some discussions are not the same on both sides.
    #[error(
        "{} discussions are not the same on both sides, the first is {}; one of the databases was changed during \
         the move. Move again into an empty database while nothing uses them",
        .0.len(), .0.first().map(ToString::to_string).unwrap_or_default()
    )]
    Differs(Vec<DiscussionId>),
    /// The target has rows of its own that belong to no discussion.
    #[error("{database} has rows of its own in the table `{table}`; move into an empty database")]
    Occupied {
        /// The target.
        database: String,
        /// The table.
        table: &'static str,
    },
    /// Rows that belong to no discussion are not the same on both sides.
    #[error(
        "the table `{table}` is not the same on both sides ({there} rows in the source, {here} in the target); one of \
         the databases was changed during the move. Move again into an empty database while nothing uses them"
    )]
    TableDiffers {
        /// The table.
        table: &'static str,
        /// How many rows there are in the source.
        there: u64,
        /// How many there are in the target.
        here: u64,
    },
}

/// The progress of a move.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moving {
    /// It writes: `done` of `all` discussions are in the target.
    Writing {
        /// How many are there.
        done: u64,
        /// How many there are.
        all: u64,
    },
    /// It compares: `done` of `all` discussions were found equal.
    Comparing {
        /// How many are the same.
        done: u64,
        /// How many there are.
        all: u64,
    },
}

/// The counts of a finished move.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Moved {
    /// Discussions that this run wrote.
    pub written: u64,
    /// Discussions that were there from an earlier run.
    pub known: u64,
    /// Facts that this run wrote.
    pub facts: u64,
    /// Rows that belong to no discussion, of this run.
    pub rows: u64,
    /// Discussions that are not over, which are in both databases now.
    pub unfinished: u64,
    /// How long writing took.
    pub writing: Duration,
}

/// Moves everything from one database to another and compares both.
pub async fn relocate(
    from: &Database,
    to: &Database,
    told: &mut (dyn FnMut(Moving) + Send),
) -> Result<Moved, Error> {
    let source = from.store.identity().await?;
    if source == to.store.identity().await? {
        return Err(Error::Same(to.to_string()));
    }
    for database in [from, to] {
        drained(database).await?;
    }
    let (discussions, source_database) = (to.store.strangers(source).await?, from.to_string());
    if 0 < discussions {
        return Err(Error::NotEmpty { database: to.to_string(), discussions, source_database });
    }
    let totals = from.store.totals().await?;
    let began = std::time::Instant::now();
    // Discussions refer to sessions, so these come first.
    let mut rows = 0;
    for table in SHELVES {
        rows += move_shelf(from, to, source, table).await?;
    }
    let moved = move_discussions(from, to, &totals, told).await?;
    let moved = Moved { rows, unfinished: totals.unfinished, writing: began.elapsed(), ..moved };
    compare(from, to, &totals, told).await?;
    compare_shelves(from, to).await?;
    Ok(moved)
}

/// Waits until no process uses the database. One that has died without a word is noticed by its
/// beat, which stands still for its lease.
async fn drained(database: &Database) -> Result<(), Error> {
    let before = database.store.nodes().await?;
    let Some(lease_ms) = before.iter().map(|it| it.node.lease_ms).max() else { return Ok(()) };
    tokio::time::sleep(Duration::from_millis(lease_ms)).await;
    let mut alive = Vec::new();
    for NodeStatus { node, beat, .. } in before {
        if !database.store.reap(node.id, beat).await? {
            alive.push(node.name);
        }
    }
    let still: HashSet<String> = database.store.nodes().await?.into_iter().map(|it| it.node.name).collect();
    alive.retain(|it| still.contains(it));
    if alive.is_empty() {
        return Ok(());
    }
    Err(Error::InUse { database: database.to_string(), nodes: alive })
}

async fn move_shelf(
    from: &Database,
    to: &Database,
    source: Uuid,
    table: &'static Table,
) -> Result<u64, Error> {
    let name = shelf_name(table);
    let known = to.store.marks(source, vec![name.clone()]).await?;
    if known.is_empty() && !to.store.shelf(Page { table, skip: 0, limit: 1 }).await?.is_empty() {
        return Err(Error::Occupied { database: to.to_string(), table: table.name });
    }
    let (mut skip, mut rows_moved) = (known.first().map_or(0, |it| it.1), 0);
    loop {
        let rows = from.store.shelf(Page { table, skip, limit: ROWS }).await?;
        let count = rows.len() as u64;
        if count == 0 {
            return Ok(rows_moved);
        }
        (skip, rows_moved) = (skip + count, rows_moved + count);
        to.store.import_shelf(table, rows, Mark { source, name: name.clone(), upto: skip }).await?;
    }
}

fn shelf_name(table: &Table) -> String {
    format!("table {}", table.name)
}

async fn move_discussions(
    from: &Database,
    to: &Database,
    totals: &Totals,
    told: &mut (dyn FnMut(Moving) + Send),
) -> Result<Moved, Error> {
    let (source, mut moved) = (from.store.identity().await?, Moved::default());
    let mut bundles = from.store.bundles(Bundles::After(0, PAGE)).await?;
    while let Some(number) = bundles.last().map(|it| it.number) {
        let names = bundles.iter().map(|it| it.id.to_string()).collect();
        let known = to.store.marks(source, names).await?;
        let known: HashSet<String> = known.into_iter().map(|it| it.0).collect();
        moved.known += known.len() as u64;
        bundles.retain(|it| !known.contains(&it.id.to_string()));
        moved.written += bundles.len() as u64;
        moved.facts += bundles.iter().map(|it| it.belongings[0].len() as u64).sum::<u64>();
        let import = |bundle: Bundle| {
            let mark = Mark { source, name: bundle.id.to_string(), upto: bundle.number };
            to.store.import(bundle, mark)
        };
        let writing = stream::iter(bundles).map(import).buffer_unordered(WRITERS).try_collect::<Vec<()>>();
        // The next ones are read meanwhile.
        let reading = from.store.bundles(Bundles::After(number, PAGE));
        let (written, next) = futures::future::join(writing, reading).await;
        written?;
        bundles = next?;
        told(Moving::Writing { done: moved.written + moved.known, all: totals.discussions });
    }
    Ok(moved)
}

/// Reads all discussions on both sides and compares the number and a digest of their rows.
async fn compare(
    from: &Database,
    to: &Database,
    totals: &Totals,
    told: &mut (dyn FnMut(Moving) + Send),
) -> Result<(), Error> {
    let (mut number, mut done, mut different) = (0, 0, Vec::new());
    loop {
        let there = from.store.bundles(Bundles::After(number, PAGE)).await?;
        let Some(last) = there.last() else { break };
        number = last.number;
        let here = to.store.bundles(Bundles::Of(there.iter().map(|it| it.id).collect())).await?;
        let here: HashSet<(DiscussionId, Summary)> = here.iter().map(|it| (it.id, Summary::of(it))).collect();
        let is_lost = |it: &&Bundle| !here.contains(&(it.id, Summary::of(it)));
        different.extend(there.iter().filter(is_lost).map(|it| it.id));
        done += there.len() as u64;
        told(Moving::Comparing { done, all: totals.discussions });
    }
    if different.is_empty() { Ok(()) } else { Err(Error::Differs(different)) }
}

/// The parts of a discussion that must be the same on both sides.
#[derive(PartialEq, Eq, Hash)]
struct Summary {
    facts: usize,
    sha256: [u8; 32],
}

impl Summary {
    fn of(bundle: &Bundle) -> Self {
        let mut hasher = Sha256::new();
        let tables = std::iter::once((&DISCUSSIONS, std::slice::from_ref(&bundle.discussion)));
        let tables = tables.chain(BELONGINGS.iter().zip(bundle.belongings.iter().map(Vec::as_slice)));
        for (table, rows) in tables {
            hasher.update(format!("{} {}\n", table.name, rows.len()));
            rows.iter().for_each(|row| update(&mut hasher, row));
        }
        Summary { facts: bundle.belongings[0].len(), sha256: hasher.finalize().into() }
    }
}

fn update(hasher: &mut Sha256, row: &Row) {
    for cell in row {
        // PostgreSQL has no NUL in texts; facts are JSON, where it is escaped.
        let plain = cell.as_ref().map(|it| it.replace('\0', "\u{fffd}"));
        hasher.update(plain.as_ref().map_or("-".to_owned(), |it| format!("{} ", it.len())));
        hasher.update(plain.unwrap_or_default());
    }
}

async fn compare_shelves(from: &Database, to: &Database) -> Result<(), Error> {
    for table in SHELVES {
        let (there, here) = (digest_of(from, table).await?, digest_of(to, table).await?);
        if there != here {
            return Err(Error::TableDiffers { table: table.name, there: there.0, here: here.0 });
        }
    }
    Ok(())
}

/// The number of rows and a digest in which their order doesn't matter: databases sort texts
/// differently.
async fn digest_of(database: &Database, table: &'static Table) -> Result<(u64, [u8; 32]), StoreError> {
    let (mut skip, mut sum) = (0, [0_u8; 32]);
    loop {
        let rows = database.store.shelf(Page { table, skip, limit: ROWS }).await?;
        if rows.is_empty() {
            return Ok((skip, sum));
        }
        skip += rows.len() as u64;
        for row in &rows {
            let mut hasher = Sha256::new();
            update(&mut hasher, row);
            let digest: [u8; 32] = hasher.finalize().into();
            // Equal rows must not cancel each other out, so digests are added and not combined by
            // XOR.
            let mut carry = 0;
            for (byte, more) in sum.iter_mut().zip(digest) {
                let total = u16::from(*byte) + u16::from(more) + carry;
                (*byte, carry) = (total as u8, total >> 8);
            }
        }
    }
}
