//! Times for people, in the time zone of this machine. Documents for programs keep UTC.

use jiff::{Timestamp as Instant, tz::TimeZone};
use quorum_core::model::time::Timestamp;

/// A time to the minute: `2026-11-18 04:21`.
#[must_use]
pub fn local_time(at: Timestamp) -> String {
    Instant::from_microsecond(at.0).map(|it| in_zone(it, TimeZone::system(), MINUTE)).unwrap_or_default()
}

/// A time to the second: `2026-11-18 04:21:07`.
#[must_use]
pub fn local_second(at: Timestamp) -> String {
    Instant::from_microsecond(at.0).map(|it| in_zone(it, TimeZone::system(), SECOND)).unwrap_or_default()
}

/// A time in ISO 8601, as documents have it, to the minute; unchanged if it can't be read.
#[must_use]
pub fn local_of_iso(written: &str) -> String {
    let at: Option<Instant> = written.parse().ok();
    at.map_or_else(|| written.to_owned(), |it| in_zone(it, TimeZone::system(), MINUTE))
}

const MINUTE: &str = "%Y-%m-%d %H:%M";
const SECOND: &str = "%Y-%m-%d %H:%M:%S";

fn in_zone(at: Instant, zone: TimeZone, format: &str) -> String {
    at.to_zoned(zone).strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_shown_in_the_zone_of_the_reader() {
        let at: Instant = "2026-11-18T20:21:07.5Z".parse().unwrap();
        let in_zone = |zone: &str, format| in_zone(at, TimeZone::posix(zone).unwrap(), format);
        assert_eq!(in_zone("UTC0", MINUTE), "2026-11-18 20:21");
        assert_eq!(in_zone("JST-9", MINUTE), "2026-11-19 05:21");
        assert_eq!(in_zone("EST5EDT,M3.2.0,M11.1.0", SECOND), "2026-11-18 15:21:07");
        assert_eq!(local_of_iso("some day"), "some day");
    }
}
