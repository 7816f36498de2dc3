//! The form of an estimate: its schema, its reader, and the replies of simulated voices.

use quorum::{
    floor::reading::{Misread, Reminder, Static},
    vocabulary::{form::Form, sample::Mind, view::View},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// One participant's estimate.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Estimate {
    /// The reasoning, before the number: a model writes the properties in this order.
    pub(crate) reasoning: String,
    pub(crate) estimate: f64,
    #[serde(default)]
    pub(crate) unit: String,
}

pub(crate) static FORM: Form = Form::new("estimate")
    .tell(|value| {
        let Estimate { estimate, unit, .. } = serde_json::from_value(value.clone()).ok()?;
        Some(format!("estimated {estimate} {unit}").trim_end().to_owned())
    })
    .reason_at("/reasoning")
    .view(View::Numbers { number: "/estimate", unit: Some("/unit") })
    .sample(sample);

pub(crate) static ESTIMATES: Static<Estimate> = Static {
    form: &FORM,
    schema: || Some(schema()),
    read,
    reminders: &[Reminder {
        purpose: "remind1",
        words: "Answer again with one JSON object and nothing else: \
                {\"reasoning\": why, \"estimate\": a number, \"unit\": of what}.",
    }],
};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "reasoning": { "type": "string", "description": "How you come to the number" },
            "estimate": { "type": "number", "description": "The number itself" },
            "unit": { "type": "string", "description": "What is counted, in one or two words" },
        },
        "required": ["reasoning", "estimate", "unit"],
        "additionalProperties": false,
    })
}

/// Reads the object between the first and the last brace; models like to add prose around it.
fn read(reply: &str) -> Result<Estimate, Misread> {
    let (start, end) =
        reply.find('{').zip(reply.rfind('}')).ok_or(Misread::new("there is no JSON object"))?;
    let object = reply.get(start..=end).unwrap_or_default();
    let read: Estimate = serde_json::from_str(object)
        .map_err(|error| Misread::new(format!("its JSON does not fit: {error}")))?;
    if read.estimate.is_finite() { Ok(read) } else { Err(Misread::new("the estimate is not a number")) }
}

/// A simulated reply. Estimates start far apart and converge with every round.
fn sample(mind: &dyn Mind, _: Option<&Value>) -> String {
    let apart = mind.conviction("estimate") - 0.5;
    let estimate = (100.0 + 80.0 * apart / f64::from(mind.round().max(1)).powi(2)).round();
    json!({ "reasoning": mind.argument(), "estimate": estimate, "unit": "units" }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimate_is_read_alone_or_in_prose() {
        let expected = Estimate { reasoning: "so".into(), estimate: 7.0, unit: "days".into() };
        let json = r#"{"reasoning": "so", "estimate": 7, "unit": "days"}"#;
        assert_eq!(read(json), Ok(expected.clone()));
        assert_eq!(read(&format!("I think: {json}.")), Ok(expected));
        assert_eq!(read("seven"), Err(Misread::new("there is no JSON object")));
    }
}
