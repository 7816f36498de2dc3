//! Compares answers with the OpenAPI document: the status is described for the operation, and the
//! body has every required field, no undeclared one, and values of the declared types.

use std::{collections::BTreeMap, sync::LazyLock};

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{FAST, TestServer, answered, events, order};

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| quorum_server::openapi(&quorum::built_in(), &[]));

/// How many events of one name are checked in a stream.
const MOST_OF_A_NAME: usize = 2;

/// Panics if the document does not describe this answer. Paths without an operation are not in it.
pub(crate) fn check(method: &Method, path: &str, status: StatusCode, kind: &str, body: &str) {
    let Some(operation) = operation(method, path) else { return };
    let responses = &operation["responses"];
    let described = responses.get(status.as_str());
    let described = described.unwrap_or_else(|| panic!("{method} {path}: {status} is not described: {body}"));
    let kind = kind.split(';').next().unwrap_or_default();
    let schema = &described["content"][kind]["schema"];
    if schema.is_null() || method == Method::HEAD {
        return;
    }
    let found = match kind {
        "text/event-stream" if !path.starts_with("/v1/") => of_stream(body),
        _ if kind.ends_with("json") => {
            let value =
                serde_json::from_str(body).unwrap_or_else(|_| panic!("{method} {path}: no JSON: {body}"));
            mistakes("", &value, schema)
        }
        _ => Vec::new(),
    };
    assert_eq!(found, Vec::<String>::new(), "{method} {path} {status}: {body}");
}

fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    let path = path.split('?').next().unwrap_or_default();
    let name = if method == Method::HEAD { "get".to_owned() } else { method.as_str().to_lowercase() };
    let paths = DOCUMENT["paths"].as_object()?;
    let exact = paths.get(path);
    let found = exact.or_else(|| paths.iter().find(|(template, _)| fits(template, path)).map(|it| it.1));
    found?.get(&name)
}

/// Whether a path is an instance of this template.
fn fits(template: &str, path: &str) -> bool {
    let (parts, given): (Vec<&str>, Vec<&str>) = (template.split('/').collect(), path.split('/').collect());
    parts.len() == given.len()
        && parts.iter().zip(given).all(|(part, it)| *part == it || part.starts_with('{'))
}

/// What is wrong with the first events of each name. Tests with many watchers share a thread with
/// their server, so a long stream is not checked as a whole.
fn of_stream(body: &str) -> Vec<String> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    let blocks = body.split("\n\n").filter(|block| {
        let name = block.lines().find_map(|it| it.strip_prefix("event: ")).unwrap_or_default();
        let count = seen.entry(name).or_default();
        *count += 1;
        !name.is_empty() && *count <= MOST_OF_A_NAME
    });
    let first: Vec<(Option<u64>, String, Value)> =
        blocks.flat_map(|block| events(&format!("{block}\n\n"))).collect();
    first.iter().flat_map(|(_, name, data)| of_event(name, data)).collect()
}

/// What is wrong with the data of an event, by the type that its name belongs to.
fn of_event(name: &str, data: &Value) -> Vec<String> {
    let schemas = DOCUMENT["components"]["schemas"].as_object().unwrap();
    let is_of = |it: &&Value| it["x-events"].as_array().is_some_and(|names| names.contains(&json!(name)));
    let mut of_name = schemas.values().filter(is_of).map(|it| mistakes(name, data, it));
    let first = of_name.next().unwrap_or_else(|| panic!("no type for {name}"));
    if first.is_empty() || of_name.any(|it| it.is_empty()) { Vec::new() } else { first }
}

fn mistakes(place: &str, value: &Value, schema: &Value) -> Vec<String> {
    if let Some(name) = schema["$ref"].as_str().and_then(|it| it.rsplit('/').next()) {
        return mistakes(place, value, &DOCUMENT["components"]["schemas"][name]);
    }
    for several in ["oneOf", "anyOf"] {
        let Some(alternatives) = schema[several].as_array() else { continue };
        let found: Vec<Vec<String>> = alternatives.iter().map(|it| mistakes(place, value, it)).collect();
        if found.iter().all(|it| !it.is_empty()) {
            return found.concat();
        }
    }
    let all = schema["allOf"].as_array().into_iter().flatten();
    let mut found: Vec<String> = all.flat_map(|it| mistakes(place, value, it)).collect();
    let kinds = &schema["type"];
    let is_kind = kinds.is_null()
        || kinds.as_array().map_or_else(|| is(value, kinds), |all| all.iter().any(|it| is(value, it)));
    if !is_kind {
        found.push(format!("{place}: {value} is not {kinds}"));
    }
    if schema["enum"].as_array().is_some_and(|it| !it.contains(value)) {
        found.push(format!("{place}: {value} is not in the enumeration"));
    }
    match value {
        Value::Array(items) => {
            found.extend(items.iter().flat_map(|it| mistakes(&format!("{place}[]"), it, &schema["items"])));
        }
        Value::Object(fields) if schema["allOf"].is_null() => {
            found.extend(of_fields(place, fields, schema));
        }
        _ => {}
    }
    found
}

