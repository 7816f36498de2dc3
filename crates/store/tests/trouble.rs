//! Databases that can't be used: each says which file, what is wrong, and what to do.

#![cfg_attr(unix, expect(clippy::unwrap_used, reason = "a test that can't make trouble can only stop"))]

use std::{fs, path::Path, time::Duration};

use common::Folder;
use quorum_core::{
    model::id::Seq,
    seams::{Store, StoreError, Then},
};
use quorum_store::{Options, SqliteStore};
use quorum_testkit::conformance::store::fixture::{Writer, open, said, second};
use rusqlite::Connection;

mod common;

/// Opening this file fails for good, and the sentence has these words in it.
fn check(file: &Path, expected: &[&str]) {
    let Err(StoreError::Unusable(message)) = SqliteStore::open(file).map(drop) else {
        panic!("{} was opened", file.display())
    };
    for words in expected.iter().copied() {
        assert!(message.contains(words), "{words:?} is not in: {message}");
    }
}

#[test]
fn a_database_from_a_newer_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.database()).unwrap());
    let raw = Connection::open(folder.database()).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    check(&folder.database(), &["quorum.db", "newer version", "99", "update the program"]);
    let version: u32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[test]
fn a_database_of_another_program_is_refused_and_left_alone() {
    let folder = Folder::new();
    let raw = Connection::open(folder.database()).unwrap();
    raw.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    check(&folder.database(), &["quorum.db", "another program"]);
    let tables: u32 = raw.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn what_is_no_database_is_refused_and_left_alone() {
    let folder = Folder::new();
    let recipe = "Take two eggs and a pound of flour. ".repeat(200);
    fs::write(folder.database(), &recipe).unwrap();
    check(&folder.database(), &["quorum.db", "no database"]);
    assert_eq!(fs::read_to_string(folder.database()).unwrap(), recipe);
}

#[test]
fn a_folder_in_place_of_the_file_is_refused() {
    let folder = Folder::new();
    fs::create_dir(folder.database()).unwrap();
    check(&folder.database(), &["quorum.db", "can't be opened"]);
}

#[test]
fn a_file_in_place_of_the_folder_is_refused() {
    let folder = Folder::new();
    fs::write(folder.database(), "").unwrap();
    check(&folder.database().join("inner").join("quorum.db"), &["quorum.db", "can't be made"]);
}

#[test]
fn missing_folders_are_made() {
    let folder = Folder::new();
    let file = folder.database().with_extension("").join("a").join("b").join("quorum.db");
    drop(SqliteStore::open(&file).unwrap());
    assert!(file.is_file());
}

/// Takes away the right to write there; `false`, with the reason, where that changes nothing.
#[cfg(unix)]
fn forbid_writing(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let try_it = folder.database();
    fs::write(&try_it, "").unwrap();
    fs::set_permissions(&try_it, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&try_it).is_ok() {
        eprintln!("left out: whoever runs this may write to everything, whatever its permissions");
        return false;
    }
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    true
}

#[cfg(unix)]
#[test]
fn a_file_that_cant_be_written_is_refused() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.database()).unwrap());
    if forbid_writing(&folder.database()) {
        check(&folder.database(), &["quorum.db", "can't be written"]);
    }
}

#[cfg(unix)]
#[test]
fn a_folder_that_cant_be_written_is_refused() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let inner = folder.database().with_extension("");
    fs::create_dir(&inner).unwrap();
    if forbid_writing(&inner) {
        check(&inner.join("quorum.db"), &["quorum.db", "in a folder that can be written"]);
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        drop(SqliteStore::open(inner.join("quorum.db")).unwrap());
        forbid_writing(&inner);
        check(&inner.join("quorum.db"), &["quorum.db", "folder"]);
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_said_and_passes() {
    let folder = Folder::new();
    let small = Options { max_pages: Some(100), ..Options::default() };
    let store = SqliteStore::open_with(folder.database(), small).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let turn = || vec![said("ann", 1, &"tabs ".repeat(1_000))];
    let refusal = loop {
        match writer.write(second(2), turn(), Then::Continue).await {
            Ok(_) => {}
            Err(refusal) => break refusal,
        }
    };
    let StoreError::Unavailable(message) = refusal else { panic!("{refusal}") };
    assert!(message.contains("no room left") && message.contains("quorum.db"), "{message}");
    let stored = store.read(id, Seq::START, usize::MAX).await.unwrap();
    assert_eq!(stored.last().unwrap().seq, writer.last);

    let last = writer.last;
    drop(store);
    let store = SqliteStore::open(folder.database()).unwrap();
    let mut writer = Writer { last, ..Writer::claiming(&store, id, "two").await };
    assert_eq!(writer.write(second(3), turn(), Then::Continue).await, Ok(last.next()));
}

#[tokio::test]
async fn another_writer_who_stays_too_long_is_said_and_passes() {
    let folder = Folder::new();
    let impatient = Options { busy_timeout: Duration::from_millis(20), ..Options::default() };
    let store = SqliteStore::open_with(folder.database(), impatient).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let raw = Connection::open(folder.database()).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let turn = || vec![said("ann", 1, "tabs")];
    let refused = writer.write(second(2), turn(), Then::Continue).await;
    let Err(StoreError::Unavailable(message)) = refused else { panic!("{refused:?}") };
    assert!(message.contains("locked by another program") && message.contains("quorum.db"), "{message}");
    // Who only reads is not in anyone's way.
    assert_eq!(store.read(id, Seq::START, 9).await.map(|facts| facts.len()), Ok(3));
    raw.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.write(second(2), turn(), Then::Continue).await, Ok(Seq(4)));
}

#[tokio::test]
async fn everything_acknowledged_is_there_after_reopening() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    let write = async |number: u32| {
        let id = open(&store, "tabs or spaces?", second(1)).await;
        let mut writer = Writer::claiming(&store, id, "one").await;
        for round in 0..number {
            writer.write(second(2), vec![said("ann", round, "tabs")], Then::Continue).await.unwrap();
        }
        (id, writer.last)
    };
    let acknowledged = futures::future::join_all((0..16).map(write)).await;
    drop(store);
    let store = SqliteStore::open(folder.database()).unwrap();
    for (id, last) in acknowledged {
        let facts = store.read(id, Seq::START, usize::MAX).await.unwrap();
        assert_eq!(facts.last().unwrap().seq, last);
    }
}
