//! The acceptance checks of several nodes, with a real PostgreSQL, real `ax serve` processes and a
//! provider that counts its calls. `cargo xtask cluster` builds both binaries and runs this.

mod checks;
mod failover;
mod follower;
mod history;
mod moving;
mod node;
mod provider;
mod stand;
mod steering;

use std::{path::PathBuf, process::ExitCode, time::Instant};

use anyhow::{Result, bail};
use futures::future::LocalBoxFuture;

use stand::Stand;

/// How much of each check is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Shortened, for every run of the tests.
    Short,
    /// As the specification requires.
    Full,
}

/// The result of a check: its counts, and whether it passed.
pub(crate) struct Found {
    pub(crate) counts: String,
    pub(crate) passed: bool,
}

impl Found {
    /// The verdict at the end of a check: its own condition, and the ten invariants of a cluster.
    /// The ninth is that at most `in_flight` answers were repeated.
    pub(crate) fn of(stand: &Stand, counts: &str, passed: bool, in_flight: u64) -> Result<Self> {
        let (repeated, broken) = (stand.repeated()?, history::broken(&stand.database)?);
        let is_ninth_kept = repeated <= in_flight;
        let invariants = match broken.as_slice() {
            [] => "invariants 0 broken".to_owned(),
            broken => format!("invariants broken (number, times): {broken:?}"),
        };
        let counts = format!("{counts}; repeated {repeated} of at most {in_flight}; {invariants}");
        Ok(Found { counts, passed: passed && is_ninth_kept && broken.is_empty() })
    }
}

type Run = fn(PathBuf, Effort) -> LocalBoxFuture<'static, Result<Found>>;

struct Check {
    number: u32,
    name: &'static str,
    /// Whether it is part of the short run.
    is_short: bool,
    run: Run,
}

macro_rules! check {
    ($number:literal, $name:literal, $short:literal, $run:path) => {
        Check {
            number: $number,
            name: $name,
            is_short: $short,
            run: |folder, effort| Box::pin($run(folder, effort)),
        }
    };
}

const CHECKS: &[Check] = &[
    check!(2, "kill -9 of one of three", true, checks::kill),
    check!(3, "SIGSTOP, and back as a zombie", true, checks::stop),
    check!(4, "the database killed, then down for longer than a lease", true, checks::database_down),
    check!(5, "rolling restart to a newer build under load", true, checks::rolling_restart),
    check!(6, "steered and watched from the other node", true, steering::from_elsewhere),
    check!(7, "connections swallowed, slow, cut every 2 s", false, checks::bad_network),
    check!(8, "failover to a synchronous and an asynchronous standby", false, failover::both),
    check!(9, "200 discussions with four connections", false, checks::few_connections),
    check!(10, "three nodes, 1,000 discussions each", false, checks::three_thousand),
    check!(11, "a provider's limit over three nodes", false, checks::limit_of_a_provider),
    check!(12, "`ax db move` killed five times", false, moving::killed),
];

#[tokio::main(flavor = "multi_thread", worker_threads = 2)]
async fn main() -> ExitCode {
    // This fails only if a provider is already installed, and then that one is used.
    drop(rustls::crypto::ring::default_provider().install_default());
    let words: Vec<String> = std::env::args().skip(1).collect();
    let checked = tokio::select! {
        checked = run(&words) => checked,
        // The processes of a check end with it.
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    match checked {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

async fn run(words: &[String]) -> Result<bool> {
    let (effort, chosen) = chosen(words)?;
    let (began, mut rows, mut all) = (Instant::now(), Vec::new(), true);
    for check in chosen {
        let (folder, started) = (folder(check.number), Instant::now());
        eprintln!("check {}: {} …", check.number, check.name);
        let found = (check.run)(folder, effort).await;
        let found = found.unwrap_or_else(|error| Found { counts: format!("{error:#}"), passed: false });
        all &= found.passed;
        let row = row(check, &found, started);
        eprintln!("{row}");
        rows.push(row);
    }
    println!("| check | | seconds | counts | |\n|---|---|---|---|---|\n{}", rows.join("\n"));
    println!(
        "\n{:.0} s; {}",
        began.elapsed().as_secs_f64(),
        if all { "all passed" } else { "NOT all passed" }
    );
    Ok(all)
}

/// `--short`, a number, or nothing for all.
fn chosen(words: &[String]) -> Result<(Effort, Vec<&'static Check>)> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let chosen = match words.as_slice() {
        [] | ["--long"] => (Effort::Full, CHECKS.iter().collect()),
        ["--short"] => (Effort::Short, CHECKS.iter().filter(|it| it.is_short).collect()),
        [number] | ["--short", number] => {
            let found = CHECKS.iter().find(|it| it.number.to_string() == *number);
            let effort = if words.len() == 1 { Effort::Full } else { Effort::Short };
            (effort, found.into_iter().collect::<Vec<_>>())
        }
        _ => (Effort::Full, Vec::new()),
    };
    if chosen.1.is_empty() {
        let numbers: Vec<String> = CHECKS.iter().map(|it| it.number.to_string()).collect();
        bail!("give --short, --long or one of {}", numbers.join(", "));
    }
    Ok(chosen)
}

fn folder(number: u32) -> PathBuf {
    std::env::temp_dir().join(format!("quorum-cluster-{}-{number}", std::process::id()))
}

fn row(check: &Check, found: &Found, started: Instant) -> String {
    let verdict = if found.passed { "passed" } else { "FAILED" };
    let seconds = started.elapsed().as_secs_f64();
    format!("| {} | {} | {seconds:.0} | {} | {verdict} |", check.number, check.name, found.counts)
}
