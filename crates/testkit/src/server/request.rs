//! A received request, and how its vendor understands it.

use std::{
    sync::atomic::{AtomicU8, AtomicUsize, Ordering},
    time::Instant,
};

use serde_json::Value;

use super::speak;

/// A received request.
#[derive(Debug)]
pub struct Request {
    /// Its number, from 1.
    pub number: u64,
    /// The number of its connection, from 1.
    pub connection: u64,
    /// When it was complete.
    pub when: Instant,
    /// `POST`.
    pub method: String,
    /// Path and query.
    pub path: String,
    /// The headers, with names in lower case, in their order.
    pub headers: Vec<(String, String)>,
    /// The JSON body; null if there is none.
    pub body: Value,
    /// The vendor: `anthropic`, `openai-chat`; empty for an unknown path.
    pub wire: &'static str,
    /// The model, if one was named.
    pub model: String,
    pub(super) end: AtomicU8,
    pub(super) length: AtomicUsize,
}

/// How the response to a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It has not ended yet.
    UnderWay,
    /// It was sent completely.
    Complete,
    /// The client disconnected before its end.
    ClientLeft,
    /// The script cut it.
    Broken,
}

const ENDS: [End; 4] = [End::UnderWay, End::Complete, End::ClientLeft, End::Broken];

impl Request {
    /// The value of this header; its name is in lower case.
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

    /// The call as its vendor understands it; `None` if it is not a completion request, or one that
    /// the vendor rejects.
    #[must_use]
    pub fn asked(&self) -> Option<Asked> {
        speak::asked(self)
    }

    /// The length of the response body in bytes; repeated pieces count once.
    #[must_use]
    pub fn answer_length(&self) -> usize {
        self.length.load(Ordering::Acquire)
    }

    /// How the response to it ended.
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

/// A completion request as a vendor understands it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Asked {
    /// The model.
    pub model: String,
    /// System instructions.
    pub system: String,
    /// The messages with the vendor's own role names.
    pub messages: Vec<(String, String)>,
    /// The JSON schema of the answer.
    pub schema: Option<Value>,
    /// The tool that must be used for the answer, where the schema comes as a forced tool.
    pub tool: Option<String>,
    /// Whether it may request a sub-discussion.
    pub offers_discuss: bool,
    /// Whether the answer is streamed.
    pub is_streamed: bool,
    /// Whether the stream is a JSON list, which is one vendor's default.
    pub is_list: bool,
    /// Whether a stream reports usage.
    pub wants_usage: bool,
    /// The maximum length in tokens.
    pub max_tokens: Option<u64>,
    /// The stop sequences.
    pub stop: Vec<String>,
}

impl Asked {
    /// The text of the last message.
    #[must_use]
    pub fn last(&self) -> &str {
        self.messages.last().map_or("", |(_, text)| text)
    }

    /// The length of all texts.
    pub(super) fn length(&self) -> usize {
        self.system.len() + self.messages.iter().map(|(_, text)| text.len()).sum::<usize>()
    }
}
