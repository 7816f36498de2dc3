//! Databases that can't be used, or not now: each has a clear message, never with the password.

#![expect(clippy::unwrap_used, reason = "a test whose store can't be opened can only stop")]

use std::{
    io::{Read, Write},
    net::TcpListener,
};

use quorum_core::{
    model::{
        account::{Account, Caps},
        id::Seq,
        money::Usd,
        time::iso,
    },
    seams::{Archive, Duty, Node, Nodes, Store, StoreError, Then, Wanted},
};
use quorum_store_postgres::{Address, PostgresStore};
use quorum_testkit::{
    conformance::store::fixture::{Writer, node, open, said, second},
    own_postgres::OwnPostgres,
    postgres::Database,
};
use uuid::Uuid;

fn opened(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(Address::parse(url)?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// A retry may help.
    Passing,
    /// Somebody has to do something.
    Staying,
}

/// Checks what is said about a database that can't be opened.
fn check(url: &str, kind: Kind, expected: &[&str]) {
    let error = opened(url).err().unwrap();
    let found = if matches!(error, StoreError::Unavailable(_)) { Kind::Passing } else { Kind::Staying };
    let told = error.to_string();
    assert_eq!(found, kind, "{told}");
    assert!(expected.iter().all(|it| told.contains(it)), "{expected:?} is not in: {told}");
    assert!(!told.contains("-word"), "{told}");
}

#[test]
fn an_unreachable_database() {
    check(
        "postgres://ann:hidden-word@127.0.0.1:1/panel",
        Kind::Passing,
        &["can't be reached", "ann@127.0.0.1:1"],
    );
    check("postgres://ann:hidden-word@no.such.host.example/panel", Kind::Passing, &["can't be reached"]);
}

#[test]
fn a_database_that_does_not_answer() {
    // It accepts the connection and says nothing, as a machine that hangs.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = silent.local_addr().unwrap().port();
    let url = format!("postgres://ann:hidden-word@127.0.0.1:{port}/panel");
    check(&url, Kind::Passing, &["doesn't answer"]);
}

/// As on a full disk. The answer of a call was lost, because this was not expected to pass.
#[test]
fn a_server_that_refuses_connections_for_reasons_of_its_own() {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for connection in server.incoming() {
            let mut connection = connection.unwrap();
            let _ = connection.read(&mut [0; 1_024]).unwrap();
            let fields = b"SFATAL\0VFATAL\0CXX000\0Mcould not write init file\0\0";
            let length = (fields.len() as u32 + 4).to_be_bytes();
            connection.write_all(&[b"E", &length[..], fields].concat()).unwrap();
        }
    });
    let url = format!("postgres://ann:hidden-word@127.0.0.1:{port}/panel");
    check(&url, Kind::Passing, &["can't be used now: could not write init file (XX000)"]);
}

#[test]
fn a_wrong_password_and_a_wrong_name() {
    let database = Database::fresh();
    assert!(opened(&database.login_url("guarded:right-word", "127.0.0.1", "")).is_ok());
    let url = database.login_url("guarded:hidden-word", "127.0.0.1", "");
    check(&url, Kind::Staying, &["refused the login", "guarded@127.0.0.1", "password"]);
    let url = database.login_url("guarded", "127.0.0.1", "");
    check(&url, Kind::Staying, &["guarded@127.0.0.1", "password"]);
    let url = database.login_url("nobody:hidden-word", "127.0.0.1", "");
    check(&url, Kind::Staying, &["refused the login"]);
    let nowhere = format!("postgres://postgres:hidden-word@127.0.0.1:{}/nowhere", database.port());
    check(&nowhere, Kind::Staying, &["there is no database"]);
}

