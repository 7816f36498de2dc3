//! A judge's look at one round (D06).

use quorum_core::call::Shape;
use serde_json::{Map, Value, json};

use super::{
    super::{mind::Mind, table::Heard},
    filler::completed,
    verdict::{quoted, score},
};

/// After this many rounds a judge has mostly heard it all.
const ENOUGH: u32 = 3;

/// Where the form says whom it is about.
const LABELS: &str = "/properties/assessments/items/properties/participant/enum";

/// Where the form says what each is marked for.
const CRITERIA: &str = "/properties/assessments/items/properties/criteria/properties";

pub(super) fn assessment(mind: &Mind<'_>, shape: &Shape) -> String {
    let judge = &mind.bank.judge;
    let heard = judged(mind, shape);
    let round = mind.call.round;
    let positions: Vec<Option<usize>> = heard.iter().map(|it| mind.held_by(it)).collect();
    let converged = heard.len() > 1 && positions.iter().all(|it| it.is_some() && *it == positions[0]);
    let goes_on = round < ENOUGH && !converged;
    let mean = heard.iter().map(|it| score(mind, it)).sum::<f64>() / heard.len().max(1) as f64;
    let tired = f64::from(round.saturating_sub(ENOUGH).min(4));
    let assessment = json!({
        "shouldContinue": goes_on,
        "qualityScore": ((mean - tired).max(0.0) * 10.0).round() / 10.0,
        "assessments": heard.iter().map(|it| of_one(mind, it, shape)).collect::<Vec<_>>(),
        "flags": {
            "repetitive": round > ENOUGH,
            "drifting": false,
            "diminishingReturns": round > ENOUGH,
            "convergenceReached": converged,
        },
        "reasoning": if goes_on { &judge.go_on } else { &judge.enough },
        "recommendations": judge.advice.get(usize::from(!goes_on)),
    });
    completed(mind, assessment, shape.schema.as_deref()).to_string()
}

/// Those who are to be judged, under the labels the judge was shown.
fn judged<'m>(mind: &'m Mind<'_>, shape: &Shape) -> Vec<&'m Heard<'m>> {
    let labels = shape.schema.as_deref().and_then(|it| it.pointer(LABELS)).and_then(Value::as_array);
    let is_judged = |it: &&Heard<'_>| labels.is_none_or(|labels| labels.iter().any(|label| label == it.name));
    mind.table.others.iter().filter(is_judged).collect()
}

fn of_one(mind: &Mind<'_>, heard: &Heard<'_>, shape: &Shape) -> Value {
    let judge = &mind.bank.judge;
    json!({
        "participant": heard.name,
        "strengths": [mind.fill(&judge.strength, &[("quote", &quoted(mind, heard))])],
        "weaknesses": [mind.say(&judge.weakness, &[])],
        "score": score(mind, heard),
        "criteria": criteria(mind, heard, shape),
    })
}

/// A mark for each criterion, up to one above or below the score as a whole.
fn criteria(mind: &Mind<'_>, heard: &Heard<'_>, shape: &Shape) -> Map<String, Value> {
    let asked = shape.schema.as_ref().and_then(|it| it.pointer(CRITERIA)).and_then(Value::as_object);
    let mark = |key: &String| {
        let apart = 2.0 * mind.chance(key).of(heard.name).share() - 1.0;
        let mark = (score(mind, heard) + apart).clamp(0.0, 10.0);
        (key.clone(), json!((mark * 10.0).round() / 10.0))
    };
    asked.into_iter().flat_map(Map::keys).map(mark).collect()
}
