//! Tests of chat completions: requests, answers and errors.

use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::Shape,
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
        Limit, Quirks, Schema, Shows,
        testing::{
            BOB, answering, check_cuts, check_nonsense, chunks, class_and_message, model, outcome, sent_from,
            unsorted, unsorted_strict,
        },
    },
    WIRE, encode, probe,
};

const OPENAI: &str = include_str!("../recorded/openai-chat.txt");
const TOOL: &str = include_str!("../recorded/openai-chat-tool.txt");
const REFUSAL: &str = include_str!("../recorded/openai-chat-refusal.txt");
const MISTRAL: &str = include_str!("../recorded/mistral.txt");
const MISTRAL_TOOL: &str = include_str!("../recorded/mistral-tool.txt");
const DEEPSEEK: &str = include_str!("../recorded/deepseek.txt");
const OPENROUTER: &str = include_str!("../recorded/openrouter.txt");
const OPENROUTER_BROKEN: &str = include_str!("../recorded/openrouter-broken.txt");
const VLLM: &str = include_str!("../recorded/vllm.txt");
const GROQ: &str = include_str!("../recorded/groq.txt");
const GROK: &str = include_str!("../recorded/grok.txt");
const COMPLETE: &[&str] =
    &[OPENAI, TOOL, REFUSAL, MISTRAL, MISTRAL_TOOL, DEEPSEEK, OPENROUTER, VLLM, GROQ, GROK];

/// The body of the plain call with these fields changed; null removes one.
fn body(changes: Value) -> Value {
    let mut body = json!({
        "model": "model-1",
        "messages": [
            { "role": "system", "content": "You are ann." },
            { "role": "user", "content": BOB },
            { "role": "assistant", "content": "Spaces." },
            { "role": "user", "content": "And now?" },
        ],
        "stream": true,
        "stream_options": { "include_usage": true },
        "max_tokens": 200,
        "temperature": 0.5,
    });
    let Value::Object(changes) = changes else { panic!("changes are an object") };
    for (key, value) in changes {
        match value {
            Value::Null => drop(body.as_object_mut().unwrap().remove(&key)),
            value => body[key] = value,
        }
    }
    body
}

#[test]
fn d14_a_call_as_chat_completions_take_it() {
    let check = |change: &dyn Fn(&mut quorum_core::call::Call), quirks: Quirks, changes: Value| {
        let mut call = answering();
        change(&mut call);
        let sent = encode(&call, &model("model-1", quirks));
        assert_eq!((sent.path.as_str(), sent.body), ("/chat/completions", body(changes)));
    };
    let usual = Quirks::default();
    check(&|_| {}, usual, json!({}));
    check(&|call| call.system = " ".into(), usual, {
        let messages = body(json!({}))["messages"].as_array().unwrap()[1..].to_vec();
        json!({ "messages": messages })
    });
    let stops = |call: &mut quorum_core::call::Call| {
        call.stop = ["[", "", "\n\n", "Speaker:", "a", "b"].map(str::to_owned).to_vec();
    };
    check(&stops, usual, json!({ "stop": ["[", "\n\n", "Speaker:", "a"] }));
    check(&stops, Quirks { stop: false, ..usual }, json!({}));
    check(&|_| {}, Quirks { temperature: false, stream_options: false, ..usual }, {
        json!({ "temperature": null, "stream_options": null })
    });
    let newer = Quirks { limit: Limit::MaxCompletionTokens, ..usual };
    check(&|_| {}, newer, json!({ "max_tokens": null, "max_completion_tokens": 200 }));
}

fn verdict() -> Shape {
    let winner = json!({ "type": ["object", "null"], "properties": { "who": { "type": "string" } } });
    let properties = json!({ "summary": { "type": "string" }, "winner": winner });
    let schema = json!({ "type": "object", "properties": properties, "required": ["summary"] });
    Shape { form: const { &Form::new("verdict") }, schema: Some(schema.into()) }
}

