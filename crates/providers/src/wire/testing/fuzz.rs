//! Fuzzes the recordings: a few hundred inputs per wire, a minute with `QUORUM_LONG=1`, and as many
//! as `QUORUM_FUZZ` says.

use std::time::{Duration, Instant};

use super::{chunks, ends, nothing_follows_an_end, pieces};
use crate::wire::Wire;

const SEED: u64 = 0x5eed_0f4a_11e4_2026;
const DEFAULT_RUNS: u64 = 300;
const LONG: Duration = Duration::from_secs(60);

/// Tokens of the formats, inserted where they don't belong.
const WORDS: &[&str] = &[
    "\n\n",
    "\r\n",
    "\r",
    "data:",
    "data: ",
    "event: error\n",
    ":",
    "[DONE]",
    "{",
    "}",
    "[",
    "]",
    "\"",
    "\\",
    "\\u",
    "\\ud83d",
    "null",
    "true",
    "-1",
    "1e999",
    "18446744073709551616",
    "\0",
    "\u{feff}",
    "\u{202e}",
    "{\"error\":{}}",
    "\"type\":7,",
    "\"choices\":[],",
    "\"finish_reason\":\"stop\"",
    "\"done\":true",
    "\"error\":null,",
];

/// Deterministic pseudo-random numbers.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % bound.max(1) as u64) as usize
    }
}

/// Checks that nothing panics, nothing follows an end, and pieces read like the whole.
pub(super) fn fuzz(wire: &Wire, recorded: &[&'static str]) {
    let (effort, began) = (Effort::of_environment(), Instant::now());
    let (mut random, mut runs, mut whole) = (Random(SEED), 0_u64, 0_u64);
    while effort.goes_on(runs, began) {
        let bytes = broken(recorded, &mut random);
        let read = chunks(wire, &bytes);
        let (all, count) = (&read.0, ends(&read.0));
        assert!(nothing_follows_an_end(all), "seed {SEED:#x}, run {runs}: {all:?}");
        let cut = random.below(bytes.len() + 1);
        let next = cut + random.below(bytes.len() - cut + 1);
        let split = pieces(wire, &[&bytes[..cut], &bytes[cut..next], &bytes[next..]]);
        assert_eq!(split, read, "seed {SEED:#x}, run {runs}, cut at {cut} and {next}");
        runs += 1;
        whole += count.min(1) as u64;
    }
    let (name, took) = (wire.name, began.elapsed());
    println!("{name}: {runs} inputs from seed {SEED:#x} in {took:.1?}, {whole} of them had an end");
}

enum Effort {
    Inputs(u64),
    For(Duration),
}

impl Effort {
    fn of_environment() -> Self {
        let inputs = std::env::var("QUORUM_FUZZ").map(|it| it.parse().expect("QUORUM_FUZZ is a number"));
        match inputs {
            Ok(inputs) => Effort::Inputs(inputs),
            Err(_) if std::env::var_os("QUORUM_LONG").is_some() => Effort::For(LONG),
            Err(_) => Effort::Inputs(DEFAULT_RUNS),
        }
    }

    fn goes_on(&self, runs: u64, began: Instant) -> bool {
        match self {
            Effort::Inputs(inputs) => runs < *inputs,
            // Reading the clock costs as much as a short input.
            Effort::For(time) => !runs.is_multiple_of(64) || began.elapsed() < *time,
        }
    }
}

fn broken(recorded: &[&str], random: &mut Random) -> Vec<u8> {
    let mut bytes = recorded[random.below(recorded.len())].as_bytes().to_vec();
    for _ in 0..=random.below(6) {
        let at = random.below(bytes.len());
        let end = (at + random.below(80)).min(bytes.len());
        let there = bytes[at..end].to_vec();
        let other = recorded[random.below(recorded.len())].as_bytes();
        let from = random.below(other.len());
        let put = match random.below(6) {
            0 => vec![random.below(256) as u8],
            1 => Vec::new(),
            2 => there.repeat(2),
            3 => WORDS[random.below(WORDS.len())].as_bytes().to_vec(),
            4 => other[from..(from + random.below(200)).min(other.len())].to_vec(),
            _ => there.iter().rev().copied().collect(),
        };
        let end = if random.below(2) == 0 { at } else { end };
        bytes.splice(at..end, put);
    }
    bytes
}
