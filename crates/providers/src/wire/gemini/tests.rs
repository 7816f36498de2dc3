//! Tests of Gemini's wire: requests and answers.

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
    DISCUSS_SUMMARY, Outgoing, Probe, Quirks, Schema, Shows,
    testing::{
        HEARD, call, check_cuts, check_nonsense, chunks, convene, end, model, refused, sent_from, shape,
        text, unsorted,
    },
};

const TEXT: &str = include_str!("../recorded/gemini-text.sse");
const THINKING: &str = include_str!("../recorded/gemini-thinking.sse");
const TOOL: &str = include_str!("../recorded/gemini-tool.sse");
const JSON: &str = include_str!("../recorded/gemini-json.sse");
const BLOCKED: &str = include_str!("../recorded/gemini-blocked.sse");
const RECORDED: [&str; 5] = [TEXT, THINKING, TOOL, JSON, BLOCKED];

/// The plain request, with this configuration and these fields added.
fn sent(config: Value, fields: Value) -> Value {
    let mut body = json!({
        "systemInstruction": { "parts": [{ "text": "Be brief." }] },
        "contents": [
            { "role": "user", "parts": [{ "text": "The discussion so far:" }] },
            { "role": "model", "parts": [{ "text": "Tabs." }] },
            { "role": "user", "parts": [{ "text": HEARD }] },
        ],
        "generationConfig": { "maxOutputTokens": 300, "temperature": 0.5 },
    });
    add(&mut body["generationConfig"], config);
    add(&mut body, fields);
    body
}

/// Adds fields; null removes one.
fn add(to: &mut Value, fields: Value) {
    let all = to.as_object_mut().unwrap();
    if let Value::Object(fields) = fields {
        all.extend(fields);
    }
    all.retain(|_, value| !value.is_null());
}

fn check(call: &Call, quirks: Quirks, config: Value, fields: Value) {
    let body = sent(config, fields);
    let path = "/models/gemini-3.8-flash:streamGenerateContent?alt=sse".to_owned();
    assert_eq!(encode(call, &model("gemini-3.8-flash", quirks)), Outgoing { path, body });
}

#[test]
fn a_call_is_sent_as_contents() {
    check(&call(), Quirks::default(), json!({}), json!({}));
    let silent = Call { system: "".into(), ..call() };
    check(&silent, Quirks::default(), json!({}), json!({ "systemInstruction": null }));
    check(&Call { temperature: 1.8, ..call() }, Quirks::default(), json!({ "temperature": 1.8 }), json!({}));
    check(&Call { temperature: 9.0, ..call() }, Quirks::default(), json!({ "temperature": 2.0 }), json!({}));
}

#[test]
fn five_stop_sequences_are_the_most() {
    let stop = ["\n\n", "", "a", "b", "c", "d", "e"].map(str::to_owned).to_vec();
    let expected = json!({ "stopSequences": ["\n\n", "a", "b", "c", "d"] });
    check(&Call { stop, ..call() }, Quirks::default(), expected, json!({}));
}

#[test]
fn properties_are_sent_in_the_order_they_are_written_in_and_listed_in_it() {
    let call = Call { shape: unsorted(), ..call() };
    let sent =
        sent_from(&encode(&call, &model("gemini-3.8-flash", Quirks::default())), "\"responseJsonSchema\"");
    let expected = [
        r#""responseJsonSchema":{"type":"object","properties":{"why":{"type":"string"},"#,
        r#""winner":{"type":["object","null"],"properties":{"who":{"type":"string"},"because":{"type":"string"}},"#,
        r#""required":["who","because"],"additionalProperties":false,"propertyOrdering":["who","because"]},"#,
        r#""marks":{"type":"array","items":{"type":"object","properties":{"speaker":{"type":"string"},"#,
        r#""mark":{"type":"number","maximum":10}},"required":["speaker","mark"],"additionalProperties":false,"#,
        r#""propertyOrdering":["speaker","mark"]}}},"required":["why","marks"],"additionalProperties":false,"#,
        r#""propertyOrdering":["why","winner","marks"]}},"systemInstruction":{"parts":[{"text":"Be brief."}]}}"#,
    ];
    assert_eq!(sent, expected.concat());
}

