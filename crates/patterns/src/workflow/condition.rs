//! Conditions: a small language that only compares. No calls, no arithmetic; one pass over the
//! text.

use std::cmp::Ordering;

use serde_json::Value;

use crate::workflow::template::{Expression, Scope, spoken};

/// The longest condition, in bytes.
pub const LONGEST_CONDITION: usize = 10_000;

/// How deep parentheses and negations may be nested.
const DEEPEST: usize = 32;

/// Why a condition can't be read or evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConditionError(String);

/// A condition that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Condition(Node);

#[derive(Debug, Clone, PartialEq)]
enum Node {
    Value(Value),
    Path(Expression),
    Not(Box<Node>),
    Or(Vec<Node>),
    And(Vec<Node>),
    Compare(Box<Node>, Comparison, Box<Node>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Comparison {
    Equal,
    Unequal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    In,
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Value(Value),
    Path(Expression),
    Or,
    And,
    Not,
    Compare(Comparison, &'static str),
    Open,
    Close,
}

impl Condition {
    /// Reads a condition.
    pub fn parse(written: &str) -> Result<Condition, ConditionError> {
        if written.len() > LONGEST_CONDITION {
            return Err(error(format!("a condition may have at most {LONGEST_CONDITION} bytes")));
        }
        let mut reader = Reader { tokens: tokens(written)?, at: 0, depth: 0 };
        if reader.tokens.is_empty() {
            return Err(error("the condition is empty"));
        }
        let node = reader.either()?;
        match reader.peek() {
            None => Ok(Condition(node)),
            Some(Token::Close) => Err(error("a closing parenthesis has no opening one")),
            Some(_) => Err(error("two values stand side by side; join them with and, or, == …")),
        }
    }

    /// Whether it is true here. An unknown path is null.
    pub fn holds(&self, scope: &dyn Scope) -> Result<bool, ConditionError> {
        truth(&self.0, scope)
    }

    /// The paths in it.
    #[must_use]
    pub fn paths(&self) -> Vec<&[String]> {
        fn collect<'c>(node: &'c Node, found: &mut Vec<&'c [String]>) {
            match node {
                Node::Value(_) => {}
                Node::Path(expression) => found.push(&expression.path),
                Node::Not(inner) => collect(inner, found),
                Node::Or(all) | Node::And(all) => all.iter().for_each(|it| collect(it, found)),
                Node::Compare(one, _, other) => {
                    collect(one, found);
                    collect(other, found);
                }
            }
        }
        let mut found = Vec::new();
        collect(&self.0, &mut found);
        found
    }
}

fn error(message: impl Into<String>) -> ConditionError {
    ConditionError(message.into())
}

/// The operators, the longer ones first.
const OPERATORS: &[(&str, Token)] = &[
    ("===", Token::Compare(Comparison::Equal, "===")),
    ("!==", Token::Compare(Comparison::Unequal, "!==")),
    ("==", Token::Compare(Comparison::Equal, "==")),
    ("!=", Token::Compare(Comparison::Unequal, "!=")),
    ("<=", Token::Compare(Comparison::LessOrEqual, "<=")),
    (">=", Token::Compare(Comparison::GreaterOrEqual, ">=")),
    ("<", Token::Compare(Comparison::Less, "<")),
    (">", Token::Compare(Comparison::Greater, ">")),
    ("&&", Token::And),
    ("||", Token::Or),
    ("!", Token::Not),
    ("(", Token::Open),
    (")", Token::Close),
];

fn tokens(written: &str) -> Result<Vec<Token>, ConditionError> {
    let mut found = Vec::new();
    let mut rest = written.trim_start();
    while let Some(first) = rest.chars().next() {
        let (token, length) = token(rest, first)?;
        found.push(token);
        rest = rest[length..].trim_start();
    }
    Ok(found)
}

fn token(rest: &str, first: char) -> Result<(Token, usize), ConditionError> {
    for (open, close) in [("{{", "}}"), ("${", "}")] {
        if let Some(inner) = rest.strip_prefix(open) {
            let length = inner.find(close).ok_or_else(|| error(format!("{open} has no {close}")))?;
            let parsed = Expression::parse(&inner[..length]);
            let path =
                parsed.ok_or_else(|| error(format!("{open}{}{close} is no path", &inner[..length])))?;
            return Ok((Token::Path(path), open.len() + length + close.len()));
        }
    }
    if let Some((written, token)) = OPERATORS.iter().find(|(it, _)| rest.starts_with(it)) {
        return Ok((token.clone(), written.len()));
    }
    match first {
        '\'' | '"' => {
            let length = rest[1..].find(first).ok_or_else(|| error(format!("{first} is not closed")))?;
            Ok((Token::Value(Value::String(rest[1..=length].to_owned())), length + 2))
        }
        '0'..='9' | '-' => {
            let end = rest.find(|it: char| !(it.is_ascii_alphanumeric() || "+-.".contains(it)));
            let written = &rest[..end.unwrap_or(rest.len())];
            let number = serde_json::from_str(written).ok().filter(Value::is_number);
            let number = number.ok_or_else(|| error(format!("{written} is no number")))?;
            Ok((Token::Value(number), written.len()))
        }
        _ if first.is_alphabetic() || first == '_' => {
            let end = rest.find(|it: char| !(it.is_alphanumeric() || "_-.".contains(it)));
            let word = &rest[..end.unwrap_or(rest.len())];
            let token = match word {
                "or" => Token::Or,
                "and" => Token::And,
                "not" => Token::Not,
                "in" => Token::Compare(Comparison::In, "in"),
                "true" => Token::Value(Value::Bool(true)),
                "false" => Token::Value(Value::Bool(false)),
                "null" => Token::Value(Value::Null),
                _ => {
                    let message = format!("write {{{{{word}}}}} for a value, or '{word}' for a text");
                    return Err(error(message));
                }
            };
            Ok((token, word.len()))
        }
        _ => Err(error(format!("{first} has no meaning in a condition"))),
    }
}

struct Reader {
    tokens: Vec<Token>,
    at: usize,
    depth: usize,
}

impl Reader {
    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at)
    }

