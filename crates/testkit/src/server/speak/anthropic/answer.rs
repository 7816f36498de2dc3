//! Anthropic's responses: a stream of events, a whole message, an error.

use super::super::{
    super::{
        answer::{Ending, Said, Tool, Used},
        request::Asked,
    },
    Frame, Refusal, Why, quoted,
};

pub(super) fn stream(_asked: &Asked, said: &Said) -> Vec<Frame> {
    let mut frames = vec![beginning(said)];
    let mut index = 0;
    if !said.thoughts.is_empty() {
        frames.extend(thinking(index, &said.thoughts));
        index += 1;
    }
    if !said.pieces.is_empty() {
        frames.extend(speaking(index, &said.pieces));
        index += 1;
    }
    frames.insert(2.min(frames.len()), other("ping", r#"{"type": "ping"}"#));
    if let Some(tool) = &said.tool {
        frames.extend(asking(index, &said.id, tool));
    }
    frames.extend(ending(said));
    frames
}

fn beginning(said: &Said) -> Frame {
    let (id, model) = (quoted(&format!("msg_01{}", said.id)), quoted(&said.model));
    let used = usage(&said.used, 1);
    other(
        "message_start",
        &format!(
            r#"{{"type":"message_start","message":{{"model":{model},"id":{id},"type":"message","role":"assistant","content":[],"stop_reason":null,"stop_sequence":null,"usage":{used}}}}}"#
        ),
    )
}

fn ending(said: &Said) -> [Frame; 2] {
    let (reason, at) = (stop_reason(said), said.stopped_at.as_deref().map_or("null".to_owned(), quoted));
    let used = usage(&said.used, said.used.completion);
    let last = format!(
        r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}","stop_sequence":{at}}},"usage":{used}}}"#
    );
    [other("message_delta", &last), other("message_stop", r#"{"type":"message_stop"}"#)]
}

fn speaking(index: usize, pieces: &[String]) -> Vec<Frame> {
    let piece = |text: &String| {
        Frame::piece(delta(index, &format!(r#"{{"type":"text_delta","text":{}}}"#, quoted(text))))
    };
    block(index, r#"{"type":"text","text":""}"#, pieces.iter().map(piece).collect())
}

/// A tool call; its arguments come in pieces, the first of them empty.
fn asking(index: usize, id: &str, tool: &Tool) -> Vec<Frame> {
    let (id, name) = (quoted(&format!("toolu_01{id}")), quoted(&tool.name));
    let empty = format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{{}}}}"#);
    let halves = tool.arguments.split_at(tool.arguments.floor_char_boundary(tool.arguments.len() / 2));
    let part = |text| {
        let text = quoted(text);
        Frame::other(delta(index, &format!(r#"{{"type":"input_json_delta","partial_json":{text}}}"#)))
    };
    block(index, &empty, ["", halves.0, halves.1].map(part).into())
}

fn thinking(index: usize, thoughts: &str) -> Vec<Frame> {
    let thought = format!(r#"{{"type":"thinking_delta","thinking":{}}}"#, quoted(thoughts));
    let signature = r#"{"type":"signature_delta","signature":"EqQBCgIYAhIM"}"#;
    let parts = [thought.as_str(), signature].map(|it| Frame::other(delta(index, it)));
    block(index, r#"{"type":"thinking","thinking":"","signature":""}"#, parts.into())
}

fn block(index: usize, empty: &str, parts: Vec<Frame>) -> Vec<Frame> {
    let start = format!(r#"{{"type":"content_block_start","index":{index},"content_block":{empty}}}"#);
    let stop = format!(r#"{{"type":"content_block_stop","index":{index}}}"#);
    let start = other("content_block_start", &start);
    [start].into_iter().chain(parts).chain([other("content_block_stop", &stop)]).collect()
}

fn delta(index: usize, delta: &str) -> String {
    event(
        "content_block_delta",
        &format!(r#"{{"type":"content_block_delta","index":{index},"delta":{delta}}}"#),
    )
}

pub(super) fn whole(_asked: &Asked, said: &Said) -> String {
    let (id, model) = (quoted(&format!("msg_01{}", said.id)), quoted(&said.model));
    let mut content = Vec::new();
    if !said.thoughts.is_empty() {
        let thoughts = quoted(&said.thoughts);
        content.push(format!(r#"{{"type":"thinking","thinking":{thoughts},"signature":"EqQBCgIYAhIM"}}"#));
    }
    if !said.pieces.is_empty() {
        content.push(format!(r#"{{"type":"text","text":{}}}"#, quoted(&said.text())));
    }
    if let Some(tool) = &said.tool {
        let (id, name, input) =
            (quoted(&format!("toolu_01{}", said.id)), quoted(&tool.name), &tool.arguments);
        content.push(format!(r#"{{"type":"tool_use","id":{id},"name":{name},"input":{input}}}"#));
    }
    let (content, reason) = (content.join(","), stop_reason(said));
    let at = said.stopped_at.as_deref().map_or("null".to_owned(), quoted);
    let usage = usage(&said.used, said.used.completion);
    format!(
        r#"{{"model":{model},"id":{id},"type":"message","role":"assistant","content":[{content}],"stop_reason":"{reason}","stop_sequence":{at},"usage":{usage}}}"#
    )
}

fn event(name: &str, data: &str) -> String {
    format!("event: {name}\ndata: {data}\n\n")
}

fn other(name: &str, data: &str) -> Frame {
    Frame::other(event(name, data))
}

fn usage(used: &Used, output: u64) -> String {
    let Used { cached, written, .. } = used;
    let fresh = used.prompt.saturating_sub(*cached).saturating_sub(*written);
    format!(
        r#"{{"input_tokens":{fresh},"cache_creation_input_tokens":{written},"cache_read_input_tokens":{cached},"output_tokens":{output}}}"#
    )
}

fn stop_reason(said: &Said) -> &'static str {
    match said.ending {
        Ending::Stop => "end_turn",
        Ending::StopSequence => "stop_sequence",
        Ending::Length => "max_tokens",
        Ending::Refused => "refusal",
        Ending::Tool => "tool_use",
    }
}

pub(super) fn refuse(refusal: &Refusal) -> (u16, String) {
    let (status, kind, message) = error(refusal);
    let (kind, message) = (quoted(kind), quoted(&message));
    let error = format!(r#"{{"type":{kind},"message":{message}}}"#);
    (status, format!(r#"{{"type":"error","error":{error},"request_id":"req_011CQuorum"}}"#))
}

/// The event that replaces the end when a stream fails in the middle.
pub(super) fn break_off(_refusal: &Refusal) -> String {
    event(
        "error",
        r#"{"type":"error","error":{"details":null,"type":"overloaded_error","message":"Overloaded"}}"#,
    )
}

fn error(refusal: &Refusal) -> (u16, &'static str, String) {
    let message = refusal.message.clone();
    match refusal.why {
        Why::Invalid => (400, "invalid_request_error", message),
        Why::NoKey => (401, "authentication_error", "x-api-key header is required".to_owned()),
        Why::WrongKey => (401, "authentication_error", "invalid x-api-key".to_owned()),
        Why::EchoedKey => (401, "authentication_error", message),
        Why::UnknownModel => (404, "not_found_error", format!("model: {message}")),
        Why::TooLong => {
            let message = "prompt is too long: 210000 tokens > 200000 maximum".to_owned();
            (400, "invalid_request_error", message)
        }
        Why::RateLimited => {
            let message = "This request would exceed your account's rate limit. Please try again later.";
            (429, "rate_limit_error", format!("{message}{}", refusal.delay()))
        }
        Why::Status(529) => (529, "overloaded_error", "Overloaded".to_owned()),
        Why::Status(404) => (404, "not_found_error", "Not Found".to_owned()),
        Why::Status(status) => (status, "api_error", "Internal server error".to_owned()),
    }
}
