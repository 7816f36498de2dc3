//! Reads files of questions in the formats that people have: our own, those of MMLU and GPQA,
//! samples of lm-evaluation-harness, tests of promptfoo, and tables.
//!
//! The first record sets the format. A file is read completely before anything is asked, and every
//! mistake names its line and its field.

mod choices;
mod csv;
mod encoding;
mod fields;
mod harness;
mod own;
mod promptfoo;
mod records;
mod rubric;

use std::{collections::BTreeMap, fmt};

use serde::Serialize;

use self::{fields::Fields, records::Record};
use super::question::{Question, length};
use crate::{
    request::limits::{LONGEST_CONTEXT, LONGEST_TOPIC, OPTIONS},
    text::count,
};

/// The largest file, in bytes.
pub const LARGEST_FILE: usize = 64 * 1024 * 1024;

/// How many mistakes are reported at once.
const MOST_REPORTED: usize = 20;

/// The questions of a file.
#[derive(Debug, Clone, PartialEq)]
pub struct Questions {
    /// The questions, in the order of the file.
    pub questions: Vec<Question>,
    /// The name of the format.
    pub format: &'static str,
    /// The records that were left out.
    pub skipped: Vec<Mistake>,
}

/// Something wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Mistake {
    /// The line where the record begins, from 1.
    pub line: usize,
    /// The field.
    pub field: String,
    /// What is wrong with it.
    pub message: String,
}

impl Mistake {
    fn new(line: usize, field: &str, message: impl Into<String>) -> Mistake {
        Mistake { line, field: field.to_owned(), message: message.into() }
    }
}

impl fmt::Display for Mistake {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.field.as_str() {
            "" => write!(f, "line {}: {}", self.line, self.message),
            field => write!(f, "line {}, {field}: {}", self.line, self.message),
        }
    }
}

/// The treatment of a record that can't be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadRecords {
    /// The file is refused.
    Refuse,
    /// They are left out and counted.
    Skip,
}

