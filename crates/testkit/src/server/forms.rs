//! Recognises forms that a prompt describes in prose, for models without schemas.

use serde_json::{Value, json};

use super::request::Asked;

/// A form, and the phrases that identify its prompt.
struct Form {
    known_by: &'static str,
    schema: fn(&str) -> Value,
}

const FORMS: &[Form] = &[
    Form { known_by: VOTE, schema: ballot },
    Form { known_by: "`shouldContinue`", schema: assessment },
    Form { known_by: "`areasOfAgreement`", schema: verdict },
    Form { known_by: "`positions`", schema: casting },
];

/// The words before the options of a vote.
const VOTE: &str = "alone and in secret. Choose exactly one:";

/// The schema of the form that the prompt describes, if any.
pub(super) fn schema(prompt: &str) -> Option<Value> {
    let form = FORMS.iter().find(|form| prompt.contains(form.known_by))?;
    Some((form.schema)(prompt))
}

/// The answer to the consensus question, which has markers instead of JSON: no after one round, in
/// which the partner has spoken once, and yes later.
pub(super) fn markers(asked: &Asked) -> Option<String> {
    let prompt = asked.last();
    if !prompt.contains("[CONSENSUS_CHECK]") || !prompt.contains("HAS_CONSENSUS") {
        return None;
    }
    let others = asked.messages.iter().filter(|(role, _)| !["assistant", "model"].contains(&role.as_str()));
    let said: usize = others.map(|(_, text)| turns(text)).sum();
    let answer = if said < 2 { "NO" } else { "YES" };
    let model = &asked.model;
    Some(format!(
        "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n80\n[REASONING]\n{model} thinks so.\n\
         [PROPOSED_SOLUTION]\nWhat {model} and its partner worked out together."
    ))
}

/// The turns in a message: the fences with the nonce of the first. Fences with another nonce are
/// part of what was said.
fn turns(message: &str) -> usize {
    let nonce = message.split_once("<said-").and_then(|(_, rest)| rest.split_once(' '));
    nonce.map_or(0, |(nonce, _)| message.matches(&format!("<said-{nonce} by=")).count())
}

fn ballot(prompt: &str) -> Value {
    let after = prompt.split(VOTE).nth(1).unwrap_or_default();
    let lines = after.lines().skip_while(|it| it.trim().is_empty()).take_while(|it| !it.trim().is_empty());
    let options: Vec<String> = lines.map(|line| line.trim_start_matches("- ").trim().to_owned()).collect();
    object(&[
        ("choice", names(&options)),
        ("confidence", json!({ "type": "number", "minimum": 0, "maximum": 1 })),
        ("reasoning", text()),
    ])
}

fn assessment(prompt: &str) -> Value {
    let debaters = listed(prompt, "Judge ", " in this round");
    let of_ten = || json!({ "type": "number", "minimum": 0, "maximum": 10 });
    let criteria =
        ["logic", "evidence", "engagement", "novelty", "clarity", "relevance"].map(|name| (name, of_ten()));
    let entry = object(&[
        ("participant", names(&debaters)),
        ("strengths", list(&text())),
        ("weaknesses", list(&text())),
        ("score", of_ten()),
        ("criteria", object(&criteria)),
    ]);
    let flags = ["repetitive", "drifting", "diminishingReturns", "convergenceReached"];
    object(&[
        ("shouldContinue", flag()),
        ("qualityScore", of_ten()),
        ("assessments", list(&entry)),
        ("flags", object(&flags.map(|name| (name, flag())))),
        ("reasoning", text()),
        ("recommendations", text()),
    ])
}

fn verdict(_prompt: &str) -> Value {
    object(&[
        ("summary", text()),
        ("keyPoints", json!({ "type": "array", "items": {}, "maxItems": 0 })),
        ("areasOfAgreement", list(&text())),
        ("areasOfDisagreement", list(&text())),
        ("qualityScore", json!({ "type": "number", "minimum": 0, "maximum": 100 })),
        ("insights", list(&text())),
    ])
}

