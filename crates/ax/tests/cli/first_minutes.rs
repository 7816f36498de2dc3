//! Records the first minutes of a user with no key, one key and three keys, and compares them with
//! `docs/first-minutes.md`. `QUORUM_BLESS=1` writes the page.

use std::{fs, path::Path};

use quorum_testkit::server::{Asked, Server, server};

use crate::user::{Said, User};

const QUESTION: &str = "Should we move billing to event sourcing?";

/// What each model says, written for this page.
const LINES: [(&str, &str); 6] = [
    (
        "gpt-5.6-terra",
        "Not for all of billing. Keep an append-only ledger for money that moves, because auditors and \
         refunds need it, and leave prices and customers as rows. Two models are cheaper to run than one \
         that fits neither.",
    ),
    (
        "gpt-5.6-luna",
        "Only if you need to answer what was known on a given day. If the reports are monthly and the \
         corrections are few, a table of changes gives the same answer with less to learn.",
    ),
    (
        "gpt-4.1",
        "Begin with an append-only ledger for invoices and payments. It is the part that event sourcing \
         is good at, and it can be tried in one sprint without moving anything else.",
    ),
    (
        "claude-sonnet-5-5",
        "Move the ledger and nothing else. The cost of event sourcing is in the projections that you \
         rebuild after every mistake, so give it to the one place where history is the product.",
    ),
    (
        "gemini-3.8-flash",
        "Not yet. Write down the three questions about the past that today's tables can't answer. If \
         there are none, an audit table is enough; if there are, a ledger for payments answers them.",
    ),
    ("claude-haiku-4-5", "An append-only ledger for payments, and rows for the rest."),
];

/// The synthesis, whoever writes it.
const ANSWER: &str = "No. Keep an append-only ledger for payments, and leave prices and customers as rows.\n\nWrite \
                      down first which questions about the past today's tables can't answer. If there are none, \
                      an audit table is enough.";

const STRUCTURE: &str =
    r#"{"claims":[],"agreements":["A ledger for payments is the part that is worth it"],"dissent":[]}"#;

/// A session: its title, what is set, and what is typed.
struct Session {
    title: &'static str,
    about: &'static str,
    keys: &'static [(&'static str, &'static str, &'static str)],
    commands: &'static [&'static str],
}

const OPENAI: (&str, &str, &str) = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1");
const ANTHROPIC: (&str, &str, &str) = ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", "");
const GOOGLE: (&str, &str, &str) = ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", "");

const SESSIONS: [Session; 3] = [
    Session {
        title: "No key",
        about: "Nothing is set. A question is refused before anything is asked, the doctor says what is \
                missing, and the demo needs nothing.",
        keys: &[],
        commands: &[
            "ax \"Should we move billing to event sourcing?\"",
            "ax doctor",
            "ax demo --fast",
            "ax \"Should we move billing to event sourcing?\" --offline --quiet",
        ],
    },
    Session {
        title: "One key",
        about: "`OPENAI_API_KEY` is set. Models of one vendor discuss.",
        keys: &[OPENAI],
        commands: &[
            "ax \"Should we move billing to event sourcing?\" --dry-run",
            "ax \"Should we move billing to event sourcing?\"",
            "ax history",
        ],
    },
    Session {
        title: "Three keys",
        about: "`ANTHROPIC_API_KEY`, `OPENAI_API_KEY` and `GOOGLE_API_KEY` are set. Without `--providers`, \
                the available providers of the default panel take part.",
        keys: &[ANTHROPIC, OPENAI, GOOGLE],
        commands: &[
            "ax doctor",
            "ax \"Should we move billing to event sourcing?\" --dry-run",
            "ax \"Should we move billing to event sourcing?\" --providers claude,openai,gemini",
            "ax show last --sources",
        ],
    },
];

const HEAD: &str = "# The first minutes

What a new user sees, recorded by a test: the commands are typed in an empty home folder, and this
page is compared with what they print. Vendors are servers on the loopback interface that speak the
vendors' formats, with answers written for this page. Ids, times and durations are replaced.

";

fn vendors() -> Server {
    let said = |text: &'static str| move |asked: &Asked| synthesis(asked).unwrap_or_else(|| text.to_owned());
    LINES.iter().fold(server(), |server, (model, text)| server.replies(model, said(text))).on_thread()
}

