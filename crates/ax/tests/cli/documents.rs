//! Runs every command of every document, and checks the commands that prose mentions.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use crate::{
    examples::{link_examples, user},
    serve::serve,
    user::User,
};

/// The mark of commands that can't run here, and how many commands may have it. A command is marked
/// in the document itself, with `# needs …`.
const MARK: &str = "# needs ";
const MOST_MARKED: usize = 8;

/// Commands that install or fetch, which a test must not do.
const INSTALLS: &[&str] =
    &["cargo install --path crates/ax", "git clone ", "export ", "sudo dpkg -i ", "tar ", "sha256sum "];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Every Markdown document for readers. Examples of agents are data, and the README has a test of
/// its own.
fn documents() -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root().join("docs"), root().join("examples"), root().join("deploy")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
            let (path, is_folder) = (entry.path(), entry.file_type().unwrap().is_dir());
            let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
            if is_folder {
                folders.push(path);
            } else if name.ends_with(".md") && !name.starts_with("examples/agents/") {
                found.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    for name in ["CONTRIBUTING.md", "ARCHITECTURE.md"] {
        found.push((name.to_owned(), fs::read_to_string(root().join(name)).unwrap()));
    }
    found.sort();
    found
}

/// The blocks of commands of a document, also those inside lists.
fn blocks(text: &str) -> Vec<Vec<String>> {
    let (mut found, mut open): (Vec<Vec<String>>, Option<(bool, String)>) = (Vec::new(), None);
    for line in text.lines().map(str::trim_start) {
        open = match (line.strip_prefix("```"), open) {
            (Some(kind), None) => {
                Some((["console", "sh", "bash", "shell"].contains(&kind.trim()), String::new()))
            }
            (Some(_), Some((are_commands, body))) => {
                found.extend(are_commands.then(|| commands(&body)));
                None
            }
            (None, Some((are_commands, body))) => Some((are_commands, body + line + "\n")),
            (None, None) => None,
        };
    }
    found
}

/// The commands of a block. A quote or a backslash may continue one on the next line.
fn commands(block: &str) -> Vec<String> {
    let (mut all, mut open) = (Vec::new(), String::new());
    for line in block.lines().map(|it| it.strip_prefix("$ ").unwrap_or(it)) {
        open = if open.is_empty() { line.to_owned() } else { format!("{open}\n{line}") };
        let is_open = open.matches('\'').count() % 2 == 1 || open.ends_with('\\');
        if !is_open {
            all.push(std::mem::take(&mut open));
        }
    }
    all.retain(|it| !it.trim().is_empty() && !it.starts_with('#'));
    all
}

/// Runs the commands of a block one after the other, in one environment with what they refer to.
fn run_block(name: &str, commands: &[String]) -> usize {
    let user = user();
    link_examples(&user);
    let mentions = |words: &[&str]| words.iter().any(|word| commands.iter().any(|it| it.contains(word)));
    let run = if mentions(&[" RUN ", "review.yaml"]) { past_run(&user) } else { String::new() };
    let mut past = "0".repeat(36);
    if mentions(&["last", "01a1e7e1", "ax follow", "/ID", "--recall"]) {
        for _ in 0..2 {
            user.ax(&["discuss", "Events for billing?", "-p", "claude,gemini", "--offline"]).ends(0);
        }
        past = newest(&user);
    }
    let server = commands.iter().any(|it| it.starts_with("curl ")).then(|| serve(&user));
    let mut marked = 0;
    for command in commands {
        if command.contains(MARK) || INSTALLS.iter().any(|it| command.starts_with(it)) {
            marked += 1;
            continue;
        }
        if let Some(verb) = command.strip_prefix("cargo xtask ") {
            has_verb(name, verb);
            continue;
        }
        let line = command.replace("01a1e7e1", &past[..13]).replace(" RUN ", &format!(" {run} "));
        let line = line.replace("cargo run -- ", "ax ");
        match &server {
            _ if line.starts_with("ax serve") => assert!(server.is_some(), "{name}: {command}"),
            Some((_, address)) => run_line(&user, name, &at_server(&line, address, &past)),
            None => run_line(&user, name, &line),
        }
    }
    if let Some((server, _)) = server {
        server.signal("-TERM");
        server.end();
    }
    marked
}