fn casting(prompt: &str) -> Value {
    let debaters = listed(prompt, "The debaters are ", ". Give out");
    let entry = object(&[("participant", names(&debaters)), ("position", text()), ("persona", text())]);
    object(&[("positions", list(&entry))])
}

/// The mark that a synthesis is to have after its text, and the structure to write after the mark.
pub(super) fn structure(prompt: &str) -> Option<(&str, Value)> {
    let mark = &prompt[prompt.find("[STRUCTURE_")?..];
    let mark = &mark[..=mark.find(']')?];
    Some((
        mark,
        object(&[("claims", list(&text())), ("agreements", list(&text())), ("dissent", list(&text()))]),
    ))
}

/// The names in a list like "ann, bob and cyd" between these words.
fn listed(prompt: &str, after: &str, before: &str) -> Vec<String> {
    let rest = prompt.split(after).nth(1).unwrap_or_default();
    let between = rest.split(before).next().unwrap_or_default();
    let names = between.split(", ").flat_map(|it| it.split(" and ")).map(|it| it.trim().to_owned());
    names.filter(|it| !it.is_empty()).collect()
}

fn object(fields: &[(&str, Value)]) -> Value {
    let properties = fields.iter().map(|(name, schema)| ((*name).to_owned(), schema.clone()));
    let required: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
    let properties = Value::Object(properties.collect());
    json!({ "type": "object", "properties": properties, "required": required })
}

fn list(items: &Value) -> Value {
    json!({ "type": "array", "items": items })
}

fn names(names: &[String]) -> Value {
    json!({ "type": "string", "enum": names })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn flag() -> Value {
    json!({ "type": "boolean" })
}

#[cfg(test)]
mod tests {
    use super::super::instance;
    use super::*;

    #[test]
    fn forms_in_words_are_known_by_their_words() {
        let check = |prompt: &str, expected: Value| {
            assert_eq!(schema(prompt).map(|it| instance::of(&it, "a-1")), Some(expected), "{prompt}");
        };
        check(
            "Vote, alone and in secret. Choose exactly one:\n\n- tabs\n\nAnswer with one JSON object",
            json!({ "choice": "tabs", "confidence": 0.75, "reasoning": "The reasoning, as a-1 sees it." }),
        );
        check(
            "The debaters are ann and bob. Give out… `positions`",
            json!({ "positions": [
                { "participant": "ann", "position": "The position of ann, as a-1 sees it.",
                  "persona": "The persona of ann, as a-1 sees it." },
                { "participant": "bob", "position": "The position of bob, as a-1 sees it.",
                  "persona": "The persona of bob, as a-1 sees it." },
            ] }),
        );
        assert_eq!(schema("What do you think?"), None);
        let assessed = schema("Judge Debater A and Debater B in this round, … `shouldContinue`");
        let assessed = instance::of(&assessed.unwrap(), "a-1");
        assert_eq!(assessed["assessments"].as_array().map(Vec::len), Some(2), "{assessed}");
    }

    #[test]
    fn consensus_is_found_after_the_first_round() {
        let asked = |last: &str| Asked {
            model: "a-1".to_owned(),
            messages: vec![("user".to_owned(), last.to_owned())],
            ..Asked::default()
        };
        let form = "Stop and check …\n[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES or NO";
        let said = |round: u32| format!("<said-7f by=\"b\" round=\"{round}\">\nSo.\n</said-7f>\n");
        let first = markers(&asked(&format!("{}{form}", said(1)))).unwrap();
        assert!(first.starts_with("[CONSENSUS_CHECK]\nHAS_CONSENSUS: NO\n"), "{first}");
        let second = markers(&asked(&format!("{}{}{form}", said(1), said(2)))).unwrap();
        assert!(second.starts_with("[CONSENSUS_CHECK]\nHAS_CONSENSUS: YES\n"), "{second}");
        assert_eq!(markers(&asked("What do you think?")), None);
    }
}
