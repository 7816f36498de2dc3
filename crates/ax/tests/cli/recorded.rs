//! `cargo xtask live` against servers that speak the vendors' formats: what is recorded, what is
//! removed, what is skipped, and that the recordings can be replayed without a key.

use std::{collections::BTreeMap, fs, path::Path};

use quorum_testkit::server::{Server, server};

use crate::user::{Said, User, output_of};

const KEY: &str = "sk-live-0123456789abcdef";

/// The vendors that have a key here: the variables of their keys and addresses.
const VENDORS: [(&str, &str, &str); 3] = [
    ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", ""),
    ("OPENAI_API_KEY", "OPENAI_BASE_URL", "/v1"),
    ("GOOGLE_API_KEY", "GOOGLE_GEMINI_BASE_URL", ""),
];

/// The providers of these vendors, and the wire of each.
const RECORDED: [&str; 4] =
    ["claude-anthropic.json", "codex-openai-responses.json", "gemini-gemini.json", "openai-openai-chat.json"];

fn live(user: &User, vendor: Option<&Server>, more: &[&str]) -> Said {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/live.py");
    let folder = user.home().join("recorded");
    let places =
        [script.to_str().unwrap(), "--ax", env!("CARGO_BIN_EXE_ax"), "--folder", folder.to_str().unwrap()];
    let mut command = user.program("python3", &[&places[..], more].concat());
    command.env("PATH", std::env::var("PATH").unwrap());
    for (key, address, path) in VENDORS.iter().filter(|_| vendor.is_some()) {
        command.env(key, KEY).env(address, format!("{}{path}", vendor.unwrap().url()));
    }
    output_of(command.spawn().unwrap())
}

/// The results of a table, by provider.
fn results(said: &Said) -> BTreeMap<String, (String, String)> {
    let rows = said.out.lines().skip(2).map(|line| line.split('|').map(str::trim).collect::<Vec<_>>());
    rows.map(|row| (row[1].to_owned(), (row[3].to_owned(), row[4].to_owned()))).collect()
}

#[test]
fn one_discussion_per_vendor_is_recorded_without_secrets_and_replayed_without_a_key() {
    let leak = format!("The prime is 7. Request req_0123456789 of org-abcdefgh12 with {KEY}.");
    let vendor = ["claude-haiku-4-5", "gpt-5-mini", "gpt-5.3-codex", "gemini-2.5-flash"]
        .into_iter()
        .fold(server(), |server, model| server.says(model, &leak))
        .on_thread();
    let user = User::new();
    let said = live(&user, Some(&vendor), &[]).ends(0);
    let told = results(&said);
    for name in ["claude", "gemini", "openai", "codex"] {
        assert_eq!(told[name].0, "answered", "{said:#?}");
    }
    let skipped = ("skipped".to_owned(), "no key in MISTRAL_API_KEY".to_owned());
    assert_eq!((&told["mistral"], &told["ollama"].0), (&skipped, &"skipped".to_owned()), "{said:#?}");

    let folder = user.home().join("recorded");
    let mut files: Vec<String> =
        fs::read_dir(&folder).unwrap().map(|it| it.unwrap().file_name().into_string().unwrap()).collect();
    files.sort();
    assert_eq!(files, RECORDED);
    for file in files {
        let text = fs::read_to_string(folder.join(&file)).unwrap();
        for secret in [KEY, "req_0123456789", "org-abcdefgh12"] {
            assert!(!text.contains(secret), "{file} has {secret}: {text}");
        }
        assert!(text.contains("The prime is 7.") || text.contains("prime"), "{file}: {text}");
    }

    let asked = vendor.requests().len();
    let said = live(&user, None, &["--replay"]).ends(0);
    let told = results(&said);
    let answered: Vec<&String> = told.iter().filter(|(_, it)| it.0 == "answered").map(|it| it.0).collect();
    assert_eq!(answered, ["claude", "codex", "gemini", "openai"], "{said:#?}");
    assert_eq!(vendor.requests().len(), asked, "a replay asks no vendor");
}

#[test]
fn a_recording_that_is_no_longer_understood_fails() {
    let vendor = server().on_thread();
    let user = User::new();
    live(&user, Some(&vendor), &["claude"]).ends(0);
    let file = user.home().join("recorded/claude-anthropic.json");
    let broken = fs::read_to_string(&file).unwrap().replace("content_block_delta", "content_block_thing");
    fs::write(&file, broken).unwrap();
    let said = live(&user, None, &["--replay", "claude"]).ends(1);
    assert_eq!(results(&said)["claude"].0, "FAILED", "{said:#?}");
}

#[test]
fn without_any_key_everything_is_skipped_with_a_word() {
    let user = User::new();
    let said = live(&user, None, &[]).ends(0);
    let told = results(&said);
    assert!(told.len() > 10 && told.values().all(|it| it.0 == "skipped" && !it.1.is_empty()), "{said:#?}");
    assert!(!user.home().join("recorded").exists());
}
