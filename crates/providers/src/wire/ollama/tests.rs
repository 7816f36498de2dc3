//! Tests of Ollama's wire: requests, answers and errors.

use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::{Call, Shape},
    model::{error::ErrorClass, money::Usage, transcript::Finish},
    seams::Chunk,
};
use serde_json::{Value, json};

use super::{
    super::{
        Model, Probe, Quirks, Schema, Shows,
        testing::{
            BOB, answering, check_cuts, check_nonsense, chunks, class_and_message, model, outcome, sent_from,
            unsorted, unsorted_strict,
        },
    },
    Vectors, WIRE, decode_vectors, discuss, encode, encode_texts, probe,
};

const PLAIN: &str = include_str!("../recorded/ollama.txt");
const TOOL: &str = include_str!("../recorded/ollama-tool.txt");
const CUT: &str = include_str!("../recorded/ollama-cut.txt");
const BROKEN: &str = include_str!("../recorded/ollama-broken.txt");
const COMPLETE: &[&str] = &[PLAIN, TOOL, CUT];

fn ballot() -> Shape {
    let schema =
        json!({ "type": "object", "properties": { "choice": { "type": "string" } }, "required": ["choice"] });
    Shape { form: const { &Form::new("ballot") }, schema: Some(schema.into()) }
}