    fn take(&mut self, wanted: &Token) -> bool {
        let is_next = self.peek() == Some(wanted);
        self.at += usize::from(is_next);
        is_next
    }

    fn either(&mut self) -> Result<Node, ConditionError> {
        let mut all = vec![self.both()?];
        while self.take(&Token::Or) {
            all.push(self.both()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::Or(all) })
    }

    fn both(&mut self) -> Result<Node, ConditionError> {
        let mut all = vec![self.negated()?];
        while self.take(&Token::And) {
            all.push(self.negated()?);
        }
        Ok(if all.len() == 1 { all.remove(0) } else { Node::And(all) })
    }

    fn negated(&mut self) -> Result<Node, ConditionError> {
        if !self.take(&Token::Not) {
            return self.compared();
        }
        self.deeper(|it| Ok(Node::Not(Box::new(it.negated()?))))
    }

    fn compared(&mut self) -> Result<Node, ConditionError> {
        let one = self.operand()?;
        let Some(Token::Compare(comparison, _)) = self.peek().cloned() else { return Ok(one) };
        self.at += 1;
        let other = self.operand()?;
        if let Some(Token::Compare(_, written)) = self.peek() {
            return Err(error(format!("{written} follows another comparison; join them with and")));
        }
        Ok(Node::Compare(Box::new(one), comparison, Box::new(other)))
    }

    fn operand(&mut self) -> Result<Node, ConditionError> {
        let token = self.peek().cloned();
        self.at += 1;
        match token {
            Some(Token::Value(value)) => Ok(Node::Value(value)),
            Some(Token::Path(path)) => Ok(Node::Path(path)),
            Some(Token::Open) => self.deeper(|it| {
                let inner = it.either()?;
                if it.take(&Token::Close) { Ok(inner) } else { Err(error("a parenthesis is not closed")) }
            }),
            Some(Token::Compare(_, written)) => Err(error(format!("{written} has nothing before it"))),
            Some(Token::Or | Token::And | Token::Not | Token::Close) => {
                Err(error("a value is missing before or after an operator"))
            }
            None => Err(error("a value is missing at the end")),
        }
    }

