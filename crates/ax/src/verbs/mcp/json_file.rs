//! Adds a field to an object of a JSON file, whose text stays as it is: comments, order, indents.

use serde_json::{Value, json};

use crate::verbs::mcp::{client::ENTRY, install::Edit};

/// How deep a document may be nested.
const DEEPEST: usize = 100;

/// The text with this entry, which is in the object `servers` under our name.
pub(super) fn with_entry(text: &str, servers: &str, entry: &Value) -> Edit {
    if text.trim().is_empty() {
        let document = json!({ servers: { ENTRY: entry } });
        return Edit::Added(serde_json::to_string_pretty(&document).unwrap_or_default() + "\n");
    }
    let document = match Reader::document(text) {
        Ok(document) => document,
        Err(line) => return Edit::Refused(format!("is not readable as JSON (line {line})")),
    };
    let Node::Object(root) = &document.node else {
        return Edit::Refused("is not a JSON object".to_owned());
    };
    let added = match root.field(servers) {
        None => root.with_field(text, servers, &json!({ ENTRY: entry })),
        Some(Span { node: Node::Object(object), .. }) => match object.field(ENTRY) {
            None => object.with_field(text, ENTRY, entry),
            Some(there) if there.value(text).as_ref() == Some(entry) => return Edit::Present,
            Some(_) => return Edit::Refused(format!("has another entry named {ENTRY}")),
        },
        Some(_) => return Edit::Refused(format!("has a {servers} that is not an object")),
    };
    Edit::Added(added)
}

/// A value, and its place in the text.
struct Span {
    from: usize,
    to: usize,
    node: Node,
}

enum Node {
    Object(Object),
    Other,
}

struct Object {
    /// Where its braces are.
    open: usize,
    close: usize,
    fields: Vec<(String, Span)>,
    /// Whether a comma follows the last field.
    has_last_comma: bool,
}

impl Span {
    /// The value, if it has no comments.
    fn value(&self, text: &str) -> Option<Value> {
        serde_json::from_str(&text[self.from..self.to]).ok()
    }
}

impl Object {
    /// The field with this name; of several, the one that programs read.
    fn field(&self, name: &str) -> Option<&Span> {
        self.fields.iter().rev().find(|(it, _)| it == name).map(|(_, value)| value)
    }

    /// The text with a field added behind the last one, indented like it.
    fn with_field(&self, text: &str, name: &str, value: &Value) -> String {
        let outer = indent(text, self.open);
        let inner = match self.fields.last() {
            Some((_, last)) => indent(text, last.from),
            None => format!("{outer}  "),
        };
        let written = serde_json::to_string_pretty(value).unwrap_or_default();
        let written = written.replace('\n', &format!("\n{inner}"));
        let field = format!("\n{inner}{}: {written}", json!(name));
        let Some((_, last)) = self.fields.last() else {
            let (before, after) = text.split_at(self.open + 1);
            let rest = after.trim_start();
            return format!("{before}{field}\n{outer}{rest}");
        };
        let comma = if self.has_last_comma { "" } else { "," };
        // The comma, if one is needed, goes right after the last field, and the new field after any
        // comments that follow it.
        let (before, after) = text.split_at(last.to);
        let (between, after) = after.split_at(self.close - last.to);
        let between = between.trim_end();
        let closing = format!("\n{outer}");
        format!("{before}{comma}{between}{field}{closing}{after}")
    }
}

/// The indent of the line at this place.
fn indent(text: &str, at: usize) -> String {
    let line = text[..at].rfind('\n').map_or(0, |it| it + 1);
    text[line..].chars().take_while(|it| *it == ' ' || *it == '\t').collect()
}

/// Reads JSON with comments and trailing commas, keeping places instead of values.
struct Reader<'t> {
    text: &'t str,
    at: usize,
}

/// The document ends before it should, or has something else at this place.
struct Unreadable;