/// A format of records.
struct Format {
    name: &'static str,
    /// Whether the first record is of this format.
    is: fn(&Fields<'_>) -> bool,
    /// Reads a record.
    read: fn(&Fields<'_>) -> Result<Question, Mistake>,
}

/// The formats, the most particular first.
const FORMATS: &[Format] =
    &[harness::FORMAT, promptfoo::FORMAT, choices::GPQA, choices::MMLU, choices::COLUMNS, own::FORMAT];

/// Reads the questions of a file. Its ending says whether it is JSON, JSON lines, YAML, CSV or TSV.
pub fn read(name: &str, bytes: &[u8], bad: BadRecords) -> Result<Questions, Vec<Mistake>> {
    check_size(bytes).map_err(|it| vec![it])?;
    let decoded = encoding::decoded(bytes);
    let (mut records, mut mistakes) = records::of(name, &decoded.text).map_err(|it| vec![it])?;
    mistakes.extend(decoded.sorted_out(&mut records));
    let Some(first) = records.first() else {
        if mistakes.is_empty() {
            mistakes.push(Mistake::new(1, "", "there is no question in this file"));
        }
        mistakes.sort_by_key(|it| it.line);
        return Err(shortened(mistakes));
    };
    let fields = Fields::of(first);
    let Some(format) = FORMATS.iter().find(|it| (it.is)(&fields)) else {
        return Err(vec![unknown(first)]);
    };
    let mut questions = Vec::new();
    for (place, record) in records.iter().enumerate() {
        let read = read_record(format, record).and_then(checked);
        match read {
            Ok(question) => questions.push(named(question, place)),
            Err(mistake) => mistakes.push(mistake),
        }
    }
    mistakes.extend(duplicates(&mut questions));
    mistakes.sort_by_key(|it| it.line);
    let is_empty = questions.is_empty();
    if is_empty || bad == BadRecords::Refuse && !mistakes.is_empty() {
        return Err(shortened(mistakes));
    }
    Ok(Questions { questions, format: format.name, skipped: mistakes })
}

fn check_size(bytes: &[u8]) -> Result<(), Mistake> {
    if bytes.len() <= LARGEST_FILE {
        return Ok(());
    }
    let (has, most) = (bytes.len().div_ceil(1_000_000), LARGEST_FILE / 1_000_000);
    Err(Mistake::new(1, "", format!("the file has {has} MB; at most {most} MB are read")))
}

fn unknown(first: &Record) -> Mistake {
    let names: Vec<&str> = first.fields.keys().map(String::as_str).take(12).collect();
    let there = if names.is_empty() { "no field".to_owned() } else { names.join(", ") };
    let message = format!(
        "the format is not known: a record has question and answer, or the fields of MMLU, GPQA, \
         lm-evaluation-harness or promptfoo; this has {there}"
    );
    Mistake::new(first.line, "question", message)
}

/// Reads a record that must be of the same format as the first.
fn read_record(format: &Format, record: &Record) -> Result<Question, Mistake> {
    let fields = Fields::of(record);
    if (format.is)(&fields) {
        return (format.read)(&fields);
    }
    let other = FORMATS.iter().find(|it| (it.is)(&fields)).map_or("no known format", |it| it.name);
    let message = format!("this is {other}, while the file began with {}", format.name);
    Err(Mistake::new(record.line, "", message))
}

/// The limits that apply to every format.
fn checked(question: Question) -> Result<Question, Mistake> {
    let wrong = |field: &str, message: String| Err(Mistake::new(question.line, field, message));
    let options = question.options.len();
    if question.text.trim().is_empty() {
        return wrong("question", "is empty".to_owned());
    }
    if options > 0 && !OPTIONS.contains(&options) {
        let (least, most) = (OPTIONS.start(), OPTIONS.end());
        return wrong("options", format!("there must be {least} to {most} options, not {options}"));
    }
    if let Some(empty) = question.options.iter().position(|it| it.trim().is_empty()) {
        return wrong("options", format!("option {} is empty", empty + 1));
    }
    let same = |(place, it): (usize, &String)| {
        question.options[..place].iter().any(|before| before.trim() == it.trim()).then(|| it.clone())
    };
    if let Some(same) = question.options.iter().enumerate().find_map(same) {
        return wrong("options", format!("the option `{}` is given twice", same.trim()));
    }
    let characters = length(&question.text, &question.options);
    if characters > LONGEST_TOPIC {
        let message = format!("with its options it has {characters} characters; {LONGEST_TOPIC} are allowed");
        return wrong("question", message);
    }
    let context = question.context.as_deref().map_or(0, |it| it.chars().count());
    if context > LONGEST_CONTEXT {
        return wrong("context", format!("it has {context} characters; {LONGEST_CONTEXT} are allowed"));
    }
    Ok(question)
}

/// A question without an id is named by its place.
fn named(question: Question, place: usize) -> Question {
    let id = if question.id.is_empty() { format!("q{}", place + 1) } else { question.id };
    Question { id, ..question }
}

/// Removes questions whose id occurred before.
fn duplicates(questions: &mut Vec<Question>) -> Vec<Mistake> {
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    let mut mistakes = Vec::new();
    questions.retain(|it| match first.get(&it.id) {
        Some(line) => {
            let message = format!("`{}` is also the id of the question in line {line}", it.id);
            mistakes.push(Mistake::new(it.line, "id", message));
            false
        }
        None => {
            first.insert(it.id.clone(), it.line);
            true
        }
    });
    mistakes
}

fn shortened(mut mistakes: Vec<Mistake>) -> Vec<Mistake> {
    let more = mistakes.len().saturating_sub(MOST_REPORTED);
    mistakes.truncate(MOST_REPORTED);
    if more > 0 {
        let line = mistakes.last().map_or(1, |it| it.line);
        mistakes.push(Mistake::new(
            line,
            "",
            format!("… and {} after this line", count(more as u64, "more mistake")),
        ));
    }
    mistakes
}

#[cfg(test)]
mod tests;