/// The synthesis, if it is asked for: the text, the mark that the prompt names, and what they agree
/// on.
fn synthesis(asked: &Asked) -> Option<String> {
    let mark = asked.last().split('`').find(|it| it.starts_with("[STRUCTURE_"))?;
    Some(format!("{ANSWER}\n\n{mark}\n{STRUCTURE}"))
}

fn user(session: &Session, vendor: &Server) -> User {
    let user = User::new();
    user.configure("");
    session.keys.iter().fold(user, |user, (key, address, path)| {
        user.with(key, "a-key-for-this-page").with(address, &format!("{}{path}", vendor.url()))
    })
}

/// The text of a command: standard error, then standard output.
fn told(user: &User, vendor: &Server, said: &Said) -> String {
    let text = format!("{}{}{}", in_order(&said.err), if said.err.is_empty() { "" } else { "\n" }, said.out);
    let text =
        text.replace(user.home().to_str().unwrap(), "~").replace(&vendor.url(), "https://vendor.example");
    let lines = text.lines().filter(|it| !is_of_machine(it));
    lines.map(|line| steady(line).trim_end().to_owned() + "\n").collect::<String>().trim_end().to_owned()
}

/// The lines with the answers to calls that ran at the same time in a fixed order.
fn in_order(text: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    let mut from = 0;
    while from < lines.len() {
        let length = lines[from..].iter().take_while(|it| it.contains(" answered in ")).count();
        lines[from..from + length].sort_unstable();
        from += length.max(1);
    }
    lines.join("\n")
}

/// Whether a line depends on this machine: another program may have the port.
fn is_of_machine(line: &str) -> bool {
    line.split_whitespace().nth(1) == Some("port")
}

/// The line with a fixed id, time and duration in place of its own.
fn steady(line: &str) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_owned).collect();
    for at in 0..words.len() {
        let word = words[at].clone();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let is_id = word.len() >= 36 && word.matches('-').count() == 4 && word.starts_with("01");
        let is_date = word.len() == 10 && word.matches('-').count() == 2 && digits == 8;
        let is_time = word.len() == 5 && word.as_bytes()[2] == b':' && digits == 4;
        let before_unit =
            words.get(at + 1).is_some_and(|it| it.trim_end_matches([',', ':', '.', ';']) == "s");
        if is_id {
            words[at] = word.replacen(&word[..36], "01a1ed38-0000-7000-8000-000000000001", 1);
        } else if is_date {
            words[at] = "2026-11-18".to_owned();
        } else if is_time {
            words[at] = "09:00".to_owned();
        } else if before_unit && word.parse::<f64>().is_ok() {
            words[at] = "0.1".to_owned();
        }
    }
    words.join(" ")
}

fn recorded() -> String {
    let vendor = vendors();
    let mut page = HEAD.to_owned();
    for session in &SESSIONS {
        let user = user(session, &vendor);
        page.push_str(&format!("## {}\n\n{}\n", session.title, wrapped(session.about)));
        for command in session.commands {
            let said = user.shell(command);
            let code = if said.code == 0 { String::new() } else { format!("\n(exit code {})", said.code) };
            page.push_str(&format!("\n```text\n$ {command}\n{}{code}\n```\n", told(&user, &vendor, &said)));
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

/// Prose at no more than 100 columns.
fn wrapped(text: &str) -> String {
    let (mut lines, mut line) = (Vec::new(), String::new());
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > 100 {
            lines.push(std::mem::take(&mut line));
        }
        line.push_str(if line.is_empty() { "" } else { " " });
        line.push_str(word);
    }
    lines.push(line);
    lines.join("\n")
}

#[test]
fn the_first_minutes_are_as_the_page_shows_them() {
    assert!(SESSIONS.iter().all(|it| it.commands.iter().any(|command| command.contains(QUESTION))));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/first-minutes.md");
    let page = recorded();
    if std::env::var_os("QUORUM_BLESS").is_some() {
        fs::write(file, page).unwrap();
        return;
    }
    let kept = fs::read_to_string(file).unwrap();
    assert!(kept == page, "run this test with QUORUM_BLESS=1 to write the page; it would be:\n{page}");
}
