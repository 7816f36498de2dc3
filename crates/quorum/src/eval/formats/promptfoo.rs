//! Tests of promptfoo: variables and asserts, in YAML, JSON, or a table with `__expected` columns.

use serde_json::Value;

use super::{
    Format, Mistake,
    fields::{Fields, text},
    rubric,
};
use crate::eval::{
    grade::{Check, Contained, Key, Pattern, Test},
    question::Question,
};

pub(super) const FORMAT: Format = Format {
    name: "tests of promptfoo",
    is: |it| it.has("vars") || it.has("assert") || it.names().any(|name| name.starts_with(EXPECTED)),
    read,
};

const EXPECTED: &str = "__expected";

/// The variables that hold the question, best first.
const QUESTIONS: [&str; 8] =
    ["question", "query", "input", "prompt", "topic", "message", "user_input", "text"];

fn read(fields: &Fields<'_>) -> Result<Question, Mistake> {
    if fields.names().any(|it| it.starts_with(EXPECTED)) {
        return of_row(fields);
    }
    let vars = fields.inside("vars").ok_or_else(|| fields.mistake("vars", "must be a map of variables"))?;
    let asserts = match fields.get("assert") {
        Some(Value::Array(asserts)) if !asserts.is_empty() => asserts,
        Some(_) => return Err(fields.mistake("assert", "must be a list of asserts")),
        None => return Err(fields.mistake("assert", "is missing; without it no answer can be graded")),
    };
    let mut checks = Vec::new();
    for (place, assert) in asserts.iter().enumerate() {
        checks.extend(check(fields, place, assert)?);
    }
    if checks.is_empty() {
        return Err(fields.mistake("assert", "none of the asserts is about the answer"));
    }
    finished(fields, &vars, "vars.question", checks)
}

/// A row of a table: columns are variables, those named `__…` settings.
fn of_row(fields: &Fields<'_>) -> Result<Question, Mistake> {
    let expected = fields.names().filter(|it| it.starts_with(EXPECTED));
    let mut checks = Vec::new();
    for name in expected {
        let Some(written) = fields.text(&[name]) else { continue };
        let (kind, value) = split(&written);
        checks.extend(test_of(&kind, &Value::String(value)).map_err(|it| fields.mistake(name, it))?);
    }
    if checks.is_empty() {
        return Err(fields.mistake(EXPECTED, "is empty; without it no answer can be graded"));
    }
    finished(fields, fields, "question", checks)
}

fn finished(
    fields: &Fields<'_>,
    vars: &Fields<'_>,
    named: &str,
    checks: Vec<Check>,
) -> Result<Question, Mistake> {
    let only = || {
        let own: Vec<&str> = vars.names().filter(|it| !it.starts_with("__")).collect();
        match own[..] {
            [only] => vars.text(&[only]),
            _ => None,
        }
    };
    let question = vars.text(&QUESTIONS).or_else(only);
    let text = question.ok_or_else(|| fields.mistake(named, "is missing"))?;
    let id = fields.text(&["id"]).unwrap_or_default();
    let context = vars.text(&["context", "document"]);
    Ok(Question { id, line: fields.line, text, context, options: Vec::new(), key: Key::Checks(checks) })
}

/// `contains: Paris` as the kind and the value; a cell without a kind must be equal.
fn split(written: &str) -> (String, String) {
    let (kind, value) = written.split_once(':').unwrap_or(("", written));
    let bare = kind.trim().split('(').next().unwrap_or_default().to_owned();
    let is_kind = !bare.is_empty() && bare.chars().all(|it| it.is_ascii_lowercase() || it == '-');
    let known = is_kind && (is_known(&bare) || UNSUPPORTED.contains(&bare.as_str()));
    match (known, bare.as_str()) {
        (true, "grade") => (rubric::NAMES[0].to_owned(), value.trim().to_owned()),
        (true, _) => (bare, value.trim().to_owned()),
        (false, _) => ("equals".to_owned(), written.trim().to_owned()),
    }
}

/// Asserts about something else than the answer: they are ignored.
const ABOUT_OTHERS: [&str; 4] = ["cost", "latency", "perplexity", "perplexity-score"];

/// Asserts that need a program, or a model in another role.
const UNSUPPORTED: &[&str] = &[
    "javascript",
    "python",
    "ruby",
    "webhook",
    "similar",
    "is-json",
    "contains-json",
    "is-xml",
    "contains-xml",
    "is-sql",
    "contains-sql",
    "rouge-n",
    "bleu",
    "levenshtein",
    "classifier",
    "moderation",
    "select-best",
    "fn",
    "eval",
    "file",
    "answer-relevance",
    "context-recall",
    "context-relevance",
    "context-faithfulness",
    "is-valid-openai-tools-call",
    "g-eval",
    "assert-set",
    "is-refusal",
    "guardrails",
    "meteor",
    "pi",
    "word-count",
    "finish-reason",
    "trace-span-count",
];

fn is_known(kind: &str) -> bool {
    let kind = kind.strip_prefix("not-").unwrap_or(kind);
    const KNOWN: [&str; 11] = [
        "equals",
        "contains",
        "icontains",
        "contains-any",
        "contains-all",
        "icontains-any",
        "icontains-all",
        "starts-with",
        "regex",
        "grade",
        "llm-rubric",
    ];
    KNOWN.contains(&kind) || rubric::NAMES.contains(&kind) || ABOUT_OTHERS.contains(&kind)
}

fn check(fields: &Fields<'_>, place: usize, assert: &Value) -> Result<Option<Check>, Mistake> {
    let field = format!("assert[{place}]");
    let kind = assert.get("type").and_then(Value::as_str);
    let kind = kind.ok_or_else(|| fields.mistake(&format!("{field}.type"), "is missing"))?;
    let value = assert.get("value").unwrap_or(&Value::Null);
    test_of(kind, value).map_err(|it| fields.mistake(&format!("{field}.value"), it))
}

fn test_of(kind: &str, value: &Value) -> Result<Option<Check>, String> {
    let (is_negated, kind) = match kind.strip_prefix("not-") {
        Some(kind) => (true, kind),
        None => (false, kind),
    };
    if ABOUT_OTHERS.contains(&kind) {
        return Ok(None);
    }
    let one = || text(value).ok_or_else(|| "must be a text".to_owned());
    let contains = |texts: Vec<String>, any: bool| {
        let cased = !kind.starts_with('i');
        Test::Contains(Contained { texts, any, cased })
    };
    let test = match kind {
        "equals" => Test::Equal(one()?),
        "contains" | "icontains" => contains(vec![one()?], false),
        "contains-any" | "icontains-any" => contains(several(value)?, true),
        "contains-all" | "icontains-all" => contains(several(value)?, false),
        "starts-with" => Test::StartsWith(one()?),
        "regex" => Test::Regex(Pattern::new(&one()?)?),
        kind if rubric::NAMES.contains(&kind) => Test::Rubric(one()?),
        other => return Err(format!("asserts of the type `{other}` are not supported")),
    };
    Ok(Some(Check { is_negated, test }))
}

/// A list of texts, or texts separated by commas.
fn several(value: &Value) -> Result<Vec<String>, String> {
    let texts: Option<Vec<String>> = match value {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(value).map(|it| it.split(',').map(|it| it.trim().to_owned()).collect()),
    };
    texts.filter(|it| !it.is_empty()).ok_or_else(|| "must be a list of texts".to_owned())
}