fn newest(user: &User) -> String {
    user.ax(&["history", "--json"]).ends(0).json()[0]["discussionId"].as_str().unwrap().to_owned()
}

/// The id of a run of the workflow that the documents show, before a change to it.
fn past_run(user: &User) -> String {
    let page = fs::read_to_string(root().join("docs/workflows.md")).unwrap();
    let review = page.split("```yaml\n").nth(1).unwrap().split("```").next().unwrap();
    user.write("review.yaml", review);
    user.write("before.yaml", &review.replace("Is this sound?", "What do you think?"));
    user.shell("ax run before.yaml --input '{\"text\": \"a new cache\"}' --offline").ends(0);
    newest(user)
}

fn at_server(line: &str, address: &str, past: &str) -> String {
    let line = line.replace("localhost:3000", address).replace("/ID", &format!("/{past}"));
    line.replace("curl ", "curl --silent --show-error --fail-with-body ")
}

fn run_line(user: &User, name: &str, line: &str) {
    let said = user.shell(line);
    assert_eq!(said.code, 0, "{name}: {line}: {said:#?}");
    assert!(!said.err.contains("error:") && !said.err.contains("panicked"), "{name}: {line}: {said:#?}");
}

/// The verbs of `cargo xtask`, by the name that each declares.
fn has_verb(document: &str, used: &str) {
    let used = used.split_whitespace().next().unwrap();
    let mut folders = vec![root().join("xtask/src")];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if fs::read_to_string(path).unwrap().contains(&format!("name: \"{used}\"")) {
                return;
            }
        }
    }
    panic!("{document}: there is no `cargo xtask {used}`");
}

#[test]
fn every_command_in_every_document_runs() {
    let mut marked = 0;
    let mut seen = 0;
    for (name, text) in documents() {
        for block in blocks(&text) {
            seen += block.len();
            marked += run_block(&name, &block);
        }
    }
    assert!(seen > 30, "only {seen} commands were found");
    assert!(marked <= MOST_MARKED, "{marked} commands are marked as unable to run");
}

/// The commands in prose: `ax verb --flag`.
fn mentioned(text: &str) -> BTreeSet<String> {
    let prose: String = text.split("\n```").step_by(2).collect();
    let spans =
        prose.split('`').skip(1).step_by(2).map(|it| it.split_whitespace().collect::<Vec<_>>().join(" "));
    spans.filter(|it| it.starts_with("ax ") || it.starts_with("cargo xtask ")).collect()
}

#[test]
fn every_command_that_prose_mentions_exists() {
    let user = User::new();
    let mut all = documents();
    all.push(("README.md".to_owned(), fs::read_to_string(root().join("README.md")).unwrap()));
    let mut helps = std::collections::BTreeMap::new();
    for (name, text) in all {
        for span in mentioned(&text) {
            if let Some(verb) = span.strip_prefix("cargo xtask ") {
                has_verb(&name, verb);
                continue;
            }
            let words: Vec<&str> = span.split(' ').skip(1).collect();
            let is_verb = words[0].chars().all(|it| it.is_ascii_lowercase() || it == '-');
            let verb = if is_verb && !words[0].starts_with('-') { words[0] } else { "discuss" };
            let help = helps.entry(verb.to_owned()).or_insert_with(|| {
                let said = user.ax(&["help", verb]);
                let parts = user.ax(&["man", verb]).out.replace("\\-", "-");
                assert_eq!(said.code, 0, "{name}: `{span}`: there is no verb {verb}");
                said.out + &parts
            });
            for flag in words.iter().filter(|it| it.starts_with("--")) {
                let flag = flag.split('=').next().unwrap().trim_end_matches(['.', ',', ';']);
                assert!(
                    flag == "--" || flags_of(&user, help, &words).contains(flag),
                    "{name}: `{span}`: no {flag}"
                );
            }
        }
    }
}

