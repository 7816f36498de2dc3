//! The API description as a page for people: every operation with its parameters, its body and what
//! it answers, and every type with its fields. Made from the OpenAPI document; everything on it is
//! escaped.

use std::{collections::BTreeMap, fmt::Write};

use serde_json::{Map, Value};

/// The methods of a path, in the order in which they are shown.
const METHODS: [&str; 3] = ["get", "post", "delete"];

const REFERENCE: &str = "#/components/schemas/";

/// Shown instead of the fields of a type inside another, from this depth on.
const DEEPEST: usize = 3;

/// The operations by topic, and then the types.
pub(super) fn described(document: &Value) -> String {
    let groups = groups(document);
    let mut page = String::from("<nav aria-label=\"Contents\"><ul>\n");
    for name in groups.keys().copied().chain(["types"]) {
        let _ = writeln!(page, "<li><a href=\"#{}\">{}</a></li>", anchor(name), capital(name));
    }
    page.push_str("</ul></nav>\n");
    for (name, operations) in &groups {
        let _ = writeln!(page, "<h2 id=\"{}\">{}</h2>", anchor(name), capital(name));
        operations.iter().for_each(|it| it.write(&mut page, document));
    }
    page + &types(document)
}

/// One method of one path.
struct Operation<'d> {
    method: &'static str,
    path: &'d str,
    about: &'d Value,
}

fn groups(document: &Value) -> BTreeMap<&str, Vec<Operation<'_>>> {
    let mut groups: BTreeMap<&str, Vec<Operation<'_>>> = BTreeMap::new();
    for (path, item) in document["paths"].as_object().into_iter().flatten() {
        for method in METHODS {
            let Some(about) = item.get(method) else { continue };
            let group = about["tags"][0].as_str().unwrap_or("server");
            groups.entry(group).or_default().push(Operation { method, path, about });
        }
    }
    groups
}

impl Operation<'_> {
    fn write(&self, page: &mut String, document: &Value) {
        let Operation { method, path, about } = self;
        let id = about["operationId"].as_str().unwrap_or_default();
        let _ = write!(
            page,
            "<details class=\"operation\" id=\"operation-{}\"><summary><span class=\"method {method}\">{}</span> \
             <code>{}</code> <span>{}</span></summary>\n<div>\n",
            escaped(id),
            method.to_uppercase(),
            escaped(path),
            text(about, "summary")
        );
        paragraphs(page, about["description"].as_str().unwrap_or_default());
        self.parameters(page);
        self.body(page, document);
        self.answers(page);
        page.push_str("</div></details>\n");
    }

    fn parameters(&self, page: &mut String) {
        let given = self.about["parameters"].as_array().map(Vec::as_slice).unwrap_or_default();
        if given.is_empty() {
            return;
        }
        page.push_str("<h3>Parameters</h3>\n<table><thead><tr><th scope=\"col\">Name</th><th scope=\"col\">In</th><th scope=\"col\">Type</th><th scope=\"col\">Meaning</th></tr></thead><tbody>\n");
        for it in given {
            let _ = writeln!(
                page,
                "<tr><td><code>{}</code>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
                text(it, "name"),
                required(it["required"] == true),
                text(it, "in"),
                kind(&it["schema"]),
                text(it, "description")
            );
        }
        page.push_str("</tbody></table>\n");
    }

    fn body(&self, page: &mut String, document: &Value) {
        for (media, content) in contents(&self.about["requestBody"]) {
            let _ = writeln!(page, "<h3>Body <code>{}</code></h3>", escaped(media));
            let named = content["schema"]["$ref"].as_str().map(|it| it.trim_start_matches(REFERENCE));
            let of = named.map_or(&content["schema"], |name| &document["components"]["schemas"][name]);
            schema(page, of);
        }
    }

    fn answers(&self, page: &mut String) {
        page.push_str("<h3>Answers</h3>\n<ul class=\"answers\">\n");
        let all = self.about["responses"].as_object().into_iter().flatten();
        let (good, errors): (Vec<_>, Vec<_>) = all.partition(|(status, _)| status.as_str() < "400");
        for (status, answer) in good {
            let types: Vec<String> = contents(answer)
                .map(|(media, content)| {
                    format!("{} <code>{}</code>", kind(&content["schema"]), escaped(media))
                })
                .collect();
            let _ = writeln!(
                page,
                "<li><b>{}</b> {} {}",
                escaped(status),
                text(answer, "description"),
                types.join(", ")
            );
            if let Some(example) = contents(answer).find_map(|(_, it)| it.get("example")) {
                let _ = write!(page, "<pre tabindex=\"0\">{}</pre>", example_text(example));
            }
            page.push_str("</li>\n");
        }
        page.push_str("</ul>\n");
        let told = |(status, answer): (&String, &Value)| {
            format!("<b>{}</b> {}", escaped(status), text(answer, "description"))
        };
        let told: Vec<String> = errors.into_iter().map(told).collect();
        if !told.is_empty() {
            let _ = writeln!(page, "<p class=\"errors\">Errors: {}.</p>", told.join("; "));
        }
    }
}

