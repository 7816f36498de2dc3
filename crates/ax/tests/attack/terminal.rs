//! Terminal injection: answers, errors and lists of models are full of escape sequences,
//! and none of them reaches the terminal by any command (S7).

use quorum_testkit::server::{Fault, server};

use crate::{
    Attack, Effort,
    pty::{Setup, Terminal},
    tally::{Tally, each},
    user::User,
    vendor::{self, WIRES},
};

pub(crate) const ATTACK: Attack = Attack { name: "terminal injection", run };

/// A hundred sequences that move, erase, query, rename, link, copy and reverse, a word before each.
pub(crate) fn hostile() -> Vec<String> {
    let finals = "ABCDEFGHIPSTXZ`abcdefghijklnpqrstux@";
    let moves = finals.chars().map(|it| format!("\u{1b}[3;7{it}"));
    let private = (0..24).map(|it| format!("\u{1b}[?{}h", 1_000 + it));
    let c1 = "ABCDEFGHST".chars().map(|it| format!("\u{9b}2{it}"));
    let strings = [
        "0;evil\u{7}",
        "2;evil\u{1b}\\",
        "4;1;rgb:ff/ff/ff\u{7}",
        "8;;http://evil.test\u{7}",
        "9;evil\u{7}",
        "10;?\u{7}",
        "52;c;ZXZpbA==\u{7}",
        "777;notify;evil\u{7}",
        "1337;File=:ZXZpbA==\u{7}",
        "0;unfinished",
    ];
    let strings = strings.map(|it| format!("\u{1b}]{it}"));
    let others = ["c", "7", "8", "M", "D", "E", "=", ">", "(0", "#8", "P+q544e\u{1b}\\", "_Gevil\u{1b}\\"]
        .map(|it| format!("\u{1b}{it}"));
    let turns =
        ["\u{202a}", "\u{202b}", "\u{202d}", "\u{202e}", "\u{2066}", "\u{2067}", "\u{8}\u{8}", "\u{61c}"]
            .map(str::to_owned);
    let all: Vec<String> = moves.chain(private).chain(c1).chain(strings).chain(others).chain(turns).collect();
    assert_eq!(all.len(), 100);
    all.into_iter().enumerate().map(|(at, sequence)| format!("w{at}{sequence}")).collect()
}

/// The commands that show text of models, after a discussion, a vote and a run were held.
const COMMANDS: &[&[&str]] = &[
    &["discuss", "Tabs or spaces?", "-v"],
    &["discuss", "Tabs or spaces?", "--output-format", "md"],
    &["discuss", "Tabs or spaces?", "--output-format", "jsonl"],
    &["discuss", "Tabs or spaces?", "--json"],
    &["discuss", "Tabs or spaces?", "--pattern", "debate"],
    &["discuss", "Tabs or spaces?", "--pattern", "critique", "--sources"],
    &["discuss", "Tabs or spaces?", "--recall", "--usage"],
    &["follow", "last", "Why?"],
    &["run", "flow.yaml", "--input", "tabs"],
    &["show", "last", "-v"],
    &["discuss", "Tabs or spaces?", "--pattern", "settle", "-o", "tabs", "-o", "spaces"],
    &["show", "last~1"],
    &["export", "last"],
    &["export", "last", "--format", "html"],
    &["export", "last", "--format", "json"],
    &["replay", "last", "--speed", "1000"],
    &["watch", "last"],
    &["history"],
    &["history", "tabs"],
    &["models"],
    &["doctor"],
    &["calibration"],
];

const FLOW: &str = "workflowId: flow\nversion: 1.0.0\nsteps:\n  - { stepId: ask, type: prompt, config: { prompt: 'Why {{input}}?' } }\n  \
                    - { stepId: use, type: prompt, config: { prompt: 'Shorten: {{steps.ask.output}}' } }\n";

fn run(effort: Effort) -> Tally {
    let tally = Tally::default();
    let wires = if effort == Effort::Short { &WIRES[..1] } else { &WIRES[..] };
    each(wires, |wire| by_speech(&tally, *wire, effort));
    each(wires, |wire| by_errors(&tally, *wire));
    tally
}

