//! Our own format: `{id, question, options?, answer, grade?, context?}`.

use serde_json::Value;

use super::{
    Format, Mistake, choices,
    fields::{Fields, text},
    rubric,
};
use crate::eval::{
    grade::{Amount, Check, Contained, Key, Pattern, Test, Tolerance},
    question::Question,
};

pub(super) const FORMAT: Format =
    Format { name: "questions with answers", is: |it| it.has("question"), read };

fn read(fields: &Fields<'_>) -> Result<Question, Mistake> {
    let options = match fields.get("options") {
        None => Vec::new(),
        Some(_) => choices::options(fields, "options")?.0,
    };
    Ok(Question {
        id: fields.text(&["id"]).unwrap_or_default(),
        line: fields.line,
        text: fields.required(&["question"])?,
        context: fields.text(&["context"]),
        key: key(fields, &options)?,
        options,
    })
}

fn key(fields: &Fields<'_>, options: &[String]) -> Result<Key, Mistake> {
    let answer = fields.get("answer").ok_or_else(|| fields.mistake("answer", "is missing"))?;
    let grade = Written::of(fields)?;
    if !options.is_empty() {
        if grade.kind.as_deref().is_some_and(|it| it != "choice") {
            return Err(fields.mistake("grade", "a question with options is graded by its choice"));
        }
        let written = text(answer).ok_or_else(|| fields.mistake("answer", "must be one of the options"))?;
        let place = choices::named(&written, options, &[]);
        let strange = || format!("`{}` is none of the {} options", written.trim(), options.len());
        return place.map(Key::Choice).ok_or_else(|| fields.mistake("answer", strange()));
    }
    let accepted = accepted(fields, answer)?;
    test(fields, &grade, &accepted).map(|it| Key::Checks(vec![Check::that(it)]))
}

/// The accepted answers: one, or a list.
fn accepted(fields: &Fields<'_>, answer: &Value) -> Result<Vec<String>, Mistake> {
    let texts = match answer {
        Value::Array(values) => values.iter().map(text).collect(),
        value => text(value).map(|it| vec![it]),
    };
    let wrong = || fields.mistake("answer", "must be a text, a number, or a list of them");
    let texts: Vec<String> = texts.filter(|it: &Vec<String>| !it.is_empty()).ok_or_else(wrong)?;
    if texts.iter().any(|it| it.trim().is_empty()) {
        return Err(fields.mistake("answer", "is empty"));
    }
    Ok(texts)
}

/// A grade as it is written: a name, or a name with its settings.
struct Written<'r> {
    kind: Option<String>,
    inside: Option<Fields<'r>>,
}

impl<'r> Written<'r> {
    fn of(fields: &Fields<'r>) -> Result<Self, Mistake> {
        match fields.get("grade") {
            None => Ok(Written { kind: None, inside: None }),
            Some(Value::String(kind)) => Ok(Written { kind: Some(kind.trim().to_lowercase()), inside: None }),
            Some(Value::Object(_)) => {
                let inside = fields.inside("grade");
                let kind = inside.as_ref().and_then(|it| it.text(&["kind", "type"]));
                let kind = kind.ok_or_else(|| fields.mistake("grade.kind", "is missing"))?;
                Ok(Written { kind: Some(kind.trim().to_lowercase()), inside })
            }
            Some(_) => Err(fields.mistake("grade", "must be a name, or an object with a kind")),
        }
    }

    fn tolerance(&self, fields: &Fields<'_>) -> Result<Tolerance, Mistake> {
        let Some(written) = self.inside.as_ref().and_then(|it| it.text(&["tolerance"])) else {
            return Ok(Tolerance::EXACT);
        };
        let bare = written.trim().trim_end_matches('%').trim();
        let number: Option<f64> = bare.parse().ok().filter(|it: &f64| it.is_finite() && *it >= 0.0);
        let wrong = || fields.mistake("grade.tolerance", "must be a number like 0.5, or a share like 2%");
        let number = number.ok_or_else(wrong)?;
        let is_share = written.trim().ends_with('%');
        Ok(if is_share { Tolerance::Relative(number / 100.0) } else { Tolerance::Absolute(number) })
    }

    fn is_on(&self, name: &str) -> bool {
        self.inside.as_ref().and_then(|it| it.get(name)).is_some_and(|it| *it == Value::Bool(true))
    }
}

fn test(fields: &Fields<'_>, grade: &Written<'_>, accepted: &[String]) -> Result<Test, Mistake> {
    let is_number = fields.get("answer").is_some_and(Value::is_number);
    let usual = if is_number { "number" } else { "exact" };
    match grade.kind.as_deref().unwrap_or(usual) {
        "exact" => Ok(Test::Exact(accepted.to_vec())),
        "number" => {
            let wrong = || fields.mistake("answer", format!("`{}` is not a number", accepted[0]));
            let amount = Amount::read(&accepted[0]).ok_or_else(wrong)?;
            Ok(Test::Number(amount, grade.tolerance(fields)?))
        }
        "regex" => {
            let pattern = Pattern::new(&accepted[0]).map_err(|it| fields.mistake("answer", it))?;
            Ok(Test::Regex(pattern))
        }
        "contains" => {
            let contained =
                Contained { texts: accepted.to_vec(), any: grade.is_on("any"), cased: grade.is_on("cased") };
            Ok(Test::Contains(contained))
        }
        kind if rubric::NAMES.contains(&kind) => Ok(Test::Rubric(accepted.join("\n"))),
        "choice" => Err(fields.mistake("options", "a choice needs options")),
        other => {
            let message = format!(
                "`{other}` is not one of choice, exact, number, regex, contains, {}",
                rubric::NAMES[0]
            );
            Err(fields.mistake("grade", message))
        }
    }
}
