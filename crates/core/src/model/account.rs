//! Accounts and their spending caps: how much a token, or the local user, may spend a day and a
//! month. Days and months are those of UTC.

use std::{fmt, ops::Range};

use serde::{Deserialize, Serialize};

use crate::model::{
    id::Tenant,
    money::Usd,
    time::{Timestamp, iso},
};

const DAY_US: i64 = 86_400_000_000;

/// A discussion sets aside this many times what it needs, so that most steps need no further write.
const AHEAD: u64 = 4;

/// But beyond its need, a discussion sets aside at most what is left divided by this number, so
/// that others are not refused because of it.
const SHARE: u64 = 8;

/// The account that a discussion is charged to: a token of a tenant, or the local user.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Account {
    /// The tenant.
    pub tenant: Tenant,
    /// The name of the token, never its secret; empty for the local user.
    pub name: String,
}

/// The account of one discussion, with the caps that it had when the discussion was started.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CappedAccount {
    /// The name of the token; empty for the local user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The caps. Those of the configuration, if it knows the account, override them.
    pub caps: Caps,
}

/// The most that an account may spend; `None` means no limit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Caps {
    /// The most for one day.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_day: Option<Usd>,
    /// The most for one month.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub per_month: Option<Usd>,
    /// Whether voices without a known price, whose cost can't be counted, may be used.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_unpriced: bool,
}

impl Caps {
    /// Whether anything is limited.
    #[must_use]
    pub fn are_set(&self) -> bool {
        self.per_day.is_some() || self.per_month.is_some()
    }

    /// The caps that are set, with their periods.
    pub fn each(&self) -> impl Iterator<Item = (Period, Usd)> {
        let all = [(Period::Day, self.per_day), (Period::Month, self.per_month)];
        all.into_iter().filter_map(|(period, cap)| Some((period, cap?)))
    }
}

/// The period of a cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Period {
    /// A day.
    Day,
    /// A calendar month.
    Month,
}

impl Period {
    /// The name in results: `day`.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Period::Day => "day",
            Period::Month => "month",
        }
    }

    /// The days of the period that this time belongs to, counted from 1970.
    #[must_use]
    pub fn days(self, at: Timestamp) -> Range<i64> {
        let today = day_of(at);
        match self {
            Period::Day => today..today + 1,
            Period::Month => month_of(today),
        }
    }
}

/// The day of this time, counted from 1970.
#[must_use]
pub fn day_of(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY_US)
}

/// The days of the month of this day; just the day if it is outside the calendar.
fn month_of(day: i64) -> Range<i64> {
    let epoch = jiff::civil::Date::constant(1970, 1, 1);
    let number = |date: jiff::civil::Date| epoch.until(date).map(|it| i64::from(it.get_days()));
    let date = jiff::Span::new().try_days(day).and_then(|days| epoch.checked_add(days));
    let Ok(date) = date else { return day..day + 1 };
    let after_last = date.last_of_month().tomorrow().and_then(number);
    match (number(date.first_of_month()), after_last) {
        (Ok(first), Ok(after_last)) => first..after_last,
        (Err(_), _) | (_, Err(_)) => day..day + 1,
    }
}

/// The use of an account's caps in some days.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsedOfCap {
    /// The amount spent.
    pub spent: Usd,
    /// The amount that running discussions have set aside.
    pub reserved: Usd,
}

/// The state of one cap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapStatus {
    /// Its period.
    pub period: Period,
    /// The most that may be spent.
    pub cap: Usd,
    /// The amount spent; more than the cap if a provider charged more than it could by its price.
    pub spent: Usd,
    /// The amount that running discussions have set aside, most of which they will not need.
    pub reserved: Usd,
    /// When the next period begins.
    pub renews_at: Timestamp,
}

impl CapStatus {
    /// The status at this time, given what was used on the days of a period.
    pub fn each<E>(
        caps: &Caps,
        at: Timestamp,
        mut used: impl FnMut(Range<i64>) -> Result<UsedOfCap, E>,
    ) -> Result<Vec<CapStatus>, E> {
        let status = |(period, cap): (Period, Usd)| {
            let days = period.days(at);
            let renews_at = Timestamp(days.end.saturating_mul(DAY_US));
            let UsedOfCap { spent, reserved } = used(days)?;
            Ok(CapStatus { period, cap, spent, reserved, renews_at })
        };
        caps.each().map(status).collect()
    }

    /// The amount left.
    #[must_use]
    pub fn left(&self) -> Usd {
        self.cap.less(self.spent).less(self.reserved)
    }
}

/// A cap that has no room for what is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct CapReached {
    /// The amount that would have been needed.
    pub needed: Usd,
    /// The cap; of several that are too small, the one that renews last.
    pub status: CapStatus,
    /// The time of the refusal.
    pub at: Timestamp,
}

