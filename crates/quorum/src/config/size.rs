//! Size limits of a configuration, checked before any of it is used.

use std::{io::Read as _, path::Path};

use quorum_core::model::excerpt::in_short;
use toml::{Table, Value};

use super::{LONGEST_NAME, MOST_COMPLAINTS, Mistake};

/// The maximum file size, in bytes.
const LONGEST_FILE: u64 = 1 << 20;

/// The maximum number of keys in a section: presets, providers, models of a provider.
const MOST_KEYS: usize = 200;

/// The maximum number of entries in a list: tokens, origins.
const MOST_ENTRIES: usize = 1_000;

/// The maximum length of a text, in characters: twice the longest that a request takes.
const LONGEST_TEXT: usize = 20_000;

/// Reads a configuration file, unless it exceeds the maximum size.
pub(super) fn text_of(file: &Path) -> std::io::Result<String> {
    let mut text = String::new();
    std::fs::File::open(file)?.take(LONGEST_FILE + 1).read_to_string(&mut text)?;
    if LONGEST_FILE < text.len() as u64 {
        return Err(std::io::Error::other(format!("it has more than {} KiB", LONGEST_FILE >> 10)));
    }
    Ok(text)
}

/// Reports the first few entries that exceed a limit.
pub(super) fn excesses(sections: &Table) -> Vec<Mistake> {
    let mut wrong = Vec::new();
    of_table("", sections, &mut wrong);
    wrong
}

fn of_table(path: &str, table: &Table, wrong: &mut Vec<Mistake>) {
    check(path, ("keys", MOST_KEYS), table.len(), wrong);
    for (key, value) in table.iter().take(MOST_KEYS) {
        let path = format!("{path}{}{}", if path.is_empty() { "" } else { "." }, in_short(key));
        check(&path, ("characters in its name", LONGEST_NAME), key.len(), wrong);
        of_value(&path, value, wrong);
    }
}

fn of_value(path: &str, value: &Value, wrong: &mut Vec<Mistake>) {
    match value {
        Value::Table(table) => of_table(path, table, wrong),
        Value::Array(list) => {
            check(path, ("entries", MOST_ENTRIES), list.len(), wrong);
            list.iter().take(MOST_ENTRIES).for_each(|it| of_value(path, it, wrong));
        }
        Value::String(text) => check(path, ("characters", LONGEST_TEXT), text.len(), wrong),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => {}
    }
}

fn check(path: &str, (what, most): (&str, usize), found: usize, wrong: &mut Vec<Mistake>) {
    if most < found && wrong.len() < MOST_COMPLAINTS {
        let path = if path.is_empty() { "the file" } else { path };
        wrong.push(format!("{path} has {found} {what}; at most {most} are allowed").into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn complaints(text: &str) -> Vec<String> {
        excesses(&text.parse().unwrap()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn an_oversized_configuration_is_refused_with_the_place() {
        assert_eq!(
            complaints("[defaults]\nrounds = 3\n[presets.a]\nproviders = [\"a\"]"),
            Vec::<String>::new()
        );
        let presets: String = (0..201).map(|it| format!("[presets.p{it}]\n")).collect();
        assert_eq!(complaints(&presets), ["presets has 201 keys; at most 200 are allowed"]);
        let tokens = format!("[server]\ntokens = [{}]", "1,".repeat(1_001));
        assert_eq!(complaints(&tokens), ["server.tokens has 1001 entries; at most 1000 are allowed"]);
        let long = format!("[defaults]\ncontext = \"{}\"", "a".repeat(20_001));
        assert_eq!(complaints(&long), ["defaults.context has 20001 characters; at most 20000 are allowed"]);
        let key = "k".repeat(129);
        let expected = format!("{}… has 129 characters in its name; at most 128 are allowed", &key[..80]);
        assert_eq!(complaints(&format!("{key} = 1")), [expected]);
    }

    #[test]
    fn only_the_first_few_are_listed() {
        let keys: String = (0..90).map(|it| format!("k{it}{} = 1\n", "x".repeat(128))).collect();
        assert_eq!(complaints(&keys).len(), MOST_COMPLAINTS);
    }
}
