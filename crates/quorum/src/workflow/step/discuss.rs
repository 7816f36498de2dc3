//! `discuss`: a discussion with the fields of requirement B03.

use quorum_patterns::workflow::plan::{Action, DiscussAction};
use serde_json::{Map, Value, json};

use super::{StepType, complain};
use crate::{
    request::{Request, check},
    workflow::{
        check::{LONGEST_WRITTEN, Reading},
        given::INPUT,
        node::{Node, Place, Tree},
        reader::Fields,
    },
};

pub(super) const STEP: StepType = StepType {
    name: "discuss",
    summary: "Holds a discussion; the output is its result document",
    schema: || {
        let mut properties = crate::request::fields::schemas(&quorum_patterns::registry());
        for own in OF_THE_RUN.iter().chain(&["follows"]) {
            properties.remove(*own);
        }
        properties.insert("prompt".to_owned(), json!({ "type": "string", "maxLength": LONGEST_WRITTEN }));
        properties.insert("context".to_owned(), json!({ "type": "string", "maxLength": LONGEST_WRITTEN }));
        properties.insert("verbose".to_owned(), json!({ "type": "boolean" }));
        properties.insert("consensus".to_owned(), json!({ "type": ["string", "object"] }));
        json!({ "type": "object", "properties": properties, "additionalProperties": false })
    },
    read,
};

/// The fields of an order that belong to the whole run.
const OF_THE_RUN: &[&str] = &["topic", "preset", "sessionId", "offline", "simulate", "seed"];

fn read(reading: &mut Reading<'_>, config: &Node) -> Option<Action> {
    let mut fields = Fields::of(config, "a discussion's config", &mut reading.wrong)?;
    let prompt = fields.short_text(&["prompt"], LONGEST_WRITTEN, &mut reading.wrong);
    let context = fields.short_text(&["context"], LONGEST_WRITTEN, &mut reading.wrong);
    fields.take_field(&["verbose"], &mut reading.wrong);
    if prompt.as_ref().is_some_and(|it| it.trim().is_empty()) {
        reading.wrong(config.place, "prompt is empty; leave it out to discuss the input");
    }
    let rest = fields.rest();
    let mut order = Map::new();
    for (name, place, node) in &rest {
        match (*name, &node.value) {
            (_, Tree::Null) => {}
            (name, _) if OF_THE_RUN.contains(&name) => {
                reading.wrong(*place, format!("{name} belongs to the run, not to a step"));
            }
            ("follows", _) => {
                reading.wrong(*place, "a step follows no discussion; recall shows it earlier ones");
            }
            ("consensus", Tree::Map(_)) => deciding(&node.plain(), &mut order),
            (name, _) => drop(order.insert(name.to_owned(), node.plain())),
        }
    }
    let place_of = |field: &str| {
        let named = rest.iter().find(|(name, _, _)| *name == field);
        let within = rest.iter().find(|(name, _, _)| *name == "consensus");
        named.or(within).map_or(config.place, |it| it.1)
    };
    let known_question = Some(reading.given.question(prompt.as_deref()));
    let request = Request { known_question, ..self::request(reading, config.place, order)? };
    match check(&request, reading.at.setting) {
        Ok(mut spec) => {
            spec.retry.clone_from(&reading.common.retry);
            if spec.participants.iter().any(|it| it.is_person()) {
                reading.wrong(place_of("participants"), "a step can't wait for a person");
            }
            Some(Action::Discuss(Box::new(DiscussAction { prompt, context, spec })))
        }
        Err(complaints) => {
            for complaint in complaints {
                let place = place_of(&complaint.field);
                complain(reading, place, vec![complaint]);
            }
            None
        }
    }
}

/// The fields of `consensus: {method, …}`, which stand beside each other in an order.
fn deciding(consensus: &Value, order: &mut Map<String, Value>) {
    let Value::Object(fields) = consensus else { return };
    for (name, value) in fields {
        let name = if name == "method" { "consensus" } else { name.as_str() };
        order.insert(name.to_owned(), value.clone());
    }
}

fn request(reading: &mut Reading<'_>, place: Place, mut order: Map<String, Value>) -> Option<Request> {
    // Stands for the question while the rest is checked.
    order.insert("topic".to_owned(), json!(INPUT));
    match serde_json::from_value::<Request>(Value::Object(order)) {
        Ok(request) => {
            let base = reading.at.base;
            Some(Request {
                offline: base.offline,
                seed: base.seed,
                simulate: base.simulate.clone(),
                ..request
            })
        }
        Err(error) => {
            reading.wrong(place, error.to_string());
            None
        }
    }
}
