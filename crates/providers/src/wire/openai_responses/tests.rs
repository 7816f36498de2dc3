//! Tests of the Responses API: requests, answers and errors.

use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::{Call, Shape},
    model::{
        error::ErrorClass,
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::Chunk,
};
use serde_json::{Value, json};

use super::{
    super::{
        Quirks, Schema,
        testing::{
            BOB, Outcome, answering, check_cuts, check_nonsense, chunks, class_and_message, model, outcome,
            sent_from, unsorted, unsorted_strict,
        },
    },
    DISCUSS_SUMMARY, WIRE, discuss_schema, encode,
};

const PLAIN: &str = include_str!("../recorded/openai-responses.txt");
const TOOL: &str = include_str!("../recorded/openai-responses-tool.txt");
const INCOMPLETE: &str = include_str!("../recorded/openai-responses-incomplete.txt");
const REFUSAL: &str = include_str!("../recorded/openai-responses-refusal.txt");
const FAILED: &str = include_str!("../recorded/openai-responses-failed.txt");
const COMPLETE: &[&str] = &[PLAIN, TOOL, INCOMPLETE, REFUSAL];

fn ballot() -> Option<Shape> {
    let properties = json!({ "choice": { "type": "string", "enum": ["tabs", "spaces"] } });
    let schema = json!({
        "type": "object", "properties": properties, "required": ["choice"], "additionalProperties": false,
    });
    Some(Shape { form: const { &Form::new("ballot") }, schema: Some(schema.into()) })
}

