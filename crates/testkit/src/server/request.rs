//! What a client sent: the request as it came, and what its vendor reads in it.

use std::{
    sync::atomic::{AtomicU8, AtomicUsize, Ordering},
    time::Instant,
};

use serde_json::Value;

use super::speak;

/// A request as it came.
#[derive(Debug)]
pub struct Request {
    /// Which one of all, from 1.
    pub number: u64,
    /// On which connection, from 1.
    pub connection: u64,
    /// When it had come in whole.
    pub when: Instant,
    /// `POST`.
    pub method: String,
    /// Everything after the host, with the query.
    pub path: String,
    /// By their names in small letters, in the order in which they came.
    pub headers: Vec<(String, String)>,
    /// Null where there was none, or none that is JSON.
    pub body: Value,
    /// Which vendor was meant: `anthropic`, `openai-chat`; empty for an unknown path.
    pub wire: &'static str,
    /// Which model was asked, where one was named.
    pub model: String,
    pub(super) end: AtomicU8,
    pub(super) length: AtomicUsize,
}

/// How the answer to a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has not yet.
    UnderWay,
    /// It was sent to its end.
    Complete,
    /// The client went away before its end.
    ClientLeft,
    /// The script broke it off.
    Broken,
}

const ENDS: [End; 4] = [End::UnderWay, End::Complete, End::ClientLeft, End::Broken];

impl Request {
    /// The value of this header, by its name in small letters.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(it, _)| it == name).map(|(_, value)| value.as_str())
    }

    /// The value of this parameter in the query.
    #[must_use]
    pub fn query(&self, name: &str) -> Option<&str> {
        let (_, query) = self.path.split_once('?')?;
        query.split('&').filter_map(|it| it.split_once('=')).find(|it| it.0 == name).map(|it| it.1)
    }

    /// The path without its query.
    #[must_use]
    pub fn route(&self) -> &str {
        self.path.split_once('?').map_or(&self.path, |(route, _)| route)
    }

    /// What its vendor reads in it; `None` where that is not a question for an answer, or one the vendor refuses.
    #[must_use]
    pub fn asked(&self) -> Option<Asked> {
        speak::asked(self)
    }

    /// How many bytes the body of its answer has, as far as it was written beforehand: what is sent many times counts once.
    #[must_use]
    pub fn answer_length(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// How the answer to it ended.
    #[must_use]
    pub fn end(&self) -> End {
        ENDS[usize::from(self.end.load(Ordering::Acquire)) % ENDS.len()]
    }

    pub(super) fn answered_with(&self, length: usize) {
        self.length.store(length, Ordering::Release);
    }

    pub(super) fn ended(&self, end: End) {
        self.end.store(end as u8, Ordering::Release);
    }
}

/// What a vendor reads in a request for an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// Which model.
    pub model: String,
    /// Standing instructions.
    pub system: String,
    /// Who said what, by the vendor's own names of roles.
    pub messages: Vec<(String, String)>,
    /// The JSON schema it is held to.
    pub schema: Option<Value>,
    /// The tool by which it must answer, where a schema comes as a tool that must be used.
    pub tool: Option<String>,
    /// Whether it may ask for a sub-discussion.
    pub offers_discuss: bool,
    /// Whether it shall come in pieces.
    pub is_streamed: bool,
    /// Whether it shall come as a JSON list of its pieces, which one vendor does unless told otherwise.
    pub is_list: bool,
    /// Whether a stream shall say what it used.
    pub wants_usage: bool,
    /// How long at most.
    pub max_tokens: Option<u64>,
    /// What it ends at.
    pub stop: Vec<String>,
}

impl Asked {
    /// What was said last.
    #[must_use]
    pub fn last(&self) -> &str {
        self.messages.last().map_or("", |(_, text)| text)
    }

    /// How many characters there are in all.
    pub(super) fn length(&self) -> usize {
        self.system.len() + self.messages.iter().map(|(_, text)| text.len()).sum::<usize>()
    }
}
