//! Reads a file as a document: JSON, YAML, or Markdown with front matter.

use std::path::Path;

use serde_json::{Map, Value};

use super::AgentError;
use crate::request::written::AnyValue;

/// The file name extensions that are read, in order of preference.
pub(super) const ENDINGS: [&str; 4] = ["json", "yaml", "yml", "md"];

/// The largest file that is read, in bytes.
pub(super) const LARGEST: u64 = 256 * 1024;

/// The limits of a YAML document: an alias bomb is refused before it grows.
const MOST_NODES: usize = 20_000;
const DEEPEST: usize = 32;

/// The line that opens and closes front matter.
const FRONT_MATTER: &str = "---";

/// A document: its fields, and the text after them if it is Markdown.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Document {
    pub(super) fields: Map<String, Value>,
    pub(super) body: Option<String>,
}

/// Reads the text of this file. The extension determines the format.
pub(super) fn read(file: &Path, text: &str) -> Result<Document, AgentError> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let wrong = |(line, message): Wrong| AgentError::Invalid { file: file.to_owned(), line, message };
    match ending(file).as_str() {
        "md" => markdown(text).map_err(wrong),
        "yaml" | "yml" => yaml(text).map(|fields| Document { fields, body: None }).map_err(wrong),
        _ => json(text).map(|fields| Document { fields, body: None }).map_err(wrong),
    }
}

/// The extension of a file's name, in lower case.
pub(super) fn ending(file: &Path) -> String {
    file.extension().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// Whether a file of this name is read.
pub(super) fn is_read(file: &Path) -> bool {
    ENDINGS.contains(&ending(file).as_str())
}

/// The extension that fits a text without a file name, such as one from standard input.
pub(super) fn ending_of(text: &str) -> &'static str {
    let text = text.trim_start_matches('\u{feff}').trim_start();
    if text.starts_with('{') {
        "json"
    } else if text.lines().next().is_some_and(|it| it.trim_end() == FRONT_MATTER) && closes(text) {
        "md"
    } else {
        "yaml"
    }
}

fn closes(text: &str) -> bool {
    text.lines().skip(1).any(|it| it.trim_end() == FRONT_MATTER)
}

/// A line, if it is known, and what is wrong there.
type Wrong = (Option<u64>, String);

fn json(text: &str) -> Result<Map<String, Value>, Wrong> {
    let read: Result<AnyValue, _> = serde_json::from_str(text);
    let AnyValue(value) = read.map_err(|error| {
        let message = error.to_string();
        let message = message.split(" at line ").next().unwrap_or_default().to_owned();
        (Some(error.line() as u64), message)
    })?;
    object(value)
}

fn yaml(text: &str) -> Result<Map<String, Value>, Wrong> {
    let options = serde_saphyr::options! {
        budget: serde_saphyr::budget! { max_nodes: MOST_NODES, max_depth: DEEPEST },
        with_snippet: false,
    };
    let read: Result<AnyValue, _> = serde_saphyr::from_str_with_options(text, options);
    let AnyValue(value) = read.map_err(|error| {
        let line = error.location().map(|it| it.line());
        (line, error.to_string().lines().next().unwrap_or_default().to_owned())
    })?;
    object(value)
}

fn markdown(text: &str) -> Result<Document, Wrong> {
    let Some(rest) = text.strip_prefix(FRONT_MATTER).and_then(|it| it.split_once('\n')) else {
        return Err((Some(1), "has no front matter; begin with a line of three hyphens".to_owned()));
    };
    let mut front = String::new();
    let mut lines = rest.1.split_inclusive('\n');
    for line in lines.by_ref() {
        if line.trim_end() == FRONT_MATTER {
            let body: String = lines.collect();
            // The first line of the front matter is the second of the file.
            let fields = yaml(&front).map_err(|(line, message)| (line.map(|it| it + 1), message))?;
            return Ok(Document { fields, body: Some(body.trim().to_owned()) });
        }
        front.push_str(line);
    }
    Err((Some(1), "has front matter that is not closed; end it with a line of three hyphens".to_owned()))
}

fn object(value: Value) -> Result<Map<String, Value>, Wrong> {
    match value {
        Value::Object(fields) => Ok(fields),
        Value::Null => Err((None, "is empty".to_owned())),
        _ => Err((None, "must be an object with named fields".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(name: &str, text: &str) -> Result<(Value, Option<String>), String> {
        let read = read(Path::new(name), text).map_err(|error| error.to_string())?;
        Ok((Value::Object(read.fields), read.body))
    }

    #[test]
    fn b08_a_document_is_json_yaml_or_markdown_with_front_matter() {
        let expected = json!({ "agentId": "ann", "tags": ["a", "b"] });
        let check = |name: &str, text: &str, body: Option<&str>| {
            assert_eq!(fields(name, text), Ok((expected.clone(), body.map(str::to_owned))), "{name}");
        };
        check("a.json", r#"{ "agentId": "ann", "tags": ["a", "b"] }"#, None);
        check("a.yaml", "agentId: ann\ntags: [a, b]\n", None);
        check("a.YML", "agentId: ann\ntags:\n- a\n- b\n", None);
        check("a.md", "---\r\nagentId: ann\r\ntags: [a, b]\r\n---\r\n\r\nBe brief.\r\n", Some("Be brief."));
        check(
            "a.md",
            "\u{feff}---\nagentId: ann\ntags: [a, b]\n---\nOne.\n---\nTwo.",
            Some("One.\n---\nTwo."),
        );
    }

    #[test]
    fn b08_a_broken_document_is_refused_with_its_line() {
        let check = |name: &str, text: &str, begins: &str| {
            let error = fields(name, text).unwrap_err();
            assert!(error.starts_with(begins), "{name}: {error}");
        };
        check("a.json", "{\n  \"agentId\": \n}", "a.json:3: expected value");
        check("a.json", "{ \"a\": 1,\n \"a\": 2 }", "a.json:2: duplicate field `a`");
        check("a.json", "[]", "a.json: must be an object");
        check("a.yaml", "a: 1\nb: [", "a.yaml:");
        check("a.yaml", "a: 1\na: 2\n", "a.yaml:2: ");
        check("a.yaml", "", "a.yaml: is empty");
        check("a.md", "Be brief.", "a.md:1: has no front matter");
        check("a.md", "---\nagentId: ann\n", "a.md:1: has front matter that is not closed");
        check("a.md", "---\na: 1\na: 2\n---\n", "a.md:3: ");
    }

    #[test]
    fn b08_a_yaml_bomb_is_refused() {
        let levels: String = (1..12)
            .map(|it| format!("a{it}: &a{it} [{}]\n", ["*a"; 9].map(|a| format!("{a}{}", it - 1)).join(",")))
            .collect();
        let bomb = format!("a0: &a0 [x,x,x,x,x,x,x,x,x]\n{levels}");
        assert!(fields("a.yaml", &bomb).is_err());
        let deep = format!("a: {}{}", "[".repeat(40), "]".repeat(40));
        assert!(fields("a.yaml", &deep).is_err());
    }

    #[test]
    fn the_format_of_a_nameless_text_is_recognised() {
        let check = |text: &str, expected: &str| assert_eq!(ending_of(text), expected, "{text}");
        check(" {\"agentId\": 1}", "json");
        check("agentId: ann", "yaml");
        check("---\nagentId: ann\n---\nBe brief.", "md");
        check("---\nagentId: ann\n", "yaml");
    }
}