impl<'t> Reader<'t> {
    /// The whole document, or the line where it is not readable.
    fn document(text: &'t str) -> Result<Span, usize> {
        let mut reader = Reader { text, at: 0 };
        let read = reader.value(DEEPEST).and_then(|value| {
            reader.skip()?;
            if reader.at == text.len() { Ok(value) } else { Err(Unreadable) }
        });
        read.map_err(|Unreadable| text[..reader.at].matches('\n').count() + 1)
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    /// Skips white space and comments.
    fn skip(&mut self) -> Result<(), Unreadable> {
        loop {
            let rest = self.rest();
            let bare = rest.trim_start_matches(['\u{feff}', ' ', '\t', '\r', '\n']);
            self.at += rest.len() - bare.len();
            if bare.starts_with("//") {
                self.at += bare.find('\n').unwrap_or(bare.len());
            } else if bare.starts_with("/*") {
                self.at += bare.find("*/").ok_or(Unreadable)? + 2;
            } else {
                return Ok(());
            }
        }
    }

    /// Takes this character, if it is next.
    fn takes(&mut self, character: char) -> Result<bool, Unreadable> {
        self.skip()?;
        let is_next = self.rest().starts_with(character);
        self.at += if is_next { character.len_utf8() } else { 0 };
        Ok(is_next)
    }

    fn value(&mut self, depth: usize) -> Result<Span, Unreadable> {
        self.skip()?;
        let deeper = depth.checked_sub(1).ok_or(Unreadable)?;
        let from = self.at;
        let node = match self.rest().chars().next() {
            Some('{') => Node::Object(self.object(deeper)?),
            Some('[') => self.list(deeper)?,
            Some('"') => self.string().map(|_| Node::Other)?,
            Some(_) => self.word()?,
            None => return Err(Unreadable),
        };
        Ok(Span { from, to: self.at, node })
    }

    fn object(&mut self, depth: usize) -> Result<Object, Unreadable> {
        let (open, mut fields, mut has_last_comma) = (self.at, Vec::new(), false);
        self.at += 1;
        while !self.takes('}')? {
            if !fields.is_empty() && !has_last_comma {
                return Err(Unreadable);
            }
            let name = self.string()?;
            if !self.takes(':')? {
                return Err(Unreadable);
            }
            fields.push((name, self.value(depth)?));
            has_last_comma = self.takes(',')?;
        }
        Ok(Object { open, close: self.at - 1, fields, has_last_comma })
    }

    fn list(&mut self, depth: usize) -> Result<Node, Unreadable> {
        self.at += 1;
        let mut is_next = true;
        while !self.takes(']')? {
            if !is_next {
                return Err(Unreadable);
            }
            self.value(depth)?;
            is_next = self.takes(',')?;
        }
        Ok(Node::Other)
    }

    fn string(&mut self) -> Result<String, Unreadable> {
        self.skip()?;
        let mut texts = serde_json::Deserializer::from_str(self.rest()).into_iter::<String>();
        let text = texts.next().and_then(Result::ok).ok_or(Unreadable)?;
        self.at += texts.byte_offset();
        Ok(text)
    }

    /// A number, or `true`, `false` or `null`.
    fn word(&mut self) -> Result<Node, Unreadable> {
        let is_part = |it: char| it.is_ascii_alphanumeric() || "+-.".contains(it);
        let rest = self.rest();
        let word = &rest[..rest.find(|it| !is_part(it)).unwrap_or(rest.len())];
        serde_json::from_str::<Value>(word).map_err(|_| Unreadable)?;
        self.at += word.len();
        Ok(Node::Other)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry() -> Value {
        json!({ "command": "/bin/ax", "args": ["mcp"] })
    }

    #[track_caller]
    fn added(text: &str) -> String {
        let Edit::Added(added) = with_entry(text, "mcpServers", &entry()) else { panic!("refused: {text}") };
        assert_eq!(with_entry(&added, "mcpServers", &entry()), Edit::Present, "{added}");
        added
    }

    #[test]
    fn b10_an_entry_is_added_once_and_comments_and_order_stay() {
        let text = "// mine\n{\n\t\"z\": 1, // why\n\t/* a, b */\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"o\" } // it\n\t},\n\t\"a\": [1, 2,],\n}\n";
        let expected = "// mine\n{\n\t\"z\": 1, // why\n\t/* a, b */\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"o\" }, // it\n\t\t\"quorum\": {\n\t\t  \"command\": \"/bin/ax\",\n\t\t  \"args\": [\n\t\t    \"mcp\"\n\t\t  ]\n\t\t}\n\t},\n\t\"a\": [1, 2,],\n}\n";
        assert_eq!(added(text), expected);
    }

    #[test]
    fn b10_an_entry_is_added_to_files_of_every_form() {
        let parsed = |text: &str| serde_json::from_str::<Value>(&added(text)).unwrap();
        let ours = json!({ "quorum": entry() });
        for text in ["", "  \n", "{}", "{\n}\n", "{\"mcpServers\":{}}", "{\"mcpServers\": {\n}}"] {
            assert_eq!(parsed(text), json!({ "mcpServers": ours }), "{text}");
        }
        assert_eq!(parsed("{\"a\":{\"mcpServers\":1}}")["a"], json!({ "mcpServers": 1 }));
        assert_eq!(parsed("{\"a\":\"}{\\\"\"}")["a"], json!("}{\""));
        assert_eq!(parsed("{\"mcpServers\":{\"x\":{}},\"b\":2}")["b"], json!(2));
        assert_eq!(parsed("{\"mcpServers\":{\"x\":{}},\"mcpServers\":{}}")["mcpServers"], ours);
    }

    #[test]
    fn b10_what_is_not_understood_is_not_changed() {
        let check = |text: &str, expected: &str| {
            assert_eq!(
                with_entry(text, "mcpServers", &entry()),
                Edit::Refused(expected.to_owned()),
                "{text}"
            );
        };
        check("{\n\"a\": 1,\n\"b\"\n}", "is not readable as JSON (line 4)");
        check("{ \"a\": 1 \"b\": 2 }", "is not readable as JSON (line 1)");
        check("{} {}", "is not readable as JSON (line 1)");
        check("{ \"a\": tru }", "is not readable as JSON (line 1)");
        check("[]", "is not a JSON object");
        check("{\"mcpServers\": []}", "has a mcpServers that is not an object");
        check("{\"mcpServers\": {\"quorum\": {\"command\": \"mine\"}}}", "has another entry named quorum");
        check(&"[".repeat(5_000), "is not readable as JSON (line 1)");
    }
}