#[test]
fn a_wrong_certificate_and_a_server_without_tls() {
    let database = Database::fresh();
    let authority = database.authority().display().to_string().replace('/', "%2F");
    let trusting = format!("&sslmode=verify-full&sslrootcert={authority}");
    assert!(opened(&database.login_url("guarded:right-word", "localhost", &trusting)).is_ok());
    // Not for this name.
    let url = database.login_url("guarded:right-word", "127.0.0.1", &trusting);
    check(&url, Kind::Staying, &["certificate", "sslrootcert"]);
    // Of an authority that is not trusted here.
    let url = database.login_url("guarded:right-word", "localhost", "&sslmode=require");
    check(&url, Kind::Staying, &["certificate", "sslrootcert"]);
    let url = database.login_url("unsafe:hidden-word", "localhost", &trusting);
    check(&url, Kind::Staying, &["refused the login (pg_hba.conf rejects", "check the user"]);
}

#[test]
fn a_read_only_database() {
    let database = Database::fresh();
    drop(opened(&database.url()).unwrap());
    let url = database.login_url("reader:hidden-word", "127.0.0.1", "");
    check(&url, Kind::Passing, &["can be read but not written"]);
}

/// As after a failover in which the former primary kept its connections.
#[tokio::test]
async fn a_connection_to_a_server_that_no_longer_writes_is_given_up() {
    let folder = std::env::temp_dir().join(format!("quorum-read-only-{}", Uuid::new_v4()));
    let server = OwnPostgres::start(&folder, &["fsync=off"]).unwrap();
    let url = format!("postgres://postgres@127.0.0.1:{}/postgres", server.port());
    let store = opened(&url).unwrap();
    let set = |value: &str| {
        let setting = format!("default_transaction_read_only = {value}\n");
        std::fs::write(folder.join("data/postgresql.auto.conf"), setting).unwrap();
        server.sql("SELECT pg_reload_conf()").unwrap();
    };
    let sql = "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE application_name = 'quorum'
               AND query NOT LIKE '%notify%' AND query NOT LIKE '%walfile%'";
    let before = server.sql(sql).unwrap();
    set("on");
    let mut refused = Ok(());
    for number in 0..100 {
        refused = store.join(Node::fresh(&format!("node {number}"))).await;
        if refused.is_err() {
            break;
        }
        // It sleeps because a server reads its configuration some time after it was told to.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    assert!(
        matches!(&refused, Err(StoreError::Unavailable(told)) if told.contains("not written")),
        "{refused:?}"
    );
    set("off");
    while store.join(Node::fresh("later")).await.is_err() {
        tokio::task::yield_now().await;
    }
    let after = server.sql(sql).unwrap();
    assert_ne!(before, after, "the same connection is used");
    drop(store);
    drop(server);
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn of_several_hosts_the_first_that_can_be_written_is_used() {
    let database = Database::fresh();
    let one = database.login_url("guarded:right-word", "127.0.0.1", "");
    let url = one.replace("@127.0.0.1:", "@127.0.0.1:1,127.0.0.1:");
    let store = opened(&url).unwrap();
    drop(store);
    let nowhere = "postgres://ann:hidden-word@127.0.0.1:1,127.0.0.1:2/panel";
    check(nowhere, Kind::Passing, &["127.0.0.1:1,127.0.0.1:2", "can't be reached"]);
}

/// Makes the server report what it reports when its disk is full, with its own error code: a disk
/// can't be filled here.
fn fill_disk(database: &Database) {
    database.run(
        "CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
         CREATE TRIGGER full_disk BEFORE INSERT ON facts FOR EACH STATEMENT EXECUTE FUNCTION full_disk()",
    );
}

#[tokio::test]
async fn a_full_disk_is_noticed_without_a_discussion() {
    let database = Database::fresh();
    let store = opened(&database.url()).unwrap();
    assert_eq!(store.try_writing().await, Ok(()));
    fill_disk(&database);
    let refused = store.try_writing().await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(told) if told.contains("is full")), "{refused:?}");
    database.run("DROP TRIGGER full_disk ON facts");
    assert_eq!(store.try_writing().await, Ok(()));
    let left = "SELECT (SELECT count(*) FROM facts), to_regclass('trial') IS NULL";
    assert_eq!(database.run(left), "0|t", "nothing is left of it");
}

