//! A store that can't be used: a clear message, exit code 3, and no data lost.

use std::fs;

use crate::user::User;

#[test]
fn f10_a_database_from_a_newer_version_is_left_alone() {
    let user = User::new();
    user.ax(&["discuss", "q"]).ends(0);
    let database = rusqlite::Connection::open(user.database()).unwrap();
    database.pragma_update(None, "user_version", 999).unwrap();
    drop(database);
    user.ax(&["discuss", "q"]).ends(3).says(&["newer version", "quorum.db"]).prints_nothing();
    user.ax(&["history"]).ends(3).says(&["newer version"]).prints_nothing();
    let database = rusqlite::Connection::open(user.database()).unwrap();
    let version: u32 = database.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
    assert_eq!(version, 999);
}

#[test]
fn f10_a_file_that_is_no_database_is_left_alone() {
    let user = User::new();
    fs::create_dir(user.data()).unwrap();
    let garbage = "this is no database, but something someone may still need".repeat(100);
    fs::write(user.database(), &garbage).unwrap();
    user.ax(&["discuss", "q"]).ends(3).says(&["quorum.db"]).prints_nothing();
    assert_eq!(fs::read_to_string(user.database()).unwrap(), garbage);
}

#[test]
fn f10_a_place_that_can_not_be_written_to_is_named() {
    let user = User::new();
    fs::write(user.data(), "a file where a directory should be").unwrap();
    user.ax(&["discuss", "q"])
        .ends(3)
        .says(&["AX_DATA_DIR", &user.data().display().to_string()])
        .prints_nothing();
}

#[test]
fn f10_a_locked_database_is_named_and_nothing_is_lost() {
    let user = User::new();
    user.ax(&["discuss", "q"]).ends(0);
    let database = rusqlite::Connection::open(user.database()).unwrap();
    database.execute_batch("BEGIN IMMEDIATE").unwrap();
    user.ax(&["discuss", "q"]).ends(3).says(&["quorum.db", "locked"]).prints_nothing();
    user.ax(&["history"]).ends(0);
    database.execute_batch("ROLLBACK").unwrap();
    user.ax(&["discuss", "q"]).ends(0);
}

/// The files and folders in this folder, with their permissions.
fn modes(folder: &std::path::Path) -> Vec<(String, u32)> {
    use std::os::unix::fs::PermissionsExt;
    let mut found: Vec<(String, u32)> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| {
            let entry = entry.unwrap();
            let mode = entry.metadata().unwrap().permissions().mode() & 0o777;
            (entry.file_name().to_string_lossy().into_owned(), mode)
        })
        .collect();
    found.sort();
    found
}

#[test]
fn discussions_are_kept_for_their_owner_alone_whatever_the_umask() {
    let user = User::new();
    user.shell("umask 000; ax discuss q").ends(0);
    let kept = [("quorum.db".to_owned(), 0o600), ("quorum.db.runners".to_owned(), 0o700)];
    assert_eq!(modes(&user.data()), kept);
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(user.database(), fs::Permissions::from_mode(0o644)).unwrap();
    fs::set_permissions(user.data(), fs::Permissions::from_mode(0o755)).unwrap();
    user.ax(&["discuss", "q"]).ends(0);
    assert_eq!(modes(&user.data()), kept);
    // A folder may be open to others for a reason, so this is only reported.
    let told = user.ax(&["doctor"]).out;
    assert!(told.contains("other users can list its files; run `chmod 700 "), "{told}");
}

