//! Parses numeric flags and words their errors.

use std::str::FromStr;

/// Parses a number without a fraction. Its range is checked where its meaning is known.
pub(super) fn whole<T: FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| "must be a whole number, 0 or more".to_owned())
}

/// Parses a number that may have a fraction.
pub(super) fn fraction(text: &str) -> Result<f64, String> {
    text.parse().map_err(|_| "must be a number, like 0.5".to_owned())
}

/// Parses a port.
pub(super) fn port(text: &str) -> Result<u16, String> {
    text.parse().map_err(|_| "must be a whole number from 0 to 65535".to_owned())
}

/// Parses a share of a whole.
pub(super) fn share(text: &str) -> Result<f64, String> {
    let share = text.parse().ok().filter(|share| (0.0..=1.0).contains(share));
    share.ok_or_else(|| "must be a number from 0 to 1, like 0.8".to_owned())
}

/// Parses a count of at least one.
pub(super) fn at_least_one(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| 1 <= *number);
    number.ok_or_else(|| "must be a whole number, 1 or more".to_owned())
}
