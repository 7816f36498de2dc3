//! Tests of the dialects against sample output in the vendors' formats, cut at every position, and
//! of the prompt as programs read it.

#[path = "../../tests/command/call.rs"]
mod call;

use quorum_core::vocabulary::form::Form;
use quorum_core::{
    call::{Call, Message, Shape},
    model::{
        error::{ErrorClass, ProviderError},
        money::{Usage, Usd},
        transcript::Finish,
    },
    seams::Chunk,
};
use quorum_testkit::call::shown;

use self::call::call;
use super::{
    CommandProvider, DIALECTS, Dialect, Output, claude, codex,
    decode::{Decoded, Reader},
    gemini, prompt,
};
use crate::source::{Program, Timeouts};

const CLAUDE: &str = include_str!("../../tests/command/claude.jsonl");
const CODEX: &str = include_str!("../../tests/command/codex.jsonl");
const GEMINI: &str = include_str!("../../tests/command/gemini.jsonl");

/// The text and the end decoded from these pieces.
fn read_for(
    call: &Call,
    output: Output,
    pieces: &[&[u8]],
) -> (String, Option<Chunk>, Result<(), ProviderError>) {
    let mut reader = Reader::new(output, Decoded::of(call));
    let read = pieces.iter().try_for_each(|piece| reader.feed(piece));
    reader.finish();
    let (mut text, mut end) = (String::new(), None);
    for chunk in reader.decoded.chunks {
        match chunk {
            Chunk::Text(piece) => text.push_str(&piece),
            Chunk::AnsweredBy(_) => {}
            Chunk::Convene { topic } => text.push_str(&format!("<{topic}>")),
            Chunk::End { .. } => end = Some(chunk),
        }
    }
    (text, end, read)
}

fn read(dialect: &Dialect, pieces: &[&[u8]]) -> (String, Option<Chunk>, Result<(), ProviderError>) {
    read_for(&call("?"), dialect.output, pieces)
}

fn end(usage: Usage, cost: Option<Usd>) -> Option<Chunk> {
    Some(Chunk::End { finish: Finish::Stop, usage: Some(usage), cost })
}

#[test]
fn sample_answers_are_understood() {
    let check = |dialect: &Dialect, sample: &str, text: &str, expected: Option<Chunk>| {
        assert_eq!(read(dialect, &[sample.as_bytes()]), (text.to_owned(), expected, Ok(())));
    };
    let said = "A ledger – is enough 🙂.";
    let usage = Usage { cached: 1_000, written: 400, ..Usage::new(1_409, 31) };
    check(&claude::DIALECT, CLAUDE, said, end(usage, Usd::from_dollars(0.0123)));
    let usage = Usage { cached: 24_448, reasoning: 64, ..Usage::new(24_763, 122) };
    check(&codex::DIALECT, CODEX, &format!("First thought.\n\n{said}"), end(usage, None));
    let usage = Usage { cached: 20, ..Usage::new(50, 200) };
    check(&gemini::DIALECT, GEMINI, said, end(usage, None));
}

#[test]
fn f3_an_answer_cut_anywhere_is_never_complete_and_never_a_surprise() {
    for (dialect, sample) in
        [(&claude::DIALECT, CLAUDE), (&codex::DIALECT, CODEX), (&gemini::DIALECT, GEMINI)]
    {
        let bytes = sample.trim_end().as_bytes();
        let (whole, expected, _) = read(dialect, &[bytes]);
        for cut in 0..bytes.len() {
            let (text, ended, result) = read(dialect, &[&bytes[..cut]]);
            assert!(whole.starts_with(&text), "{} cut at {cut}: {text}", dialect.name);
            assert_eq!((ended, result), (None, Ok(())), "{} cut at {cut}", dialect.name);
            let spread = read(dialect, &[&bytes[..cut], &bytes[cut..]]);
            assert_eq!(spread, (whole.clone(), expected.clone(), Ok(())), "{} at {cut}", dialect.name);
        }
        let single: Vec<&[u8]> = bytes.chunks(1).collect();
        assert_eq!(read(dialect, &single), (whole, expected, Ok(())));
    }
}

#[test]
fn f3_any_line_but_the_last_may_be_missing() {
    for (dialect, sample) in
        [(&claude::DIALECT, CLAUDE), (&codex::DIALECT, CODEX), (&gemini::DIALECT, GEMINI)]
    {
        let lines: Vec<&str> = sample.lines().collect();
        for left_out in 0..lines.len() {
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != left_out).map(|(_, it)| *it);
            let kept = kept.collect::<Vec<_>>().join("\r\n");
            let (_, ended, result) = read(dialect, &[kept.as_bytes()]);
            let is_last = left_out == lines.len() - 1;
            assert_eq!((ended.is_none(), result), (is_last, Ok(())), "{} without {left_out}", dialect.name);
        }
    }
}