fn of_fields(place: &str, fields: &serde_json::Map<String, Value>, schema: &Value) -> Vec<String> {
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let missing = required.filter(|it| !fields.contains_key(*it));
    let mut found: Vec<String> = missing.map(|it| format!("{place}.{it} is missing")).collect();
    let others = &schema["additionalProperties"];
    let is_closed = *others == json!(false) || (others.is_null() && schema["properties"].is_object());
    for (name, value) in fields {
        let place = format!("{place}.{name}");
        match schema["properties"].get(name) {
            Some(schema) => found.extend(mistakes(&place, value, schema)),
            None if is_closed => found.push(format!("{place} is not declared")),
            None if others.is_object() => found.extend(mistakes(&place, value, others)),
            None => {}
        }
    }
    found
}

fn is(value: &Value, kind: &Value) -> bool {
    match kind.as_str().unwrap_or_default() {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("no type {other}"),
    }
}

#[test]
fn no_answer_of_ours_is_a_free_form_object() {
    let mut found = Vec::new();
    for (path, methods) in DOCUMENT["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            for (status, response) in operation["responses"].as_object().unwrap() {
                for (kind, content) in response["content"].as_object().into_iter().flatten() {
                    let schema = &content["schema"];
                    let item = if schema["type"] == "array" { &schema["items"] } else { schema };
                    let is_named = item["$ref"].is_string();
                    if kind.ends_with("json") && !is_named {
                        found.push(format!("{method} {path} {status}"));
                    }
                }
            }
        }
    }
    // The document does not describe itself.
    assert_eq!(found, ["get /openapi.json 200"]);
}

#[tokio::test]
async fn every_kind_of_answer_is_as_described() {
    let server = TestServer::open(&format!("{FAST}[presets.quick]\nrounds = 1\n")).await;
    for pattern in server.get("/api/patterns").await.json().as_array().unwrap() {
        let name = pattern["name"].as_str().unwrap();
        let order = json!({ "topic": "Tabs or spaces?", "pattern": name, "background": "a team" });
        server.post("/api/plan", &order).await;
        let started = server.post("/api/discussions", &order).await;
        if started.status != 202 {
            continue;
        }
        let at = format!("/api/discussions/{}", started.id());
        let stream = server.request("GET", &format!("{at}/events?view=all"));
        let mut stream = crate::harness::Stream::open(stream).await;
        let told = stream
            .until(|it| it.contains("person_awaited") || it.contains("event: discussion-completed"))
            .await;
        let whole = &told[..told.rfind("\n\n").unwrap_or_default()];
        let found: Vec<String> =
            events(whole).iter().flat_map(|(_, name, data)| of_event(name, data)).collect();
        assert_eq!(found, Vec::<String>::new());
        for tail in ["", "/state", "/result", "/export?format=json"] {
            assert_eq!(server.get(&format!("{at}{tail}")).await.status, 200);
        }
    }
    for path in [
        "/api/discussions",
        "/api/providers",
        "/api/agents",
        "/api/consensus-methods",
        "/api/window-strategies",
        "/api/detectors",
        "/api/presets",
        "/api/sessions",
        "/api/calibration",
        "/api/audit",
        "/api/spending",
        "/healthz",
        "/readyz",
        "/v1/models",
        "/v1/models/quorum",
        "/metrics",
        "/docs",
    ] {
        assert_eq!(server.get(path).await.status, 200, "{path}");
    }
    let id = server.held(&order()).await;
    let gone = answered(server.request("DELETE", &format!("/api/discussions/{id}"))).await;
    assert_eq!(gone.status, 204);
}
