//! A judge's assessment of one round (D06).

use quorum_core::vocabulary::sample::{Mind, Voice};
use serde_json::{Map, Value, json};

use super::verdict::{quoted, score};

/// The round after which the sample judge ends a debate.
const ENOUGH: u32 = 3;

/// A JSON pointer to the debaters in the schema.
const LABELS: &str = "/properties/assessments/items/properties/participant/enum";

/// A JSON pointer to the criteria in the schema.
const CRITERIA: &str = "/properties/assessments/items/properties/criteria/properties";

pub(crate) fn sample(mind: &dyn Mind, schema: Option<&Value>) -> String {
    let heard = judged(mind, schema);
    let round = mind.round();
    let converged =
        heard.len() > 1 && heard.iter().all(|it| it.holds.is_some() && it.holds == heard[0].holds);
    let goes_on = round < ENOUGH && !converged;
    let mean = heard.iter().map(|it| score(mind, it)).sum::<f64>() / heard.len().max(1) as f64;
    let tired = f64::from(round.saturating_sub(ENOUGH).min(4));
    let (why, advice) =
        if goes_on { ("judge.go_on", "judge.advice.0") } else { ("judge.enough", "judge.advice.1") };
    let assessment = json!({
        "assessments": heard.iter().map(|it| of_one(mind, it, schema)).collect::<Vec<_>>(),
        "reasoning": mind.phrase(why, &[]),
        "flags": {
            "repetitive": round > ENOUGH,
            "drifting": false,
            "diminishingReturns": round > ENOUGH,
            "convergenceReached": converged,
        },
        "qualityScore": ((mean - tired).max(0.0) * 10.0).round() / 10.0,
        "recommendations": mind.phrase(advice, &[]),
        "shouldContinue": goes_on,
    });
    mind.completed(assessment, schema).to_string()
}

/// The debaters to be judged, under the labels that the judge was shown.
fn judged(mind: &dyn Mind, schema: Option<&Value>) -> Vec<Voice> {
    let labels = schema.and_then(|it| it.pointer(LABELS)).and_then(Value::as_array);
    let is_judged = |it: &Voice| labels.is_none_or(|labels| labels.iter().any(|label| *label == it.name));
    mind.others().into_iter().filter(is_judged).collect()
}

fn of_one(mind: &dyn Mind, heard: &Voice, schema: Option<&Value>) -> Value {
    json!({
        "participant": heard.name,
        "strengths": [mind.phrase("judge.strength", &[("quote", &quoted(mind, heard))])],
        "weaknesses": [mind.phrase("judge.weakness", &[])],
        "criteria": criteria(mind, heard, schema),
    })
}

/// A score for each criterion, up to one point above or below the overall score.
fn criteria(mind: &dyn Mind, heard: &Voice, schema: Option<&Value>) -> Map<String, Value> {
    let asked = schema.and_then(|it| it.pointer(CRITERIA)).and_then(Value::as_object);
    let mark = |key: &String| {
        let apart = 2.0 * mind.chance(&format!("{key}/{}", heard.name)) - 1.0;
        let mark = (score(mind, heard) + apart).clamp(0.0, 10.0);
        (key.clone(), json!((mark * 10.0).round() / 10.0))
    };
    asked.into_iter().flat_map(Map::keys).map(mark).collect()
}