/// Flags without which a verb is refused are part of every command in prose that says what it acts
/// on.
#[test]
fn the_guide_forked_without_naming_a_step() {
    let user = User::new();
    let mut usages = std::collections::BTreeMap::new();
    for (name, text) in documents() {
        for span in mentioned(&text).into_iter().filter(|it| it.starts_with("ax ")) {
            let words: Vec<&str> = span.split(' ').skip(1).collect();
            let usage = usages.entry(words[0].to_owned()).or_insert_with(|| {
                let help = user.ax(&["help", words[0]]).out;
                help.lines().find(|it| it.starts_with("Usage:")).unwrap_or_default().to_owned()
            });
            let is_whole = words.iter().skip(1).any(|it| !it.starts_with('-'));
            for needed in usage.split(' ').filter(|it| is_whole && it.starts_with("--")) {
                assert!(words.contains(&needed), "{name}: `{span}` needs {needed}");
            }
        }
    }
    assert!(usages["fork"].contains(" --at "), "{}", usages["fork"]);
}

/// The help of a verb, and of its part if the words name one.
fn flags_of(user: &User, help: &str, words: &[&str]) -> String {
    let part = words.get(1).filter(|it| it.chars().all(|c| c.is_ascii_lowercase() || c == '-'));
    let own = part.map(|part| user.ax(&["help", words[0], part])).filter(|it| it.code == 0);
    format!("{help}{}{}", own.map(|it| it.out).unwrap_or_default(), user.ax(&["help"]).out)
}

/// The pages that the documentation must have.
#[test]
fn there_is_a_page_for_every_topic() {
    for page in [
        "guide",
        "providers",
        "server",
        "api",
        "mcp",
        "panel-as-a-model",
        "workflows",
        "agents",
        "library",
        "operations",
        "evidence",
        "faq",
        "comparison",
        "first-minutes",
        "promises",
    ] {
        let text = fs::read_to_string(root().join(format!("docs/{page}.md"))).unwrap_or_default();
        assert!(text.lines().count() > 20, "docs/{page}.md is missing or empty");
        let readme = fs::read_to_string(root().join("README.md")).unwrap();
        assert!(readme.contains(&format!("docs/{page}.md")), "the README has no link to {page}");
    }
}

/// The text of every Rust file in a folder and below it.
fn sources(folder: &Path, text: &mut String) {
    for path in fs::read_dir(folder).unwrap().map(|it| it.unwrap().path()) {
        if path.is_dir() && !path.ends_with("target") {
            sources(&path, text);
        } else if path.extension().is_some_and(|it| it == "rs") {
            text.push_str(&fs::read_to_string(path).unwrap());
        }
    }
}

#[test]
fn everything_that_the_table_of_promises_names_exists() {
    let page = fs::read_to_string(root().join("docs/promises.md")).unwrap();
    let mut code = String::new();
    ["crates", "xtask"].iter().for_each(|it| sources(&root().join(it), &mut code));
    let is_row = |it: &&str| it.starts_with("| ") && !it.contains("| checked by");
    let rows: Vec<&str> = page.lines().filter(is_row).collect();
    assert!(rows.len() > 30, "only {} rows were found", rows.len());
    for row in rows {
        let held_by = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let named: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "nothing holds it: {row}");
        for it in named {
            if let Some(verb) = it.strip_prefix("cargo xtask ") {
                has_verb("docs/promises.md", verb);
            } else if it.contains('/') {
                assert!(root().join(it).is_file(), "there is no {it}");
            } else {
                assert!(is_test(&code, it), "there is no test {it}");
            }
        }
    }
}

/// Whether a function of this name follows the attribute of a test, at any depth.
fn is_test(code: &str, name: &str) -> bool {
    let before = |at: usize| code[..at].lines().rev().take(3).any(|it| it.trim_start().starts_with("#["));
    code.match_indices(&format!("fn {name}()")).any(|(at, _)| before(at))
}