/// The media types of a body or an answer.
fn contents(of: &Value) -> impl Iterator<Item = (&String, &Value)> {
    of["content"].as_object().into_iter().flatten()
}

fn types(document: &Value) -> String {
    let mut page = String::from("<h2 id=\"types\">Types</h2>\n");
    for (name, of) in document["components"]["schemas"].as_object().into_iter().flatten() {
        let name = escaped(name);
        let _ = write!(page, "<details class=\"type\"><summary>{name}</summary>\n<div id=\"type-{name}\">\n");
        schema(&mut page, of);
        page.push_str("</div></details>\n");
    }
    page
}

/// A schema: the fields of an object, or its type, with its example.
fn schema(page: &mut String, of: &Value) {
    paragraphs(page, of["description"].as_str().unwrap_or_default());
    match of["properties"].as_object() {
        Some(properties) => fields(page, of, properties),
        None => {
            let _ = writeln!(page, "<p>{}</p>", kind(of));
        }
    }
    if let Some(example) = of.get("example") {
        let _ = writeln!(page, "<pre tabindex=\"0\">{}</pre>", example_text(example));
    }
}

fn fields(page: &mut String, of: &Value, properties: &Map<String, Value>) {
    let needed: Vec<&str> =
        of["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    page.push_str("<table><thead><tr><th scope=\"col\">Field</th><th scope=\"col\">Type</th><th scope=\"col\">Meaning</th></tr></thead><tbody>\n");
    for (name, it) in properties {
        let _ = writeln!(
            page,
            "<tr><td><code>{}</code>{}</td><td>{}</td><td>{}</td></tr>",
            escaped(name),
            required(needed.contains(&name.as_str())),
            kind(it),
            text(it, "description")
        );
    }
    page.push_str("</tbody></table>\n");
}

fn required(is: bool) -> &'static str {
    if is { " <small>required</small>" } else { "" }
}

/// The type of a value in a few words, with its limits.
fn kind(schema: &Value) -> String {
    kind_at(schema, 0)
}

fn kind_at(schema: &Value, depth: usize) -> String {
    if let Some(name) = schema["$ref"].as_str() {
        let name = escaped(name.trim_start_matches(REFERENCE));
        return format!("<a href=\"#type-{name}\">{name}</a>");
    }
    if depth >= DEEPEST {
        return "…".to_owned();
    }
    if let Some(choices) = schema["enum"].as_array() {
        let names = choices.iter().filter(|it| !it.is_null()).map(|it| match it.as_str() {
            Some(text) => escaped(text),
            None => escaped(&it.to_string()),
        });
        return names.map(|it| format!("<code>{it}</code>")).collect::<Vec<_>>().join(" or ");
    }
    for several in ["oneOf", "anyOf", "allOf"] {
        if let Some(kinds) = schema[several].as_array() {
            let named = kinds.iter().filter(|it| it["type"] != "null").map(|it| kind_at(it, depth + 1));
            return named.collect::<Vec<_>>().join(" or ");
        }
    }
    let named = match &schema["type"] {
        Value::String(name) => escaped(name),
        Value::Array(names) => {
            let names = names.iter().filter_map(Value::as_str).filter(|it| *it != "null").map(escaped);
            names.collect::<Vec<_>>().join(" or ")
        }
        _ => "any value".to_owned(),
    };
    let named = match named.as_str() {
        "array" => format!("array of {}", kind_at(&schema["items"], depth + 1)),
        "object" => object(schema, depth),
        _ => named,
    };
    named + &limits(schema)
}

