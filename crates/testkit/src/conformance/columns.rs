//! Compares the tables of a database with what is moved to another one.

use std::collections::{BTreeMap, BTreeSet};

use quorum_core::seams::transfer::{BELONGINGS, DISCUSSIONS, SHELVES, Table};

/// Columns by the names of their tables.
pub type Columns = BTreeMap<String, BTreeSet<String>>;

/// Columns that are moved, under the names that all stores use for them.
#[must_use]
pub fn moved() -> Columns {
    let mut moved = Columns::new();
    let tables = std::iter::once(&DISCUSSIONS).chain(BELONGINGS).chain(SHELVES.iter().copied());
    for Table { name, columns, discussion, .. } in tables {
        let names = columns.iter().map(|it| it.name).chain(*discussion);
        moved.entry((*name).to_owned()).or_default().extend(names.map(str::to_owned));
    }
    moved
}

/// Panics unless each column of the database is either moved or left for a reason, which is to be
/// said where `left` is written.
pub fn each_is_moved_or_left(found: &Columns, left: &[(&str, &[&str])]) {
    let moved = moved();
    let difference = |one: &Columns, other: &Columns| -> Columns {
        let without = |(table, columns): (&String, &BTreeSet<String>)| {
            let known = other.get(table).cloned().unwrap_or_default();
            (table.clone(), columns - &known)
        };
        one.iter().map(without).filter(|it| !it.1.is_empty()).collect()
    };
    let names = |columns: &[&str]| columns.iter().map(|it| (*it).to_owned()).collect();
    let left: Columns = left.iter().map(|(table, columns)| ((*table).to_owned(), names(columns))).collect();
    assert_eq!(difference(found, &moved), left, "columns that a move leaves");
    assert_eq!(difference(&moved, found), Columns::new(), "columns that are moved but not there");
}