#[test]
fn properties_are_sent_in_the_order_they_are_written_in() {
    let call = Call { shape: unsorted(), ..answering() };
    let sent = sent_from(&encode(&call, &model("model-1", Quirks::default())), "\"format\"");
    assert_eq!(sent, format!("\"format\":{}}}", unsorted_strict(r#","maximum":10"#)));
}

#[test]
fn d14_a_call_as_ollama_takes_it() {
    let check = |call: Call, quirks: Quirks, options: Value, more: Value| {
        let mut expected = json!({
            "model": "model-1",
            "messages": [
                { "role": "system", "content": "You are ann." },
                { "role": "user", "content": BOB },
                { "role": "assistant", "content": "Spaces." },
                { "role": "user", "content": "And now?" },
            ],
            "stream": true,
            "truncate": false,
            "shift": false,
            "options": options,
        });
        expected.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let sent = encode(&call, &model("model-1", quirks));
        assert_eq!((sent.path.as_str(), sent.body), ("/api/chat", expected));
    };
    let usual = Quirks::default();
    let plain = || json!({ "num_ctx": 8192, "num_predict": 200, "temperature": 0.5 });
    check(answering(), usual, plain(), json!({}));
    let cold = Quirks { temperature: false, stop: false, ..usual };
    let stops = || Call { stop: ["[", "", "\n\n"].map(str::to_owned).to_vec(), ..answering() };
    check(stops(), cold, json!({ "num_ctx": 8192, "num_predict": 200 }), json!({}));
    let stopping = json!({ "num_ctx": 8192, "num_predict": 200, "temperature": 0.5, "stop": ["[", "\n\n"] });
    check(stops(), usual, stopping, json!({}));
    let voting = || Call { shape: Some(ballot()), may_convene: true, ..answering() };
    let mut strict = (*ballot().schema.unwrap()).clone();
    strict["additionalProperties"] = false.into();
    check(voting(), usual, plain(), json!({ "format": strict }));
    check(voting(), Quirks { schema: Schema::Json, ..usual }, plain(), json!({ "format": "json" }));
    check(voting(), Quirks { schema: Schema::Prompt, ..usual }, plain(), json!({}));
    let asking = || Call { may_convene: true, ..answering() };
    check(asking(), usual, plain(), json!({ "tools": [discuss()] }));
    check(asking(), Quirks { tools: false, ..usual }, plain(), json!({}));
}

#[test]
fn a_window_is_large_enough_and_no_larger_than_it_may_be() {
    let check = |bytes: usize, max_tokens: u32, window: u64, expected: u64| {
        let call = Call { system: "x".repeat(bytes).into(), max_tokens, messages: Vec::new(), ..answering() };
        let sent = encode(&call, &Model { window, ..model("model-1", Quirks::default()) }).body;
        assert_eq!(sent["options"]["num_ctx"], expected, "{bytes} bytes and {max_tokens} tokens");
    };
    check(100, 100, 200_000, 8_192);
    check(100, 100, 4_096, 4_096);
    check(30_000, 2_000, 200_000, 16_384);
    check(30_000, 2_000, 12_000, 12_000);
    check(300_000, 4_000, 200_000, 131_072);
    check(3 * 7_580, 100, 200_000, 8_192);
    check(3 * 7_581, 100, 200_000, 16_384);
}

#[test]
fn a_probe_asks_for_the_model() {
    let body = Some(json!({ "model": "model-1" }));
    let expected = Probe { path: "/api/show".to_owned(), body, shows: Shows::ByStatus };
    assert_eq!(probe(&model("model-1", Quirks::default())), expected);
}

#[test]
fn d10_recorded_streams_are_read_whole() {
    let check = |recorded: &str, mut expected: Vec<Chunk>, finish: Finish, usage: Usage| {
        expected.push(Chunk::End { finish, usage: Some(usage), cost: None });
        assert_eq!(chunks(&WIRE, recorded.as_bytes()), (expected, None));
    };
    let texts = |texts: &[&str]| texts.iter().map(|it| Chunk::Text((*it).to_owned())).collect();
    check(PLAIN, texts(&["Tabs", " and", " \"ü\"."]), Finish::Stop, Usage::new(412, 57));
    let asked = vec![Chunk::Convene { topic: "Is it in use?".to_owned() }];
    check(TOOL, asked, Finish::Stop, Usage::new(233, 41));
    check(CUT, texts(&["Tabs", ", be"]), Finish::Length, Usage::new(30, 200));
}

#[test]
fn thoughts_are_removed_wherever_they_are() {
    let check = |lines: &[&str], text: &str| {
        let done = r#"{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":100}"#;
        let stream: String = lines.iter().chain([&done]).map(|it| format!("{it}\n")).collect();
        let (said, others, error) = outcome(&WIRE, stream.as_bytes());
        assert_eq!((said.as_str(), others.len(), error), (text, 1, None), "{stream}");
    };
    check(&[r#"{"message":{"content":"","thinking":"Hm."}}"#, r#"{"message":{"content":"Tabs."}}"#], "Tabs.");
    let thinking =
        [r#"{"message":{"content":"<think>Hm."}}"#, r#"{"message":{"content":"</think>\n\nTabs."}}"#];
    check(&thinking, "Tabs.");
}

#[test]
fn f4_lines_of_unknown_kinds_are_passed_over() {
    let check = |lines: &str, text: &str, others: &[Chunk]| {
        assert_eq!(outcome(&WIRE, lines.as_bytes()), (text.to_owned(), others.to_vec(), None), "{lines}");
    };
    let end = Chunk::End { finish: Finish::Stop, usage: None, cost: None };
    check("{}\n{\"status\":\"loading\",\"error\":null}\n", "", &[]);
    check("{\"done\":false,\"done_reason\":\"stop\",\"prompt_eval_count\":3}\n", "", &[]);
    check(
        "{\"message\":null,\"done\":true}\n{\"message\":{\"content\":\"late\"}}\n",
        "",
        std::slice::from_ref(&end),
    );
    check("{\"message\":{\"content\":\"a\"},\"done\":true,\"done_reason\":\"load\"}\n", "a", &[end]);
    let other = r#"{"message":{"content":"","tool_calls":[{"function":{"name":"search"}},{"function":{"name":"discuss","arguments":{}}}]}}"#;
    check(&format!("{other}\n"), "", &[]);
}

#[test]
fn d12_errors_inside_an_answer() {
    let check = |lines: &str, class: ErrorClass, message: &str| {
        let (_, others, error) = outcome(&WIRE, lines.as_bytes());
        assert_eq!((others, error), (Vec::new(), Some((class, message.to_owned()))), "{lines}");
    };
    let broken = "an error was encountered while running the model: unexpected EOF";
    check(BROKEN, ErrorClass::ApiError, broken);
    check("{\"error\":\"the input exceeds the context length\"}\n", ErrorClass::ContextOverflow, {
        "the input exceeds the context length"
    });
    let torn = "a frame of the answer could not be read (expected value at line 1 column 1)";
    check("<html>\n", ErrorClass::InvalidResponse, torn);
}

#[test]
fn d12_refusals_say_what_to_do() {
    let check = |status: u16, error: &str, class: ErrorClass, message: &str| {
        let body = json!({ "error": error }).to_string();
        assert_eq!(class_and_message(&WIRE, status, &body), (class, message.to_owned()), "{status} {error}");
    };
    check(
        404,
        "model \"qwen3:8b\" not found, try pulling it first",
        ErrorClass::Validation,
        "model \"qwen3:8b\" not found, try pulling it first (404); fetch it with `ollama pull qwen3:8b`",
    );
    check(
        404,
        "model 'qwen3:8b' not found",
        ErrorClass::Validation,
        "model 'qwen3:8b' not found (404); fetch it with `ollama pull qwen3:8b`",
    );
    check(
        400,
        "registry.ollama.ai/library/gemma:2b does not support tools",
        ErrorClass::Validation,
        "registry.ollama.ai/library/gemma:2b does not support tools (400); set `tools = false` for this model",
    );
    check(
        500,
        "model requires more system memory (11.3 GiB) than is available (7.1 GiB)",
        ErrorClass::Validation,
        "model requires more system memory (11.3 GiB) than is available (7.1 GiB) (500); use a smaller model or a smaller window",
    );
    let inner = r#"{"error":{"code":400,"message":"request (351 tokens) exceeds the available context size (256 tokens), try increasing it","type":"exceed_context_size_error","n_prompt_tokens":351,"n_ctx":256}}"#;
    let plain =
        "request (351 tokens) exceeds the available context size (256 tokens), try increasing it (400)";
    check(400, inner, ErrorClass::ContextOverflow, plain);
    check(
        500,
        "llama runner process has terminated",
        ErrorClass::ApiError,
        "llama runner process has terminated (500)",
    );
    check(401, "unauthorized", ErrorClass::Authentication, "unauthorized (401)");
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
fn d08_texts_become_vectors() {
    let sent = encode_texts(&model("embed", Quirks::default()), &["a".to_owned()]);
    assert_eq!((sent.path.as_str(), &sent.body["input"]), ("/api/embed", &json!(["a"])));
    let read = decode_vectors(r#"{"embeddings":[[1,0.5]],"prompt_eval_count":3}"#);
    assert_eq!(read, Some(Vectors { vectors: vec![vec![1.0, 0.5]], tokens: Some(3) }));
    assert_eq!(decode_vectors("{}"), None);
}
