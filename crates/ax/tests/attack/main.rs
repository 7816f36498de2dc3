//! Attacks on the real binary: by providers, clients, tenants, models' text and leaks. Prints one
//! line for each attack, with the number of tries and of those that got through, and fails if any
//! did. `cargo xtask attack` runs it; `--short` tries a part of each.
//!
//! An attack is one file with a constant `ATTACK` and one line in `ATTACKS`.

#![expect(clippy::unwrap_used, reason = "an attack that can't go on should stop")]

mod canary;
mod client;
mod forgery;
mod provider;
#[path = "../live/pty.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod pty;
mod served;
mod tally;
mod tenants;
mod terminal;
#[path = "../cli/user.rs"]
#[expect(dead_code, reason = "other tests use the rest")]
mod user;
mod vendor;

use std::{process::ExitCode, time::Instant};

use tally::Tally;

const ATTACKS: &[Attack] =
    &[provider::ATTACK, canary::ATTACK, client::ATTACK, tenants::ATTACK, terminal::ATTACK, forgery::ATTACK];

/// One kind of attack.
struct Attack {
    name: &'static str,
    run: fn(Effort) -> Tally,
}

/// How much is tried.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Effort {
    Short,
    Whole,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let effort = if arguments.iter().any(|it| it == "--short") { Effort::Short } else { Effort::Whole };
    let named: Vec<&String> = arguments.iter().filter(|it| !it.starts_with("--")).collect();
    let chosen = ATTACKS.iter().filter(|it| named.is_empty() || named.iter().any(|name| it.name == **name));
    let mut got_through = 0;
    for attack in chosen {
        let began = Instant::now();
        let tally = (attack.run)(effort);
        let (seconds, through) = (began.elapsed().as_secs_f64(), tally.through());
        through.iter().for_each(|it| eprintln!("{} got through: {it}", attack.name));
        println!("attack: {} | {} | {} | {seconds:.1} s", attack.name, tally.tries(), through.len());
        got_through += through.len();
    }
    if got_through == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
