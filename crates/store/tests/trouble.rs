//! Unusable databases: each error names the file, what is wrong, and what to do.

#![cfg_attr(unix, expect(clippy::unwrap_used, reason = "a test that can't make trouble can only stop"))]

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use common::Folder;
use quorum_core::{
    model::id::{DiscussionId, Seq},
    seams::{Archive, Store, StoreError, Then, Wanted},
};
use quorum_store::{Options, SqliteStore};
use quorum_testkit::conformance::store::fixture::{Writer, finish, open, said, second};
use rusqlite::Connection;

mod common;

/// Checks that opening this file fails for good with a message that contains these words.
fn check(file: &Path, expected: &[&str]) {
    let Err(StoreError::Unusable(message) | StoreError::Damaged(message)) = SqliteStore::open(file).map(drop)
    else {
        panic!("{} was opened", file.display())
    };
    for words in expected.iter().copied() {
        assert!(message.contains(words), "{words:?} is not in: {message}");
    }
}

#[test]
fn a_database_from_a_newer_program_is_refused_and_not_changed() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.database()).unwrap());
    let raw = Connection::open(folder.database()).unwrap();
    raw.pragma_update(None, "user_version", 99).unwrap();
    check(&folder.database(), &["quorum.db", "newer version", "99", "update the program"]);
    let version: u32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 99);
}

#[test]
fn a_database_from_an_older_program_is_refused_and_not_changed() {
    let folder = Folder::new();
    drop(SqliteStore::open(folder.database()).unwrap());
    let raw = Connection::open(folder.database()).unwrap();
    raw.pragma_update(None, "user_version", 4).unwrap();
    check(&folder.database(), &["quorum.db", "older version", "its schema version is 4", "move it away"]);
    let version: u32 = raw.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 4);
}

#[test]
fn a_database_of_another_program_is_refused_and_not_changed() {
    let folder = Folder::new();
    let raw = Connection::open(folder.database()).unwrap();
    raw.execute_batch("CREATE TABLE recipes (name TEXT)").unwrap();
    check(&folder.database(), &["quorum.db", "another program"]);
    let tables: u32 = raw.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
    assert_eq!(tables, 1);
}

#[test]
fn a_file_that_is_not_a_database_is_refused_and_not_changed() {
    let folder = Folder::new();
    let recipe = "Take two eggs and a pound of flour. ".repeat(200);
    fs::write(folder.database(), &recipe).unwrap();
    check(&folder.database(), &["quorum.db", "not a database"]);
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
    check(&folder.database().join("inner").join("quorum.db"), &["quorum.db", "can't be created"]);
}

#[test]
fn missing_folders_are_made() {
    let folder = Folder::new();
    let file = folder.database().with_extension("").join("a").join("b").join("quorum.db");
    drop(SqliteStore::open(&file).unwrap());
    assert!(file.is_file());
}

/// Removes the write permission; returns `false`, and prints why, if that has no effect.
#[cfg(unix)]
fn forbid_writing(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let try_it = folder.database();
    fs::write(&try_it, "").unwrap();
    fs::set_permissions(&try_it, fs::Permissions::from_mode(0o444)).unwrap();
    if fs::OpenOptions::new().write(true).open(&try_it).is_ok() {
        eprintln!("skipped: this user may write to every file, whatever its permissions");
        return false;
    }
    let mode = if path.is_dir() { 0o555 } else { 0o444 };
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    true
}

/// Checks that the discussion can be listed and searched, and that writes are refused with the
/// reason.
async fn reads_and_refuses_to_write(file: &Path, id: DiscussionId) {
    let store = SqliteStore::open(file).unwrap();
    reads_only(&store, id).await;
}

async fn reads_only(store: &SqliteStore, id: DiscussionId) {
    assert_eq!(store.read(id, Seq::START, 9).await.map(|facts| facts.len()), Ok(6));
    assert_eq!(store.list(Wanted::default()).await.map(|it| it.len()), Ok(1));
    assert_eq!(store.search("tabs", Wanted::default()).await.map(|it| it.len()), Ok(1));
    let refused = store.remove(id).await;
    let Err(StoreError::Unusable(message)) = refused else { panic!("{refused:?}") };
    let words = ["quorum.db", "can be read but not written", "permissions"];
    assert!(words.iter().all(|word| message.contains(word)), "{message}");
}

/// A database with one discussion that is over and indexed.
async fn with_one_discussion(file: &Path) -> DiscussionId {
    let store = SqliteStore::open(file).unwrap();
    let id = finish(&store, "tabs or spaces?", "tabs", second(1)).await;
    store.search("tabs", Wanted::default()).await.unwrap();
    id
}

