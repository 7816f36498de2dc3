//! Expressions in texts: `{{path}}` and `${path}`, replaced once by values. A value is never looked
//! at again, so text that contains an expression stays text.

use serde_json::Value;

use crate::prompts::without_markers;

/// The longest text after filling, in characters.
pub const LONGEST_FILLED: usize = 100_000;

/// Where paths are looked up.
pub trait Scope {
    /// The value at this path; `None` if there is none.
    fn value(&self, path: &[String]) -> Option<Value>;
}

/// An expression: a path and what is made of its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Expression {
    /// The names of the path.
    pub path: Vec<String>,
    filters: Vec<Filter>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Filter {
    Default(String),
    Slugify,
    Json,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Plain text.
    Text(&'t str),
    /// An expression, and how it is written.
    Expression(Expression, &'t str),
}

/// The text in pieces. What looks like an expression and is none is plain text.
#[must_use]
pub fn pieces(text: &str) -> Vec<Piece<'_>> {
    let (mut found, mut plain, mut at) = (Vec::new(), 0, 0);
    while let Some((start, open, close)) = next_opening(text, at) {
        let inner = start + open.len();
        // Looked for nearby only, so that many openings take no more than linear time.
        let near = text.floor_char_boundary(inner + LONGEST_EXPRESSION + close.len());
        let Some(length) = text[inner..near].find(close) else {
            at = start + 1;
            continue;
        };
        let end = inner + length + close.len();
        match Expression::parse(&text[inner..inner + length]) {
            Some(expression) => {
                if plain < start {
                    found.push(Piece::Text(&text[plain..start]));
                }
                found.push(Piece::Expression(expression, &text[start..end]));
                (plain, at) = (end, end);
            }
            // Not past the opening: of `{{{name}}}`, the inner pair of braces is the expression.
            None => at = start + 1,
        }
    }
    if plain < text.len() {
        found.push(Piece::Text(&text[plain..]));
    }
    found
}

/// The next opening, found in one pass.
fn next_opening(text: &str, from: usize) -> Option<(usize, &'static str, &'static str)> {
    let bytes = text.as_bytes();
    let opening = |(at, pair): (usize, &[u8])| match pair {
        b"{{" => Some((from + at, "{{", "}}")),
        b"${" => Some((from + at, "${", "}")),
        _ => None,
    };
    bytes[from..].windows(2).enumerate().find_map(opening)
}

/// The longest expression, in bytes.
const LONGEST_EXPRESSION: usize = 1_000;

impl Expression {
    /// The expression written here, without its braces; `None` if it is none.
    #[must_use]
    pub fn parse(written: &str) -> Option<Expression> {
        if written.len() > LONGEST_EXPRESSION {
            return None;
        }
        let mut parts = split_at_bars(written).into_iter();
        let path = path(parts.next()?.trim())?;
        let filters = parts.map(|it| filter(it.trim())).collect::<Option<Vec<Filter>>>()?;
        Some(Expression { path, filters })
    }

    /// Whether a default stands in for a value that is not known.
    #[must_use]
    pub fn has_default(&self) -> bool {
        self.filters.iter().any(|it| matches!(it, Filter::Default(_)))
    }

    /// The value; `None` if the path is unknown and no default is given.
    #[must_use]
    pub fn value(&self, scope: &dyn Scope) -> Option<Value> {
        let found = scope.value(&self.path);
        self.filters.iter().fold(found, |value, filter| match (filter, value) {
            (Filter::Default(text), None | Some(Value::Null)) => Some(Value::String(text.clone())),
            (Filter::Default(_), value) => value,
            (Filter::Slugify, Some(value)) => Some(Value::String(slug(&in_text(&value)))),
            (Filter::Json, Some(value)) => Some(Value::String(value.to_string())),
            (Filter::Slugify | Filter::Json, None) => None,
        })
    }
}

/// Splits at bars outside quotes.
fn split_at_bars(written: &str) -> Vec<&str> {
    let (mut parts, mut from, mut quote) = (Vec::new(), 0, None);
    for (at, letter) in written.char_indices() {
        match (quote, letter) {
            (None, '\'' | '"') => quote = Some(letter),
            (Some(open), _) if open == letter => quote = None,
            (None, '|') => {
                parts.push(&written[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(&written[from..]);
    parts
}

fn path(written: &str) -> Option<Vec<String>> {
    let is_name = |it: &str| {
        let fits = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '-';
        !it.is_empty() && it.chars().all(fits)
    };
    let names: Vec<&str> = written.split('.').collect();
    names.iter().all(|it| is_name(it)).then(|| names.into_iter().map(str::to_owned).collect())
}

fn filter(written: &str) -> Option<Filter> {
    match written.split_once(':') {
        None if written == "slugify" => Some(Filter::Slugify),
        None if written == "json" => Some(Filter::Json),
        Some((name, argument)) if name.trim() == "default" => unquoted(argument.trim()).map(Filter::Default),
        _ => None,
    }
}

/// The text between quotes, or a word without them.
fn unquoted(written: &str) -> Option<String> {
    for quote in ['\'', '"'] {
        if let Some(inner) = written.strip_prefix(quote).and_then(|it| it.strip_suffix(quote)) {
            return (!inner.contains(quote)).then(|| inner.to_owned());
        }
    }
    let plain = !written.is_empty() && written.chars().all(|it| it.is_alphanumeric() || "-_.".contains(it));
    plain.then(|| written.to_owned())
}

fn slug(text: &str) -> String {
    let words = text.split(|it: char| !it.is_alphanumeric()).filter(|it| !it.is_empty());
    words.map(str::to_lowercase).collect::<Vec<_>>().join("-")
}

/// A value as text: an answer as its text, a discussion as its synthesis, other objects and lists
/// as compact JSON.
#[must_use]
pub fn in_text(value: &Value) -> String {
    match spoken(value) {
        Some(text) => text.to_owned(),
        None => value.to_string(),
    }
}

/// The text of a value that is a text, an answer or a discussion.
#[must_use]
pub fn spoken(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => Some(text),
        Value::Object(fields) if fields.contains_key("usage") => fields.get("content")?.as_str(),
        Value::Object(fields) if fields.contains_key("consensus") => fields.get("synthesis")?.as_str(),
        _ => None,
    }
}

/// What filling a text found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filled {
    /// The text.
    pub text: String,
    /// The expressions whose paths are unknown, as written.
    pub unresolved: Vec<String>,
}

/// Why a text could not be filled: it would be too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "the text has {length} characters after filling, and at most {LONGEST_FILLED} are allowed; {longest} alone has {of_it}"
)]
pub struct TooLong {
    /// The length of the text.
    pub length: usize,
    /// The expression with the longest value, as written.
    pub longest: String,
    /// The length of that value.
    pub of_it: usize,
}

/// Whether markers that our readers would recognise are defused in the outputs of steps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Markers {
    /// They stay.
    Kept,
    /// They are defused.
    Defused,
}

/// Fills a text, once. Unknown paths stay as written.
pub fn fill(text: &str, scope: &dyn Scope, markers: Markers) -> Result<Filled, TooLong> {
    let mut filled = Filled::default();
    let (mut longest, mut of_it, mut length) = (String::new(), 0, 0);
    for piece in pieces(text) {
        let (value, written) = match piece {
            Piece::Text(text) => (text.to_owned(), None),
            Piece::Expression(expression, written) => match expression.value(scope) {
                Some(value) => {
                    let is_output = matches!(expression.path[0].as_str(), "steps" | "previousOutputs");
                    let text = in_text(&value);
                    let defuse = is_output && markers == Markers::Defused;
                    (if defuse { defused(&text) } else { text }, Some(written))
                }
                None => {
                    filled.unresolved.push(written.to_owned());
                    (written.to_owned(), None)
                }
            },
        };
        let count = value.chars().count();
        length += count;
        if let Some(written) = written.filter(|_| count > of_it) {
            (longest, of_it) = (written.to_owned(), count);
        }
        if length <= LONGEST_FILLED {
            filled.text.push_str(&value);
        }
    }
    if length > LONGEST_FILLED {
        return Err(TooLong { length, longest, of_it });
    }
    Ok(filled)
}

fn defused(text: &str) -> String {
    text.split('\n').map(without_markers).collect::<Vec<_>>().join("\n")
}

/// Fills every string of a value. A string that is one expression becomes its value, with its type.
pub fn fill_value(value: &Value, scope: &dyn Scope, unresolved: &mut Vec<String>) -> Result<Value, TooLong> {
    Ok(match value {
        Value::String(text) => {
            if let [Piece::Expression(expression, written)] = &pieces(text)[..] {
                return Ok(expression.value(scope).unwrap_or_else(|| {
                    unresolved.push((*written).to_owned());
                    value.clone()
                }));
            }
            let filled = fill(text, scope, Markers::Kept)?;
            unresolved.extend(filled.unresolved);
            Value::String(filled.text)
        }
        Value::Array(items) => {
            let items = items.iter().map(|it| fill_value(it, scope, unresolved));
            Value::Array(items.collect::<Result<_, _>>()?)
        }
        Value::Object(fields) => {
            let filled = fields.iter().map(|(key, it)| Ok((key.clone(), fill_value(it, scope, unresolved)?)));
            Value::Object(filled.collect::<Result<_, _>>()?)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value.clone(),
    })
}

/// The value at the end of a path, from this value on.
#[must_use]
pub fn at(value: &Value, path: &[String]) -> Option<Value> {
    let mut value = value;
    for name in path {
        value = match value {
            Value::Object(fields) => fields.get(name)?,
            Value::Array(items) => items.get(name.parse::<usize>().ok()?)?,
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => return None,
        };
    }
    Some(value.clone())
}

#[cfg(test)]
mod tests;
