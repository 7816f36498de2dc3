//! Attacks: hostile providers, clients, tenants, texts and forgeries against the real binary, and
//! the suites that attack parts of it. One table of what was tried and what got through.

use std::{
    io::{BufRead, BufReader},
    process::Stdio,
    time::Instant,
};

use anyhow::{Context as _, Result, bail};

use crate::{Verb, browser, cargo};

pub(crate) const VERB: Verb = Verb {
    name: "attack",
    arguments: "[--short]",
    summary: "Attack the real binary in every way we know, and print what got through; --short tries a part",
    run,
};

const SHORT: &str = "--short";

/// What a test prints for an attack: `attack: NAME | TRIES | GOT THROUGH`.
const MARK: &str = "attack: ";

/// Attacks on the real binary, which no ordinary test run includes.
const BINARY: &[&str] = &["test", "--quiet", "--workspace", "--test", "attack", "--"];

/// Suites of the ordinary tests that are attacks, too: their target and tests. Of the whole
/// workspace, so that what the tests have built is used; all its libraries would be too many.
const SUITES: &[(&[&str], &str)] = &[
    (&["--workspace", "--test", "browser"], "s6_"),
    (&["--workspace", "--test", "canary"], "s1_"),
    (&["--workspace", "--test", "talk"], "s8_"),
    (&["--package", "quorum-providers", "--lib"], "s4_"),
    (&["--workspace", "--test", "http"], "s12_"),
];

/// A row of the table.
#[derive(Debug, PartialEq)]
struct Row {
    name: String,
    tries: u64,
    got_through: u64,
}

fn run(arguments: &[String]) -> Result<()> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => whole(),
        [SHORT] => short(),
        _ => bail!("unknown arguments `{}`; only {SHORT} is accepted", arguments.join(" ")),
    }
}

/// The part that belongs to every test run: what the ordinary tests don't try already.
pub(crate) fn short() -> Result<()> {
    let command: Vec<&str> = BINARY.iter().copied().chain([SHORT]).collect();
    report(vec![tried(&command)?])
}

fn whole() -> Result<()> {
    browser::prepare()?;
    let mut all = vec![tried(BINARY)?];
    for (target, tests) in SUITES {
        let command = [&["test", "--quiet"], *target, &[tests, "--", "--nocapture"]];
        all.push(tried(&command.concat())?);
    }
    report(all)
}

/// The rows that a command printed, and whether it succeeded.
fn tried(arguments: &[&str]) -> Result<(Vec<Row>, bool)> {
    let began = Instant::now();
    println!("$ cargo {}", arguments.join(" "));
    let mut child = cargo::command(arguments).stdout(Stdio::piped()).spawn().context("cargo can't be run")?;
    let lines = BufReader::new(child.stdout.take().context("its output is piped")?).lines();
    let rows = lines.map_while(Result::ok).filter_map(|it| row(&it)).collect();
    let is_good = child.wait()?.success();
    println!("  {} in {:.0} s", if is_good { "ended" } else { "FAILED" }, began.elapsed().as_secs_f64());
    Ok((rows, is_good))
}

/// A row from a line, which may begin with the name of its test.
fn row(line: &str) -> Option<Row> {
    let mut cells = line.split_once(MARK)?.1.split(" | ");
    let name = cells.next()?.to_owned();
    Some(Row {
        name,
        tries: cells.next()?.trim().parse().ok()?,
        got_through: cells.next()?.trim().parse().ok()?,
    })
}

fn report(all: Vec<(Vec<Row>, bool)>) -> Result<()> {
    let is_good = all.iter().all(|it| it.1);
    let rows: Vec<Row> = all.into_iter().flat_map(|it| it.0).collect();
    print!("\n{}", table(&rows));
    if !is_good || rows.iter().any(|it| it.got_through > 0) {
        bail!("an attack got through, or could not be tried; the lines above say which");
    }
    Ok(())
}

fn table(rows: &[Row]) -> String {
    let width = rows.iter().map(|it| it.name.len()).max().unwrap_or(0).max("together".len());
    let line = |name: &str, tries: &str, through: &str| format!("{name:width$}  {tries:>8}  {through:>11}\n");
    let body: String =
        rows.iter().map(|it| line(&it.name, &it.tries.to_string(), &it.got_through.to_string())).collect();
    let [tries, through] =
        [rows.iter().map(|it| it.tries).sum::<u64>(), rows.iter().map(|it| it.got_through).sum()];
    line("attack", "tries", "got through")
        + &body
        + &line("together", &tries.to_string(), &through.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_from_what_tests_print() {
        let check = |line: &str, expected: Option<(&str, u64, u64)>| {
            let row =
                expected.map(|(name, tries, got_through)| Row { name: name.to_owned(), tries, got_through });
            assert_eq!(super::row(line), row, "{line}");
        };
        check("attack: tenants | 164 | 0 | 1.6 s", Some(("tenants", 164, 0)));
        check("test s8_forged ... attack: forged votes | 96 | 0", Some(("forged votes", 96, 0)));
        check("attack: tenants | many | 0", None);
        check("running 3 tests", None);
    }

    #[test]
    fn the_table_has_a_sum() {
        let rows = [("one", 10, 0), ("two", 200, 3)].map(|(name, tries, got_through)| Row {
            name: name.to_owned(),
            tries,
            got_through,
        });
        let expected = [
            "attack       tries  got through\n",
            "one             10            0\n",
            "two            200            3\n",
            "together       210            3\n",
        ];
        assert_eq!(table(&rows), expected.concat());
    }
}
