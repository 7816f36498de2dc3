//! Tests of Anthropic's wire: requests and answers.

use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::{Call, Shape},
    model::{
        error::{ErrorClass, ProviderError},
        money::Usage,
        transcript::Finish,
        window::TooLong,
    },
    seams::Chunk,
};
use serde_json::{Value, json};

use super::{WIRE, encode, probe};
use crate::wire::{
    Outgoing, Probe, Quirks, Schema, Shows, discuss_schema,
    testing::{
        HEARD, call, check_cuts, check_nonsense, chunks, convene, end, model, refused, sent_from, shape,
        text, unsorted, unsorted_strict,
    },
};

const TEXT: &str = include_str!("../recorded/anthropic-text.sse");
const THINKING: &str = include_str!("../recorded/anthropic-thinking.sse");
const TOOL: &str = include_str!("../recorded/anthropic-tool.sse");
const JSON: &str = include_str!("../recorded/anthropic-json.sse");
const REFUSAL: &str = include_str!("../recorded/anthropic-refusal.sse");
const RECORDED: [&str; 5] = [TEXT, THINKING, TOOL, JSON, REFUSAL];

/// The plain request with these fields added, or removed where they are null.
fn sent(fields: Value) -> Value {
    let mut body = json!({
        "model": "claude-sonnet-4-6",
        "max_tokens": 300,
        "stream": true,
        "system": "Be brief.",
        "temperature": 0.5,
        "messages": [
            { "role": "user", "content": "The discussion so far:" },
            { "role": "assistant", "content": "Tabs." },
            { "role": "user", "content": HEARD },
        ],
    });
    let all = body.as_object_mut().unwrap();
    if let Value::Object(fields) = fields {
        all.extend(fields);
    }
    all.retain(|_, value| !value.is_null());
    body
}

fn check(call: &Call, quirks: Quirks, expected: Value) {
    let body = sent(expected);
    let expected = Outgoing { path: "/messages".to_owned(), body };
    assert_eq!(encode(call, &model("claude-sonnet-4-6", quirks)), expected);
}

#[test]
fn a_call_is_sent_as_a_message() {
    check(&call(), Quirks::default(), json!({}));
    check(&Call { system: " ".into(), ..call() }, Quirks::default(), json!({ "system": null }));
    check(&Call { temperature: 1.8, ..call() }, Quirks::default(), json!({ "temperature": 1.0 }));
}

#[test]
fn stop_sequences_of_white_space_are_not_sent() {
    let stop = ["\n\n", "Speaker:", "", "["].map(str::to_owned).to_vec();
    check(&Call { stop, ..call() }, Quirks::default(), json!({ "stop_sequences": ["Speaker:", "["] }));
    check(&Call { stop: vec!["\n".to_owned()], ..call() }, Quirks::default(), json!({}));
}