#[test]
fn a_form_is_asked_for_as_far_as_the_model_takes_it() {
    let schema = json!({ "type": ["object", "null"], "properties": {}, "additionalProperties": false });
    let formed = Call { shape: shape(schema.clone()), ..call() };
    let check_schema = |kind: Schema, expected: Value| {
        check(&formed, Quirks { schema: kind, ..Quirks::default() }, expected, json!({}));
    };
    let strict = json!({ "responseMimeType": "application/json", "responseJsonSchema": schema });
    check_schema(Schema::Strict, strict);
    check_schema(Schema::Json, json!({ "responseMimeType": "application/json" }));
    check_schema(Schema::Prompt, json!({}));
    let in_words = Some(Shape { form: const { &Form::new("consensus-check") }, schema: None });
    check(&Call { shape: in_words, ..call() }, Quirks::default(), json!({}), json!({}));
}

#[test]
fn e01_a_sub_discussion_is_offered_as_a_tool() {
    let parameters = json!({
        "type": "object",
        "properties": { "topic": { "type": "string", "description": "The question, complete in itself." } },
        "required": ["topic"],
    });
    let discuss = json!({ "name": "discuss", "description": DISCUSS_SUMMARY, "parameters": parameters });
    let tools = json!({ "tools": [{ "functionDeclarations": [discuss] }] });
    let convening = Call { may_convene: true, ..call() };
    check(&convening, Quirks::default(), json!({}), tools);
    let formed = Call { shape: shape(json!({})), ..convening };
    let config = json!({ "responseMimeType": "application/json", "responseJsonSchema": {} });
    check(&formed, Quirks::default(), config, json!({}));
}

#[test]
fn fields_that_a_model_rejects_are_not_sent() {
    let quirks =
        Quirks { temperature: false, stop: false, tools: false, schema: Schema::Prompt, ..Quirks::default() };
    let all = Call { stop: vec!["a".to_owned()], shape: shape(json!({})), may_convene: true, ..call() };
    check(&all, quirks, json!({ "temperature": null }), json!({}));
}

#[test]
fn inv_disc_100_a_model_is_looked_up_by_its_name() {
    let check = |name: &str, path: &str| {
        let expected = Probe { path: path.to_owned(), body: None, shows: Shows::ByStatus };
        assert_eq!(probe(&model(name, Quirks::default())), expected);
    };
    check("gemini-3.8-flash", "/models/gemini-3.8-flash");
    check("models/gemini-3.8-flash", "/models/gemini-3.8-flash");
    check("tunedModels/mine", "/tunedModels/mine");
    check("a?key=b", "/models/a%3Fkey%3Db");
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
            end(Finish::Stop, Usage::new(402, 29)),
        ],
    );
    let thought = Usage { prompt: 2186, completion: 10 + 71, cached: 2048, written: 0, reasoning: 71 };
    check(THINKING, &[text("Bob forgets"), text(" who can't see the screen."), end(Finish::Stop, thought)]);
    let called = Usage { reasoning: 38, ..Usage::new(655, 24 + 38) };
    check(
        TOOL,
        &[
            text("I need to know one thing first."),
            convene("What do screen readers say?"),
            end(Finish::Convene, called),
        ],
    );
    let json = ["{\n  \"choice\": \"tabs\",\n  \"confid", "ence\": 0.8\n}"].map(text);
    check(JSON, &[json[0].clone(), json[1].clone(), end(Finish::Stop, Usage::new(501, 17))]);
    check(BLOCKED, &[end(Finish::Refused, Usage::new(88, 0))]);
}

#[test]
fn f3_an_answer_cut_anywhere_has_no_end() {
    for recording in RECORDED {
        check_cuts(&WIRE, recording);
    }
}

/// The chunks of these frames, each of them the data of an event.
fn read(frames: &[&str]) -> (Vec<Chunk>, Option<ProviderError>) {
    let stream: String = frames.iter().map(|data| format!("data: {data}\r\n\r\n")).collect();
    chunks(&WIRE, stream.as_bytes())
}

