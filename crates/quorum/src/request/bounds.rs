//! Bounds of single values, and the list of everything that is out of them.

use std::{fmt::Display, ops::RangeInclusive};

use quorum_core::model::error::Code;

use crate::{Complaint, Remedy};

/// Collects everything that is wrong, so that a user sees it at once.
#[derive(Debug, Default)]
pub(super) struct Complaints(pub(super) Vec<Complaint>);

impl Complaints {
    /// Something is wrong with this field.
    pub(super) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.add_coded(field, Code::InvalidRequest, message);
    }

    /// The same under another code.
    pub(super) fn add_coded(&mut self, field: &str, code: Code, message: impl Into<String>) {
        self.0.push(Complaint::new(field, code, message));
    }

    /// The same with what would help.
    pub(super) fn add_with(
        &mut self,
        field: &str,
        message: impl Into<String>,
        remedies: impl IntoIterator<Item = Remedy>,
    ) {
        self.0.push(Complaint::new(field, Code::InvalidRequest, message).with(remedies));
    }

    /// The value, or the usual one where none is given or it is out of bounds.
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

    /// The text without blanks around it; `None` where nothing is left.
    pub(super) fn text(&mut self, field: &str, given: Option<&str>, longest: usize) -> Option<String> {
        let text = given.map(str::trim).filter(|text| !text.is_empty())?;
        let length = text.chars().count();
        if length > longest {
            self.add(field, format!("may have at most {longest} characters; this has {length}"));
        }
        Some(text.to_owned())
    }
}
