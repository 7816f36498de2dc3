//! Finds every unknown field of a request that was refused, so that one answer names them all.
//! Deserializers stop at the first.

use std::collections::BTreeMap;

use axum::http::Method;
use quorum::{Complaint, config::nearest, model::error::Code, request::limits::MOST_COMPLAINTS};
use serde_json::Value;

use crate::{body::Fields, problem::Problem};

/// The route that takes orders; changes to an order have the same fields.
const ORDERS: &str = "/api/discussions";

/// The depth to which schemas are followed; ours end before it.
const DEEPEST: usize = 8;

/// The fields that each route knows, taken from the OpenAPI document.
#[derive(Debug)]
pub(crate) struct KnownFields {
    of_routes: BTreeMap<String, BTreeMap<String, Operation>>,
}

/// What one operation knows.
#[derive(Debug)]
struct Operation {
    body: Known,
    parameters: Vec<String>,
}

/// The fields of an object, or of the objects in a list.
#[derive(Debug, Default)]
struct Known {
    fields: BTreeMap<String, Known>,
    /// Whether other fields are refused.
    is_closed: bool,
}

impl KnownFields {
    /// The fields that this document declares.
    pub(crate) fn of(document: &Value) -> Self {
        let operation = |(method, it): (&String, &Value)| {
            let schema = &it["requestBody"]["content"]["application/json"]["schema"];
            let mut body = Known::default();
            body.take_in(schema, &document["components"]["schemas"], DEEPEST);
            let parameters = it["parameters"].as_array().into_iter().flatten();
            let in_query = parameters.filter(|it| it["in"] == "query");
            let parameters = in_query.filter_map(|it| it["name"].as_str().map(str::to_owned)).collect();
            (method.to_uppercase(), Operation { body, parameters })
        };
        let of_route = |methods: &Value| methods.as_object().into_iter().flatten().map(operation).collect();
        let paths = document["paths"].as_object().into_iter().flatten();
        KnownFields { of_routes: paths.map(|(path, methods)| (path.clone(), of_route(methods))).collect() }
    }

    fn operation(&self, method: &Method, path: &str) -> Option<&Operation> {
        self.of_routes.get(path)?.get(method.as_str())
    }

    /// The problem with every unknown field of this body besides.
    pub(crate) fn in_body(&self, problem: Problem, method: &Method, path: &str, body: &[u8]) -> Problem {
        let Some(operation) = self.operation(method, path) else { return problem };
        let Ok(body) = serde_json::from_slice::<Value>(body) else { return problem };
        let mut found = Vec::new();
        operation.body.unknown("", &body, &mut found);
        problem.and(&found)
    }

    /// The problem with every unknown field of this order besides. An order is read in two steps,
    /// and the second stops at the first mistake too.
    pub(crate) fn in_order(&self, problem: Problem, Fields(order): &Fields) -> Problem {
        let Some(operation) = self.operation(&Method::POST, ORDERS) else { return problem };
        let mut found = Vec::new();
        operation.body.unknown("", &Value::Object(order.clone()), &mut found);
        problem.and(&found)
    }

    /// The problem with every unknown parameter besides.
    pub(crate) fn in_query(&self, problem: Problem, method: &Method, path: &str, query: &str) -> Problem {
        let Some(operation) = self.operation(method, path) else { return problem };
        let names = query.split('&').filter_map(|it| it.split('=').next()).filter(|it| !it.is_empty());
        let known = || operation.parameters.iter().map(String::as_str);
        let unknown = names.filter(|it| known().all(|known| known != *it)).take(MOST_COMPLAINTS);
        let found: Vec<Complaint> = unknown.map(|it| complaint(it, it, known())).collect();
        problem.and_parameters(&found)
    }
}

impl Known {
    /// Adds the fields of another schema of the same value.
    fn take_in(&mut self, schema: &Value, definitions: &Value, depth: usize) {
        let Some(deeper) = depth.checked_sub(1) else { return };
        if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
            self.take_in(&definitions[name], definitions, deeper);
        }
        for several in ["allOf", "anyOf", "oneOf"] {
            let alternatives = schema[several].as_array().into_iter().flatten();
            alternatives.for_each(|it| self.take_in(it, definitions, deeper));
        }
        if schema["items"].is_object() {
            self.take_in(&schema["items"], definitions, deeper);
        }
        self.is_closed |= schema["additionalProperties"] == Value::Bool(false);
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            self.fields.entry(name.clone()).or_default().take_in(field, definitions, deeper);
        }
    }

    /// Adds the unknown fields inside this value to `found`.
    fn unknown(&self, place: &str, value: &Value, found: &mut Vec<Complaint>) {
        let inside = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        match value {
            Value::Array(items) => {
                let placed = items.iter().enumerate().take(MOST_COMPLAINTS);
                placed.for_each(|(at, it)| self.unknown(&format!("{place}[{at}]"), it, found));
            }
            Value::Object(fields) => {
                for (name, value) in fields {
                    match self.fields.get(name) {
                        Some(known) => known.unknown(&inside(name), value, found),
                        None if self.is_closed && found.len() < MOST_COMPLAINTS => {
                            let known = self.fields.keys().map(String::as_str);
                            found.push(complaint(&inside(name), name, known));
                        }
                        None => {}
                    }
                }
            }
            _ => {}
        }
    }
}

fn complaint<'k>(field: &str, name: &str, known: impl Iterator<Item = &'k str>) -> Complaint {
    let message = match nearest(name, known) {
        Some(nearest) => format!("unknown field `{name}`; did you mean `{nearest}`?"),
        None => format!("unknown field `{name}`"),
    };
    Complaint::new(field, Code::InvalidRequest, message)
}