impl CapReached {
    /// How long until the cap renews.
    #[must_use]
    pub fn renews_in_ms(&self) -> u64 {
        self.status.renews_at.ms_after(self.at)
    }
}

impl fmt::Display for CapReached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CapStatus { period, cap, spent, reserved, renews_at } = self.status;
        write!(f, "the spending cap of {cap} a {} is reached: {spent} is spent", period.name())?;
        if reserved > Usd::ZERO {
            write!(f, ", {reserved} is set aside for running discussions")?;
        }
        let (left, needed) = (self.status.left(), self.needed);
        write!(f, ", {left} is left, and up to {needed} is needed; it renews at {}", iso(renews_at))
    }
}

/// How much is set aside for a discussion that needs this much now: at least that, or the cap that
/// has no room for it.
pub fn granted(caps: &[CapStatus], needed: Usd, at: Timestamp) -> Result<Usd, CapReached> {
    let short = caps.iter().filter(|it| it.left() < needed).max_by_key(|it| it.renews_at);
    if let Some(status) = short {
        return Err(CapReached { needed, status: *status, at });
    }
    let left = caps.iter().map(CapStatus::left).min().unwrap_or(needed);
    Ok(needed.max(needed.times(AHEAD).min(left.part(SHARE))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp(text.parse::<jiff::Timestamp>().unwrap().as_microsecond())
    }

    fn usd(dollars: f64) -> Usd {
        Usd::from_dollars(dollars).unwrap()
    }

    fn status(caps: &Caps, now: Timestamp, spent: f64) -> Vec<CapStatus> {
        let used = |_| Ok::<_, ()>(UsedOfCap { spent: usd(spent), reserved: Usd::ZERO });
        CapStatus::each(caps, now, used).unwrap()
    }

    #[test]
    fn s14_days_and_months_are_those_of_utc() {
        let check = |now: &str, day: &str, month: &str| {
            let caps = Caps { per_day: Some(usd(1.0)), per_month: Some(usd(9.0)), ..Caps::default() };
            let renewals: Vec<String> =
                status(&caps, at(now), 0.0).iter().map(|it| iso(it.renews_at)).collect();
            assert_eq!(renewals, [day, month], "{now}");
        };
        check("2026-11-17T04:00:00Z", "2026-11-18T00:00:00Z", "2026-12-01T00:00:00Z");
        check("2026-12-31T23:59:59.999999Z", "2027-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        check("2027-01-01T00:00:00Z", "2027-01-02T00:00:00Z", "2027-02-01T00:00:00Z");
        check("2028-02-29T12:00:00Z", "2028-03-01T00:00:00Z", "2028-03-01T00:00:00Z");
        check("1969-12-31T23:00:00Z", "1970-01-01T00:00:00Z", "1970-01-01T00:00:00Z");
    }

    #[test]
    fn s14_a_time_outside_the_calendar_is_a_month_of_one_day() {
        for now in [Timestamp(i64::MAX), Timestamp(i64::MIN)] {
            assert_eq!(Period::Month.days(now), Period::Day.days(now));
        }
    }

    #[test]
    fn s14_a_refusal_names_the_cap_that_renews_last() {
        let now = at("2026-11-17T04:00:00Z");
        let caps = Caps { per_day: Some(usd(1.0)), per_month: Some(usd(1.5)), ..Caps::default() };
        let short = |spent: f64, needed: f64| granted(&status(&caps, now, spent), usd(needed), now);
        assert_eq!(short(1.0, 0.1).unwrap_err().status.period, Period::Day);
        let reached = short(1.5, 0.1).unwrap_err();
        assert_eq!(
            reached.to_string(),
            "the spending cap of $1.5000 a month is reached: $1.5000 is spent, $0.0000 is left, \
             and up to $0.1000 is needed; it renews at 2026-12-01T00:00:00Z"
        );
        assert_eq!(reached.renews_in_ms(), 1_195_200_000);
    }

    #[test]
    fn s14_more_is_set_aside_only_where_plenty_is_left() {
        let now = at("2026-11-17T04:00:00Z");
        let caps = Caps { per_day: Some(usd(1.0)), ..Caps::default() };
        let given = |spent: f64, needed: f64| granted(&status(&caps, now, spent), usd(needed), now);
        assert_eq!(given(0.0, 0.01), Ok(usd(0.04)));
        assert_eq!(given(0.0, 0.1), Ok(usd(0.125)));
        assert_eq!(given(0.9, 0.1), Ok(usd(0.1)));
        assert!(given(0.9, 0.100_001).is_err());
        assert_eq!(given(3.0, 0.0), Ok(Usd::ZERO), "what costs nothing always fits");
    }
}
