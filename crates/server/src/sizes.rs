//! Size limits of each route's body, taken from the OpenAPI document.

use std::collections::BTreeMap;

use axum::http::Method;
use quorum::{
    Complaint,
    model::error::Code,
    request::size::{Excess, Shape},
};
use serde_json::Value;

use crate::problem::{BODY, Problem};

/// The shape of each route's body, by path and method.
#[derive(Debug)]
pub(crate) struct Sizes {
    of_routes: BTreeMap<String, BTreeMap<String, Shape>>,
    /// The shape for routes that take no body.
    nothing: Shape,
}

impl Sizes {
    /// The shapes that this document declares.
    pub(crate) fn of(document: &Value) -> Sizes {
        let definitions = &document["components"]["schemas"];
        let shape = |(method, operation): (&String, &Value)| {
            let schema = &operation["requestBody"]["content"]["application/json"]["schema"];
            (method.to_uppercase(), Shape::of(schema, definitions))
        };
        let paths = document["paths"].as_object().into_iter().flatten();
        let of_route = |methods: &Value| methods.as_object().into_iter().flatten().map(shape).collect();
        Sizes {
            of_routes: paths.map(|(path, methods)| (path.clone(), of_route(methods))).collect(),
            nothing: Shape::of(&Value::Null, definitions),
        }
    }

    /// Refuses a body that exceeds a limit. Takes less time than parsing it, and keeps nothing of
    /// it.
    pub(crate) fn check(&self, method: &Method, path: &str, body: &[u8]) -> Result<(), Problem> {
        let shape = self.of_routes.get(path).and_then(|it| it.get(method.as_str())).unwrap_or(&self.nothing);
        let excesses = shape.excesses(&mut serde_json::Deserializer::from_slice(body));
        if excesses.is_empty() {
            return Ok(());
        }
        Err(Problem::refused(&excesses.iter().map(complaint).collect::<Vec<_>>()))
    }
}

fn complaint(excess: &Excess) -> Complaint {
    let field = if excess.path.is_empty() { BODY } else { &excess.path };
    Complaint::new(field, Code::InvalidRequest, excess.to_string())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{openapi, routes};

    fn document() -> Value {
        openapi::with_fields(routes::document(), &quorum::built_in(), &[])
    }

    /// Lists the texts, lists and objects below this schema that have no limit.
    fn unbounded(place: &str, schema: &Value, definitions: &Value, found: &mut Vec<String>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
            return unbounded(place, &definitions[name], definitions, found);
        }
        let is = |kind: &str| {
            schema["type"] == kind || schema["type"].as_array().is_some_and(|it| it.contains(&json!(kind)))
        };
        let says = |key: &str| schema.get(key).is_some_and(|it| !it.is_null());
        let text = is("string") && !says("maxLength") && !says("enum") && !says("format");
        let list = is("array") && !says("maxItems");
        let open = schema["additionalProperties"] != json!(false) && !says("maxProperties");
        if text || list || (is("object") && open) {
            found.push(place.to_owned());
        }
        for several in ["oneOf", "anyOf", "allOf"] {
            let alternatives = schema[several].as_array().into_iter().flatten();
            alternatives.for_each(|it| unbounded(place, it, definitions, found));
        }
        for (name, field) in schema["properties"].as_object().into_iter().flatten() {
            unbounded(&format!("{place}.{name}"), field, definitions, found);
        }
        for inner in ["items", "additionalProperties"] {
            if schema[inner].is_object() {
                unbounded(&format!("{place}[]"), &schema[inner], definitions, found);
            }
        }
    }

    #[test]
    fn every_list_and_text_that_can_be_sent_has_a_bound_in_the_document() {
        let document = document();
        let mut found = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                let place = format!("{method} {path}");
                let body = &operation["requestBody"]["content"]["application/json"]["schema"];
                unbounded(&place, body, &document["components"]["schemas"], &mut found);
                for parameter in operation["parameters"].as_array().into_iter().flatten() {
                    let place = format!("{place} {}", parameter["name"]);
                    unbounded(&place, &parameter["schema"], &document["components"]["schemas"], &mut found);
                }
            }
        }
        assert_eq!(found, Vec::<String>::new());
    }

    #[test]
    fn what_the_document_excludes_is_refused_before_it_is_parsed() {
        let sizes = Sizes::of(&document());
        let check = |path: &str, body: &Value, is_fine: bool| {
            let checked = sizes.check(&Method::POST, path, body.to_string().as_bytes());
            assert_eq!(checked.is_ok(), is_fine, "{path} {body}");
        };
        check("/api/discussions", &json!({ "topic": "x?", "providers": ["a", "b"] }), true);
        check("/api/discussions", &json!({ "topic": "x?", "providers": vec!["a"; 4_000] }), false);
        check("/api/discussions/{id}/say", &json!({ "text": "a".repeat(100_000) }), true);
        check("/api/discussions/{id}/say", &json!({ "text": "a".repeat(100_001) }), false);
        check("/api/discussions/{id}/pause", &json!({ "text": "a".repeat(129) }), false);
    }
}