#[tokio::test]
async fn a_full_disk_loses_nothing_and_no_connection() {
    let database = Database::fresh();
    // The user tells its connections from those of other tests.
    let user = format!("user_{}", database.run("SELECT current_schema()"));
    database.run(&format!("CREATE ROLE {user} LOGIN SUPERUSER"));
    let store = opened(&database.login_url(&user, "127.0.0.1", "")).unwrap();
    let writing = format!(
        "SELECT string_agg(pid::text, ' ') FROM pg_stat_activity WHERE usename = '{user}' AND query LIKE '%WITH want%'"
    );
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    assert_eq!(writer.write(second(2), vec![said("ann", 1, "spaces")], Then::Continue).await, Ok(Seq(4)));
    let before = database.run(&writing);
    fill_disk(&database);
    let refused = writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await.unwrap_err();
    assert!(matches!(&refused, StoreError::Unavailable(told) if told.contains("is full")), "{refused:?}");
    assert_eq!(store.read(id, Seq::START, 9).await.map(|facts| facts.len()), Ok(4), "nothing was written");
    database.run("DROP TRIGGER full_disk ON facts");
    assert_eq!(writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await, Ok(Seq(5)));
    assert_eq!(database.run(&writing), before, "a server in trouble may refuse a new connection");
}

#[tokio::test]
async fn an_older_database_is_updated_and_keeps_everything() {
    let database = Database::fresh();
    let store = opened(&database.url()).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    drop(store);
    database.run(
        "DROP TABLE moved; DROP TABLE lanes; DROP TABLE attached; ALTER TABLE nodes DROP COLUMN knows;
         ALTER TABLE discussions DROP COLUMN title; DROP INDEX discussions_hidden_by_age; UPDATE schema SET version = 1, min_reader = 1",
    );
    let store = opened(&database.url()).unwrap();
    assert_eq!(store.versions(), (1, 5));
    node(&store, "one").await;
    let listed = store.list(Wanted::default()).await.unwrap();
    assert_eq!(listed.iter().map(|it| it.id).collect::<Vec<_>>(), [id]);
}

#[test]
fn a_newer_database_is_refused_unless_it_allows_this_program() {
    let database = Database::fresh();
    drop(opened(&database.url()).unwrap());
    database.run("UPDATE schema SET version = 99");
    assert!(opened(&database.url()).is_ok(), "what was added does no harm");
    database.run("UPDATE schema SET min_reader = 99");
    check(&database.url(), Kind::Staying, &["newer version (99)", "update the program"]);
}

#[test]
fn a_database_of_another_program() {
    let other = "another program (customers, orders)";
    let database = Database::fresh();
    database.run("CREATE TABLE customers (name text); CREATE VIEW orders AS SELECT 1");
    check(&database.url(), Kind::Staying, &[other, "empty database"]);
    assert_eq!(database.run("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"), "1");
    // A table that happens to have our name.
    let database = Database::fresh();
    database.run("CREATE TABLE schema (of_another integer)");
    check(&database.url(), Kind::Staying, &["another program"]);
    // A function and a type that happen to have our names.
    let database = Database::fresh();
    database.run("CREATE FUNCTION now_us() RETURNS bigint LANGUAGE sql AS 'SELECT 1::bigint'");
    check(&database.url(), Kind::Staying, &["another program", "now_us"]);
    let database = Database::fresh();
    database.run("CREATE TYPE nodes AS ENUM ('one')");
    check(&database.url(), Kind::Staying, &["another program", "nodes"]);
}

/// Otherwise an answer with a character that the encoding lacks could not be recorded.
#[test]
fn a_database_with_another_encoding_is_refused() {
    let database = Database::fresh();
    let name = database.run("SELECT current_schema()");
    for encoding in ["LATIN1", "UTF8"] {
        let name = format!("{name}_{encoding}").to_lowercase();
        database.create(&name, &format!("ENCODING '{encoding}' LOCALE 'C' TEMPLATE template0"));
        let url = format!("postgres://postgres:hidden-word@127.0.0.1:{}/{name}", database.port());
        match encoding {
            "UTF8" => assert!(opened(&url).is_ok()),
            _ => check(&url, Kind::Staying, &["the encoding LATIN1", "ENCODING 'UTF8'"]),
        }
    }
}