fn bare_end(finish: Finish) -> Chunk {
    Chunk::End { finish, usage: None, cost: None }
}

const YES: &str = r#"{"candidates":[{"content":{"parts":[{"text":"Yes."}],"role":"model"}}]}"#;
const STOP: &str = r#"{"candidates":[{"finishReason":"STOP"}]}"#;

#[test]
fn answers_end_for_many_reasons() {
    let check = |reason: &str, expected: Option<Finish>| {
        let ending = format!(r#"{{"candidates":[{{"content":{{}},"finishReason":"{reason}"}}]}}"#);
        let expected: Vec<Chunk> = [text("Yes.")].into_iter().chain(expected.map(bare_end)).collect();
        assert_eq!(read(&[YES, &ending]), (expected, None), "{reason}");
    };
    check("STOP", Some(Finish::Stop));
    check("MAX_TOKENS", Some(Finish::Length));
    check("SAFETY", Some(Finish::Refused));
    check("RECITATION", Some(Finish::Refused));
    check("PROHIBITED_CONTENT", Some(Finish::Refused));
    check("OTHER", Some(Finish::Refused));
    check("SOMETHING_NEW", Some(Finish::Refused));
    check("FINISH_REASON_UNSPECIFIED", None);
    let malformed = read(&[r#"{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}"#]);
    let told = "the model made an invalid tool call (MALFORMED_FUNCTION_CALL)";
    assert_eq!(malformed, (vec![], Some(ProviderError::new(ErrorClass::InvalidResponse, told))));
}

#[test]
fn f4_unknown_events_are_skipped() {
    let check = |unknown: &str| {
        let expected = vec![text("Yes."), bare_end(Finish::Stop)];
        assert_eq!(read(&[unknown, YES, unknown, STOP]), (expected, None), "{unknown}");
    };
    check("{}");
    check(r#"{"candidates":[],"promptFeedback":{"safetyRatings":[]}}"#);
    check(r#"{"candidates":[{"content":{"role":"model"},"groundingMetadata":{"a":[1]}}]}"#);
    check(r#"{"candidates":[{"content":{"parts":[{"inlineData":{"data":"AA=="}},{"text":""}]}}]}"#);
    check(r#"{"candidates":[{"content":{"parts":[{"text":"Hm.","thought":true}]}}]}"#);
    let after = read(&[YES, STOP, YES, STOP, "no JSON"]);
    assert_eq!(after, (vec![text("Yes."), bare_end(Finish::Stop)], None));
}

#[test]
fn a_frame_without_a_count_takes_none_away() {
    let counted = r#"{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2}}"#;
    let expected = vec![text("Yes."), end(Finish::Stop, Usage::new(7, 2))];
    assert_eq!(read(&[YES, counted, STOP]), (expected, None));
}

#[test]
fn d10_a_count_after_the_end_is_not_lost() {
    let check = |late: &str, expected: Option<Usage>| {
        let expected = expected.map(|usage| end(Finish::Stop, usage));
        let all = [text("Yes."), bare_end(Finish::Stop)].into_iter().chain(expected).collect();
        assert_eq!(read(&[YES, STOP, late]), (all, None), "{late}");
    };
    check(
        r#"{"usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":2},"modelVersion":"m"}"#,
        Some(Usage::new(7, 2)),
    );
    check(r#"{"candidates":[{"content":{"parts":[{"text":"more"}]}}]}"#, None);
    check("{", None);
}

#[test]
fn e01_only_our_tool_with_a_topic_convenes() {
    let check = |name: &str, arguments: &str, expected: &[Chunk]| {
        let called = format!(r#"{{"functionCall":{{"name":"{name}","args":{arguments}}}}}"#);
        let frame = format!(r#"{{"candidates":[{{"content":{{"parts":[{called}]}}}}]}}"#);
        assert_eq!(read(&[&frame]), (expected.to_vec(), None), "{frame}");
    };
    check("discuss", r#"{"topic":" Why? "}"#, &[convene("Why?")]);
    check("discuss", r#"{"topic":""}"#, &[]);
    check("discuss", "{}", &[]);
    check("search", r#"{"topic":"Why?"}"#, &[]);
}

fn error(code: u16, message: &str, details: &Value) -> String {
    json!({ "error": { "code": code, "message": message, "status": "X", "details": details } }).to_string()
}

#[test]
fn d12_refusals_are_classed_inside_a_stream_and_out() {
    let check = |code: u16, message: &str, details: Value, class: ErrorClass| {
        let body = error(code, message, &details);
        let named = TooLong { limit: 1_048_576, sent: Some(1_200_000) };
        let limit = message.contains("1048576").then_some(named);
        let expected = ProviderError { limit, ..ProviderError::new(class, format!("{message} ({code})")) };
        assert_eq!(refused(&WIRE, code, &body), expected);
        assert_eq!(refused(&WIRE, 200, &body), expected);
        assert_eq!(read(&[YES, &body]), (vec![text("Yes.")], Some(expected)));
    };
    let bad_key =
        json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID" }]);
    check(400, "API key not valid. Please pass a valid API key.", bad_key, ErrorClass::Authentication);
    check(400, "User location is not supported for the API use.", json!([]), ErrorClass::Validation);
    let long = "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).";
    check(400, long, json!([]), ErrorClass::ContextOverflow);
    check(403, "Method doesn't allow unregistered callers.", json!([]), ErrorClass::Authentication);
    check(404, "models/gemini-9 is not found for API version v1beta", json!([]), ErrorClass::Validation);
    let quota = "Quota exceeded for metric: generate_content_free_tier_input_token_count, limit: 250000";
    check(429, quota, json!([]), ErrorClass::RateLimit);
    check(499, "The operation was cancelled.", json!([]), ErrorClass::ApiError);
    check(500, "An internal error has occurred.", json!([]), ErrorClass::ApiError);
    check(503, "The model is overloaded. Please try again later.", json!([]), ErrorClass::ApiError);
    check(504, "Deadline expired before operation could complete.", json!([]), ErrorClass::Timeout);
}

#[test]
fn d12_an_error_without_a_status_is_the_servers() {
    let check = |body: &str, told: &str| {
        assert_eq!(read(&[body]), (vec![], Some(ProviderError::new(ErrorClass::ApiError, told))));
    };
    check(r#"{"error":{"message":"Oops","code":"broken"}}"#, "Oops (500)");
    check(r#"{"error":"Oops"}"#, "Oops (500)");
}

#[test]
fn f5_a_delay_is_kept() {
    let details = json!([{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "37s" }]);
    let body = error(429, "Slow down.", &details);
    let expected = ProviderError {
        retry_after_ms: Some(37_000),
        ..ProviderError::new(ErrorClass::RateLimit, "Slow down. (429)")
    };
    assert_eq!(refused(&WIRE, 429, &body), expected);
    assert_eq!(read(&[&body]), (vec![], Some(expected)));
}

#[test]
fn what_is_refused_says_what_to_do_and_no_key() {
    let check = |code: u16, message: &str, expected: &str| {
        assert_eq!(refused(&WIRE, code, &error(code, message, &json!([]))).message, expected);
    };
    check(
        400,
        "Invalid JSON payload received. Unknown name \"systemInstruction\": Cannot find field.",
        "Invalid JSON payload received. Unknown name \"systemInstruction\": Cannot find field. (400); \
         a base_url that ends with /v1beta may know it",
    );
    check(
        403,
        "Permission denied: Consumer 'api_key:AIza-Sy_1' has been suspended.",
        "Permission denied: Consumer 'api_key:…' has been suspended. (403)",
    );
}

#[test]
fn f4_a_frame_that_makes_no_sense_is_an_error() {
    let check = |data: &str| {
        let (said, error) = read(&[data]);
        assert_eq!((said, error.map(|it| it.class)), (vec![], Some(ErrorClass::InvalidResponse)), "{data}");
    };
    check("no JSON");
    check("[DONE]");
    check(r#"{"candidates":7}"#);
    check(r#"{"usageMetadata":{"promptTokenCount":-1}}"#);
}

#[test]
fn f4_nonsense_does_no_harm() {
    check_nonsense(&WIRE, &RECORDED);
}