/// An object inside another, with the names of its fields.
fn object(schema: &Value, depth: usize) -> String {
    let Some(properties) = schema["properties"].as_object() else { return "object".to_owned() };
    let field =
        |(name, it): (&String, &Value)| format!("<code>{}</code> {}", escaped(name), kind_at(it, depth + 1));
    format!("object: {}", properties.iter().map(field).collect::<Vec<_>>().join(", "))
}

/// The limits of a value, and what it is if left out.
fn limits(schema: &Value) -> String {
    let between = |low: &str, high: &str, unit: &str| match (schema.get(low), schema.get(high)) {
        (Some(low), Some(high)) => Some(format!("{low} to {high}{unit}")),
        (Some(low), None) => Some(format!("at least {low}{unit}")),
        (None, Some(high)) => Some(format!("at most {high}{unit}")),
        (None, None) => None,
    };
    let told = [
        between("minimum", "maximum", ""),
        between("minLength", "maxLength", " characters"),
        between("minItems", "maxItems", " items"),
        schema["format"].as_str().filter(|it| !it.starts_with("int")).map(str::to_owned),
        schema.get("default").map(|it| format!("usually {it}")),
    ];
    let told: Vec<String> = told.into_iter().flatten().map(|it| escaped(&it)).collect();
    if told.is_empty() { String::new() } else { format!(", <small>{}</small>", told.join(", ")) }
}

fn example_text(example: &Value) -> String {
    escaped(&serde_json::to_string_pretty(example).unwrap_or_default())
}

/// Paragraphs, with `code` between backticks.
fn paragraphs(page: &mut String, text: &str) {
    for paragraph in text.split("\n\n").filter(|it| !it.trim().is_empty()) {
        let _ = writeln!(page, "<p>{}</p>", marked(paragraph));
    }
}

fn text(of: &Value, field: &str) -> String {
    marked(of[field].as_str().unwrap_or_default())
}

/// Escaped text with `code` between backticks.
fn marked(text: &str) -> String {
    let parts: Vec<String> = text.split('`').map(escaped).collect();
    if parts.len().is_multiple_of(2) {
        return escaped(text);
    }
    let part =
        |(at, it): (usize, &String)| if at % 2 == 1 { format!("<code>{it}</code>") } else { it.clone() };
    parts.iter().enumerate().map(part).collect()
}

fn anchor(name: &str) -> String {
    escaped(&name.replace(' ', "-"))
}

fn capital(name: &str) -> String {
    let mut letters = name.chars();
    let first = letters.next().map(|it| it.to_uppercase().to_string()).unwrap_or_default();
    escaped(&(first + letters.as_str()))
}

pub(super) fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(schema: &Value, expected: &str) {
        assert_eq!(kind(schema), expected);
    }

    #[test]
    fn a_type_is_told_with_its_limits() {
        check(&json!({ "type": "integer", "minimum": 1, "maximum": 9 }), "integer, <small>1 to 9</small>");
        check(
            &json!({ "type": ["string", "null"], "maxLength": 5, "default": "a" }),
            "string, <small>at most 5 characters, usually &quot;a&quot;</small>",
        );
        check(&json!({ "enum": ["a", null, "<b>"] }), "<code>a</code> or <code>&lt;b&gt;</code>");
        check(
            &json!({ "type": "array", "items": { "$ref": "#/components/schemas/Seat" } }),
            "array of <a href=\"#type-Seat\">Seat</a>",
        );
        check(&json!({ "oneOf": [{ "type": "null" }, { "type": "number" }] }), "number");
        check(
            &json!({ "type": "object", "properties": { "a": { "type": "string" } } }),
            "object: <code>a</code> string",
        );
        check(&json!({}), "any value");
    }

    #[test]
    fn texts_are_escaped_and_code_is_marked() {
        assert_eq!(marked("a `b<c` & d"), "a <code>b&lt;c</code> &amp; d");
        assert_eq!(marked("one ` alone"), "one ` alone");
    }
}
