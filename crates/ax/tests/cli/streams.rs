//! Output streams: results go to stdout and everything else to stderr, less of it on request; files
//! and pipes as context.

use crate::user::{User, output_of};

#[test]
fn quiet_prints_nothing_on_success() {
    let user = User::new();
    let said = user.ax(&["discuss", "Tabs or spaces?", "--quiet"]).ends(0);
    assert_eq!(said.err, "");
    assert!(!said.out.trim().is_empty());
    for args in [&["show", "last", "-q"][..], &["resume", "last", "-q"], &["replay", "last", "-q", "--fast"]]
    {
        let again = user.ax(args).ends(0);
        assert_eq!((again.out.as_str(), again.err.as_str()), (said.out.as_str(), ""), "{args:?}");
    }
    assert_eq!(user.ax(&["discuss", "q", "-q", "--dry-run"]).ends(0).err, "");
}

#[test]
fn quiet_still_prints_errors() {
    let user = User::new();
    let said = user.ax(&["discuss", "q", "--quiet", "--rounds", "99"]).ends(2);
    assert_eq!(said.err, "error: --rounds: must be from 1 to 10, not 99\n");
    let said = user.ax(&["discuss", "q", "--quiet", "--max-calls", "6"]).ends(5);
    let expected = "The budget of 6 calls is used up: the next step would have \
                    needed up to 4, and 1 was left for it.\n";
    assert_eq!(said.err, expected);
}

#[test]
fn usage_is_a_table_with_a_sum_even_when_quiet() {
    let user = User::new();
    let said = user.ax(&["discuss", "Tabs or spaces?", "-p", "claude,gemini", "--quiet", "--usage"]).ends(0);
    let lines: Vec<Vec<&str>> = said.err.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(lines[0], ["calls", "tokens", "read", "written", "cost"]);
    let names: Vec<&str> = lines[1..].iter().map(|line| line[0]).collect();
    assert_eq!(names, ["claude", "gemini", "all"]);
    let calls: Vec<&str> = lines[1..].iter().map(|line| line[1]).collect();
    assert_eq!(calls, ["3", "2", "5"]);
    assert!(lines[1..].iter().all(|line| line[4] == "$0.0000"), "{lines:?}");
    assert_eq!(user.ax(&["show", "last", "--quiet", "--usage"]).ends(0).err, said.err);
}

#[test]
fn format_is_another_name_for_output_format() {
    let user = User::new();
    let one = user.ax(&["discuss", "Tabs or spaces?", "--format", "json"]).ends(0).json();
    assert_eq!(user.ax(&["show", "last", "--output-format", "json"]).ends(0).json(), one);
}

/// No verb writes anything but its result to stdout: stdout is machine-readable, or empty.
#[test]
fn every_verb_keeps_stdout_for_its_result() {
    let user = User::new();
    let id = user.result(&[])["discussionId"].as_str().unwrap().to_owned();
    for args in [
        &["discuss", "q", "--dry-run", "--json"][..],
        &["discuss", "q", "--json", "--usage"],
        &["show", &id, "--json", "--usage"],
        &["resume", &id, "--json"],
        &["replay", &id, "--json", "--fast"],
        &["history", "--json"],
        &["patterns", "--json"],
        &["sessions", "--json"],
        &["config", "show", "--json"],
    ] {
        user.ax(args).ends(0).json();
    }
    user.ax(&["config", "check"]).ends(0).prints_nothing();
    user.ax(&["pause", &id]).ends(2).prints_nothing();
    user.ax(&["abort", &id]).ends(2).prints_nothing();
}

/// The context of the newest discussion.
fn background(user: &User) -> String {
    let database = rusqlite::Connection::open(user.database()).unwrap();
    let sql = "SELECT body FROM facts WHERE type = 'opened' ORDER BY rowid DESC LIMIT 1";
    let body: String = database.query_row(sql, [], |row| row.get(0)).unwrap();
    let opened: serde_json::Value = serde_json::from_str(&body).unwrap();
    opened["spec"]["background"].as_str().unwrap().to_owned()
}

#[test]
fn files_are_context_under_their_names() {
    let user = User::new();
    user.write("notes.md", "We have 1M users.\n");
    user.write("todo.md", "Ship.\n");
    let args = ["discuss", "q", "-c", "A shop.", "-f", "notes.md", "--file", "todo.md"];
    user.ax_hearing(&args, "And a pipe.").ends(0);
    let kept = background(&user);
    assert_eq!(kept, "A shop.\n\n## notes.md\n\nWe have 1M users.\n\n## todo.md\n\nShip.\n\nAnd a pipe.");
    user.ax_hearing(&["discuss", "q", "-f", "-", "-f", "todo.md"], "Piped first.").ends(0);
    assert_eq!(background(&user), "Piped first.\n\n## todo.md\n\nShip.");
}