/// All properties are required, because Anthropic moves optional ones to the end.
#[test]
fn properties_are_sent_in_the_order_they_are_written_in() {
    let call = Call { shape: unsorted(), ..call() };
    let sent = sent_from(&encode(&call, &model("claude-sonnet-4-6", Quirks::default())), "\"output_config\"");
    let form = format!(r#"{{"type":"json_schema","schema":{}}}"#, unsorted_strict(""));
    assert_eq!(sent, format!(r#""output_config":{{"format":{form}}}}}"#));
}

#[test]
fn a_form_is_asked_for_without_unsupported_keywords() {
    let sure = json!({ "sure": { "type": "number", "minimum": 0 } });
    let schema = json!({ "type": "object", "properties": sure, "required": ["sure"] });
    let formed = Call { shape: shape(schema), ..call() };
    let sure = json!({ "sure": { "type": "number" } });
    let accepted = json!({
        "type": "object", "properties": sure, "required": ["sure"], "additionalProperties": false,
    });
    let expected = json!({ "output_config": { "format": { "type": "json_schema", "schema": accepted } } });
    check(&formed, Quirks::default(), expected);
    for schema in [Schema::Json, Schema::Prompt] {
        check(&formed, Quirks { schema, ..Quirks::default() }, json!({}));
    }
    let in_words = Some(Shape { form: const { &Form::new("consensus-check") }, schema: None });
    check(&Call { shape: in_words, ..call() }, Quirks::default(), json!({}));
}

#[test]
fn e01_a_sub_discussion_is_offered_as_a_tool() {
    let tool = json!({
        "tools": [{
            "name": "discuss",
            "description": crate::wire::DISCUSS_SUMMARY,
            "input_schema": discuss_schema(),
        }],
        "tool_choice": { "type": "auto", "disable_parallel_tool_use": true },
    });
    check(&Call { may_convene: true, ..call() }, Quirks::default(), tool);
}

#[test]
fn fields_that_a_model_rejects_are_not_sent() {
    let quirks =
        Quirks { temperature: false, stop: false, tools: false, schema: Schema::Prompt, ..Quirks::default() };
    let all = Call {
        stop: vec!["Speaker:".to_owned()],
        shape: shape(json!({ "type": "object" })),
        may_convene: true,
        ..call()
    };
    check(&all, quirks, json!({ "temperature": null }));
}

#[test]
fn inv_disc_100_a_model_is_looked_up_by_its_name() {
    let path = "/models/claude-opus-5-5".to_owned();
    let expected = Probe { path, body: None, shows: Shows::ByStatus };
    assert_eq!(probe(&model("claude-opus-5-5", Quirks::default())), expected);
}

#[test]
fn recorded_answers_mean_what_was_said() {
    let check = |recording: &str, expected: &[Chunk]| {
        assert_eq!(chunks(&WIRE, recording.as_bytes()), (expected.to_vec(), None));
    };
    check(
        TEXT,
        &[
            text("Tabs"),
            text(" are kinder to readers: everyone sets their own width.\n\n"),
            text("\"Spaces\" only look the same – on one screen 🙂."),
            end(Finish::Stop, Usage::new(412, 37)),
        ],
    );
    let thought =
        Usage { prompt: 18 + 120 + 2048, completion: 96, cached: 2048, written: 120, reasoning: 71 };
    check(THINKING, &[text("Bob forgets"), text(" who can't see the screen."), end(Finish::Stop, thought)]);
    check(
        TOOL,
        &[
            text("I need to know one thing first."),
            convene("What do screen readers say?"),
            end(Finish::Convene, Usage::new(655, 58)),
        ],
    );
    let json = ["{\"choice\":\"tabs\",\"confid", "ence\":0.8}"].map(text);
    check(JSON, &[json[0].clone(), json[1].clone(), end(Finish::Stop, Usage::new(501, 17))]);
    check(REFUSAL, &[text("To begin with,"), end(Finish::Refused, Usage::new(88, 9))]);
}

#[test]
fn f3_an_answer_cut_anywhere_has_no_end() {
    for recording in RECORDED {
        check_cuts(&WIRE, recording);
    }
}

#[test]
fn answers_end_for_many_reasons() {
    let check = |reason: &str, expected: Finish| {
        let stream = TEXT.replace("\"end_turn\"", &format!("\"{reason}\""));
        assert_eq!(
            chunks(&WIRE, stream.as_bytes()).0.last(),
            Some(&end(expected, Usage::new(412, 37))),
            "{reason}"
        );
    };
    check("end_turn", Finish::Stop);
    check("stop_sequence", Finish::Stop);
    check("max_tokens", Finish::Length);
    check("model_context_window_exceeded", Finish::Length);
    check("refusal", Finish::Refused);
    check("tool_use", Finish::Stop);
    check("something_new", Finish::Stop);
}

/// The chunks of these frames, each of them the data of an unnamed event.
fn read(frames: &[&str]) -> (Vec<Chunk>, Option<ProviderError>) {
    let stream: String = frames.iter().map(|data| format!("data: {data}\n\n")).collect();
    chunks(&WIRE, stream.as_bytes())
}

#[test]
fn f4_unknown_events_are_skipped() {
    let known = r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Yes."}}"#;
    let stop = r#"{"type":"message_stop"}"#;
    let bare_end = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
    let check = |unknown: &str| {
        assert_eq!(
            read(&[unknown, known, unknown, stop]),
            (vec![text("Yes."), bare_end.clone()], None),
            "{unknown}"
        );
    };
    check(r#"{"type":"ping"}"#);
    check(r#"{"type":"content_block_weighed","delta":7}"#);
    check(r#"{"type":"content_block_start","index":0,"content_block":{"type":"new","x":[]}}"#);
    check(
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"citations_delta","citation":{"a":1}}}"#,
    );
    check(
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{"}}"#,
    );
    check(r#"{"type":"content_block_stop","index":0}"#);
    let after = read(&[known, stop, known, stop, "no JSON"]);
    assert_eq!(after, (vec![text("Yes."), bare_end.clone()], None));
}

#[test]
fn e01_only_a_whole_call_of_our_tool_convenes() {
    let check = |name: &str, arguments: &str, expected: &[Chunk]| {
        let block = json!({ "type": "tool_use", "id": "t", "name": name, "input": {} });
        let start = json!({ "type": "content_block_start", "index": 0, "content_block": block }).to_string();
        let delta = json!({ "type": "input_json_delta", "partial_json": arguments });
        let grown = json!({ "type": "content_block_delta", "index": 0, "delta": delta }).to_string();
        let stop = r#"{"type":"content_block_stop","index":0}"#;
        assert_eq!(read(&[&start, &grown, stop]), (expected.to_vec(), None), "{name} {arguments}");
    };
    check("discuss", r#"{"topic":" Why? "}"#, &[convene("Why?")]);
    check("discuss", r#"{"topic":"Wh"#, &[]);
    check("discuss", r#"{"topic":" "}"#, &[]);
    check("discuss", "", &[]);
    check("search", r#"{"topic":"Why?"}"#, &[]);
}

fn error(kind: &str, message: &str) -> String {
    json!({ "type": "error", "error": { "type": kind, "message": message }, "request_id": "req_1" })
        .to_string()
}

#[test]
fn d12_errors_inside_a_stream_are_classed() {
    let check = |kind: &str, message: &str, class: ErrorClass, told: &str| {
        let stream = format!("event: error\ndata: {}\n\n", error(kind, message));
        let limit = message.contains("212000").then_some(TooLong { limit: 200_000, sent: Some(212_000) });
        let expected = ProviderError { limit, ..ProviderError::new(class, told) };
        assert_eq!(chunks(&WIRE, stream.as_bytes()), (vec![], Some(expected.clone())));
        // The same with status 200 instead of an event name.
        assert_eq!(refused(&WIRE, 200, &error(kind, message)), expected);
    };
    check("overloaded_error", "Overloaded", ErrorClass::ApiError, "Overloaded (529)");
    check("api_error", "Internal server error", ErrorClass::ApiError, "Internal server error (500)");
    check("rate_limit_error", "Slow down", ErrorClass::RateLimit, "Slow down (429)");
    check("timeout_error", "Request timed out", ErrorClass::Timeout, "Request timed out (504)");
    check("authentication_error", "invalid x-api-key", ErrorClass::Authentication, "invalid x-api-key (401)");
    check("permission_error", "not for you", ErrorClass::Authentication, "not for you (403)");
    check("not_found_error", "model: claude-9", ErrorClass::Validation, "model: claude-9 (404)");
    check("billing_error", "no credit", ErrorClass::Validation, "no credit (402)");
    check("request_too_large", "too large", ErrorClass::ContextOverflow, "too large (413)");
    check("invalid_request_error", "bad field", ErrorClass::Validation, "bad field (400)");
    let long = "prompt is too long: 212000 tokens > 200000 maximum";
    check("invalid_request_error", long, ErrorClass::ContextOverflow, &format!("{long} (400)"));
    check("", "What?", ErrorClass::ApiError, "What? (500)");
    check("new_error", "What?", ErrorClass::ApiError, "What? (500)");
}

#[test]
fn d12_refusals_are_classed() {
    let check = |status: u16, kind: &str, message: &str, class: ErrorClass| {
        let limit = message.contains("20000 >").then_some(TooLong { limit: 200_000, sent: Some(210_000) });
        let expected = ProviderError { limit, ..ProviderError::new(class, format!("{message} ({status})")) };
        assert_eq!(refused(&WIRE, status, &error(kind, message)), expected);
    };
    check(401, "authentication_error", "invalid x-api-key", ErrorClass::Authentication);
    check(404, "not_found_error", "model: claude-9", ErrorClass::Validation);
    check(
        400,
        "invalid_request_error",
        "`temperature` is deprecated for this model.",
        ErrorClass::Validation,
    );
    let both = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000";
    check(400, "invalid_request_error", both, ErrorClass::ContextOverflow);
    let a_minute =
        "This request would exceed your organization's rate limit of 30,000 input tokens per minute.";
    check(429, "rate_limit_error", a_minute, ErrorClass::RateLimit);
    check(529, "overloaded_error", "Overloaded", ErrorClass::ApiError);
    let whole = refused(&WIRE, 200, r#"{"type":"message","content":[{"type":"text","text":"Tabs."}]}"#);
    assert!(
        whole.class == ErrorClass::Validation && whole.message.contains("a stream was asked for"),
        "{whole:?}"
    );
}

#[test]
fn f4_a_frame_that_makes_no_sense_is_an_error() {
    let check = |data: &str| {
        let (said, error) = read(&[data]);
        assert_eq!((said, error.map(|it| it.class)), (vec![], Some(ErrorClass::InvalidResponse)), "{data}");
    };
    check("no JSON");
    check("{}");
    check(r#"{"type":"content_block_delta"}"#);
    check(r#"{"type":"message_delta","delta":{"stop_reason":7}}"#);
    check(r#"{"type":"error"}"#);
}

#[test]
fn f4_nonsense_does_no_harm() {
    check_nonsense(&WIRE, &RECORDED);
}
