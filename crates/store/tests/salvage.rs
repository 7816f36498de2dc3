//! Salvage of damaged databases, which are themselves not changed.

#![expect(clippy::unwrap_used, reason = "a test that can't damage its database can only stop")]

use std::{fs, path::Path};

use common::Folder;
use quorum_core::{
    model::{
        id::{DiscussionId, Seq, Tenant},
        spec::Spec,
    },
    seams::{
        Archive, AuditEntry, AuditWanted, KnownOutcome, Scored, Session, SessionsWanted, Store, StoreError,
        Then, Wanted,
    },
};
use quorum_store::{Salvaged, SqliteStore, salvage};
use quorum_testkit::conformance::store::fixture::{
    Writer, about, below, claim_any, ending, open_as_ordered, opening, said, second,
};
use rusqlite::Connection;
use uuid::Uuid;

mod common;

/// How many discussions, each with a sub-discussion, are in a database to be damaged.
const DISCUSSIONS: usize = 30;

/// The numbers of facts of a root and of its child.
const FACTS: [u64; 2] = [26, 4];

/// Creates a database of many pages and closes it properly.
async fn filled(file: &Path) -> Vec<DiscussionId> {
    let store = SqliteStore::open(file).unwrap();
    let session = Session {
        id: Uuid::from_u128(7),
        name: "editors".to_owned(),
        created_at: second(1),
        tenant: Tenant::default(),
    };
    store.create_session(session.clone()).await.unwrap();
    let mut ids = Vec::new();
    for number in 0..DISCUSSIONS {
        let spec = Spec { session: Some(session.id), ..about(&format!("question {number}")) };
        let id = open_as_ordered(&store, spec, second(1)).await;
        let mut writer = Writer::claiming(&store, id, "one").await;
        let child = id.derived("sub1");
        store.create(child, opening(about("below"), second(1), below(id))).await.unwrap();
        let mut below = Writer { id: child, last: Seq(3), claim: writer.claim.clone(), store: &store };
        below.write(second(2), vec![said("bob", 1, "four")], Then::Continue).await.unwrap();
        for round in 0..20 {
            let text = format!("{number} {round} {}", "tabs and spaces ".repeat(20));
            writer.write(second(2), vec![said("ann", round, &text)], Then::Continue).await.unwrap();
        }
        writer.write(second(3), ending("tabs"), Then::Done).await.unwrap();
        ids.push(id);
    }
    let entry = AuditEntry {
        at: second(1),
        tenant: Tenant::default(),
        who: "ax".to_owned(),
        action: "start".to_owned(),
        discussion: ids[0],
        result: "done".to_owned(),
    };
    store.log(entry).await.unwrap();
    let outcome = KnownOutcome {
        discussion: ids[0],
        tenant: Tenant::default(),
        simulated: false,
        answer: "tabs".to_owned(),
        by: "ann".to_owned(),
        at: second(4),
        scored: Scored { was_right: Some(true), options: 2, ..Scored::default() },
    };
    store.resolve(outcome).await.unwrap();
    ids
}

/// Overwrites these 4 KiB pages.
fn damage(file: &Path, pages: &[usize]) {
    let mut bytes = fs::read(file).unwrap();
    for page in pages {
        bytes[(page - 1) * 4_096..page * 4_096].fill(0x5a);
    }
    fs::write(file, bytes).unwrap();
}

/// The leaf pages of this table or index.
fn leaves(file: &Path, name: &str) -> Vec<usize> {
    let raw = Connection::open(file).unwrap();
    let sql = "SELECT pageno FROM dbstat WHERE name = ?1 AND pagetype = 'leaf' ORDER BY pageno";
    let mut statement = raw.prepare(sql).unwrap();
    statement.query_map([name], |row| row.get::<_, i64>(0).map(|it| it as usize)).unwrap().flatten().collect()
}

async fn whole(file: &Path, id: DiscussionId) -> Vec<quorum_core::model::event::Fact> {
    SqliteStore::open(file).unwrap().read(id, Seq::START, usize::MAX).await.unwrap()
}

const TOTAL: u64 = DISCUSSIONS as u64 * (FACTS[0] + FACTS[1]);