    fn deeper(
        &mut self,
        read: impl FnOnce(&mut Self) -> Result<Node, ConditionError>,
    ) -> Result<Node, ConditionError> {
        if self.depth == DEEPEST {
            return Err(error(format!("it is nested deeper than {DEEPEST} levels")));
        }
        self.depth += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }
}

fn truth(node: &Node, scope: &dyn Scope) -> Result<bool, ConditionError> {
    match node {
        Node::Value(_) | Node::Path(_) => Ok(is_true(&value(node, scope))),
        Node::Not(inner) => Ok(!truth(inner, scope)?),
        Node::Or(all) => {
            for it in all {
                if truth(it, scope)? {
                    return Ok(true);
                }
            }
            Ok(false)
        }
        Node::And(all) => {
            for it in all {
                if !truth(it, scope)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        Node::Compare(one, comparison, other) => {
            let operand = |node: &Node| match node {
                Node::Value(_) | Node::Path(_) => Ok(value(node, scope)),
                Node::Not(_) | Node::Or(_) | Node::And(_) | Node::Compare(..) => {
                    truth(node, scope).map(Value::Bool)
                }
            };
            compare(&operand(one)?, *comparison, &operand(other)?)
        }
    }
}

/// The value of an operand; an answer or a discussion is its text.
fn value(node: &Node, scope: &dyn Scope) -> Value {
    let value = match node {
        Node::Value(value) => value.clone(),
        Node::Path(expression) => expression.value(scope).unwrap_or(Value::Null),
        Node::Not(_) | Node::Or(_) | Node::And(_) | Node::Compare(..) => Value::Null,
    };
    match spoken(&value) {
        Some(text) => Value::String(text.to_owned()),
        None => value,
    }
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(it) => *it,
        Value::Number(it) => it.as_f64() != Some(0.0),
        Value::String(it) => !it.is_empty(),
        Value::Array(it) => !it.is_empty(),
        Value::Object(it) => !it.is_empty(),
    }
}

fn compare(one: &Value, comparison: Comparison, other: &Value) -> Result<bool, ConditionError> {
    let ordered = || {
        order(one, other)
            .ok_or_else(|| error(format!("{} and {} can't be ordered", in_short(one), in_short(other))))
    };
    match comparison {
        Comparison::Equal => Ok(is_equal(one, other)),
        Comparison::Unequal => Ok(!is_equal(one, other)),
        Comparison::Less => Ok(ordered()? == Ordering::Less),
        Comparison::LessOrEqual => Ok(ordered()? != Ordering::Greater),
        Comparison::Greater => Ok(ordered()? == Ordering::Greater),
        Comparison::GreaterOrEqual => Ok(ordered()? != Ordering::Less),
        Comparison::In => match other {
            Value::Array(items) => Ok(items.iter().any(|it| is_equal(one, it))),
            Value::String(text) => match one {
                Value::String(part) => Ok(text.contains(part)),
                _ => Err(error(format!("{} can't be in a text", in_short(one)))),
            },
            Value::Null => Ok(false),
            _ => Err(error(format!("nothing can be in {}", in_short(other)))),
        },
    }
}

fn in_short(value: &Value) -> String {
    quorum_core::model::excerpt::in_short(value.to_string())
}

/// A text and a number are compared as numbers if the text is one.
fn numbers(one: &Value, other: &Value) -> Option<(f64, f64)> {
    let number = |it: &Value| match it {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok().filter(|it| it.is_finite()),
        Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
    };
    let any = one.is_number() || other.is_number();
    number(one).zip(number(other)).filter(|_| any)
}

fn is_equal(one: &Value, other: &Value) -> bool {
    match numbers(one, other) {
        Some((one, other)) => one == other,
        None => one == other,
    }
}

fn order(one: &Value, other: &Value) -> Option<Ordering> {
    match (one, other) {
        (Value::String(one), Value::String(other)) => Some(one.cmp(other)),
        _ => numbers(one, other).and_then(|(one, other)| one.partial_cmp(&other)),
    }
}

#[cfg(test)]
mod tests;
