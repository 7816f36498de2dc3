//! The tables of `docs/api.md` are made from the OpenAPI document. `QUORUM_BLESS=1` writes them.

use std::{fmt::Write, fs, path::PathBuf};

use serde_json::Value;

/// The groups of routes, in the order of the page.
const GROUPS: [&str; 5] = ["discussions", "control", "catalogue", "panel as a model", "server"];

fn document() -> Value {
    quorum_server::openapi(&quorum::built_in(), &[])
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn last(reference: &Value) -> Option<&str> {
    reference.as_str()?.rsplit('/').next()
}

fn routes(document: &Value) -> String {
    let mut page = String::new();
    for group in GROUPS {
        let (first, rest) = group.split_at(1);
        let head = "| method | path | what it does | answer |\n|---|---|---|---|\n";
        write!(page, "### {}{rest}\n\n{head}", first.to_uppercase()).unwrap();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for method in ["get", "post", "delete"] {
                let Some(operation) = methods.get(method).filter(|it| it["tags"][0] == group) else {
                    continue;
                };
                let (name, summary) = (method.to_uppercase(), text(&operation["summary"]));
                writeln!(page, "| {name} | `{path}` | {summary} | {} |", answer(operation)).unwrap();
            }
        }
        page.push('\n');
    }
    page.trim_end().to_owned() + "\n"
}

/// The status of a success, and the type of its body.
fn answer(operation: &Value) -> String {
    let responses = operation["responses"].as_object().unwrap();
    let (status, response) = responses.iter().find(|(status, _)| status.starts_with('2')).unwrap();
    let Some((kind, content)) = response["content"].as_object().and_then(|it| it.iter().next()) else {
        return status.clone();
    };
    let schema = &content["schema"];
    let (list, item) = if schema["type"] == "array" { ("list of ", &schema["items"]) } else { ("", schema) };
    format!("{status} {list}`{}`", last(&item["$ref"]).unwrap_or(kind))
}

fn events(document: &Value) -> String {
    let schemas = document["components"]["schemas"].as_object().unwrap();
    let mut page = "| event | data | when |\n|---|---|---|\n".to_owned();
    for event in schemas["EventName"]["enum"].as_array().unwrap() {
        let is_of = |it: &&Value| it["x-events"].as_array().is_some_and(|all| all.contains(event));
        for (name, schema) in schemas.iter().filter(|(_, it)| is_of(it)) {
            let about = text(&schema["description"]).split(". ").next().unwrap().trim_end_matches('.');
            writeln!(page, "| `{}` | `{name}` | {about} |", text(event)).unwrap();
        }
    }
    page
}

fn result(document: &Value) -> String {
    let schema = &document["components"]["schemas"]["Result"];
    let required = schema["required"].as_array().unwrap();
    let mut page = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for (name, field) in schema["properties"].as_object().unwrap() {
        let absent = if required.iter().any(|it| it == name) { "" } else { " (may be absent)" };
        writeln!(page, "| `{name}`{absent} | {} | {} |", kind(field), text(&field["description"])).unwrap();
    }
    page
}

fn kind(field: &Value) -> String {
    match (last(&field["$ref"]), text(&field["type"])) {
        (Some(name), _) => format!("`{name}`"),
        (None, "array") => format!("list of {}", kind(&field["items"])),
        (None, "object") => format!("by name: {}", kind(&field["additionalProperties"])),
        (None, "string") if field["format"].is_string() => text(&field["format"]).to_owned(),
        (None, other) => other.to_owned(),
    }
}

#[test]
fn the_tables_of_the_api_page_are_those_of_the_openapi_document() {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/api.md");
    let mut page = fs::read_to_string(&file).unwrap();
    let document = document();
    let tables =
        [("routes", routes(&document)), ("events", events(&document)), ("result", result(&document))];
    let is_blessed = std::env::var_os("QUORUM_BLESS").is_some();
    for (name, table) in tables {
        let (open, close) = (format!("<!-- {name} -->\n"), format!("<!-- /{name} -->"));
        let (before, rest) = page.split_once(&open).unwrap();
        let (found, after) = rest.split_once(&close).unwrap();
        if !is_blessed {
            assert_eq!(found, table, "run this test with QUORUM_BLESS=1 to write the table `{name}`");
        }
        page = format!("{before}{open}{table}{close}{after}");
    }
    if is_blessed {
        fs::write(file, page).unwrap();
    }
}
