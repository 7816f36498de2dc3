//! Power loss below SQLite: a discussion is traced with strace, and its files are rebuilt as a disk
//! may have them at any moment: what was synced, and of the rest nothing, all, or any sectors in
//! any order. Whatever the command had printed by then is in the database, which is intact.
//!
//! Only with `QUORUM_LONG=1`, since it takes strace and a while.

mod disk;
mod trace;

use std::{path::Path, process::Command};

use quorum_testkit::coverage;
use rusqlite::Connection;

use crate::{Place, case::Case};
use disk::{Disk, Unsynced};

/// The number of discussions: every pattern once.
const DISCUSSIONS: usize = 8;

/// Seeds for what is left of unsynced writes.
const SEEDS: [u64; 2] = [1, 2];

#[test]
fn f10_a_power_loss_at_any_moment_loses_nothing_that_was_told() {
    if std::env::var_os("QUORUM_LONG").is_none() {
        eprintln!("left out: it takes strace and minutes; set QUORUM_LONG");
        return;
    }
    let (mut losses, mut syncs, mut facts) = (0, 0, 0);
    for number in 0..DISCUSSIONS {
        let place = Place::new();
        let disk = traced(&place, &Case::number(number));
        for moment in 1..=disk.steps() {
            for unsynced in [Unsynced::Lost, Unsynced::Kept].into_iter().chain(SEEDS.map(Unsynced::Torn)) {
                survives(&disk, moment, unsynced);
                losses += 1;
            }
        }
        (syncs, facts) = (syncs + disk.syncs(), facts + disk.told(disk.steps()));
    }
    println!(
        "{losses} power losses around {syncs} syncs in {DISCUSSIONS} discussions; of {facts} facts told, 0 lost"
    );
}

/// Runs a discussion under strace.
fn traced(place: &Place, case: &Case) -> Disk {
    let log = place.home.path().join("trace");
    let calls = "trace=openat,write,pwrite64,pwritev,fdatasync,fsync,ftruncate,unlink,unlinkat,rename,renameat,renameat2";
    let discuss = case
        .discuss()
        .into_iter()
        .map(|it| if it == "--json" { "--output-format=jsonl".to_owned() } else { it });
    let output = Command::new("strace")
        .args(["-f", "-y", "-xx", "-s", "10000000", "-e", calls, "-o"])
        .arg(&log)
        .arg(env!("CARGO_BIN_EXE_ax"))
        .args(discuss)
        .env_clear()
        .env("HOME", place.home.path())
        .env("AX_CONFIG", place.home.path().join("config.toml"))
        .env("AX_DATA_DIR", place.home.path().join("data"))
        .env("OLLAMA_HOST", "")
        .envs(coverage::profile())
        .output()
        .unwrap_or_else(|error| panic!("strace can't be run ({error}); `apt-get install strace`"));
    assert!(output.status.success(), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    let disk = trace::read(&std::fs::read_to_string(log).unwrap());
    assert!(disk.syncs() > 5 && disk.told(disk.steps()) > 5, "{case}: hardly anything was traced");
    disk
}

/// Opens the database as the disk has it after a loss of power.
fn survives(disk: &Disk, moment: usize, unsynced: Unsynced) {
    let (told, folder) = (disk.told(moment) as i64, tempfile::tempdir().unwrap());
    let about = || format!("at step {moment}, unsynced writes {unsynced:?}, {told} facts told");
    for (path, bytes) in disk.after(moment, unsynced) {
        let name = Path::new(&path).file_name().unwrap();
        std::fs::write(folder.path().join(name), bytes).unwrap();
    }
    let database = folder.path().join("quorum.db");
    if !database.exists() {
        assert_eq!(told, 0, "the database is gone {}", about());
        return;
    }
    let (facts, newest, state) = read(&database).unwrap_or_else(|error| panic!("{error} {}", about()));
    assert_eq!(state, "ok", "{}", about());
    assert!(told <= newest && facts == newest, "{facts} facts up to {newest} {}", about());
}

/// The number of facts, the number of the last, and what the check of the whole file says.
fn read(database: &Path) -> rusqlite::Result<(i64, i64, String)> {
    let connection = Connection::open(database)?;
    let state: String = connection.query_row("PRAGMA integrity_check", [], |row| row.get(0))?;
    let has_facts = "SELECT count(*) FROM sqlite_master WHERE name = 'facts'";
    if connection.query_row(has_facts, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok((0, 0, state));
    }
    // Sub-discussions have facts of their own; the first discussion is the one that is printed.
    let first = "SELECT count(*), coalesce(max(seq), 0) FROM facts WHERE discussion = (SELECT min(discussion) FROM facts)";
    connection.query_row(first, [], |row| Ok((row.get(0)?, row.get(1)?, state.clone())))
}
