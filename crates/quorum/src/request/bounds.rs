//! Checks the bounds of single values and collects the complaints.

use std::{collections::BTreeMap, fmt::Display, ops::RangeInclusive};

use quorum_core::model::error::Code;

use crate::{Complaint, Fault, request::limits::MOST_COMPLAINTS};

/// The field name for the whole request.
const WHOLE: &str = "request";

/// The first few complaints, and the number of the others.
pub(crate) fn capped(mut complaints: Vec<Complaint>) -> Vec<Complaint> {
    let unlisted = complaints.split_off(complaints.len().min(MOST_COMPLAINTS));
    if !unlisted.is_empty() {
        let message = match unlisted.len() {
            1 => "has 1 more mistake, which is not listed".to_owned(),
            more => format!("has {more} more mistakes, which are not listed"),
        };
        let complaint = Complaint::new(WHOLE, Code::InvalidRequest, message);
        let all_clash = unlisted.iter().all(|it| it.fault == Fault::Combination);
        complaints.push(if all_clash { complaint.in_combination() } else { complaint });
    }
    complaints
}

/// Collects all problems, so that a user sees them at once.
#[derive(Debug, Default)]
pub(super) struct Complaints(pub(super) Vec<Complaint>);

impl Complaints {
    /// Adds a problem with this field.
    pub(super) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.add_coded(field, Code::InvalidRequest, message);
    }

    /// Adds a clash of this field with the rest of the request.
    pub(super) fn clash(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(Complaint::new(field, Code::InvalidRequest, message).in_combination());
    }

    /// Adds a problem with this field under another code.
    pub(super) fn add_coded(&mut self, field: &str, code: Code, message: impl Into<String>) {
        self.0.push(Complaint::new(field, code, message));
    }

    /// The value, or the default if none is given or it is out of bounds.
    pub(super) fn within<T: PartialOrd + Display + Copy>(
        &mut self,
        field: &str,
        given: Option<T>,
        usual: T,
        bounds: RangeInclusive<T>,
    ) -> T {
        match given {
            None => usual,
            Some(value) if bounds.contains(&value) => value,
            Some(value) => {
                let (least, most) = (bounds.start(), bounds.end());
                self.add(field, format!("must be from {least} to {most}, not {value}"));
                usual
            }
        }
    }

    /// The entries up to the allowed number; further ones are dropped and reported.
    pub(super) fn few<'l, T>(&mut self, field: &str, list: &'l [T], most: usize) -> &'l [T] {
        if list.len() <= most {
            return list;
        }
        self.add(field, format!("may have at most {most} entries; there are {}", list.len()));
        &list[..most]
    }

    /// The same for named entries.
    pub(super) fn few_named<'l, V>(
        &mut self,
        field: &str,
        entries: Option<&'l BTreeMap<String, V>>,
        most: usize,
    ) -> impl Iterator<Item = (&'l String, &'l V)> + use<'l, V> {
        let count = entries.map_or(0, BTreeMap::len);
        if most < count {
            self.add(field, format!("may have at most {most} fields; there are {count}"));
        }
        entries.into_iter().flatten().take(most)
    }

    /// The trimmed text; `None` if it is empty.
    pub(super) fn text(&mut self, field: &str, given: Option<&str>, longest: usize) -> Option<String> {
        let text = given.map(str::trim).filter(|text| !text.is_empty())?;
        let length = text.chars().count();
        if length > longest {
            self.add(field, format!("may have at most {longest} characters; this has {length}"));
        }
        Some(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clashes_that_are_not_listed_are_not_reported_as_wrong_values() {
        let wrong = |fault| Complaint { fault, ..Complaint::new("rounds", Code::InvalidRequest, "") };
        let check = |last: Fault, expected: Fault| {
            let mut complaints = vec![wrong(Fault::Combination); MOST_COMPLAINTS + 1];
            complaints.push(wrong(last));
            let told: Vec<Fault> = capped(complaints).iter().map(|it| it.fault).collect();
            let mut faults = vec![Fault::Combination; MOST_COMPLAINTS];
            faults.push(expected);
            assert_eq!(told, faults);
        };
        check(Fault::Combination, Fault::Combination);
        check(Fault::Value, Fault::Value);
    }
}
