//! Splits a file into records with their lines: JSON, JSON lines, YAML, CSV or TSV.

use serde::Deserialize;
use serde_json::{Map, Value};
use serde_saphyr::Spanned;

use super::{Mistake, csv};
use crate::request::written::AnyValue;

/// A record and the line where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Record {
    pub(super) line: usize,
    pub(super) fields: Map<String, Value>,
}

/// The records, and the mistakes of those that can't be read.
pub(super) type Records = (Vec<Record>, Vec<Mistake>);

/// The limits of a YAML document: an alias bomb is refused before it grows.
const MOST_NODES: usize = 2_000_000;
const DEEPEST: usize = 64;

/// The fields of a document that hold its records.
const LISTS: [&str; 5] = ["questions", "tests", "data", "rows", "instances"];

pub(super) fn of(name: &str, text: &str) -> Result<Records, Mistake> {
    let ending = name.rsplit_once('.').map(|it| it.1.to_lowercase()).unwrap_or_default();
    match ending.as_str() {
        "csv" => csv::records(text, ','),
        "tsv" => csv::records(text, '\t'),
        "yaml" | "yml" => yaml(text),
        "jsonl" | "ndjson" => Ok(json_lines(text)),
        _ => guessed(text),
    }
}

/// The records of a file whose name says nothing, or `.json`.
fn guessed(text: &str) -> Result<Records, Mistake> {
    let start = text.trim_start();
    match start.chars().next() {
        None => Ok((Vec::new(), Vec::new())),
        Some('[') => json_array(text, text.len() - start.len()),
        Some('{') if is_one_object(start) => json_document(text),
        Some('{') => Ok(json_lines(text)),
        Some(_) if start.lines().next().is_some_and(|it| it.contains('\t')) => csv::records(text, '\t'),
        Some('-') => yaml(text),
        Some(_) if start.lines().next().is_some_and(|it| it.contains(',')) => csv::records(text, ','),
        Some(_) => yaml(text),
    }
}

/// Whether the file is one document, and not a record in each line.
fn is_one_object(text: &str) -> bool {
    let mut lines = text.lines().filter(|it| !it.trim().is_empty());
    let first = lines.next().unwrap_or_default();
    lines.next().is_none() || serde_json::from_str::<AnyValue>(first).is_err()
}

fn json_lines(text: &str) -> Records {
    let (mut records, mut mistakes) = (Vec::new(), Vec::new());
    for (line, written) in (1..).zip(text.lines()).filter(|it| !it.1.trim().is_empty()) {
        match serde_json::from_str::<AnyValue>(written) {
            Ok(AnyValue(Value::Object(fields))) => records.push(Record { line, fields }),
            Ok(_) => mistakes.push(Mistake::new(line, "", "is not a JSON object")),
            Err(error) => mistakes.push(Mistake::new(line, "", message_of(&error))),
        }
    }
    (records, mistakes)
}

/// What is wrong, without the place, which is given anyway.
fn message_of(error: &serde_json::Error) -> String {
    let message = error.to_string();
    format!("is not JSON: {}", message.split(" at line ").next().unwrap_or_default())
}

/// A list whose elements are read one by one, so that each has its line.
fn json_array(text: &str, start: usize) -> Result<Records, Mistake> {
    let (mut records, mut at) = (Vec::new(), start + 1);
    let mut line = 1 + newlines(&text[..at]);
    loop {
        let skipped = text[at..].len() - text[at..].trim_start_matches([' ', '\n', '\r', '\t', ',']).len();
        line += newlines(&text[at..at + skipped]);
        at += skipped;
        if at >= text.len() {
            return Err(Mistake::new(line, "", "is not JSON: the list is not closed"));
        }
        if text[at..].starts_with(']') {
            return Ok((records, Vec::new()));
        }
        let mut read = serde_json::Deserializer::from_str(&text[at..]).into_iter::<AnyValue>();
        let value = read.next().unwrap_or(Ok(AnyValue(Value::Null)));
        let AnyValue(value) =
            value.map_err(|error| Mistake::new(line + error.line() - 1, "", message_of(&error)))?;
        let end = at + read.byte_offset();
        let Value::Object(fields) = value else {
            return Err(Mistake::new(line, "", "is not a JSON object"));
        };
        records.push(Record { line, fields: row_of(fields) });
        line += newlines(&text[at..end]);
        at = end;
    }
}

