//! `[limits]`: what the local user may spend, and how a spending cap is written.

use quorum_core::model::{account::Caps, money::Usd};

use super::{Config, Mistakes, unknown};

/// The keys of a spending cap, in `[limits]` and in a token.
pub(super) const PER_DAY: &str = "max_cost_per_day";
pub(super) const PER_MONTH: &str = "max_cost_per_month";

/// The largest cap, in US dollars.
const LARGEST: f64 = 1_000_000.0;

pub(super) fn read(config: &mut Config, table: &toml::Table) -> Result<(), Mistakes> {
    for (key, value) in table {
        if !add_cap(&mut config.limits, key, value).map_err(|message| format!("limits.{message}"))? {
            return Err(unknown("key in [limits]", key, [PER_DAY, PER_MONTH]).into());
        }
    }
    Ok(())
}

/// Reads a cap; `false` if it is another key.
pub(super) fn add_cap(caps: &mut Caps, key: &str, value: &toml::Value) -> Result<bool, String> {
    let cap = match key {
        PER_DAY => &mut caps.per_day,
        PER_MONTH => &mut caps.per_month,
        _ => return Ok(false),
    };
    let dollars = value.as_float().or_else(|| value.as_integer().map(|it| it as f64));
    let read = dollars.filter(|it| (0.0..=LARGEST).contains(it)).and_then(Usd::from_dollars);
    let amount =
        read.ok_or_else(|| format!("{key} must be an amount in USD from 0 to {LARGEST}, not {value}"))?;
    *cap = Some(amount);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::*;

    fn read_text(text: &str) -> Result<Caps, String> {
        let parsed = Config::parse(text, Path::new("c.toml"), PathBuf::new());
        parsed.map(|it| it.limits).map_err(|error| error.to_string())
    }

    #[test]
    fn s14_caps_of_the_command_are_read() {
        let caps =
            Caps { per_day: Usd::from_dollars(2.5), per_month: Usd::from_dollars(40.0), ..Caps::default() };
        assert_eq!(read_text("[limits]\nmax_cost_per_day = 2.5\nmax_cost_per_month = 40"), Ok(caps));
        assert_eq!(read_text(""), Ok(Caps::default()));
    }

    #[test]
    fn s14_wrong_caps_are_refused() {
        let check = |inside: &str, expected: &str| {
            let error = read_text(&format!("[limits]\n{inside}")).unwrap_err();
            assert!(error.contains(expected), "{error}");
        };
        let range = "limits.max_cost_per_day must be an amount in USD from 0 to 1000000, not ";
        for value in ["-1", "1000001", "nan", "inf", "\"5\"", "true"] {
            check(&format!("max_cost_per_day = {value}"), &format!("{range}{value}"));
        }
        check("max_cost_per_dya = 1", "did you mean max_cost_per_day?");
        check("max_cost = 1", "there is no key in [limits] named max_cost");
    }
}
