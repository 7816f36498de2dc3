//! A store that can't be used: a clear message, exit code 3, and nothing lost.

use std::fs;

use crate::desk::Desk;

#[test]
fn f10_a_database_from_a_newer_version_is_left_alone() {
    let desk = Desk::new();
    desk.ax(&["discuss", "q"]).ends(0);
    let database = rusqlite::Connection::open(desk.database()).unwrap();
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    desk.ax(&["discuss", "q"]).ends(3).says(&["newer version", "quorum.db"]).prints_nothing();
    desk.ax(&["history"]).ends(3).says(&["newer version"]).prints_nothing();
    let database = rusqlite::Connection::open(desk.database()).unwrap();
    let version: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 999);
}

#[test]
fn f10_a_file_that_is_no_database_is_left_alone() {
    let desk = Desk::new();
    fs::create_dir(desk.data()).unwrap();
    let garbage = "this is no database, but something someone may still need".repeat(100);
    fs::write(desk.database(), &garbage).unwrap();
    desk.ax(&["discuss", "q"]).ends(3).says(&["quorum.db"]).prints_nothing();
    assert_eq!(fs::read_to_string(desk.database()).unwrap(), garbage);
}

#[test]
fn f10_a_place_that_can_not_be_written_to_is_named() {
    let desk = Desk::new();
    fs::write(desk.data(), "a file where a directory should be").unwrap();
    desk.ax(&["discuss", "q"])
        .ends(3)
        .says(&["AX_DATA_DIR", &desk.data().display().to_string()])
        .prints_nothing();
}

#[test]
fn f10_a_locked_database_is_named_and_nothing_is_lost() {
    let desk = Desk::new();
    desk.ax(&["discuss", "q"]).ends(0);
    let database = rusqlite::Connection::open(desk.database()).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    desk.ax(&["discuss", "q"]).ends(3).says(&["quorum.db", "locked"]).prints_nothing();
    desk.ax(&["history"]).ends(0);
    database.execute_batch("ROLLBACK").unwrap();
    desk.ax(&["discuss", "q"]).ends(0);
}