fn newlines(text: &str) -> usize {
    text.bytes().filter(|it| *it == b'\n').count()
}

/// An object that holds the list of records, or is the only one.
fn json_document(text: &str) -> Result<Records, Mistake> {
    let read = serde_json::from_str::<AnyValue>(text);
    let AnyValue(value) = read.map_err(|error| Mistake::new(error.line(), "", message_of(&error)))?;
    let Value::Object(fields) = value else { return Err(Mistake::new(1, "", "is not a JSON object")) };
    let Some((name, list)) = LISTS.iter().find_map(|it| Some((*it, fields.get(*it)?.as_array()?))) else {
        return Ok((vec![Record { line: 1, fields }], Vec::new()));
    };
    // The lines of the elements are found by reading the list again in its place.
    let at = text.find(&format!("\"{name}\"")).and_then(|at| Some(at + text[at..].find('[')?));
    match at.map(|at| json_array(text, at)) {
        Some(Ok(records)) => Ok(records),
        _ => Ok((of_values(list), Vec::new())),
    }
}

fn of_values(list: &[Value]) -> Vec<Record> {
    let objects = list.iter().filter_map(Value::as_object).cloned();
    objects.map(|fields| Record { line: 1, fields: row_of(fields) }).collect()
}

/// The row inside a record of a dataset viewer: `{"row_idx": 0, "row": {…}}`.
fn row_of(mut fields: Map<String, Value>) -> Map<String, Value> {
    match fields.get_mut("row").map(Value::take) {
        Some(Value::Object(row)) if fields.contains_key("row_idx") => row,
        Some(other) => {
            fields.insert("row".to_owned(), other);
            fields
        }
        None => fields,
    }
}

fn yaml(text: &str) -> Result<Records, Mistake> {
    let begins =
        text.lines().find(|it| !it.trim().is_empty() && !it.starts_with(['#', '%']) && it.trim() != "---");
    let is_list = begins.is_some_and(|it| it.starts_with('-') || it.starts_with('['));
    let values: Vec<Spanned<AnyValue>> = if is_list { parsed(text)? } else { tests_of(text)? };
    let (mut records, mut mistakes) = (Vec::new(), Vec::new());
    for it in values {
        let line = it.referenced.line() as usize;
        match it.value {
            AnyValue(Value::Object(fields)) => records.push(Record { line, fields }),
            AnyValue(_) => mistakes.push(Mistake::new(line, "", "is not a map of names and values")),
        }
    }
    Ok((records, mistakes))
}

fn tests_of(text: &str) -> Result<Vec<Spanned<AnyValue>>, Mistake> {
    let whole: AnyValue = parsed(text)?;
    match whole.0.get("tests") {
        Some(Value::String(file)) => {
            let message = format!("the tests are in {file}; give that file instead");
            Err(Mistake::new(1, "tests", message))
        }
        Some(_) => Ok(parsed::<TestsDocument>(text)?.tests),
        None if whole.0.get("questions").is_some() => Ok(parsed::<QuestionsDocument>(text)?.questions),
        None => Err(Mistake::new(1, "tests", "there is no list of tests or questions in this document")),
    }
}

#[derive(Deserialize)]
struct TestsDocument {
    tests: Vec<Spanned<AnyValue>>,
}

#[derive(Deserialize)]
struct QuestionsDocument {
    questions: Vec<Spanned<AnyValue>>,
}

fn parsed<T: for<'de> Deserialize<'de>>(text: &str) -> Result<T, Mistake> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MOST_NODES, max_depth: DEEPEST },
        with_snippet: false,
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let line = error.location().map_or(1, |it| it.line() as usize);
        let message = error.to_string().lines().next().unwrap_or_default().to_owned();
        Mistake::new(line, "", format!("is not YAML: {message}"))
    })
}