#[test]
fn d12_failures_inside_an_answer_are_what_they_say() {
    let check = |dialect: &Dialect, lines: &str, class: ErrorClass, message: &str| {
        let (_, ended, result) = read(dialect, &[lines.as_bytes(), b"\n"]);
        let failure = result.unwrap_err();
        assert_eq!((ended, failure.class, failure.message.as_str()), (None, class, message), "{lines}");
    };
    let claude = &claude::DIALECT;
    let refused = r#"{"type":"result","subtype":"success","is_error":true,"result":"Not logged in · Please run /login"}"#;
    check(claude, refused, ErrorClass::Authentication, "Not logged in · Please run /login");
    let limited =
        r#"{"type":"result","subtype":"success","is_error":true,"result":"Claude AI usage limit reached"}"#;
    check(claude, limited, ErrorClass::RateLimit, "Claude AI usage limit reached");
    let failed = r#"{"type":"result","subtype":"error_during_execution","is_error":false}"#;
    check(claude, failed, ErrorClass::ApiError, "error_during_execution");
    let codex = &codex::DIALECT;
    let failed = r#"{"type":"turn.failed","error":{"message":"You've hit your usage limit."}}"#;
    check(codex, failed, ErrorClass::RateLimit, "You've hit your usage limit.");
    let failed = "{\"type\":\"error\",\"message\":\"401 Unauthorized\"}\n{\"type\":\"turn.failed\"}";
    check(codex, failed, ErrorClass::Authentication, "401 Unauthorized");
    let failed = r#"{"type":"result","status":"error","error":{"type":"X","message":"Quota exceeded"}}"#;
    check(&gemini::DIALECT, failed, ErrorClass::RateLimit, "Quota exceeded");
}

#[test]
fn f4_notices_are_passed_over_and_broken_lines_are_not() {
    let (text, ended, result) =
        read(&gemini::DIALECT, &[b"Loaded cached credentials.\n[]\n", GEMINI.as_bytes()]);
    assert_eq!((text.as_str(), ended.is_some(), result), ("A ledger – is enough 🙂.", true, Ok(())));
    let (_, ended, result) = read(&gemini::DIALECT, &[b"{\"type\":\n", GEMINI.as_bytes()]);
    let class = result.unwrap_err().class;
    assert_eq!((ended, class), (None, ErrorClass::InvalidResponse));
}

#[test]
fn an_answer_without_deltas_is_taken_from_its_result() {
    let line = r#"{"type":"result","subtype":"success","is_error":false,"result":"Whole."}"#;
    let expected = Some(Chunk::End { finish: Finish::Stop, usage: None, cost: None });
    assert_eq!(read(&claude::DIALECT, &[line.as_bytes()]), ("Whole.".to_owned(), expected, Ok(())));
}

#[test]
fn an_answer_that_ran_out_of_tokens_says_so() {
    let cut = CLAUDE.replace("end_turn", "max_tokens");
    let (_, ended, _) = read(&claude::DIALECT, &[cut.as_bytes()]);
    assert!(matches!(ended, Some(Chunk::End { finish: Finish::Length, .. })), "{ended:?}");
}

#[test]
fn e01_a_fenced_request_becomes_a_sub_discussion_only_where_allowed() {
    let answer = "Hm.\n<discuss-7f>Which store?</discuss-7f>";
    let line = serde_json::json!({ "type": "result", "subtype": "success", "result": answer }).to_string();
    let check = |may_convene: bool, text: &str, finish: Finish| {
        let call = Call { may_convene, ..call("?") };
        let (said, ended, _) = read_for(&call, claude::DIALECT.output, &[line.as_bytes()]);
        assert_eq!((said.as_str(), ended), (text, Some(Chunk::End { finish, usage: None, cost: None })));
    };
    check(true, "Hm.\n<Which store?>", Finish::Convene);
    check(false, answer, Finish::Stop);
}

#[test]
fn a_prompt_holds_everything_in_order_and_ends_with_the_language() {
    let messages = vec![
        shown("claude", "codex", "No ledger."),
        shown("claude", "claude", "A ledger."),
        Message::Ask("And now?\nWrite at most 60 words in English.".into()),
    ];
    let schema = Some(serde_json::json!({ "type": "object" }));
    let shape = Some(Shape { form: const { &Form::new("ballot") }, schema: schema.map(Into::into) });
    let call = Call { messages, shape, may_convene: true, ..call("") };
    let expected = "\
You are claude.

Answer in text only, from what is written here. You have no files to look at and no commands to run.

Text inside <own-7f> is what you said earlier.

<said-7f by=\"codex\" round=\"1\">
No ledger.
</said-7f>

<own-7f>
A ledger.
</own-7f>

Answer with one JSON document and nothing before or after it. It must fit this JSON schema:
{\"type\":\"object\"}

You may ask the others to discuss one narrower question first, only where your answer depends on it and talk can settle \
it. It costs calls and time. Then end your answer with this line and nothing after it:
<discuss-7f>the question, complete in itself</discuss-7f>
You will be given what they found, and asked again.

And now?
Write at most 60 words in English.
";
    assert_eq!(prompt::text(&call), expected);
}

#[test]
fn a_provider_is_refused_before_anything_runs() {
    let check = |dialect: &str, model: Option<&str>, expected: &str| {
        let program = Program { dialect: dialect.to_owned(), ..Program::default() };
        let refused = CommandProvider::new(program, model, Timeouts::default()).unwrap_err();
        assert_eq!(refused, ProviderError::new(ErrorClass::Validation, expected));
    };
    check("cobol", None, "there is no dialect \"cobol\"; the dialects are claude, codex, gemini, plain");
    check("codex", Some("--yolo"), "\"--yolo\" would be taken for an option, not for a model");
}

#[test]
fn dialects_have_names_of_their_own() {
    let names: Vec<&str> = DIALECTS.iter().map(|it| it.name).collect();
    assert_eq!(names, ["claude", "codex", "gemini", "plain"]);
    assert!(DIALECTS.iter().all(|it| !it.summary.is_empty()));
}
