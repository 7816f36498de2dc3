//! The search index: no discussion keeps others from being found or from being removed in time.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use quorum_core::{
    model::{
        id::{DiscussionId, Seq},
        relevance::content_words,
        time::Timestamp,
    },
    seams::{Archive, Expired, Query, Retention, SLICE, Store, Wanted},
};
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::store::fixture::{finish, open, second},
    postgres::Database,
};

const DAY_MS: u64 = 86_400_000;

fn opened(database: &Database) -> PostgresStore {
    PostgresStore::open(Address::parse(&database.url()).unwrap()).unwrap()
}

fn day(number: i64) -> Timestamp {
    second(number * 86_400)
}

/// Retention of 30 days, with the clock at day 33.
fn month() -> Retention {
    Retention { keep_ms: 30 * DAY_MS, wall: day(33) }
}

const NOTHING: Expired = Expired { hidden: 0, removed: 0, reappeared: 0, leap: None, more: false };

async fn found(store: &PostgresStore, words: &str) -> Vec<DiscussionId> {
    let query = Query { words: content_words(words), recalling: None };
    let found = store.find(query, Wanted::default()).await.unwrap();
    found.into_iter().map(|it| it.summary.id).collect()
}

fn unindexed(database: &Database) -> String {
    database.run("SELECT count(*) FROM discussions WHERE unindexed")
}

/// Different Thai words of 60 letters, which take 180 bytes each.
fn thai(count: usize) -> String {
    let letters: Vec<char> = ('ก'..='ฮ').collect();
    let word = |number: usize| -> String {
        let digits = (0..3).map(|place| number / letters.len().pow(place) % letters.len());
        digits.chain([0; 57]).map(|it| letters[it]).collect()
    };
    (0..count).map(word).collect::<Vec<_>>().join(" ")
}

/// It made every search of every tenant fail, and retention too.
#[tokio::test]
async fn an_order_of_many_long_words_does_not_break_search_for_everyone() {
    let database = Database::fresh();
    let store = opened(&database);
    let long = open(&store, &thai(6_507), second(1)).await;
    let other = open(&store, "tabs or spaces?", second(2)).await;
    assert_eq!(found(&store, "tabs").await, [other]);
    assert_eq!(found(&store, &thai(1)).await, [long]);
    assert_eq!(store.expire(month()).await.map(|it| it.removed), Ok(0));
    assert_eq!(unindexed(&database), "0");
}

/// Makes the index refuse texts with this word, with this error.
fn refuse(database: &Database, word: &str, code: &str) {
    database.run(&format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$;
         CREATE TRIGGER refuse BEFORE INSERT ON search FOR EACH ROW
         WHEN (NEW.words::text LIKE '%{word}%') EXECUTE FUNCTION refuse()"
    ));
}

#[tokio::test]
async fn a_discussion_that_cannot_be_indexed_keeps_no_other_from_it() {
    let database = Database::fresh();
    let store = opened(&database);
    let first = open(&store, "wide tabs?", second(1)).await;
    let unwanted = finish(&store, "tabs with venom?", "tabs", second(2)).await;
    let last = open(&store, "narrow tabs?", second(3)).await;
    refuse(&database, "venom", "54000");
    let mut all = found(&store, "tabs").await;
    all.sort();
    let mut expected = [first, last];
    expected.sort();
    assert_eq!(all, expected);
    assert_eq!(unindexed(&database), "0");
    assert_eq!(database.run("SELECT length FROM search ORDER BY length LIMIT 1"), "0");
    assert_eq!(store.read(unwanted, Seq::START, 1).await.map(|facts| facts.len()), Ok(1));
}

/// Retention began with the search index, and ended with its error.
#[tokio::test]
async fn old_discussions_are_hidden_although_nothing_can_be_indexed() {
    let database = Database::fresh();
    let store = opened(&database);
    finish(&store, "old tabs", "tabs", day(1)).await;
    assert_eq!(found(&store, "tabs").await.len(), 1);
    let young = finish(&store, "young tabs", "tabs", day(33)).await;
    refuse(&database, "tab", "53100");
    assert_eq!(store.expire(month()).await, Ok(Expired { hidden: 1, ..NOTHING }));
    assert_eq!(found(&store, "tabs").await, [], "the other one is not indexed yet");
    database.run("DROP TRIGGER refuse ON search");
    assert_eq!(store.index().await, Ok(()));
    assert_eq!(found(&store, "tabs").await, [young]);
}

/// Appends waited while the words of up to 500 discussions were written.
#[tokio::test]
async fn words_are_written_before_rows_are_locked() {
    let database = Database::fresh();
    let store = opened(&database);
    let id = open(&store, "tabs or spaces?", second(1)).await;
    database.run(
        "CREATE FUNCTION is_free() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF EXISTS (SELECT FROM discussions WHERE number = NEW.discussion AND xmax::text <> '0') THEN
                 RAISE EXCEPTION 'the row is locked';
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER is_free BEFORE INSERT ON search FOR EACH ROW EXECUTE FUNCTION is_free()",
    );
    assert_eq!(store.index().await, Ok(()));
    assert_eq!(unindexed(&database), "0");
    assert_eq!(found(&store, "tabs").await, [id]);
}

/// All of them were changed in one statement.
#[tokio::test]
async fn discussions_that_are_kept_longer_reappear_in_slices_and_none_is_removed() {
    let database = Database::fresh();
    let store = opened(&database);
    finish(&store, "old", "tabs", day(1)).await;
    let columns = database.run(
        "SELECT string_agg(quote_ident(attname), ',') FROM pg_attribute WHERE attrelid = 'discussions'::regclass
         AND 0 < attnum AND attname NOT IN ('number', 'id', 'root', 'hidden_at')",
    );
    // They have been hidden for so long that they could be removed.
    database.run(&format!(
        "INSERT INTO discussions (id, root, hidden_at, {columns})
         SELECT new, new, {}, {columns} FROM discussions,
         LATERAL (SELECT gen_random_uuid() AS new FROM generate_series(1, 600)) AS more",
        day(10).0
    ));
    finish(&store, "young", "tabs", day(33)).await;
    let year = Retention { keep_ms: 365 * DAY_MS, ..month() };
    let slice = Expired { reappeared: SLICE as u64, more: true, ..NOTHING };
    assert_eq!(store.expire(year).await, Ok(slice));
    assert_eq!(store.expire(year).await, Ok(Expired { reappeared: 100, ..NOTHING }));
    // A wrong clock has hidden them.
    database.run(&format!("UPDATE discussions SET hidden_at = {} WHERE last_at < {}", day(99).0, day(2).0));
    let short = Retention { keep_ms: 20 * DAY_MS, ..month() };
    assert_eq!(store.expire(short).await, Ok(Expired { more: true, ..NOTHING }));
    assert_eq!(store.expire(short).await, Ok(NOTHING));
    let marks = database.run("SELECT count(*) FROM discussions WHERE hidden_at = 1770076800000000");
    assert_eq!((marks.as_str(), day(33).0), ("601", 1_770_076_800_000_000));
}
