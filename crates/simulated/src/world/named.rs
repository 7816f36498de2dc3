//! The worlds by name, and how one is written: `martingale,rho=0.3,confidence=informative`.

use std::{fmt, str::FromStr};

use super::{Panel, Stating, Talk, World};

const fn talk(name: &'static str, by_truth: f64, by_error: f64, conformity: f64) -> Talk {
    Talk { name, by_truth, by_error, conformity }
}

/// The kinds of talk.
pub const TALKS: [Talk; 5] = [
    talk("martingale", 0.4, 0.4, 0.0),
    talk("truth-wins", 0.6, 0.15, 0.0),
    talk("truth-and-conformity", 0.5, 0.15, 0.3),
    talk("conformist", 0.1, 0.1, 0.7),
    talk("sycophantic", 0.25, 0.5, 0.3),
];

/// The panels.
pub const PANELS: [Panel; 3] = [
    Panel { name: "mixed", chances: [0.75, 0.70, 0.65, 0.60] },
    Panel { name: "one-strong", chances: [0.9, 0.6, 0.6, 0.6] },
    Panel { name: "weak", chances: [0.55, 0.5, 0.5, 0.45] },
];

const fn stating(name: &'static str, slope: f64, offset: f64, concentration: f64) -> Stating {
    Stating { name, slope, offset, concentration }
}

/// The kinds of stated confidence.
pub const CONFIDENCES: [Stating; 5] = [
    stating("informative", 2.0, 0.8, 6.0),
    stating("calibrated", 1.0, 0.0, 6.0),
    stating("useless", 2.0, 0.8, 10_000.0),
    stating("misleading", -1.0, 1.5, 6.0),
    stating("always-high", 0.2, 2.0, 6.0),
];

/// The correlation of a world that doesn't name one.
const CORRELATION: f64 = 0.3;

impl FromStr for World {
    type Err = String;

    fn from_str(written: &str) -> Result<World, String> {
        let mut parts = written.split(',').map(str::trim);
        let name = parts.next().unwrap_or_default();
        let mut world = World {
            talk: found(&TALKS, name, |it| it.name)?,
            panel: PANELS[0],
            correlation: CORRELATION,
            confidence: CONFIDENCES[0],
            seed: 1,
        };
        for part in parts {
            let (key, value) = part.split_once('=').ok_or_else(|| format!("`{part}` has no value"))?;
            match key.trim() {
                "rho" => world.correlation = correlation(value)?,
                "confidence" => world.confidence = found(&CONFIDENCES, value, |it| it.name)?,
                "panel" => world.panel = found(&PANELS, value, |it| it.name)?,
                "seed" => {
                    world.seed = value.trim().parse().map_err(|_| format!("`{value}` is not a seed"))?;
                }
                other => return Err(format!("`{other}` is not one of rho, confidence, panel, seed")),
            }
        }
        Ok(world)
    }
}

fn correlation(written: &str) -> Result<f64, String> {
    let read: Option<f64> = written.trim().parse().ok();
    read.filter(|it| (0.0..1.0).contains(it)).ok_or_else(|| format!("`{written}` is not between 0 and 1"))
}

fn found<T: Copy>(known: &[T], wanted: &str, name: fn(&T) -> &'static str) -> Result<T, String> {
    let names: Vec<&str> = known.iter().map(name).collect();
    let found = known.iter().find(|it| name(it) == wanted.trim()).copied();
    found.ok_or_else(|| format!("`{}` is not one of {}", wanted.trim(), names.join(", ")))
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let World { talk, panel, correlation, confidence, seed } = self;
        let (talk, panel, confidence) = (talk.name, panel.name, confidence.name);
        write!(f, "{talk},rho={correlation},confidence={confidence},panel={panel},seed={seed}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_world_is_written_as_it_is_read() {
        let world: World = "sycophantic, rho=0.6, confidence=misleading, panel=weak, seed=9".parse().unwrap();
        assert_eq!(world.to_string(), "sycophantic,rho=0.6,confidence=misleading,panel=weak,seed=9");
        assert_eq!(world.to_string().parse(), Ok(world));
        assert_eq!("martingale".parse::<World>().unwrap().correlation, 0.3);
    }

    #[test]
    fn a_strange_world_is_refused_with_what_there_is() {
        let check = |written: &str, expected: &str| {
            assert!(written.parse::<World>().unwrap_err().contains(expected), "{written}");
        };
        check("utopia", "`utopia` is not one of martingale, truth-wins");
        check("martingale,rho=2", "`2` is not between 0 and 1");
        check("martingale,colour=red", "`colour` is not one of rho, confidence");
        check("martingale,rho", "`rho` has no value");
    }
}
