//! `ax db`: a move that is killed again and again continues, and databases are checked.

use std::time::{Duration, Instant};

use quorum_testkit::postgres::Database;

use crate::user::User;

/// How many discussions are moved.
const DISCUSSIONS: usize = 30;

/// A user whose configuration names this database.
fn user(database: &Database) -> User {
    User::new().with("AX_DATABASE_URL", &database.url())
}

/// Discussions in the file of the data directory.
fn fill(user: &User) {
    let lines: Vec<String> =
        (0..DISCUSSIONS).map(|it| format!("ax discuss 'Question {it}?' --quiet -r1 > out.txt")).collect();
    for part in lines.chunks(10) {
        user.shell(&format!("unset AX_DATABASE_URL; {}", part.join(" && "))).ends(0);
    }
}

fn moved(database: &Database) -> usize {
    database.run("SELECT count(*) FROM discussions").parse().unwrap()
}

/// Looks until it is so.
fn until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(60), "it is not so after a minute");
        // It sleeps because another process has to get there.
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_move_that_is_killed_five_times_goes_on_and_nothing_is_there_twice() {
    let database = Database::fresh();
    let user =
        User::new().with("AX_DATABASE_URL", &format!("{}&application_name=killed_move", database.url()));
    fill(&user);
    user.ax(&["db", "migrate"]).ends(0);
    // It stops in the middle of the sixth, the eleventh and so on, to be killed there.
    database.run(
        "CREATE TABLE most (discussions bigint); INSERT INTO most VALUES (0);
         CREATE FUNCTION stop() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
             IF (SELECT count(*) FROM moved WHERE name NOT LIKE 'table %') >= (SELECT discussions FROM most) THEN
                 PERFORM pg_sleep(600);
             END IF;
             RETURN NEW;
         END $$;
         CREATE TRIGGER stop BEFORE INSERT ON moved FOR EACH ROW WHEN (NEW.name NOT LIKE 'table %')
         EXECUTE FUNCTION stop()",
    );
    for kill in 1..=5 {
        let most = 5 * kill;
        database.run(&format!("UPDATE most SET discussions = {most}"));
        let mut moving = user.command(&["db", "move"]).spawn().unwrap();
        until(|| most <= moved(&database));
        moving.kill().unwrap();
        moving.wait().unwrap();
        // A database server that notices the end of its client stops its query.
        database.run(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'killed_move'",
        );
        assert!(moved(&database) < DISCUSSIONS, "it was killed in between, kill {kill}");
    }
    database.run("DROP TRIGGER stop ON moved");
    let said = user.ax(&["db", "move", "--json"]).ends(0).json();
    let (written, known) = (said["written"].as_u64().unwrap(), said["known"].as_u64().unwrap());
    assert_eq!((written + known, 25 <= known), (DISCUSSIONS as u64, true), "{said}");
    assert_eq!(moved(&database), DISCUSSIONS);
    let said = user.ax(&["db", "check", "--all"]).ends(0);
    assert!(said.out.contains("30 discussions") && said.out.contains("Nothing is wrong."), "{said:#?}");
    assert_eq!(user.ax(&["history", "-n", "100", "--json"]).json().as_array().unwrap().len(), DISCUSSIONS);

    // And back, into a new file.
    let file = user.home().join("back.db");
    let back = ["db", "move", "--back", "--to", file.to_str().unwrap()];
    let said = user.ax(&back).ends(0);
    assert!(said.out.contains("Moved 30 discussions") && said.out.contains("are the same"), "{said:#?}");
    let said = user.ax(&["db", "check", file.to_str().unwrap(), "--json"]).ends(0).json();
    assert_eq!((said["discussions"].as_u64(), said["flaws"].as_array().map(Vec::len)), (Some(30), Some(0)));
}

#[test]
fn a_move_without_a_target_and_a_wrong_address_are_told_without_the_password() {
    let user = User::new();
    user.ax(&["db", "move"]).ends(2).says(&["AX_DATABASE_URL", "--to"]).prints_nothing();
    let missing = user.ax(&["db", "check", "nowhere.db"]).ends(3).says(&["there is no database nowhere.db"]);
    missing.prints_nothing();
    user.ax(&["discuss", "Now?"]).ends(0);
    let said = user.ax(&["db", "move", "--to", "postgres://ann:hidden-word@127.0.0.1:1/panel"]).ends(3);
    assert!(said.err.contains("can't be reached") && !said.err.contains("hidden-word"), "{said:#?}");
    let said = user.ax(&["db", "move", "--to", "postgres://ann:hidden-word@127.0.0.1:x/panel"]).ends(2);
    assert!(said.err.contains("can't be understood") && !said.err.contains("hidden-word"), "{said:#?}");
    let said = user.ax(&["db", "move", "--to", "postgres://ann:other@hidden-word@127.0.0.1:1/panel"]).ends(2);
    assert!(said.err.contains("`@` as `%40`") && !said.err.contains("hidden-word"), "{said:#?}");
}

#[test]
fn a_database_is_migrated_once_and_then_up_to_date() {
    let database = Database::fresh();
    let user = user(&database);
    assert!(user.ax(&["db", "migrate"]).ends(0).out.starts_with("Created the tables of postgres://"));
    assert!(user.ax(&["db", "migrate"]).ends(0).out.contains("is up to date"));
}

#[test]
fn an_empty_database_is_not_filled_by_a_check_or_as_the_source_of_a_move() {
    let database = Database::fresh();
    let user = user(&database);
    for verb in [&["db", "check"][..], &["db", "move", "--back"]] {
        user.ax(verb).ends(3).says(&["is empty; its tables are created"]).prints_nothing();
    }
    assert_eq!(database.run("SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()"), "0");
    user.ax(&["db", "migrate"]).ends(0);
    user.ax(&["db", "check"]).ends(0);
}

#[test]
fn a_database_server_that_cant_be_used_gets_advice_about_its_address_and_not_about_files() {
    let database = Database::fresh();
    database.run("CREATE TABLE customers (name text)");
    let verbs =
        [&["history"][..], &["discuss", "q"], &["doctor"], &["serve", "--port", "0"], &["db", "check"]];
    for verb in verbs {
        let said = user(&database).ax(verb).ends(3);
        let told = format!("{}{}", said.out, said.err);
        assert!(told.contains("another program (customers)"), "{verb:?}: {told}");
        assert!(told.contains("AX_DATABASE_URL"), "{verb:?}: {told}");
        assert!(!told.contains("AX_DATA_DIR"), "{verb:?}: {told}");
    }
}