#[tokio::test]
async fn f10_a_read_only_database_can_be_read_and_nothing_is_written_beside_it() {
    let folder = Folder::new();
    let file = folder.database().with_file_name("quorum.db of 100% & more?");
    let file = file.join("quorum.db");
    let id = with_one_discussion(&file).await;
    let names = || {
        let entries = fs::read_dir(file.parent().unwrap()).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    let before = (names(), fs::read(&file).unwrap());
    let store = SqliteStore::open_to_read(&file, Options::default()).unwrap();
    reads_only(&store, id).await;
    assert_eq!((names(), fs::read(&file).unwrap()), before);
}

#[tokio::test]
async fn f10_a_read_only_database_can_be_searched_though_it_cant_be_indexed() {
    let folder = Folder::new();
    let store = SqliteStore::open(folder.database()).unwrap();
    let indexed = finish(&store, "tabs in Zürich", "tabs", second(1)).await;
    store.search("tabs", Wanted::default()).await.unwrap();
    let topical = finish(&store, "are TABS worth it?", "yes", second(2)).await;
    let talked = open(&store, "what to eat?", second(3)).await;
    let mut writer = Writer::claiming(&store, talked, "one").await;
    writer.write(second(3), vec![said("ann", 1, "Not tabs.")], Then::Continue).await.unwrap();
    finish(&store, "vi or emacs?", "vi", second(4)).await;
    drop(store);
    let store = SqliteStore::open_to_read(folder.database(), Options::default()).unwrap();
    let search = async |words: &str, limit: usize| -> Vec<DiscussionId> {
        let found = store.search(words, Wanted { limit, ..Wanted::default() }).await.unwrap();
        found.iter().map(|it| it.id).collect()
    };
    assert_eq!(search("tabs", 0).await, [indexed, talked, topical]);
    assert_eq!(search("tabs", 2).await, [indexed, talked]);
    assert_eq!(search("tabs zurich", 0).await, [indexed]);
    assert_eq!(search("tabs EAT", 0).await, [talked]);
    assert_eq!(search("100% _", 0).await, []);
}

#[tokio::test]
async fn f10_a_read_only_database_shows_what_another_process_writes() {
    let folder = Folder::new();
    let writing = SqliteStore::open(folder.database()).unwrap();
    let reading = SqliteStore::open_to_read(folder.database(), Options::default()).unwrap();
    let id = finish(&writing, "tabs or spaces?", "tabs", second(1)).await;
    assert_eq!(reading.read(id, Seq::START, 9).await.map(|facts| facts.len()), Ok(6));
}

#[cfg(unix)]
fn mode(path: &Path) -> u32 {
    use std::os::unix::fs::PermissionsExt;
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// Every file next to the database is accessible to its owner only while it is open.
#[cfg(unix)]
#[tokio::test]
async fn files_of_a_database_are_private_and_wider_permissions_are_removed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let file = folder.database().with_extension("").join("quorum.db");
    let check = || {
        let inner = file.parent().unwrap();
        assert_eq!((mode(inner), mode(&inner.join("quorum.db.runners"))), (0o700, 0o700));
        let lock = fs::read_dir(inner.join("quorum.db.runners")).unwrap().next().unwrap().unwrap().path();
        let files = ["quorum.db", "quorum.db-wal", "quorum.db-shm"].map(|it| inner.join(it));
        let modes: Vec<u32> = files.iter().chain([&lock]).map(|it| mode(it)).collect();
        assert_eq!(modes, [0o600; 4]);
    };
    let store = SqliteStore::open(&file).unwrap();
    open(&store, "tabs or spaces?", second(1)).await;
    check();
    drop(store);
    for (path, wide) in [(file.clone(), 0o644), (file.with_extension("db.runners"), 0o755)] {
        fs::set_permissions(path, fs::Permissions::from_mode(wide)).unwrap();
    }
    let store = SqliteStore::open(&file).unwrap();
    open(&store, "vi or emacs?", second(1)).await;
    check();
}

#[cfg(unix)]
#[tokio::test]
async fn f10_a_file_that_cant_be_written_can_be_read() {
    let folder = Folder::new();
    let id = with_one_discussion(&folder.database()).await;
    if forbid_writing(&folder.database()) {
        reads_and_refuses_to_write(&folder.database(), id).await;
    }
}

#[cfg(unix)]
#[tokio::test]
async fn f10_a_folder_that_cant_be_written_can_be_read() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::new();
    let inner = folder.database().with_extension("");
    fs::create_dir(&inner).unwrap();
    if forbid_writing(&inner) {
        check(&inner.join("quorum.db"), &["quorum.db", "can't be created", "permissions of its folder"]);
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
        let id = with_one_discussion(&inner.join("quorum.db")).await;
        forbid_writing(&inner);
        reads_and_refuses_to_write(&inner.join("quorum.db"), id).await;
        fs::set_permissions(&inner, fs::Permissions::from_mode(0o755)).unwrap();
    }
}

#[tokio::test]
async fn a_full_disk_is_reported_and_recovered_from() {
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
async fn a_lock_held_too_long_by_another_program_is_reported_and_recovered_from() {
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
    // A reader blocks no other program.
    assert_eq!(store.read(id, Seq::START, 9).await.map(|facts| facts.len()), Ok(3));
    raw.execute_batch("COMMIT").unwrap();
    assert_eq!(writer.write(second(2), turn(), Then::Continue).await, Ok(Seq(4)));
}

#[tokio::test]
async fn f10_a_lock_is_waited_for_once_and_not_by_every_write() {
    let folder = Folder::new();
    let patient = Options { busy_timeout: Duration::from_secs(2), ..Options::default() };
    let store = SqliteStore::open_with(folder.database(), patient).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    let raw = Connection::open(folder.database()).unwrap();
    raw.execute_batch("BEGIN IMMEDIATE").unwrap();
    let (began, turn) = (Instant::now(), || vec![said("ann", 1, "tabs")]);
    for _ in 0..4 {
        let refused = writer.write(second(2), turn(), Then::Continue).await;
        assert!(matches!(refused, Err(StoreError::Unavailable(_))), "{refused:?}");
    }
    let waited = began.elapsed();
    assert!((Duration::from_secs(2)..Duration::from_secs(4)).contains(&waited), "{waited:?}");
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