#[test]
fn properties_are_sent_in_the_order_they_are_written_in() {
    let call = Call { shape: unsorted(), ..answering() };
    let sent = sent_from(&encode(&call, &model("model-1", Quirks::default())), "\"text\"");
    let schema = unsorted_strict(r#","maximum":10"#);
    let form = format!(r#"{{"type":"json_schema","name":"ballot","schema":{schema},"strict":true}}"#);
    assert_eq!(sent, format!(r#""text":{{"format":{form}}}}}"#));
}

#[test]
fn d14_a_call_as_responses_take_it() {
    let check = |call: Call, quirks: Quirks, more: Value| {
        let mut expected = json!({
            "model": "model-1",
            "instructions": "You are ann.",
            "input": [
                { "role": "user", "content": BOB },
                { "role": "assistant", "content": "Spaces." },
                { "role": "user", "content": "And now?" },
            ],
            "stream": true,
            "store": false,
            "max_output_tokens": 200,
        });
        expected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = encode(&call, &model("model-1", quirks));
        assert_eq!((sent.path.as_str(), sent.body), ("/responses", expected));
    };
    let usual = Quirks::default();
    let cold = Quirks { temperature: false, ..usual };
    check(answering(), usual, json!({ "temperature": 0.5 }));
    check(Call { stop: vec!["[".to_owned()], ..answering() }, cold, json!({}));
    check(Call { max_tokens: 3, ..answering() }, cold, json!({ "max_output_tokens": 16 }));
    let voting = || Call { shape: ballot(), may_convene: true, ..answering() };
    let schema = ballot().unwrap().schema;
    let format = json!({ "type": "json_schema", "name": "ballot", "schema": schema, "strict": true });
    check(voting(), cold, json!({ "text": { "format": format } }));
    check(voting(), Quirks { schema: Schema::Prompt, ..cold }, json!({}));
    let loose = json!({ "text": { "format": { "type": "json_object" } } });
    check(voting(), Quirks { schema: Schema::Json, ..cold }, loose);
    let tool = json!({
        "type": "function", "name": "discuss", "description": DISCUSS_SUMMARY, "parameters": discuss_schema(), "strict": true,
    });
    check(Call { may_convene: true, ..answering() }, cold, json!({ "tools": [tool] }));
    check(Call { may_convene: true, ..answering() }, Quirks { tools: false, ..cold }, json!({}));
    let silent = encode(&Call { system: "".into(), ..answering() }, &model("model-1", usual));
    assert_eq!(silent.body.get("instructions"), None);
}

#[test]
fn d10_recorded_streams_are_read_whole() {
    let check = |recorded: &str, mut expected: Vec<Chunk>, finish: Finish, usage: Usage| {
        expected.push(Chunk::End { finish, usage: Some(usage), cost: None });
        assert_eq!(chunks(&WIRE, recorded.as_bytes()), (expected, None));
    };
    let texts = |texts: &[&str]| texts.iter().map(|it| Chunk::Text((*it).to_owned())).collect();
    let counted = Usage { cached: 1280, reasoning: 64, ..Usage::new(1412, 87) };
    check(PLAIN, texts(&["Tabs", ", for a ", "\"reader\"."]), Finish::Stop, counted);
    let asked = vec![Chunk::Convene { topic: "Is it in use?".to_owned() }];
    check(TOOL, asked, Finish::Stop, Usage { cached: 0, ..counted });
    let long = Usage { cached: 1280, reasoning: 190, ..Usage::new(1412, 200) };
    check(INCOMPLETE, texts(&["Tabs, be"]), Finish::Length, long);
    check(REFUSAL, texts(&["I can't", " do that."]), Finish::Refused, counted);
}

/// The outcome of these unnamed frames.
fn unnamed(frames: &[&str]) -> Outcome {
    let stream: String = frames.iter().map(|it| format!("data: {it}\n\n")).collect();
    outcome(&WIRE, stream.as_bytes())
}

#[test]
fn d12_every_way_an_answer_ends() {
    let a = r#"{"type":"response.output_text.delta","delta":"a"}"#;
    let check = |last: &str, finish: Option<Finish>| {
        let end = finish.map(|finish| Chunk::End { finish, usage: None, cost: None });
        // Frames after the end are ignored.
        let text = if finish.is_some() { "a" } else { "aa" };
        let expected = (text.to_owned(), end.into_iter().collect(), None);
        assert_eq!(unnamed(&[a, last, "[DONE]", a]), expected, "{last}");
    };
    check(r#"{"type":"response.completed","response":{"usage":null}}"#, Some(Finish::Stop));
    let incomplete = |reason: &str| {
        format!(
            r#"{{"type":"response.incomplete","response":{{"incomplete_details":{{"reason":"{reason}"}}}}}}"#
        )
    };
    check(&incomplete("max_output_tokens"), Some(Finish::Length));
    check(&incomplete("content_filter"), Some(Finish::Refused));
    check(r#"{"type":"response.incomplete","response":{"incomplete_details":null}}"#, Some(Finish::Length));
    // Frames of other kinds are ignored, whatever they contain.
    check(r#"{"type":"response.audio.delta","delta":{"x":1}}"#, None);
    check(r#"{"type":"response.reasoning_summary_text.delta","delta":"hm"}"#, None);
    check(r#"{"type":"response.queued","response":7}"#, None);
    check("{}", None);
}

#[test]
fn d10_a_cost_that_is_told_counts() {
    let end = r#"{"type":"response.completed","response":{"usage":{"input_tokens":3,"output_tokens":4,"cost":0.25}}}"#;
    let cost = Usd::from_dollars(0.25);
    let expected = Chunk::End { finish: Finish::Stop, usage: Some(Usage::new(3, 4)), cost };
    assert_eq!(unnamed(&[end]).1, [expected]);
}

#[test]
fn d12_errors_inside_an_answer() {
    let check = |(_, others, error): Outcome, class, message: &str| {
        assert_eq!((others, error), (Vec::new(), Some((class, message.to_owned()))));
    };
    let failed = "The model failed to generate a response.";
    check(outcome(&WIRE, FAILED.as_bytes()), ErrorClass::ApiError, failed);
    let limit =
        r#"{"type":"error","code":"rate_limit_exceeded","message":"Please try again in 2s.","param":null}"#;
    check(unnamed(&[limit]), ErrorClass::RateLimit, "Please try again in 2s.");
    let named = format!("event: error\ndata: {limit}\n\n");
    check(outcome(&WIRE, named.as_bytes()), ErrorClass::RateLimit, "Please try again in 2s.");
    let nested = r#"{"type":"error","error":{"type":"invalid_request_error","code":"context_length_exceeded","message":"m"}}"#;
    check(unnamed(&[nested]), ErrorClass::ContextOverflow, "m");
    check(unnamed(&[r#"{"error":{"message":"m","type":"server_error"}}"#]), ErrorClass::ApiError, "m");
    let policy = r#"{"type":"response.failed","response":{"error":{"code":"invalid_prompt","message":"m"}}}"#;
    check(unnamed(&[policy]), ErrorClass::Validation, "m");
    let torn = "a frame of the answer could not be read (EOF while parsing an object at line 1 column 1)";
    check(unnamed(&["{"]), ErrorClass::InvalidResponse, torn);
}

#[test]
fn d12_refusals_are_those_of_openai() {
    let body = r#"{"error":{"message":"m","type":"insufficient_quota","code":"insufficient_quota"}}"#;
    assert_eq!(class_and_message(&WIRE, 429, body).0, ErrorClass::Authentication);
}

#[test]
fn f3_a_stream_cut_anywhere_has_no_end() {
    COMPLETE.iter().for_each(|recorded| check_cuts(&WIRE, recorded));
}

#[test]
fn f4_nonsense_does_no_harm() {
    check_nonsense(&WIRE, COMPLETE);
}
