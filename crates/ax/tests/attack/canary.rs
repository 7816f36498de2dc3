//! Canary secrets: database passwords, server tokens and API keys in correct and in malformed
//! configurations and requests. Nothing printed, logged or stored contains them (S1).

use std::fs;

use crate::{
    Attack, Effort,
    provider::{files, finds},
    served::Served,
    tally::{Tally, each},
    user::{Said, User},
    vendor::key,
};

pub(crate) const ATTACK: Attack = Attack { name: "canary keys", run };

/// Configurations with a secret in `§`, right and wrong.
const CONFIGURATIONS: &[&str] = &[
    "[store]\nurl = 'postgres://quorum:§@127.0.0.1:9/quorum'",
    "[store]\nurl = 'postgres://quorum:§@127.0.0.1:9/quorum?sslmode=nonsense'",
    "[store]\nurl = 'postgres://quorum:§@127.0.0.1:port/quorum'",
    "[store]\nurl = 'postgres://quorum:§@[::1/quorum'",
    "[store]\nurl = 'postgres://quorum:§@nobody.invalid/quorum'",
    "[store]\nurl = 'postgres://:§@127.0.0.1:9/quorum'",
    "[store]\nurl = 'postgres://127.0.0.1:9/quorum?user=quorum&password=§'",
    "[store]\nurl = 'postgress://quorum:§@127.0.0.1:9/quorum'",
    "[store]\nurl = 'mysql://quorum:§@127.0.0.1:9/quorum'",
    "[store]\nurl = 'quorum:§@127.0.0.1:9/quorum'",
    "[store]\nurl = 'host=127.0.0.1 port=9 user=quorum password=§'",
    "[store]\nurl = 'host=127.0.0.1 port=nine password=§'",
    "[store]\nurl = 'postgres://quorum:§%zz@127.0.0.1:9/quorum'",
    "[store]\nurl = 'postgres://quorum:§@127.0.0.1:9/quorum",
    "[store]\nurl = [ 'postgres://quorum:§@127.0.0.1:9/quorum' ]",
    "[store]\nurll = 'postgres://quorum:§@127.0.0.1:9/quorum'",
    "[store]\npostgres = 'postgres://quorum:§@127.0.0.1:9/quorum'",
    "[stores]\nurl = 'postgres://quorum:§@127.0.0.1:9/quorum'",
    "[server]\ntokens = [{ name = 'a', tenant = 'a', token = '§' }]\nlisten = 'nowhere'",
    "[server]\ntokens = [{ name = 'a', tenant = 'a', token = '§', day = 'x' }]",
    "[server]\ntokens = [{ name = 'a', tenant = 'a', tokens = '§' }]",
    "[server]\ntokens = [{ name = 'a', tenant = 'a', token = '§' }, { name = 'b', tenant = 'b', token = '§' }]",
    "[server]\ntokens = [{ name = 'a', tenant = '../x', token = '§' }]",
    "[server]\ntokens = ['§']",
    "[server]\ntokens = '§'",
    "[server]\ntoken = '§'",
    "[server]\ntokens = [{ name = 'a', tenant = 'a', token = '§ }]",
    "[server]\ntokens = [{ name = 'a' tenant = 'a', token = '§' }]",
    "[providers.openai]\nkey = '§'",
    "[providers.openai]\napi_key = '§'",
    "[providers.openai]\nkey_env = '§'",
    "[providers.openai]\nbase_url = 'https://u:§@127.0.0.1:9/v1'",
    "[providers.openai]\nbase_url = 'https://127.0.0.1:9/v1?key=§'",
    "[providers.openai]\nbase_url = 'http://u:§@169.254.169.254/v1'",
    "[providers.openai]\nbase_url = 'https://u:§@127.0.0.1:port/v1'",
];

/// Commands that read all of a configuration, each in its own way.
const COMMANDS: &[&[&str]] = &[
    &["discuss", "Tabs?", "-r", "1", "-v"],
    &["history"],
    &["models"],
    &["doctor"],
    &["config"],
    &["serve", "--port", "0"],
];

