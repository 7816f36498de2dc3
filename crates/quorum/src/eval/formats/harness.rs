//! Samples of lm-evaluation-harness (`--log_samples`): `doc` is the question of its task, `target`
//! the right answer.

use serde_json::Value;

use super::{
    Format, Mistake, choices,
    fields::{Fields, text},
};
use crate::eval::{
    grade::{Amount, Check, Key, Test, Tolerance, final_answer},
    question::Question,
};

pub(super) const FORMAT: Format = Format {
    name: "samples of lm-evaluation-harness",
    is: |it| it.get("doc").is_some_and(Value::is_object) && (it.has("target") || it.has("doc_id")),
    read,
};

/// The fields of tasks that hold the question.
const QUESTIONS: [&str; 11] = [
    "question",
    "query",
    "problem",
    "input",
    "prompt",
    "goal",
    "ctx",
    "sentence",
    "question_stem",
    "context",
    "text",
];

fn read(fields: &Fields<'_>) -> Result<Question, Mistake> {
    let doc = fields.inside("doc").ok_or_else(|| fields.mistake("doc", "must be an object"))?;
    let id = fields.text(&["doc_id", "id"]).or_else(|| doc.text(&["id", "question_id"]));
    let question = doc.text(&QUESTIONS).ok_or_else(|| fields.mistake("doc.question", "is missing"))?;
    let (options, labels) = options(&doc)?;
    let key =
        if options.is_empty() { open_key(fields, &doc)? } else { choice(fields, &doc, &options, &labels)? };
    let context = doc.text(&["passage", "support"]);
    Ok(Question { id: id.unwrap_or_default(), line: fields.line, text: question, context, options, key })
}

/// The options, under the names that the common tasks have for them, with their labels.
fn options(doc: &Fields<'_>) -> Result<(Vec<String>, Vec<String>), Mistake> {
    for name in ["choices", "options", "endings"] {
        if doc.has(name) {
            return choices::options(doc, name);
        }
    }
    if let Some(targets) = doc.inside("mc1_targets") {
        return choices::options(&targets, "choices");
    }
    let pairs = [["sol1", "sol2"], ["option1", "option2"], ["ending0", "ending1"]];
    let pair = pairs.iter().find(|it| it.iter().all(|name| doc.has(name)));
    let texts = pair.map(|it| it.iter().filter_map(|name| doc.text(&[name])).collect());
    let labels = pair.filter(|it| it[0] == "option1").map(|_| vec!["1".to_owned(), "2".to_owned()]);
    Ok((texts.unwrap_or_default(), labels.unwrap_or_default()))
}

/// The right option: the target, or else the task's own field for the answer.
fn choice(
    fields: &Fields<'_>,
    doc: &Fields<'_>,
    options: &[String],
    labels: &[String],
) -> Result<Key, Mistake> {
    let from_doc = || ["answer", "answerKey", "label", "gold"].iter().find_map(|it| doc.get(it));
    let target =
        fields.get("target").or_else(from_doc).ok_or_else(|| fields.mistake("target", "is missing"))?;
    if let Some(written) = target.as_str() {
        // A target is an index as text, a letter, a label, or the option itself.
        let index =
            written.trim().parse::<usize>().ok().filter(|it| labels.is_empty() && *it < options.len());
        let named = choices::named(written, options, labels);
        let place =
            if options.iter().any(|it| it.trim() == written.trim()) { named } else { index.or(named) };
        let strange = || format!("`{}` is none of the {} options", written.trim(), options.len());
        return place.map(Key::Choice).ok_or_else(|| fields.mistake("target", strange()));
    }
    choices::right_option(fields, target, options, labels).map(Key::Choice)
}

/// The answer of an open task: a number if it is one, a text otherwise. Where the target is a whole
/// solution, its announced answer counts.
fn open_key(fields: &Fields<'_>, doc: &Fields<'_>) -> Result<Key, Mistake> {
    let from_doc = || doc.get("answer");
    let target =
        fields.get("target").or_else(from_doc).ok_or_else(|| fields.mistake("target", "is missing"))?;
    let accepted: Option<Vec<String>> = match target {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(value).map(|it| vec![it]),
    };
    let accepted = accepted.filter(|it| it.iter().any(|it| !it.trim().is_empty()));
    let accepted =
        accepted.ok_or_else(|| fields.mistake("target", "must be a text, a number, or a list of them"))?;
    let finals: Vec<&str> = accepted.iter().map(|it| final_answer(it).unwrap_or(it.trim())).collect();
    let amount = Amount::read(finals[0]).filter(|_| {
        finals.len() == 1 && finals[0].starts_with(|it: char| it.is_ascii_digit() || "-−$.".contains(it))
    });
    let test = match amount {
        Some(amount) => Test::Number(amount, Tolerance::EXACT),
        None => Test::Exact(finals.into_iter().map(str::to_owned).collect()),
    };
    Ok(Key::Checks(vec![Check::that(test)]))
}
