//! Default replies of scripted voices.

use quorum_core::call::{Call, Message};
use serde_json::{Value, json};

/// The default reply to a call. It shows what the member was shown, so that logs show who saw what.
pub(crate) fn default_text(call: &Call, shape: Option<&str>) -> String {
    let name = &call.participant.name;
    let heard = call.messages.iter().filter(|it| matches!(it, Message::Said { .. })).count();
    match shape {
        Some("ballot") => {
            let schema = call.shape.as_ref().and_then(|shape| shape.schema.clone()).unwrap_or_default();
            let choice = schema.pointer("/properties/choice/enum/0").cloned().unwrap_or_default();
            json!({"choice": choice, "confidence": 0.8, "reasoning": format!("{name} says so")}).to_string()
        }
        Some("consensus-check") => {
            let answer = if call.round < 2 { "NO" } else { "YES" };
            format!(
                "[CONSENSUS_CHECK]\nHAS_CONSENSUS: {answer}\n[CONFIDENCE]\n80\n[REASONING]\n{name} thinks so\n\
                 [PROPOSED_SOLUTION]\nWhat {name} and the other worked out together."
            )
        }
        Some("verdict") => json!({
            "summary": format!("{name} heard {heard}"), "keyPoints": [], "areasOfAgreement": [],
            "areasOfDisagreement": ["all of it"], "qualityScore": 70, "insights": []
        })
        .to_string(),
        Some("assessment") => assessment(call).to_string(),
        Some("casting") => casting(call).to_string(),
        Some("synthesis") => {
            let structure = json!({ "claims": [], "agreements": ["something"], "dissent": [] });
            let mark = call.mark.as_deref().unwrap_or_default();
            format!("{name} made this of {heard} turns\n\n{mark}\n{structure}")
        }
        Some(_) => {
            let shape = call.shape.as_ref();
            shape.map(|it| it.form.stubbed(it.schema.as_deref(), name)).unwrap_or_default()
        }
        None => format!("{name} after {heard}"),
    }
}

/// The text with `<ann>` replaced by the label under which ann is shown in this call, `<first>` and
/// `<second>` by the first labels in the order of display, and `<mark>` by the call's mark.
pub(crate) fn labelled(call: &Call, text: &str) -> String {
    let text = text.replace("<mark>", call.mark.as_deref().unwrap_or_default());
    let in_order = call.labels.labels().into_iter().map(|it| it.1).zip(["<first>", "<second>"]);
    let text = in_order
        .fold(text, |text, (name, place)| text.replace(place, call.labels.label(&name).unwrap_or_default()));
    shown(call).fold(text, |text, (name, label)| text.replace(&format!("<{name}>"), label))
}

/// The participants, with the labels under which this call shows them.
fn shown(call: &Call) -> impl Iterator<Item = (&str, &str)> {
    let names = call.spec.participants.iter().map(|it| it.name.as_str());
    names.filter_map(|name| Some((name, call.labels.label(name)?)))
}

/// A good assessment of everyone, with another round.
fn assessment(call: &Call) -> Value {
    let mut rated = named_in(call, "/properties/assessments/items/properties/participant/enum");
    // Sorted by name, so that a reply does not depend on the labels.
    rated.sort_by_key(|label| shown(call).find(|it| Some(it.1) == label.as_str()).map(|it| it.0.to_owned()));
    let rated = rated.iter().map(|name| {
        let criteria = json!({
            "logic": 7, "evidence": 7, "engagement": 7, "novelty": 7, "clarity": 7, "relevance": 7,
        });
        json!({"participant": name, "strengths": ["clear"], "weaknesses": ["long"], "score": 7, "criteria": criteria})
    });
    json!({
        "shouldContinue": true, "qualityScore": 7, "assessments": rated.collect::<Vec<_>>(),
        "flags": {
            "repetitive": false, "drifting": false, "diminishingReturns": false, "convergenceReached": false,
        },
        "reasoning": "a fair round", "recommendations": "go on",
    })
}

fn casting(call: &Call) -> Value {
    let parts = named_in(call, "/properties/positions/items/properties/participant/enum");
    let parts = parts.iter().map(|label| {
        let label = label.as_str().unwrap_or_default();
        let name = call.labels.name(label).unwrap_or(label);
        json!({"participant": label, "position": format!("what {name} holds"), "persona": format!("one like {name}")})
    });
    json!({ "positions": parts.collect::<Vec<_>>() })
}

fn named_in(call: &Call, pointer: &str) -> Vec<Value> {
    let schema = call.shape.as_ref().and_then(|shape| shape.schema.as_deref());
    schema.and_then(|it| it.pointer(pointer)).and_then(Value::as_array).cloned().unwrap_or_default()
}