#[tokio::test]
async fn an_intact_database_is_recovered_completely() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    let ids = filled(&old).await;
    let before = fs::read(&old).unwrap();
    let saved = salvage(&old, &new).await.unwrap();
    let discussions = 2 * DISCUSSIONS as u64;
    assert_eq!(saved, Salvaged { discussions, facts: TOTAL, ..Salvaged::default() });
    assert_eq!(fs::read(&old).unwrap(), before, "the damaged database is not changed");
    for id in [ids[0], ids[0].derived("sub1"), ids[DISCUSSIONS - 1]] {
        assert_eq!(whole(&new, id).await, whole(&old, id).await);
    }
    let (one, other) = (SqliteStore::open(&old).unwrap(), SqliteStore::open(&new).unwrap());
    assert_eq!(one.list(Wanted::default()).await, other.list(Wanted::default()).await);
    let all = SessionsWanted::default();
    assert_eq!(one.sessions(all.clone()).await, other.sessions(all).await);
    let newest = AuditWanted { limit: 9, ..AuditWanted::default() };
    assert_eq!(one.audit_entries(newest.clone()).await, other.audit_entries(newest).await);
    assert_eq!(one.outcomes_of(ids[0]).await, other.outcomes_of(ids[0]).await);
    assert_eq!(other.outcomes_of(ids[0]).await.map(|it| it.len()), Ok(1));
    let found = other.search("question 7", Wanted { limit: 1, ..Wanted::default() }).await.unwrap();
    assert_eq!(found[0].id, ids[7]);
    // Nothing is claimed, and nothing would run and cost money.
    assert_eq!(claim_any(&other, 9, "any").await, Ok(Vec::new()));
    assert_eq!(other.remove(ids[0]).await, Ok(()));
}

#[tokio::test]
async fn an_existing_file_is_never_overwritten() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    filled(&old).await;
    fs::write(&new, "something someone may still need").unwrap();
    for taken in [&new, &old] {
        let Err(StoreError::Unusable(message)) = salvage(&old, taken).await else { panic!("it was written") };
        assert!(message.contains("exists already"), "{message}");
    }
    assert_eq!(fs::read_to_string(&new).unwrap(), "something someone may still need");
}

#[tokio::test]
async fn f10_unreadable_pages_of_facts_lose_those_facts_only() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    let ids = filled(&old).await;
    let pages = leaves(&old, "facts");
    damage(&old, &[pages[10], pages[11], pages[40]]);
    let damaged = fs::read(&old).unwrap();
    let saved = salvage(&old, &new).await.unwrap();
    assert_eq!(fs::read(&old).unwrap(), damaged);
    assert_eq!(saved.facts + saved.lost_facts, TOTAL, "{saved:?}");
    assert!(saved.lost_facts > 0 && saved.lost_facts < TOTAL / 10, "{saved:?}");
    assert!((1..=6).contains(&(saved.cut_short + saved.lost_discussions)), "{saved:?}");
    let store = SqliteStore::open(&new).unwrap();
    assert_eq!(store.damage().await, Ok(None));
    assert_eq!(
        store.read(ids[DISCUSSIONS - 1], Seq::START, 99).await.map(|it| it.len() as u64),
        Ok(FACTS[0])
    );
    // A discussion that lost its end waits until somebody resumes it.
    assert_eq!(claim_any(&store, 99, "any").await, Ok(Vec::new()));
    let listed = store.list(Wanted::default()).await.unwrap();
    assert!(listed.iter().any(|it| it.ended_at.is_none()));
}

#[tokio::test]
async fn f10_discussions_keep_their_ids_when_their_table_cant_be_read() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    let mut ids = filled(&old).await;
    damage(&old, &leaves(&old, "discussions"));
    let saved = salvage(&old, &new).await.unwrap();
    assert_eq!((saved.facts, saved.lost_facts), (TOTAL, 0));
    let listed = SqliteStore::open(&new).unwrap().list(Wanted::default()).await.unwrap();
    let mut saved: Vec<DiscussionId> = listed.iter().map(|it| it.id).collect();
    ids.sort();
    saved.sort();
    assert_eq!(saved, ids);
}

#[tokio::test]
async fn f10_unreadable_indexes_lose_nothing() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    filled(&old).await;
    let indexes =
        ["sqlite_autoindex_facts_1", "sqlite_autoindex_discussions_1", "discussion_logs_by_project"];
    let pages: Vec<usize> = indexes.iter().flat_map(|it| leaves(&old, it)).collect();
    damage(&old, &pages);
    let saved = salvage(&old, &new).await.unwrap();
    assert_eq!((saved.facts, saved.lost_facts, saved.cut_short), (TOTAL, 0, 0));
}

#[tokio::test]
async fn a_file_that_is_not_our_database_cant_be_salvaged() {
    let folder = Folder::new();
    let (old, new) = (folder.database(), folder.database().with_extension("new"));
    let recipe = "Take two eggs and a pound of flour. ".repeat(200);
    fs::write(&old, &recipe).unwrap();
    assert!(matches!(salvage(&old, &new).await, Err(StoreError::Unusable(_))));
    assert_eq!((fs::read_to_string(&old).unwrap(), new.exists()), (recipe, false));
}
