//! A case: the discussion and the moment of its kill, both derived from the number of the case.

use std::fmt;

use quorum::registry::{Consensus, Pattern};

/// A discussion to be killed.
pub(crate) struct Case {
    number: usize,
    pattern: &'static Pattern,
    method: &'static Consensus,
    /// How many times it is killed.
    pub(crate) kills: u64,
}

impl Case {
    /// The patterns follow one another, each time with the next method, so that enough in a row
    /// cover every pattern with every method.
    pub(crate) fn number(number: usize) -> Self {
        let registry = quorum::built_in();
        let (patterns, methods) = (registry.patterns(), registry.methods());
        let (time, at) = (number / patterns.len(), number % patterns.len());
        let method = methods[(time + at) % methods.len()];
        Case { number, pattern: patterns[at], method, kills: 1 + (number % 3 == 2) as u64 }
    }

    /// Alternates every six cases.
    fn is_recursive(&self) -> bool {
        self.number / 6 % 2 == 1
    }

    /// Alternates every twelve cases.
    pub(crate) fn exits_early(&self) -> bool {
        self.number / 12 % 2 == 1
    }

    /// The command line. Latencies are chosen so that it takes about half a second.
    pub(crate) fn discuss(&self) -> Vec<String> {
        let latency = match self.pattern.name {
            "voting" => 150,
            "synthesis" => 70,
            _ => 30,
        };
        let providers = ["claude", "gemini", "qwen"];
        let providers = providers[..providers.len().min(self.pattern.defaults.seats.1)].join(",");
        let line = format!(
            "discuss Tabs-or-spaces? --json --rounds 2 --options tabs,spaces --synthesizer gemini --providers {providers} \
             --pattern {} --consensus {} --seed {} --simulate latency={latency}ms{}{}",
            self.pattern.name,
            self.method.name,
            self.number,
            // A call that was cut off counts as paid, so the usual budget may not be enough for
            // both.
            if self.is_recursive() { " --recursive --max-calls 500" } else { "" },
            if self.exits_early() { " --early-exit --confidence-threshold 0.7" } else { "" },
        );
        line.split(' ').map(str::to_owned).collect()
    }

    /// When to kill, as a share of the time that an undisturbed discussion takes.
    pub(crate) fn moment(&self, kill: u64) -> f64 {
        let drawn = moment(self.number, kill);
        // With two kills, each comes within half of that time.
        drawn / self.kills as f64
    }
}

/// A moment in the whole time, drawn by the number of a case and of its kill.
pub(crate) fn moment(number: usize, kill: u64) -> f64 {
    // SplitMix64: its first outputs are random enough even for consecutive seeds.
    let mut drawn = (number as u64 * 2 + kill + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    drawn = (drawn ^ (drawn >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    drawn = (drawn ^ (drawn >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    drawn ^= drawn >> 31;
    (drawn >> 11) as f64 / (1_u64 << 53) as f64
}

/// Everything needed to reproduce the case.
impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let moments: Vec<String> = (0..self.kills).map(|it| format!("{:.3}", self.moment(it))).collect();
        write!(
            f,
            "case {} killed at {} of: ax {}",
            self.number,
            moments.join(" and "),
            self.discuss().join(" ")
        )
    }
}