#[test]
fn properties_are_sent_in_the_order_they_are_written_in() {
    let call = quorum_core::call::Call { shape: unsorted(), ..answering() };
    let sent = sent_from(&encode(&call, &model("model-1", Quirks::default())), "\"response_format\"");
    let schema = unsorted_strict(r#","maximum":10"#);
    let form = format!(r#"{{"name":"ballot","schema":{schema},"strict":true}}"#);
    assert_eq!(sent, format!(r#""response_format":{{"type":"json_schema","json_schema":{form}}}}}"#));
}

#[test]
fn a_shape_is_asked_for_in_the_vendors_way() {
    let check = |shape: Shape, how: Schema, expected: Option<Value>| {
        let call = quorum_core::call::Call { shape: Some(shape), may_convene: true, ..answering() };
        let sent = encode(&call, &model("model-1", Quirks { schema: how, ..Quirks::default() }));
        assert_eq!(sent.body.get("response_format"), expected.as_ref());
    };
    let who = json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] });
    let winner = json!({
        "type": "object", "properties": { "who": who }, "required": ["who"], "additionalProperties": false,
    });
    let schema = json!({
        "type": "object",
        "properties": { "summary": { "type": "string" }, "winner": { "anyOf": [winner, { "type": "null" }] } },
        "required": ["summary", "winner"],
        "additionalProperties": false,
    });
    let strict = json!({ "type": "json_schema", "json_schema": { "name": "verdict", "schema": schema, "strict": true } });
    check(verdict(), Schema::Strict, Some(strict));
    check(verdict(), Schema::Json, Some(json!({ "type": "json_object" })));
    check(verdict(), Schema::Prompt, None);
    check(Shape { form: const { &Form::new("consensus-check") }, schema: None }, Schema::Strict, None);
}

#[test]
fn e01_the_tool_is_offered_only_where_it_may_be_used() {
    let check = |may_convene: bool, tools: bool, shape: Option<Shape>, expected: bool| {
        let call = quorum_core::call::Call { may_convene, shape, ..answering() };
        let sent = encode(&call, &model("model-1", Quirks { tools, ..Quirks::default() })).body;
        let function = json!({
            "name": "discuss", "description": super::DISCUSS_SUMMARY, "parameters": super::discuss_schema(),
        });
        let tools = json!([{ "type": "function", "function": function }]);
        assert_eq!(sent.get("tools"), expected.then_some(&tools));
    };
    check(true, true, None, true);
    check(false, true, None, false);
    check(true, false, None, false);
    check(true, true, Some(verdict()), false);
}

#[test]
fn a_probe_looks_at_the_list() {
    let probe = probe(&model("model-1", Quirks::default()));
    assert_eq!((probe.path.as_str(), probe.body, probe.shows), ("/models", None, Shows::ByList));
}

#[test]
fn d10_recorded_streams_are_read_whole() {
    let check = |recorded: &str, texts: &[&str], finish: Finish, usage: Usage, cost: Option<f64>| {
        let said = texts.iter().map(|it| Chunk::Text((*it).to_owned()));
        let cost = cost.and_then(Usd::from_dollars);
        let end = Chunk::End { finish, usage: Some(usage), cost };
        let expected: Vec<Chunk> = said.chain([end]).collect();
        assert_eq!(chunks(&WIRE, recorded.as_bytes()), (expected, None));
    };
    let usage =
        |prompt, completion, cached, reasoning| Usage { prompt, completion, cached, written: 0, reasoning };
    let openai = ["Tabs", ", for a ", "\"reader\" with grüße 👍", "."];
    check(OPENAI, &openai, Finish::Stop, usage(1412, 87, 1280, 64), None);
    check(MISTRAL, &["Spaces", " align alike", " everywhere."], Finish::Stop, usage(204, 39, 64, 0), None);
    check(DEEPSEEK, &["Either", ", if it is one."], Finish::Stop, usage(517, 142, 448, 133), None);
    check(OPENROUTER, &["Spaces", " it is."], Finish::Stop, usage(812, 33, 0, 3), Some(0.00013245));
    check(VLLM, &["Tabs,", " because"], Finish::Length, usage(48, 8, 0, 0), None);
    check(GROQ, &["Tabs."], Finish::Stop, usage(61, 3, 0, 0), None);
    // 2 tokens of text and 306 of thoughts: Grok counts them separately.
    check(GROK, &["Tabs."], Finish::Stop, usage(715, 308, 679, 306), None);
}

#[test]
fn e01_a_tool_call_is_collected_over_its_frames() {
    let check = |recorded: &str, topic: &str, usage: Usage| {
        let end = Chunk::End { finish: Finish::Stop, usage: Some(usage), cost: None };
        let expected = vec![Chunk::Convene { topic: topic.to_owned() }, end];
        assert_eq!(chunks(&WIRE, recorded.as_bytes()), (expected, None));
    };
    check(TOOL, "Is the \"old\" editor in use?", Usage::new(310, 21));
    check(MISTRAL_TOOL, "Which linters mind?", Usage::new(99, 22));
}

#[test]
fn thoughts_are_removed_wherever_they_are() {
    let check = |deltas: &[&str], expected: &str| {
        let (text, others, error) = outcome(&WIRE, with_delta(deltas).as_bytes());
        assert_eq!((text.as_str(), others.len(), error), (expected, 1, None), "{deltas:?}");
    };
    check(&[r#"{"reasoning_content":"Hm."}"#, r#"{"content":"Tabs."}"#], "Tabs.");
    check(&[r#"{"reasoning":"Hm.","content":null}"#, r#"{"content":"Tabs."}"#], "Tabs.");
    let thinking =
        [r#"{"content":"<think>\nHm."}"#, r#"{"content":"</th"}"#, r#"{"content":"ink>\n\nTabs."}"#];
    check(&thinking, "Tabs.");
    check(&[r#"{"content":"<think>Hm."}"#], "");
    check(&[r#"{"content":"<th"}"#], "<th");
    check(&[r#"{"content":"The mark <think> means thinking."}"#], "The mark <think> means thinking.");
}

/// One frame with this choice, a finish reason, and the end.
fn with_delta(deltas: &[&str]) -> String {
    let frames =
        deltas.iter().map(|it| format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{it}}}]}}\n\n"));
    let end = "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n";
    frames.chain([end.to_owned()]).collect()
}

#[test]
fn e01_tool_calls_come_in_many_spellings() {
    let check = |deltas: &[&str], expected: Option<&str>| {
        let (all, error) = chunks(&WIRE, with_delta(deltas).as_bytes());
        let topics: Vec<_> = all.iter().filter(|it| matches!(it, Chunk::Convene { .. })).cloned().collect();
        let expected: Vec<_> =
            expected.map(|it| Chunk::Convene { topic: it.to_owned() }).into_iter().collect();
        assert_eq!((topics, error), (expected, None), "{deltas:?}");
    };
    let no_index =
        r#"{"tool_calls":[{"id":"a","function":{"name":"discuss","arguments":"{\"topic\":\"x\"}"}}]}"#;
    let another =
        r#"{"tool_calls":[{"id":"b","function":{"name":"discuss","arguments":"{\"topic\":\"y\"}"}}]}"#;
    check(&[no_index], Some("x"));
    check(&[no_index, another], Some("x"));
    let object = r#"{"tool_calls":[{"index":0,"function":{"name":"discuss","arguments":{"topic":"x"}}}]}"#;
    check(&[object], Some("x"));
    let begun = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"discuss","arguments":null}}]}"#;
    let empty_id =
        r#"{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":"{\"topic\":\"x\"}"}}]}"#;
    check(&[begun, empty_id], Some("x"));
    check(&[begun], None);
    let unknown = r#"{"tool_calls":[{"index":0,"id":"a","function":{"name":"search","arguments":"{\"topic\":\"x\"}"}}]}"#;
    check(&[unknown], None);
    check(&[r#"{"tool_calls":[{"index":0,"type":"function"}]}"#, r#"{"tool_calls":null}"#], None);
}

#[test]
fn d12_every_way_an_answer_ends() {
    let check = |frames: &[&str], text: &str, expected: Result<Finish, (ErrorClass, &str)>| {
        let stream: String = frames.iter().map(|it| format!("data: {it}\n\n")).collect();
        let (said, others, error) = outcome(&WIRE, stream.as_bytes());
        let finish = others
            .iter()
            .find_map(|it| if let Chunk::End { finish, .. } = it { Some(*finish) } else { None });
        let (finish, error) = match expected {
            Ok(expected) => ((finish, Some(expected)), (error, None)),
            Err((class, message)) => ((finish, None), (error, Some((class, message.to_owned())))),
        };
        assert_eq!((said.as_str(), finish.0, error.0), (text, finish.1, error.1), "{frames:?}");
    };
    let a = r#"{"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}"#;
    let done = "[DONE]";
    let with =
        |reason: &str| format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#);
    let finishes = [
        ("stop", Finish::Stop),
        ("length", Finish::Length),
        ("model_length", Finish::Length),
        ("content_filter", Finish::Refused),
        ("sensitive", Finish::Refused),
        ("tool_calls", Finish::Stop),
        ("eos_token", Finish::Stop),
    ];
    for (reason, finish) in finishes {
        check(&[a, &with(reason), done], "a", Ok(finish));
    }
    let broke = "the provider stopped with an error (insufficient_system_resource)";
    check(&[a, &with("insufficient_system_resource"), done], "a", Err((ErrorClass::ApiError, broke)));
    let unsaid =
        (ErrorClass::InvalidResponse, "the answer ended without a finish reason; it may be incomplete");
    check(&[a, done], "a", Err(unsaid));
    check(&[a, &with("null"), done], "a", Err(unsaid));
    check(&[done], "", Err(unsaid));
    // A second choice, frames of other kinds and frames after the end are ignored.
    let other = r#"{"choices":[{"index":1,"delta":{"content":"b"},"finish_reason":"length"}]}"#;
    let kinds =
        [other, r#"{"object":"chat.completion.chunk.ping"}"#, "{}", "", r#"{"choices":null,"error":null}"#];
    check(
        &[a, kinds[0], kinds[1], kinds[2], kinds[3], kinds[4], &with("stop"), done, a],
        "a",
        Ok(Finish::Stop),
    );
    let (text, others, error) = outcome(&WIRE, REFUSAL.as_bytes());
    let end = Chunk::End { finish: Finish::Refused, usage: None, cost: None };
    assert_eq!((text.as_str(), others, error), ("I'm sorry, I can't help with that.", vec![end], None));
}

#[test]
fn d12_errors_inside_an_answer() {
    let check = |frame: &str, class: ErrorClass, message: &str| {
        let (_, others, error) = outcome(&WIRE, frame.as_bytes());
        assert_eq!((others, error), (Vec::new(), Some((class, message.to_owned()))), "{frame}");
    };
    check(OPENROUTER_BROKEN, ErrorClass::ApiError, "Provider disconnected unexpectedly");
    let data = |error: &str| format!("data: {error}\n\n");
    let cases = [
        (r#"{"error":{"code":429,"message":"slow down"}}"#, ErrorClass::RateLimit, "slow down"),
        (r#"{"error":{"code":"429","message":"slow down"}}"#, ErrorClass::RateLimit, "slow down"),
        (
            r#"{"error":{"message":"The server had an error","type":"server_error","param":null,"code":null}}"#,
            ErrorClass::ApiError,
            "The server had an error",
        ),
        (
            r#"{"error":{"message":"m","type":"requests","code":"rate_limit_exceeded"}}"#,
            ErrorClass::RateLimit,
            "m",
        ),
        (r#"{"error":{"message":"m","code":"context_length_exceeded"}}"#, ErrorClass::ContextOverflow, "m"),
        (
            r#"{"object":"error","message":"bad","type":"BadRequestError","code":400}"#,
            ErrorClass::Validation,
            "bad",
        ),
        (r#"{"error":"it is over"}"#, ErrorClass::ApiError, "it is over"),
        (r#"{"choices":[{"index":0,"error":{"code":502,"message":"up"}}]}"#, ErrorClass::ApiError, "up"),
        (r#"{"choices":[],"x_groq":{"error":"over_capacity"}}"#, ErrorClass::ApiError, "over_capacity"),
        (r#"{"error":{}}"#, ErrorClass::ApiError, "the provider stopped with an unspecified error"),
    ];
    for (frame, class, message) in cases {
        check(&data(frame), class, message);
    }
    check("event: error\ndata: {\"message\":\"gone\"}\n\n", ErrorClass::ApiError, "gone");
    let silent = "the provider stopped with an unspecified error";
    check("event: error\ndata: gone\n\n", ErrorClass::ApiError, silent);
    let torn = "a frame of the answer could not be read (EOF while parsing a list at line 1 column 12)";
    check(&data(r#"{"choices":["#), ErrorClass::InvalidResponse, torn);
    assert_eq!(chunks(&WIRE, b"event: ping\ndata: hello\n\n"), (Vec::new(), None));
    let waits = data(r#"{"error":{"code":429,"message":"Please try again in 2s."}}"#);
    assert_eq!(chunks(&WIRE, waits.as_bytes()).1.unwrap().retry_after_ms, Some(2_000));
}

#[test]
fn d12_refusals_of_many_vendors() {
    let check = |status: u16, body: &str, class: ErrorClass, message: &str| {
        assert_eq!(class_and_message(&WIRE, status, body), (class, message.to_owned()), "{status} {body}");
    };
    let unpaid = "; the account behind this key has no credit left: add some, or use another key";
    check(
        429,
        r#"{"error":{"message":"You exceeded your current quota.","type":"insufficient_quota","param":null,"code":"insufficient_quota"}}"#,
        ErrorClass::Authentication,
        &format!("You exceeded your current quota. (429){unpaid}"),
    );
    check(
        402,
        r#"{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}"#,
        ErrorClass::Authentication,
        &format!("Insufficient Balance (402){unpaid}"),
    );
    check(
        429,
        r#"{"error":{"message":"Rate limit","code":"rate_limit_exceeded"}}"#,
        ErrorClass::RateLimit,
        "Rate limit (429)",
    );
    check(
        404,
        r#"{"error":{"message":"The model `x` does not exist","type":"invalid_request_error","param":null,"code":"model_not_found"}}"#,
        ErrorClass::Validation,
        "The model `x` does not exist (404)",
    );
    check(
        400,
        r#"{"code":"Client specified an invalid argument","error":"Incorrect API key provided: xa***ey."}"#,
        ErrorClass::Authentication,
        "Incorrect API key provided: xa***ey. (400)",
    );
    check(
        400,
        r#"{"error":{"message":"Failed to call a function.","type":"invalid_request_error","code":"tool_use_failed"}}"#,
        ErrorClass::InvalidResponse,
        "Failed to call a function. (400)",
    );
    check(
        403,
        r#"{"error":{"code":403,"message":"flagged","metadata":{"reasons":["violence"]}}}"#,
        ErrorClass::Validation,
        "flagged (403)",
    );
    check(498, r#"{"error":{"message":"no capacity"}}"#, ErrorClass::RateLimit, "no capacity (498)");
    check(
        503,
        r#"{"error":{"code":503,"message":"Loading model"}}"#,
        ErrorClass::ApiError,
        "Loading model (503)",
    );
    check(
        400,
        r#"{"object":"error","message":"This model's maximum context length is 4096 tokens.","type":"BadRequestError","code":400}"#,
        ErrorClass::ContextOverflow,
        "This model's maximum context length is 4096 tokens. (400)",
    );
}

#[test]
fn d12_a_refused_field_is_named() {
    let check = |body: &str, message: &str| {
        assert_eq!(
            class_and_message(&WIRE, 422, body),
            (ErrorClass::Validation, message.to_owned()),
            "{body}"
        );
    };
    let list = r#"[{"type":"extra_forbidden","loc":["body","messages",0,"name"],"msg":"Extra inputs are not permitted","input":""}]"#;
    let named = "messages.0.name: Extra inputs are not permitted (422)";
    check(
        &format!(r#"{{"object":"error","message":{{"detail":{list}}},"type":"invalid_request_error"}}"#),
        named,
    );
    check(&format!(r#"{{"object":"Error","detail":{list},"message":{list},"code":3001}}"#), named);
    let packed = serde_json::to_string(&format!(r#"{{"detail":{list}}}"#)).unwrap();
    check(&format!(r#"{{"object":"error","message":{packed},"type":"internal_error_proxy"}}"#), named);
    check(r#"{"detail":[{"msg":"Field required"}]}"#, "Field required (422)");
    check(r#"{"message":"no"}"#, "no (422)");
}

#[test]
fn f3_a_stream_cut_anywhere_has_no_end() {
    COMPLETE.iter().for_each(|recorded| check_cuts(&WIRE, recorded));
}

#[test]
fn f4_nonsense_does_no_harm() {
    check_nonsense(&WIRE, COMPLETE);
}

#[test]
fn d10_what_a_call_costs_where_the_key_is_the_users_own() {
    let usage = |rest: &str| {
        let usage = format!(r#"{{"choices":[{{"delta":{{}},"finish_reason":"stop"}}],"usage":{{{rest}}}}}"#);
        outcome(&WIRE, format!("data: {usage}\n\ndata: [DONE]\n\n").as_bytes()).1
    };
    let end = |usage, dollars: Option<f64>| {
        vec![Chunk::End { finish: Finish::Stop, usage, cost: dollars.and_then(Usd::from_dollars) }]
    };
    let own = r#""cost":0.5,"is_byok":true,"cost_details":{"upstream_inference_cost":9.5}"#;
    assert_eq!(usage(own), end(None, Some(10.0)));
    assert_eq!(usage(r#""cost":0.5,"cost_details":{"upstream_inference_cost":9.5}"#), end(None, Some(0.5)));
    // Others put objects, fractions of tokens or invalid values there.
    let odd = r#""cost":{"total_cost":0.1},"prompt_tokens":12.0,"completion_tokens":-3,"cached_tokens":99"#;
    assert_eq!(usage(odd), end(Some(Usage { cached: 12, ..Usage::new(12, 0) }), None));
}

#[test]
fn frames_that_differ_in_their_text_alone_are_read_like_any_other() {
    let frame = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "model": "m", "choices": [choice], "usage": null }))
    };
    let said =
        ["<thi", "nk>hm</think>", "So", ", it's", "", " \"so\"", " a\\b\n", "ü🙂", "\",\"refusal\":\"no"];
    let frames = said.map(|it| frame(json!({ "content": it }), Value::Null)).concat();
    let last = frame(json!({ "content": "!" }), json!("stop"));
    let (chunks, error) = chunks(&WIRE, format!("{frames}{last}data: [DONE]\n\n").as_bytes());
    let text = chunks.iter().map(|it| if let Chunk::Text(text) = it { text } else { "" });
    assert_eq!(text.collect::<String>(), "So, it's \"so\" a\\b\nü🙂\",\"refusal\":\"no!");
    let end = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
    assert_eq!((chunks.last(), error), (Some(&end), None));
}
