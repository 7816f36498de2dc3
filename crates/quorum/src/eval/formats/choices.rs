//! Questions with options, as MMLU, GPQA and their relatives write them.

use serde_json::Value;

use super::{
    Format, Mistake,
    fields::{Fields, text},
};
use crate::eval::{grade::Key, letter_of, question::Question};

/// `question, choices[], answer` as an index or a letter.
pub(super) const MMLU: Format = Format {
    name: "questions with choices",
    is: |it| {
        it.has("question") && it.has("choices")
            || it.has("question") && it.has("options") && it.has("answer_index")
    },
    read: |it| listed(it, if it.has("choices") { "choices" } else { "options" }),
};

/// `Question, Correct Answer, Incorrect Answer 1-3`.
pub(super) const GPQA: Format = Format {
    name: "questions with one correct and several incorrect answers",
    is: |it| it.has("Correct Answer") && it.has("Incorrect Answer 1"),
    read: correct_and_incorrect,
};

/// A table with a column for each option: `question, A, B, C, D, answer`.
pub(super) const COLUMNS: Format = Format {
    name: "a table with a column for each option",
    is: |it| it.has("question") && columns(it).len() >= 2,
    read: in_columns,
};

fn listed(fields: &Fields<'_>, name: &str) -> Result<Question, Mistake> {
    let (options, labels) = options(fields, name)?;
    let answer = match fields.get("answer_index") {
        Some(index) => Some(index),
        None => ["answer", "answerKey", "label", "target"].iter().find_map(|it| fields.get(it)),
    };
    let answer = answer.ok_or_else(|| fields.mistake("answer", "is missing"))?;
    let right = right_option(fields, answer, &options, &labels)?;
    question(fields, options, right)
}

/// Options and their labels: a list of texts, or `{"text": […], "label": […]}`.
type Labelled = (Vec<String>, Vec<String>);

pub(super) fn options(fields: &Fields<'_>, name: &str) -> Result<Labelled, Mistake> {
    match fields.get(name) {
        Some(Value::Array(_)) => Ok((fields.list(name)?.unwrap_or_default(), Vec::new())),
        Some(Value::Object(_)) => {
            let inside = fields.inside(name);
            let inside = inside.ok_or_else(|| fields.mistake(name, "must be a list of texts"))?;
            match inside.list("text")? {
                Some(texts) => Ok((texts, inside.list("label")?.unwrap_or_default())),
                None => Ok(by_letter(&inside)),
            }
        }
        // A table has lists as text.
        Some(Value::String(written)) => {
            let list: Option<Vec<String>> = serde_json::from_str(written).ok();
            let wrong = || fields.mistake(name, "must be a list of texts");
            Ok((list.ok_or_else(wrong)?, Vec::new()))
        }
        _ => Err(fields.mistake(name, "must be a list of texts")),
    }
}

/// `{"A": "…", "B": "…"}`
fn by_letter(inside: &Fields<'_>) -> Labelled {
    let named = inside.names().filter_map(|it| Some((inside.text(&[it])?, it.to_owned())));
    named.unzip()
}

/// The place of the right option: an index from 0, a label, a letter, or the text of the option.
pub(super) fn right_option(
    fields: &Fields<'_>,
    answer: &Value,
    options: &[String],
    labels: &[String],
) -> Result<usize, Mistake> {
    let strange = |written: &str| {
        let message = format!("`{}` is none of the {} options", written.trim(), options.len());
        fields.mistake("answer", message)
    };
    if let Some(index) = answer.as_u64() {
        let place = usize::try_from(index).unwrap_or(usize::MAX);
        return if place < options.len() { Ok(place) } else { Err(strange(&index.to_string())) };
    }
    let written =
        text(answer).ok_or_else(|| fields.mistake("answer", "must be an index, a letter or a text"))?;
    named(&written, options, labels).ok_or_else(|| strange(&written))
}

/// The option that an answer in a file names.
pub(super) fn named(written: &str, options: &[String], labels: &[String]) -> Option<usize> {
    let bare = written.trim().trim_matches(['(', ')', '.']);
    let by_label = labels.iter().position(|it| it.trim().eq_ignore_ascii_case(bare));
    let by_text = || options.iter().position(|it| it.trim() == written.trim());
    let by_letter = || {
        let letter = bare.chars().next().filter(|_| bare.len() == 1)?.to_ascii_uppercase();
        (0..options.len()).find(|it| letter_of(*it) == letter)
    };
    let by_case = || options.iter().position(|it| it.trim().eq_ignore_ascii_case(written.trim()));
    let by_index = || bare.parse::<usize>().ok().filter(|it| *it < options.len());
    by_label.or_else(by_text).or_else(by_letter).or_else(by_case).or_else(by_index)
}

fn correct_and_incorrect(fields: &Fields<'_>) -> Result<Question, Mistake> {
    let right = fields.required(&["Correct Answer"])?;
    let wrong = (1..=9).map_while(|it| fields.text(&[&format!("Incorrect Answer {it}")]));
    let options: Vec<String> = std::iter::once(right).chain(wrong).map(|it| it.trim().to_owned()).collect();
    question(fields, options, 0)
}

/// The names of the columns that hold options, in order.
fn columns(fields: &Fields<'_>) -> Vec<String> {
    let styles: [fn(usize) -> String; 4] = [
        |it| letter_of(it).to_string(),
        |it| format!("option_{}", letter_of(it)),
        |it| format!("option{}", it + 1),
        |it| format!("choice{}", it + 1),
    ];
    let named = |style: &fn(usize) -> String| -> Vec<String> {
        (0..10).map(style).take_while(|it| fields.has(it)).collect()
    };
    styles.iter().map(named).max_by_key(Vec::len).unwrap_or_default()
}

fn in_columns(fields: &Fields<'_>) -> Result<Question, Mistake> {
    let options: Vec<String> = columns(fields).iter().filter_map(|it| fields.text(&[it])).collect();
    let answer = fields.required(&["answer", "correct", "correct_answer", "label"])?;
    let right = right_option(fields, &Value::String(answer), &options, &[])?;
    question(fields, options, right)
}

fn question(fields: &Fields<'_>, options: Vec<String>, right: usize) -> Result<Question, Mistake> {
    Ok(Question {
        id: fields.text(&["id", "question_id", "Record ID", "doc_id"]).unwrap_or_default(),
        line: fields.line,
        text: fields.required(&["question"])?,
        context: fields.text(&["context", "passage"]),
        options,
        key: Key::Choice(right),
    })
}