fn run(effort: Effort) -> Tally {
    let tally = Tally::default();
    let commands = if effort == Effort::Short { &COMMANDS[..2] } else { COMMANDS };
    let cases: Vec<(&str, &[&str])> =
        CONFIGURATIONS.iter().flat_map(|it| commands.iter().map(move |command| (*it, *command))).collect();
    each(&cases, |(configuration, command)| misread(&tally, configuration, command));
    asked(&tally);
    tally
}

/// Runs a command with a secret in its configuration and in its environment.
fn misread(tally: &Tally, configuration: &str, command: &[&str]) {
    let (secret, other) = (key(configuration), key("environment"));
    let user = User::new().with("AX_LOG", "json").with("OPENAI_API_KEY", &other);
    user.configure(&configuration.replace('§', &secret));
    let said = if command[0] == "serve" { started(&user, command) } else { user.ax(command) };
    fs::remove_file(user.config()).unwrap();
    let shown = format!("{}{}", said.out, said.err);
    let written: Vec<u8> = files(user.home()).into_iter().flat_map(|it| it.1).collect();
    let secrets = [secret, other];
    let is_safe = !finds(shown.as_bytes(), &secrets) && !finds(&written, &secrets);
    tally.count(is_safe, || format!("ax {} with {configuration:?}: {said:#?}", command.join(" ")));
}

/// What a server says until it serves or gives up.
fn started(user: &User, command: &[&str]) -> Said {
    let line = format!("timeout -s KILL 3 ax {}", command.join(" "));
    user.shell(&line)
}

/// Sends a server its token and other secrets in every place that may be repeated or logged.
fn asked(tally: &Tally) {
    let (token, stray) = (key("token"), key("stray"));
    let user = User::new().with("AX_LOG", "json");
    user.configure(&format!(
        "[defaults]\nsimulate = 'latency=0ms'\n[server]\ntokens = [{{ name = 'a', tenant = 'a', token = '{token}' }}]\n"
    ));
    let server = Served::start(&user, &["--offline"]);
    let authorized = format!("Authorization: Bearer {token}\r\n");
    let wrong = format!("Authorization: Bearer {stray}\r\n");
    let typed = "Content-Type: application/json\r\n";
    let requests = [
        (format!("GET /api/discussions?token={stray}"), authorized.clone(), String::new()),
        ("GET /api/discussions".to_owned(), wrong.clone(), String::new()),
        ("GET /nothing".to_owned(), wrong, String::new()),
        (format!("GET /{stray}"), authorized.clone(), String::new()),
        (
            "GET /api/discussions".to_owned(),
            format!("{authorized}Cookie: session={stray}\r\n"),
            String::new(),
        ),
        ("GET /api/discussions".to_owned(), format!("{authorized}X-Api-Key: {stray}\r\n"), String::new()),
        ("POST /api/discussions".to_owned(), format!("{authorized}{typed}"), "{".to_owned()),
        ("POST /v1/chat/completions".to_owned(), format!("{authorized}{typed}"), "{}".to_owned()),
        ("POST /mcp".to_owned(), format!("{authorized}{typed}"), "{}".to_owned()),
        ("GET /metrics".to_owned(), authorized.clone(), String::new()),
        ("GET /api/audit".to_owned(), authorized, String::new()),
    ];
    for (head, headers, body) in requests {
        let answer = server.ask(&head, &headers, &body);
        tally.count(!finds(answer.text().as_bytes(), std::slice::from_ref(&token)), || {
            format!("{head}: {answer:?}")
        });
    }
    let kept: Vec<u8> = files(&user.data()).into_iter().flat_map(|it| it.1).collect();
    let secrets = [token, stray];
    tally.count(!finds(&kept, &secrets), || "a token in the data folder".to_owned());
    tally.count(!finds(server.written().as_bytes(), &secrets), || "a token in the log".to_owned());
}