/// Sends the hostile sequences in speeches, in thoughts and in structured replies.
fn by_speech(tally: &Tally, wire: (&str, &str), effort: Effort) {
    let text = hostile().join(" ");
    let script = server().says("*", &text).thinks("*", &text);
    let script = if wire.0 == "ollama" { script.fault("mal-1", Fault::Hostile) } else { script };
    let vendor = script.on_thread();
    let url = vendor.url();
    let user = vendor::user(&[("ann", &url), ("bob", &url), ("mal", &url)], wire);
    user.write("flow.yaml", FLOW);
    user.ax(&["discuss", &format!("Tabs {text}?")]);
    let every = if effort == Effort::Short { 2 } else { 1 };
    for command in COMMANDS.iter().step_by(every) {
        shown(tally, &user, command, wire.0);
    }
}

/// Sends the hostile sequences in error responses with several statuses.
fn by_errors(tally: &Tally, wire: (&str, &str)) {
    for status in [400, 401, 404, 429, 500] {
        let good = server().on_thread();
        let bad = raw_error(status, &hostile().join(" "));
        let user = vendor::user(&[("ann", &good.url()), ("bob", &good.url()), ("mal", &bad)], wire);
        for command in [&["discuss", "Tabs or spaces?", "-v"][..], &["show", "last", "-v"], &["doctor"]] {
            shown(tally, &user, command, wire.0);
        }
    }
}

/// A server that answers everything with this error.
fn raw_error(status: u16, text: &str) -> String {
    use std::io::{Read, Write};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let body =
        serde_json::json!({ "error": { "message": text, "type": text, "code": text, "status": text } })
            .to_string();
    let answer = format!(
        "HTTP/1.1 {status} Evil\r\nContent-Type: application/json\r\nRetry-After: 0\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let mut bytes = [0; 1 << 16];
            let _ = stream.read(&mut bytes);
            let _ = stream.write_all(answer.as_bytes());
        }
    });
    url
}

/// Runs a command in a terminal without colours, and looks for sequences that aren't ours.
fn shown(tally: &Tally, user: &User, command: &[&str], wire: &str) {
    let (config, data, home) = (user.config(), user.data(), user.home());
    let [config, data, home] = [config.as_path(), data.as_path(), home].map(|it| it.to_str().unwrap());
    let keys = ["ann", "bob", "mal"].map(|it| (format!("{}_KEY", it.to_uppercase()), vendor::key(it)));
    let mut env = vec![
        ("NO_COLOR", "1"),
        ("AX_CONFIG", config),
        ("AX_DATA_DIR", data),
        ("HOME", home),
        ("OLLAMA_HOST", ""),
    ];
    env.extend(keys.iter().map(|(name, key)| (name.as_str(), key.as_str())));
    let flow = format!("{home}/flow.yaml");
    let args: Vec<&str> =
        command.iter().map(|it| if *it == "flow.yaml" { flow.as_str() } else { it }).collect();
    let mut terminal = Terminal::run(&args, &Setup { columns: 100, env: &env, ..Setup::default() });
    let code = terminal.waited().code();
    assert!(
        matches!(code, Some(0 | 1 | 4)),
        "ax {} ended with {code:?}: {}",
        command.join(" "),
        terminal.contents()
    );
    let raw = String::from_utf8_lossy(&terminal.raw).into_owned();
    let found = foreign(&raw);
    tally.count_all(hostile().len(), found.is_none(), || {
        format!("ax {} on {wire}: {found:?}", command.join(" "))
    });
}

/// The sequences that the screen itself uses, without colours.
const OURS: [&str; 8] = ["[?2026h", "[?2026l", "[?7h", "[?7l", "[?25h", "[?25l", "[J", "[K"];

/// The first thing on a terminal that isn't ours.
fn foreign(raw: &str) -> Option<String> {
    let start = |text: &str| text.chars().take(30).collect::<String>();
    for rest in raw.split('\u{1b}').skip(1) {
        let moves = rest.strip_prefix('[').map(|it| it.trim_start_matches(|it: char| it.is_ascii_digit()));
        let is_ours =
            OURS.iter().any(|it| rest.starts_with(it)) || moves.is_some_and(|it| it.starts_with(['A', 'C']));
        if !is_ours {
            return Some(start(rest));
        }
    }
    let turns = |it: char| matches!(it, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    let controls = |it: char| it.is_control() && !matches!(it, '\n' | '\r' | '\u{1b}' | '\t');
    let at = raw.find(|it: char| turns(it) || controls(it))?;
    Some(format!("{:?}", start(&raw[at..])))
}
