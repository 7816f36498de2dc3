//! Decodes a file, and finds what is not plain UTF-8 with Unix line ends: a byte-order mark,
//! Windows line ends, bytes that are not UTF-8. Such a file was often damaged on its way, so that
//! answers would be graded against something else than what was meant.

use std::borrow::Cow;

use serde_json::Value;

use super::{Mistake, records::Record};

const MARK: &[u8] = b"\xef\xbb\xbf";

/// The replacement for bytes that are not UTF-8.
const REPLACED: char = char::REPLACEMENT_CHARACTER;

/// A decoded file.
pub(super) struct Decoded<'b> {
    /// Its text, without a byte-order mark.
    pub(super) text: Cow<'b, str>,
    /// The lines with something wrong, in order.
    wrong: Vec<(usize, Wrong)>,
}

/// A flaw of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    ByteOrderMark,
    Bytes,
    LineEnd,
}

impl Wrong {
    fn mistake(self, line: usize, field: Option<&str>) -> Mistake {
        match self {
            Wrong::ByteOrderMark => {
                Mistake::new(line, "byte-order mark", "save the file as UTF-8 without one")
            }
            Wrong::Bytes => Mistake::new(line, field.unwrap_or("encoding"), "is not UTF-8"),
            Wrong::LineEnd => {
                Mistake::new(line, "line end", "is that of Windows (CR LF); save the file with LF")
            }
        }
    }
}

pub(super) fn decoded(bytes: &[u8]) -> Decoded<'_> {
    let rest = bytes.strip_prefix(MARK).unwrap_or(bytes);
    let mut wrong = Vec::new();
    if rest.len() < bytes.len() {
        wrong.push((1, Wrong::ByteOrderMark));
    }
    for (line, written) in (1..).zip(rest.split_inclusive(|it| *it == b'\n')) {
        if std::str::from_utf8(written).is_err() {
            wrong.push((line, Wrong::Bytes));
        }
        if written.ends_with(b"\r\n") {
            wrong.push((line, Wrong::LineEnd));
        }
    }
    Decoded { text: String::from_utf8_lossy(rest), wrong }
}

impl Decoded<'_> {
    /// Removes the records that have such lines. Lines outside of any record, as a header, are
    /// mistakes of their own.
    pub(super) fn sorted_out(&self, records: &mut Vec<Record>) -> Vec<Mistake> {
        let mistakes = self.wrong.iter().map(|(line, wrong)| {
            let record = records.iter().rfind(|it| it.line <= *line);
            wrong.mistake(*line, record.and_then(damaged))
        });
        let mistakes: Vec<Mistake> = mistakes.collect();
        let next: Vec<usize> = records.iter().skip(1).map(|it| it.line).chain([usize::MAX]).collect();
        let mut next = next.into_iter();
        records.retain(|record| {
            let end = next.next().unwrap_or(usize::MAX);
            !self.wrong.iter().any(|(line, _)| (record.line..end).contains(line))
        });
        mistakes
    }
}

/// The field of a record that has bytes which are not UTF-8.
fn damaged(record: &Record) -> Option<&str> {
    let found = record.fields.iter().find(|(name, value)| name.contains(REPLACED) || has_damage(value));
    found.map(|it| it.0.as_str())
}

fn has_damage(value: &Value) -> bool {
    match value {
        Value::String(text) => text.contains(REPLACED),
        Value::Array(values) => values.iter().any(has_damage),
        Value::Object(fields) => fields.iter().any(|it| it.0.contains(REPLACED) || has_damage(it.1)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}
