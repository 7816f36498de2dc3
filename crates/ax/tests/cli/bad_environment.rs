//! A bad environment: a full disk, a place that can't be written to, a terminal of one column.

use std::{
    io::{BufRead, BufReader},
    process::Command,
};

use crate::user::{User, output_of};

#[test]
fn f10_a_full_disk_is_reported_and_recorded_turns_are_kept() {
    let possible = Command::new("unshare").args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"]).output();
    if !possible.is_ok_and(|it| it.status.success()) {
        eprintln!("SKIPPED: a small disk can't be mounted here");
        return;
    }
    let user = User::new();
    std::fs::create_dir(user.data()).unwrap();
    let line = "mount -t tmpfs -o size=400k tmpfs \"$AX_DATA_DIR\" && exec \"$0\" discuss q -r 10";
    let args = ["-rm", "sh", "-c", line, env!("CARGO_BIN_EXE_ax")];
    let mut child =
        user.program("unshare", &args).env("PATH", "/usr/bin:/bin:/usr/sbin:/sbin").spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
    let full = lines.find(|line| line.contains("no room left"));
    assert!(full.is_some_and(|line| line.contains("quorum.db") && line.contains("free some space")));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert!(lines.all(|line| !line.contains("panicked")));
    output_of(child).ends(130).prints_nothing();
}

#[test]
fn f10_every_verb_names_a_place_that_can_not_be_written_to() {
    let user = User::new();
    let check = |args: &[&str]| {
        let child = user.command(args).env("AX_DATA_DIR", "/dev/null/data").spawn().unwrap();
        output_of(child).ends(3).says(&["/dev/null/data", "AX_DATA_DIR"]).prints_nothing();
    };
    check(&["discuss", "q"]);
    check(&["discuss", "q", "--detach"]);
    check(&["history"]);
    check(&["show", "last"]);
    check(&["demo", "--fast"]);
    let child = user.command(&["config", "path"]).env("AX_DATA_DIR", "/dev/null/data").spawn().unwrap();
    output_of(child).ends(0);
}

#[test]
fn without_a_home_it_says_what_to_set() {
    let user = User::new();
    let mut command = user.command(&["discuss", "q"]);
    // Some systems know a home without the variable; `ax`'s own two variables are still set.
    command.env_remove("HOME");
    output_of(command.spawn().unwrap()).ends(0);
}

#[test]
fn a_terminal_of_one_column_is_no_reason_to_panic() {
    let user = User::new();
    let script = ["/usr/bin/script", "/bin/script"].into_iter().find(|it| std::path::Path::new(it).exists());
    let Some(script) = script else {
        eprintln!("SKIPPED: there is no program `script` to make a terminal with");
        return;
    };
    for verb in [
        "--help",
        "discuss --help",
        "discuss q -p claude,gemini",
        "demo --fast",
        "history",
        "discuss q --dry-run",
    ] {
        let line = format!("stty cols 1 rows 1; {} {verb} < /dev/null", env!("CARGO_BIN_EXE_ax"));
        let mut command = user.program(script, &["-qec", &line, "/dev/null"]);
        command.env("PATH", "/usr/bin:/bin").env("TERM", "xterm").env("SHELL", "/bin/sh");
        let said = output_of(command.spawn().unwrap()).ends(0);
        assert!(!said.out.contains("panicked"), "{verb}: {said:#?}");
    }
}