#[test]
fn a_schema_that_is_not_there_is_told() {
    let database = Database::fresh();
    let url = format!(
        "postgres://postgres:hidden-word@127.0.0.1:{}/postgres?options=-c%20search_path%3Dnowhere",
        database.port()
    );
    check(&url, Kind::Staying, &["there is no schema", "search_path"]);
}

#[tokio::test]
async fn a_clock_two_hours_off_is_seen() {
    let database = Database::fresh();
    let store = opened(&database.url()).unwrap();
    let id = node(&store, "one").await;
    database.run(
        "CREATE OR REPLACE FUNCTION now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
         $$ SELECT (extract(epoch FROM clock_timestamp() + interval '2 hours') * 1000000)::bigint $$",
    );
    let here = std::time::UNIX_EPOCH.elapsed().unwrap().as_micros() as i64;
    let there = store.beat(id, Duty::Serving).await.unwrap().unwrap().at.unwrap();
    let ahead = (there.0 - here) / 1_000_000;
    assert!((7_190..7_260).contains(&ahead), "{ahead}");
    assert_eq!(store.clock().await.map(|it| it.is_some_and(|it| there <= it)), Ok(true));
}

/// A node whose clock was a day behind spent the next day's money.
#[tokio::test]
async fn spending_caps_go_by_the_clock_of_the_database() {
    let database = Database::fresh();
    let store = opened(&database.url()).unwrap();
    let caps = Caps { per_day: Some(Usd::from_cents(100)), ..Caps::default() };
    let renews = async || {
        let status = store.spending(Account::default(), caps, second(3_600)).await.unwrap();
        iso(status[0].renews_at)
    };
    let before = renews().await;
    database.run(
        "CREATE OR REPLACE FUNCTION now_us() RETURNS bigint LANGUAGE sql VOLATILE AS
         $$ SELECT (extract(epoch FROM clock_timestamp() + interval '24 hours') * 1000000)::bigint $$",
    );
    let expected = ["2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z"];
    assert_eq!([before, renews().await], expected);
}

/// Reads at the same time would take all connections and leave none for the writer.
#[tokio::test]
async fn a_database_with_few_connections_leaves_one_for_facts() {
    let database = Database::fresh();
    let name = format!("few_{}", database.run("SELECT current_schema()"));
    database.run(&format!(
        "CREATE ROLE {name} LOGIN CONNECTION LIMIT 3; DO $$ BEGIN
         EXECUTE 'GRANT ALL ON SCHEMA ' || current_schema() || ' TO {name}'; END $$"
    ));
    let store = opened(&database.login_url(&name, "127.0.0.1", "")).unwrap();
    let id = open(&store, "tabs or spaces?", second(1)).await;
    let mut writer = Writer::claiming(&store, id, "one").await;
    // Heartbeats take the last connection, and share one when the writer needs it.
    let one = node(&store, "one").await;
    assert!(store.beat(one, Duty::Serving).await.is_ok_and(|it| it.is_some()));
    let reads = futures::future::join_all((0..20).map(|_| store.read(id, Seq::START, 9))).await;
    assert!(reads.iter().all(|it| it.as_ref().is_ok_and(|facts| facts.len() == 3)), "{reads:?}");
    let mut written = Err(StoreError::Fenced(id));
    for _ in 0..50 {
        written = writer.write(second(2), vec![said("ann", 1, "tabs")], Then::Continue).await;
        if !matches!(written, Err(StoreError::Unavailable(_))) {
            break;
        }
        // It sleeps because the server has to notice that a connection was closed.
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(written, Ok(Seq(4)));
    assert!(store.beat(one, Duty::Serving).await.is_ok_and(|it| it.is_some()));
    let reads = futures::future::join_all((0..20).map(|_| store.read(id, Seq::START, 9))).await;
    assert!(reads.iter().all(|it| it.as_ref().is_ok_and(|facts| facts.len() == 4)), "{reads:?}");
}