#[test]
fn a_file_that_can_not_be_context_is_named() {
    let user = User::new();
    user.write("x.md", &"x".repeat(6_000));
    user.write("y.md", &"y".repeat(6_000));
    std::fs::write(user.home().join("picture.png"), b"\x89PNG\r\n\0\xff").unwrap();
    std::fs::write(user.home().join("nul.txt"), "a\0b").unwrap();
    let large = std::fs::File::create(user.home().join("large.log")).unwrap();
    large.set_len(1 << 30).unwrap();
    let check = |files: &[&str], expected: &str| {
        let args: Vec<&str> =
            ["discuss", "q"].into_iter().chain(files.iter().flat_map(|it| ["-f", it])).collect();
        user.ax(&args).ends(2).says(&[&format!("error: --file {expected}")]).prints_nothing();
    };
    check(&["nothing.md"], "nothing.md: there is no such file");
    check(&["."], ".: is a directory; name the files in it that matter");
    check(&["picture.png"], "picture.png: is not UTF-8 text");
    check(&["nul.txt"], "nul.txt: is not UTF-8 text");
    check(
        &["large.log"],
        "large.log: has 1,073,741,824 bytes; the context may have at most 10,000 characters",
    );
    check(&["/dev/zero"], "/dev/zero: has more than 500,000 bytes");
    check(
        &["x.md", "y.md"],
        "y.md: with it the context has 12,020 characters; at most 10,000 characters are allowed",
    );
    user.ax_hearing(&["discuss", "-", "-f", "-"], "q").ends(2).says(&["standard input is read once"]);
    user.ax_hearing(&["discuss", "q", "-f", "-", "-f", "-"], "x")
        .ends(2)
        .says(&["standard input is read once"]);
}

#[test]
fn a_pipe_that_can_not_be_context_is_named() {
    let user = User::new();
    let check = |input: &str, expected: &str| {
        let said = user.ax_hearing_as_much_as_it_takes(&["discuss", "q"], input);
        said.ends(2).says(&[&format!("error: standard input{expected}")]).prints_nothing();
    };
    check(
        &"x".repeat(10_001),
        ": with it the context has 10,001 characters; at most 10,000 characters are allowed",
    );
    check(&"x".repeat(2_000_000), " has more than 500,000 bytes; give only the part that matters");
}

#[test]
fn stdin_without_input_is_not_waited_for() {
    let user = User::new();
    user.ax(&["discuss", "q", "-q"]).ends(0);
    user.shell("ax discuss q -q <&-").ends(0);
    let said = user.shell("ax discuss q < .").ends(2);
    said.says(&["standard input can't be read"]).prints_nothing();
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let user = User::new();
    user.ax(&["discuss", "q", "-q"]).ends(0);
    for args in [
        &["discuss", "q", "-q"][..],
        &["show", "last", "-q"],
        &["export", "last"],
        &["completions", "zsh"],
        &["man", "discuss"],
        &["discuss", "--help"],
        &["patterns"],
        &["discuss", "q", "--output-format", "jsonl", "-q"],
    ] {
        let mut child = user.command(args).spawn().unwrap();
        drop(child.stdout.take());
        let said = output_of(child).ends(0);
        assert_eq!(said.err, "", "{args:?}");
        let said = user
            .program("sh", &["-c", "exec \"$0\" \"$@\" >&-", env!("CARGO_BIN_EXE_ax")])
            .args(args)
            .spawn();
        output_of(said.unwrap()).ends(0);
    }
}

#[test]
fn an_output_that_can_not_be_written_is_named() {
    if !std::path::Path::new("/dev/full").exists() {
        eprintln!("SKIPPED: this system has no /dev/full");
        return;
    }
    let user = User::new();
    user.shell("ax --help > /dev/full").ends(1).says(&["can't write to standard output: No space left"]);
    user.shell("ax patterns > /dev/full").ends(1).says(&["can't write to standard output: No space left"]);
    let said = user.shell("ax discuss q > /dev/full").ends(1).says(&["can't write to standard output"]);
    assert!(!said.err.contains("panicked"));
    // The discussion itself is recorded.
    assert!(said.err.contains("nothing is lost: `ax resume "), "{said:#?}");
    user.ax(&["show", "last"]).ends(0);
}

#[test]
fn no_escape_goes_into_a_pipe_even_if_colour_is_forced() {
    let user = User::new().with("CLICOLOR_FORCE", "1").with("TERM", "xterm-256color");
    user.ax(&["discuss", "q"]).ends(0);
    for args in
        [&["--help"][..], &["discuss", "--help"], &["show", "last", "-v"], &["history"], &["--version"]]
    {
        let said = user.ax(args).ends(0);
        assert!(!said.out.is_empty() && !said.out.contains('\u{1b}'), "{args:?}: {said:#?}");
    }
}