/// Runs a line in its own mount namespace; `None` if that is not permitted.
fn with_mounts(user: &User, line: &str) -> Option<crate::user::Said> {
    let possible =
        std::process::Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !possible.is_ok_and(|it| it.status.success()) {
        eprintln!("SKIPPED: nothing can be mounted here");
        return None;
    }
    let mut command = user.program("unshare", &["-rm", "sh", "-ec", line, env!("CARGO_BIN_EXE_ax")]);
    Some(crate::user::output_of(command.env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").spawn().unwrap()))
}

#[test]
fn f10_a_read_only_folder_or_file_can_be_read() {
    let folder = "mount --bind \"$AX_DATA_DIR\" \"$AX_DATA_DIR\"; mount -o remount,bind,ro \"$AX_DATA_DIR\"";
    let file = folder.replace("$AX_DATA_DIR", "$AX_DATA_DIR/quorum.db");
    for read_only in [folder, &file] {
        let user = User::new();
        let topic = "Tabs or spaces?";
        user.ax(&["discuss", topic]).ends(0);
        for read in ["history", "history spaces", "show last", "export last", "history --json"] {
            let Some(said) = with_mounts(&user, &format!("{read_only}; \"$0\" {read}")) else { return };
            assert!(said.ends(0).out.contains(topic), "{read}");
        }
        let refused = with_mounts(&user, &format!("{read_only}; \"$0\" discuss again")).unwrap();
        refused.ends(3).says(&["quorum.db", "can be read but not written", "AX_DATA_DIR"]).prints_nothing();
        assert_eq!(user.ax(&["history", "--json"]).ends(0).json().as_array().unwrap().len(), 1);
    }
}

#[test]
fn f10_a_file_that_may_not_grow_is_a_full_disk_and_no_crash() {
    let user = User::new();
    // Enough to begin, but too little to finish.
    let line = "exec prlimit --fsize=400000 ax discuss q -r 10 --json";
    let mut running = user.run_shell(line);
    let full = running.wait_for_line("no room left");
    assert!(full.contains("quorum.db") && full.contains("ulimit -f"), "{full}");
    running.signal("-TERM");
    running.end().ends(130).prints_nothing();
    user.ax(&["resume", "last"]).ends(0);
}

#[test]
fn f10_readable_rows_of_a_damaged_database_are_salvaged() {
    let user = User::new();
    for number in 0..6 {
        user.ax(&["discuss", &format!("question {number}")]).ends(0);
    }
    let raw = rusqlite::Connection::open(user.database()).unwrap();
    let sql = "SELECT pageno FROM dbstat WHERE name = 'facts' AND pagetype = 'leaf' ORDER BY pageno LIMIT 1 OFFSET 8";
    let page: usize = raw.query_row(sql, [], |row| row.get::<_, i64>(0)).unwrap() as usize;
    drop(raw);
    let mut bytes = fs::read(user.database()).unwrap();
    bytes[(page - 1) * 4_096..page * 4_096].fill(0x5a);
    fs::write(user.database(), &bytes).unwrap();
    let told = user.ax(&["doctor"]).ends(3).out;
    assert!(told.contains("is damaged") && told.contains("`ax doctor --salvage`"), "{told}");
    let bytes = fs::read(user.database()).unwrap();
    let saved = user.ax(&["doctor", "--salvage"]).ends(0).out;
    assert_eq!(fs::read(user.database()).unwrap(), bytes, "the damaged one is left alone");
    assert!(saved.starts_with("Saved 6 discussions with "), "{saved}");
    assert!(saved.contains(", lost 0 discussions and 2"), "{saved}");
    assert!(saved.contains("Of those saved, 1 discussion lost the end"), "{saved}");
    user.ax(&["doctor", "--salvage"]).ends(3).says(&["quorum-salvaged.db exists already"]).prints_nothing();
    let moves = saved.lines().filter(|it| it.starts_with("  mv ")).collect::<Vec<_>>().join(" &&");
    user.shell(&moves).ends(0);
    assert_eq!(user.ax(&["history", "--json"]).ends(0).json().as_array().unwrap().len(), 6);
    let cut = user.ax(&["history", "--json"]).json();
    let cut = cut.as_array().unwrap().iter().find(|it| it["status"] != "completed").unwrap();
    user.ax(&["resume", cut["discussionId"].as_str().unwrap()]).ends(0);
}
